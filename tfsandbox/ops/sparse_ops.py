"""The names of `tensorflow.python.ops.sparse_ops`, gathered from the files that each hold one subject."""

from __future__ import annotations

from tfsandbox.ops import sparse_conversion, sparse_math, sparse_reductions, sparse_reshaping
from tfsandbox.ops.sparse_conversion import *  # noqa: F403
from tfsandbox.ops.sparse_conversion import from_dense, sparse_eye  # noqa: F401
from tfsandbox.ops.sparse_math import *  # noqa: F403
from tfsandbox.ops.sparse_math import sparse_dense_cwise_add, sparse_times_dense  # noqa: F401
from tfsandbox.ops.sparse_reductions import *  # noqa: F403
from tfsandbox.ops.sparse_reshaping import *  # noqa: F403
from tfsandbox.ops.sparse_reshaping import sparse_expand_dims, sparse_merge_impl  # noqa: F401

__all__ = [*sparse_conversion.__all__, *sparse_math.__all__, *sparse_reductions.__all__, *sparse_reshaping.__all__]
