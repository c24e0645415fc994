"""Ops that pick slices by index: gather, gather_nd and their batched forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, tensor_util
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import joined, merge, unknown_of_rank, with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array, text_of_shape

_INDICES = "Tindices: type in {int32, int64}"

gather_op = register_op("Gather", "params: Tparams, indices: Tindices -> output: Tparams",
                        f"validate_indices: bool = true; Tparams: type; {_INDICES}")
gather_v2_op = register_op("GatherV2", "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
                           f"batch_dims: int = 0; Tparams: type; {_INDICES}; Taxis: type in {{int32, int64}}")


@gather_op.shape
def _gather_shape(c: ShapeContext) -> TensorShape:
    params = with_rank_at_least(c.shape(0), 1)
    return joined(c.shape(1), UNKNOWN if params.sizes is None else TensorShape.from_sizes(params.sizes[1:]))


@gather_v2_op.shape
def _gather_v2_shape(c: ShapeContext) -> TensorShape:
    params, indices = with_rank_at_least(c.shape(0), 1), c.shape(1)
    with_rank(c.shape(2), 0)
    axis, batch_dims = c.value(2), c.attr("batch_dims")
    if indices.sizes is not None and batch_dims < 0:
        batch_dims += len(indices.sizes)
    if axis is None:
        if params.sizes is None or indices.sizes is None:
            return UNKNOWN
        return unknown_of_rank(len(params.sizes) + len(indices.sizes) - 1 - batch_dims)
    place = int(axis)
    with_rank_at_least(params, -place if place < 0 else place + 1)
    if params.sizes is None or indices.sizes is None:
        return UNKNOWN
    place %= len(params.sizes)
    batch = merge(TensorShape.from_sizes(params.sizes[:batch_dims]), TensorShape.from_sizes(indices.sizes[:batch_dims]))
    assert batch.sizes is not None
    return TensorShape.from_sizes((*batch.sizes, *params.sizes[batch_dims:place], *indices.sizes[batch_dims:],
                                   *params.sizes[place + 1:]))


def check_indices(indices: Any, limit: int) -> None:
    """Raise `InvalidArgumentError` in TensorFlow's words where an index is not in [0, limit)."""
    if not np.size(indices):
        return
    # Seen as unsigned numbers, negative indices are too large as well: one pass instead of two.
    unsigned = indices.view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64)
    if np.maximum.reduce(unsigned, axis=None) < limit:
        return
    bad = np.argwhere((np.asarray(indices) < 0) | (np.asarray(indices) >= limit))[0]
    place = f"[{','.join(map(str, bad))}]" if bad.size else ""
    raise errors.InvalidArgumentError(None, None, f"indices{place} = {np.asarray(indices)[tuple(bad)]} is not in "
                                                  f"[0, {limit})")


@gather_op.kernel
def _gather(params: Any, indices: Any) -> Any:
    if not np.ndim(params):
        raise errors.InvalidArgumentError(None, None, "params must be at least 1 dimensional")
    check_indices(indices, params.shape[0])
    return np.take(params, indices, 0, mode="clip")


