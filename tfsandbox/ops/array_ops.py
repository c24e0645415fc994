"""The names of `tensorflow.python.ops.array_ops`, gathered from the files that each hold one subject.

The files import one another through this module and use its names when they are called, so the order here does not
matter to them.
"""
# ruff: noqa: F401, I001

from __future__ import annotations

from tfsandbox.ops.placeholders import placeholder, placeholder_with_default, sparse_placeholder
from tfsandbox.ops.passing import (
    bitcast, ensure_shape, guarantee_const, identity, identity_n, prevent_gradient, stop_gradient)
from tfsandbox.ops.shape_ops import (
    rank, rank_internal, shape, shape_internal, shape_n, shape_v2, size, size_internal, size_v2)
from tfsandbox.ops.filling import fill, one_hot, ones, ones_like, zeros, zeros_like
from tfsandbox.ops.reshaping import expand_dims, invert_permutation, matrix_transpose, reshape, squeeze, transpose
from tfsandbox.ops.joining import concat, concat_offset, parallel_stack, stack
from tfsandbox.ops.splitting import split, unstack
from tfsandbox.ops.slicing import (
    slice_ as slice, slice_helper as _slice_helper, slice_helper_var as _SliceHelperVar, strided_slice,
    strided_slice_assign)
from tfsandbox.ops.select_v2 import where_v2
from tfsandbox.ops.selecting import boolean_mask, boolean_mask_v2, sequence_mask, where
from tfsandbox.ops.gathering import batch_gather, gather, gather_nd, gather_nd_v2, gather_v2
from tfsandbox.ops.scattering import (
    scatter_nd, tensor_scatter_add, tensor_scatter_nd_add, tensor_scatter_nd_sub, tensor_scatter_nd_update,
    tensor_scatter_sub, tensor_scatter_update)
from tfsandbox.ops.tiling import (
    broadcast_dynamic_shape, broadcast_static_shape, broadcast_to, meshgrid, repeat, tile)
from tfsandbox.ops.padding import pad
from tfsandbox.ops.reversing import reverse, reverse_sequence, reverse_v2, roll
from tfsandbox.ops.blocks import (
    batch_to_space, batch_to_space_nd, depth_to_space, required_space_to_batch_paddings, space_to_batch,
    space_to_batch_nd, space_to_depth)
from tfsandbox.ops.unique_ops import listdiff, setdiff1d, unique, unique_with_counts
from tfsandbox.ops.sequence_distance import edit_distance
from tfsandbox.ops.searching import searchsorted, unravel_index
from tfsandbox.ops import dense_slices  # it registers a conversion

newaxis = None

__all__ = [
    "batch_gather", "batch_to_space", "batch_to_space_nd", "bitcast", "boolean_mask", "broadcast_dynamic_shape",
    "broadcast_static_shape", "broadcast_to", "concat", "depth_to_space", "edit_distance", "ensure_shape",
    "expand_dims", "fill", "gather", "gather_nd", "guarantee_const", "identity", "identity_n", "invert_permutation",
    "matrix_transpose", "meshgrid", "newaxis", "one_hot", "ones", "ones_like", "pad", "parallel_stack", "placeholder",
    "placeholder_with_default", "rank", "repeat", "required_space_to_batch_paddings", "reshape", "reverse",
    "reverse_sequence", "reverse_v2", "roll", "scatter_nd", "searchsorted", "sequence_mask", "setdiff1d", "shape",
    "shape_n", "size", "slice", "space_to_batch", "space_to_batch_nd", "space_to_depth", "sparse_placeholder", "split",
    "squeeze", "stack", "stop_gradient", "strided_slice", "tensor_scatter_add", "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensor_scatter_sub", "tensor_scatter_update", "tile",
    "transpose", "unique", "unique_with_counts", "unravel_index", "unstack", "where", "where_v2", "zeros", "zeros_like",
]
