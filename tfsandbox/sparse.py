"""tf.sparse: operations on SparseTensors."""

# ruff: noqa: F401

from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops.array_ops import sparse_placeholder as placeholder
from tfsandbox.ops.sparse_ops import from_dense
from tfsandbox.ops.sparse_ops import sparse_add as add
from tfsandbox.ops.sparse_ops import sparse_concat as concat
from tfsandbox.ops.sparse_ops import sparse_expand_dims as expand_dims
from tfsandbox.ops.sparse_ops import sparse_eye as eye
from tfsandbox.ops.sparse_ops import sparse_fill_empty_rows as fill_empty_rows
from tfsandbox.ops.sparse_ops import sparse_mask as mask
from tfsandbox.ops.sparse_ops import sparse_maximum as maximum
from tfsandbox.ops.sparse_ops import sparse_merge as merge
from tfsandbox.ops.sparse_ops import sparse_minimum as minimum
from tfsandbox.ops.sparse_ops import sparse_reduce_max as reduce_max
from tfsandbox.ops.sparse_ops import sparse_reduce_max_sparse as reduce_max_sparse
from tfsandbox.ops.sparse_ops import sparse_reduce_sum as reduce_sum
from tfsandbox.ops.sparse_ops import sparse_reduce_sum_sparse as reduce_sum_sparse
from tfsandbox.ops.sparse_ops import sparse_reorder as reorder
from tfsandbox.ops.sparse_ops import sparse_reset_shape as reset_shape
from tfsandbox.ops.sparse_ops import sparse_reshape as reshape
from tfsandbox.ops.sparse_ops import sparse_retain as retain
from tfsandbox.ops.sparse_ops import sparse_slice as slice
from tfsandbox.ops.sparse_ops import sparse_softmax as softmax
from tfsandbox.ops.sparse_ops import sparse_split as split
from tfsandbox.ops.sparse_ops import sparse_tensor_dense_matmul as sparse_dense_matmul
from tfsandbox.ops.sparse_ops import sparse_tensor_to_dense as to_dense
from tfsandbox.ops.sparse_ops import sparse_to_indicator as to_indicator
from tfsandbox.ops.sparse_ops import sparse_transpose as transpose
from tfsandbox.ops.sparse_segment_ops import sparse_segment_mean as segment_mean
from tfsandbox.ops.sparse_segment_ops import sparse_segment_sqrt_n as segment_sqrt_n
from tfsandbox.ops.sparse_segment_ops import sparse_segment_sum as segment_sum

matmul = sparse_dense_matmul