@gather_v2_op.kernel
def _gather_v2(params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    rank = np.ndim(params)
    if not rank:
        raise errors.InvalidArgumentError(None, None, "params must be at least 1 dimensional")
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(None, None, f"Expected axis in the range [{-rank}, {rank}), but got {axis}")
    place = int(axis) % rank
    check_indices(indices, params.shape[place])
    if not batch_dims:
        if not params.shape[place]:
            return np.empty(params.shape[:place] + indices.shape + params.shape[place + 1:], params.dtype)
        return np.take(params, indices, place, mode="clip")
    return _gather_in_batches(params, indices, place, batch_dims % np.ndim(indices))


def _gather_in_batches(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    batch, picked = params.shape[:batch_dims], indices.shape[batch_dims:]
    if indices.shape[:batch_dims] != batch or axis < batch_dims:
        raise errors.InvalidArgumentError(
            None, None, f"params.shape[:{batch_dims}] {text_of_shape(params)} and indices.shape[:{batch_dims}] "
                        f"{text_of_shape(indices)} must be equal, and batch_dims <= axis")
    outer, inner = params.shape[batch_dims:axis], params.shape[axis + 1:]
    count = math.prod(batch)
    flat = params.reshape(count, math.prod(outer), params.shape[axis], math.prod(inner))
    places = indices.reshape(count, math.prod(picked))
    result = flat[np.arange(count)[:, None], :, places]  # [count, picked, outer, inner]
    return result.transpose(0, 2, 1, 3).reshape(batch + outer + picked + inner)


@gather_op.gradient
def _gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    params, indices = op.inputs
    sizes, count = _sizes(params, indices)
    return [_rows_gradient(sizes, indices, count, grad), None]


@gather_v2_op.gradient
def _gather_v2_grad(op: Operation, grad: Tensor) -> list[Any]:
    params, indices, axis = op.inputs
    sizes, count = _sizes(params, indices)
    static = tensor_util.constant_value(axis)
    if static is not None and static == 0:
        return [_rows_gradient(sizes, indices, count, grad), None, None]
    batch_dims = op.get_attr("batch_dims")
    if batch_dims < 0:
        batch_dims += len(indices.shape)
    return [_axis_gradient(sizes, indices, axis, batch_dims, grad), None, None]


def _sizes(params: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """The shape of what is gathered from, and the number of indices as a vector of one element."""
    from tfsandbox.ops import math_ops
    # Beside the variable: its value need not go anywhere to be asked for its shape.
    with params.graph.colocate_with(params.op):
        sizes = math_ops.cast(array_ops.shape(params, out_type=dtypes.int64), dtypes.int32)
    return sizes, array_ops.expand_dims(array_ops.size(indices), 0)


def _rows_gradient(sizes: Tensor, indices: Tensor, count: Tensor, grad: Tensor) -> IndexedSlices:
    values = array_ops.reshape(grad, array_ops.concat([count, sizes[1:]], 0))
    return IndexedSlices(values, array_ops.reshape(indices, count), sizes)


def _axis_gradient(sizes: Tensor, indices: Tensor, axis: Tensor, batch_dims: int, grad: Tensor) -> Tensor:
    """The dense gradient along an axis that is not the first: the axis is moved to the front of its batch, added up
    by index, and moved back."""
    from tfsandbox.ops import math_ops
    outer, inner = sizes[:axis], sizes[axis:][1:]
    flat = array_ops.concat([outer, [-1], inner], 0)
    rank, depth = array_ops.size(flat), array_ops.size(outer)
    batch_axes = math_ops.range(batch_dims)
    outer_axes = math_ops.range(batch_dims, depth)
    inner_axes = math_ops.range(depth + 1, rank)
    values = array_ops.reshape(grad, flat)
    values = array_ops.transpose(values, array_ops.concat([batch_axes, [depth], outer_axes, inner_axes], 0))
    summed = _summed_by_index(sizes, values, indices, batch_dims, sizes[axis])
    return array_ops.transpose(summed, array_ops.concat([batch_axes, outer_axes + 1, [batch_dims], inner_axes], 0))


def _summed_by_index(sizes: Tensor, values: Tensor, indices: Tensor, batch_dims: int, count: Tensor) -> Tensor:
    from tfsandbox.ops import math_ops
    number = array_ops.expand_dims(array_ops.size(indices), 0)
    if not batch_dims:
        return math_ops.unsorted_segment_sum(values, array_ops.reshape(indices, number), count)
    found = array_ops.shape(values)
    outer, inner = found[:batch_dims], found[batch_dims:][1:]
    batches = math_ops.reduce_prod(outer, [0])
    flat = array_ops.concat([[-1], inner], 0)
    count = count * batches
    indices = _with_batch_offsets(indices, sizes, batch_dims, math_ops.cast, math_ops.range)
    values = array_ops.reshape(values, flat)
    summed = math_ops.unsorted_segment_sum(values, array_ops.reshape(indices, number), count)
    return array_ops.reshape(summed, array_ops.concat([outer, flat], 0))


def _with_batch_offsets(indices: Tensor, params_shape: Tensor, batch_dims: int,
                        cast: Callable[[Tensor, dtypes.DType], Tensor],
                        make_range: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Tensor:
    """`indices` into each batch as indices into all batches one after the other."""
    rank = indices.shape.ndims
    assert rank is not None
    dtype = indices.dtype.base_dtype
    stride = array_ops.ones((), dtype=dtype)
    sizes = cast(params_shape, dtype)
    for axis in reversed(range(batch_dims)):
        size = sizes[axis]
        stride = stride * sizes[axis + 1]
        start, step = array_ops.zeros((), dtype=dtype), array_ops.ones((), dtype=dtype)
        offsets = make_range(start, size, step) * stride
        along = array_ops.stack([1] * axis + [size] + [1] * (rank - axis - 1), axis=0)
        indices = indices + array_ops.reshape(offsets, along)
    return indices


def _raw_range(start: Any, limit: Any, delta: Any) -> Tensor:
    return apply_op("Range", start=start, limit=limit, delta=delta)


def _raw_cast(x: Tensor, dtype: dtypes.DType) -> Tensor:
    # Unlike tf.cast it makes a node where the type stays.
    return apply_op("Cast", x=x, DstT=dtype)


def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None,
           batch_dims: int = 0) -> Tensor:
    """The slices of `params` at `indices` along `axis`; the first `batch_dims` axes of both run in parallel.

    The result has the shape params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].
    A run with an index outside [0, params.shape[axis]) raises `InvalidArgumentError`.
    """
    if axis is None:
        axis = batch_dims
    return apply_op("GatherV2", params=params, indices=indices, axis=axis, batch_dims=batch_dims, name=name)


def gather_v2(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
              name: str | None = None) -> Tensor:
    """`gather` with TensorFlow 2's order of arguments."""
    return gather(params, indices, validate_indices, name, axis, batch_dims)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """`gather` along the last axis of `indices`, all axes before it being batches. Use `gather(batch_dims=...)`."""
    with ops.name_scope(name, "BatchGather", [params, indices]):
        indices = ops.convert_to_tensor(indices, name="indices")
        params = ops.convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch_dims = indices.shape.ndims - 1
        indices_shape, params_shape = array_ops.shape(indices), array_ops.shape(params)
        offset = _with_batch_offsets(indices, params_shape, batch_dims, _raw_cast, _raw_range)
        flat_indices = array_ops.reshape(offset, [-1])
        rest = params_shape[batch_dims + 1:]
        from tfsandbox.ops import math_ops
        count = math_ops.reduce_prod(params_shape[:batch_dims + 1], [0])
        flat = array_ops.reshape(params, array_ops.concat([[count], rest], 0))
        result = array_ops.reshape(gather(flat, flat_indices), array_ops.concat([indices_shape, rest], 0))
        batch = indices.shape[:batch_dims].merge_with(params.shape[:batch_dims])
        result.set_shape(batch.concatenate(indices.shape[batch_dims:]).concatenate(params.shape[batch_dims + 1:]))
        return result


# ------------------------------------------------------------ gather_nd

gather_nd_op = register_op("GatherNd", "params: Tparams, indices: Tindices -> output: Tparams",
                           f"Tparams: type; {_INDICES}")


@gather_nd_op.shape
def _gather_nd_shape(c: ShapeContext) -> TensorShape:
    params, indices = c.shape(0), with_rank_at_least(c.shape(1), 1)
    if params.sizes is None or indices.sizes is None or indices.sizes[-1] is None:
        return UNKNOWN
    depth = indices.sizes[-1]
    if depth > len(params.sizes):
        from tfsandbox.framework.shape_rules import text
        raise ValueError(f"indices.shape[-1] must be <= params.rank, but saw indices shape: {text(indices)} and params "
                         f"shape: {text(params)}")
    return TensorShape.from_sizes((*indices.sizes[:-1], *params.sizes[depth:]))


@gather_nd_op.kernel
def _gather_nd(params: Any, indices: Any) -> Any:
    params = as_array(params)
    if not params.ndim:
        raise errors.InvalidArgumentError(None, None, "params must be at least a vector")
    if not np.ndim(indices):
        raise errors.InvalidArgumentError(None, None, "indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise errors.InvalidArgumentError(None, None, f"index innermost dimension length must be <= params rank; saw: "
                                                      f"{depth} vs. {params.ndim}")
    check_nd_indices(indices, params.shape, "param shape")
    if not depth:
        return np.broadcast_to(params, indices.shape[:-1] + params.shape).copy()
    return params[tuple(indices[..., i] for i in range(depth))]


def check_nd_indices(indices: np.ndarray, sizes: tuple[int, ...], what: str) -> None:
    """Raise `InvalidArgumentError` where one of the index vectors `indices[..., :]` lies outside `sizes`."""
    depth = indices.shape[-1]
    outside = (indices < 0) | (indices >= np.array(sizes[:depth], indices.dtype))
    if not outside.any():
        return
    bad = tuple(np.argwhere(outside.any(axis=-1))[0])
    place = f"[{','.join(map(str, bad))}]" if bad else ""
    raise errors.InvalidArgumentError(
        None, None, f"indices{place} = {indices[bad].tolist()} does not index into {what} "
                    f"[{','.join(map(str, sizes))}]")


@gather_nd_op.gradient
def _gather_nd_grad(op: Operation, grad: Tensor) -> list[Any]:
    params, indices = op.inputs
    sizes = array_ops.shape(params, out_type=indices.dtype)
    if indices.shape.ndims == 2 and indices.shape.as_list()[-1] == 1:
        return [IndexedSlices(grad, array_ops.squeeze(indices, axis=-1), sizes), None]
    return [array_ops.scatter_nd(indices, grad, sizes), None]


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """The elements or slices of `params` at the index vectors along the last axis of `indices`.

    The result has the shape indices.shape[:-1] + params.shape[indices.shape[-1]:]. With `batch_dims` the first axes
    of both run in parallel. A run with an index outside `params` raises `InvalidArgumentError`.
    """
    if isinstance(batch_dims, int) and batch_dims == 0:
        return apply_op("GatherNd", params=params, indices=indices, name=name)
    return batch_gather_nd(params, indices, batch_dims=batch_dims, name=name)


def gather_nd_v2(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Tensor:
    """`gather_nd` with TensorFlow 2's order of arguments."""
    return gather_nd(params, indices, name=name, batch_dims=batch_dims)


def batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None = None) -> Tensor:
    """`gather_nd` with batches: the places of the batches are put before the index vectors."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "BatchGatherND", [params, indices]):
        indices = ops.convert_to_tensor(indices, name="indices")
        params = ops.convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("batch_dims must be non-negative")
        for tensor, what in ((params, "params"), (indices, "indices")):
            if tensor.shape.ndims is None:
                raise ValueError(f"tf.gather_nd does not allow {what} with unknown rank when batch_dims is specified.")
            if batch_dims >= tensor.shape.ndims:
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {tensor.shape.ndims}")
        params_shape, indices_shape = array_ops.shape(params), array_ops.shape(indices)
        batch = params_shape[:batch_dims]
        batch_size = math_ops.reduce_prod(batch, [0])
        inner_rank = array_ops.rank(indices) - batch_dims - 1
        inner = indices_shape[batch_dims:-1]
        ranges = [_raw_cast(_raw_range(0, size, 1), indices.dtype)
                  for size in array_ops.unstack(batch, axis=0)]
        places = [array_ops.reshape(grid, shape=(-1,)) for grid in array_ops.meshgrid(*ranges, indexing="ij")]
        grid = array_ops.transpose(array_ops.stack(places, axis=0))
        grid_shape = array_ops.shape(grid)
        grid = array_ops.reshape(grid, array_ops.concat(
            [grid_shape[:1], array_ops.ones(inner_rank, dtype=dtypes.int32), grid_shape[1:]], axis=0))
        grid = array_ops.tile(grid, multiples=array_ops.concat(((1,), inner, (1,)), axis=0))
        flat = array_ops.reshape(indices, shape=array_ops.concat(([batch_size], indices_shape[batch_dims:]), axis=0))
        found = apply_op("GatherNd", params=params, indices=array_ops.concat((grid, flat), axis=-1))
        return array_ops.reshape(found, shape=array_ops.concat((batch, array_ops.shape(found)[1:]), axis=0))
