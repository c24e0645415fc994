"""The names of `tensorflow.python.ops.array_ops`, gathered from the files that each hold one subject."""

from __future__ import annotations

from tfsandbox.ops.filling import fill, one_hot, ones, ones_like, zeros, zeros_like
from tfsandbox.ops.joining import concat, concat_offset, parallel_stack, stack
from tfsandbox.ops.passing import (
    ensure_shape,
    guarantee_const,
    identity,
    identity_n,
    prevent_gradient,
    stop_gradient,
)
from tfsandbox.ops.placeholders import placeholder, placeholder_with_default, sparse_placeholder
from tfsandbox.ops.reshaping import (
    expand_dims,
    invert_permutation,
    matrix_transpose,
    reshape,
    squeeze,
    transpose,
)
from tfsandbox.ops.selecting import where
from tfsandbox.ops.shape_ops import (
    rank,
    rank_internal,
    shape,
    shape_internal,
    shape_n,
    shape_v2,
    size,
    size_internal,
    size_v2,
)
from tfsandbox.ops.slicing import (
    slice_ as slice,
)
from tfsandbox.ops.slicing import (
    slice_helper as _slice_helper,
)
from tfsandbox.ops.slicing import (
    slice_helper_var as _SliceHelperVar,
)
from tfsandbox.ops.slicing import (
    strided_slice,
)
from tfsandbox.ops.splitting import split, unstack

newaxis = None

__all__ = [
    "concat", "ensure_shape", "expand_dims", "fill", "guarantee_const", "identity", "identity_n", "invert_permutation",
    "matrix_transpose", "newaxis", "one_hot", "ones", "ones_like", "parallel_stack", "placeholder",
    "placeholder_with_default", "rank", "reshape", "shape", "shape_n", "size", "slice", "sparse_placeholder", "split",
    "squeeze", "stack", "stop_gradient", "strided_slice", "transpose", "unstack", "where", "zeros", "zeros_like",
]
