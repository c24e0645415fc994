"""Ops that repeat a tensor's elements: tile, broadcast_to, repeat, meshgrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, broadcast_shapes
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_rank_at_most
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array

_TIDX = "Tidx: type in {int32, int64} = int32"

tile_op = register_op("Tile", "input: T, multiples: Tmultiples -> output: T",
                      "T: type; Tmultiples: type in {int32, int64} = int32")


@tile_op.shape
def _tile_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 1)
    multiples = c.value_as_shape(1)
    rank = c.shape(0).ndims
    if rank is not None:
        multiples = with_rank(multiples, rank)
    if multiples.sizes is None:
        return UNKNOWN
    shape = with_rank(c.shape(0), len(multiples.sizes))
    assert shape.sizes is not None
    return TensorShape.from_sizes(tuple(0 if 0 in (size, times) else None if size is None or times is None
                                        else size * times for size, times in zip(shape.sizes, multiples.sizes)))


@tile_op.kernel
def _tile(value: Any, multiples: Any) -> Any:
    value = as_array(value)
    if len(multiples) != value.ndim:
        raise errors.InvalidArgumentError(None, None, f"Expected multiples argument to be a vector of length "
                                                      f"{value.ndim} but got length {len(multiples)}")
    for i, times in enumerate(multiples):
        if times < 0:
            raise errors.InvalidArgumentError(None, None, f"Expected multiples[{i}] >= 0, but got {times}")
    return np.tile(value, multiples)


@tile_op.gradient
def _tile_grad(op: Operation, grad: Any) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    value, multiples = op.inputs
    sizes = array_ops.shape(value, out_type=multiples.dtype)
    # Every axis as (times, size): the odd ones are the input's, the even ones are added up.
    split = array_ops.reshape(array_ops.transpose(array_ops.stack([multiples, sizes])), [-1])
    axes = math_ops.range(0, array_ops.size(split), 2)
    if isinstance(grad, IndexedSlices):
        grad = math_ops.unsorted_segment_sum(grad.values, math_ops.mod(grad.indices, sizes[0]), sizes[0])
        split = array_ops.concat([[1], split[1:]], 0)
    result = math_ops.reduce_sum(array_ops.reshape(grad, split), axes)
    result.set_shape(value.shape)
    return [result, None]


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each axis i."""
    return apply_op("Tile", input=input, multiples=multiples, name=name)


broadcast_to_op = register_op("BroadcastTo", "input: T, shape: Tidx -> output: T", f"T: type; {_TIDX}")


@broadcast_to_op.shape
def _broadcast_to_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 1)
    target, shape = c.value_as_shape(1), c.shape(0)
    if target.sizes is None or shape.sizes is None:
        return target
    with_rank_at_most(shape, len(target.sizes))
    for size, wanted in zip(reversed(shape.sizes), reversed(target.sizes)):
        if size != 1:
            merge_sizes(size, wanted)
    return target


@broadcast_to_op.kernel
def _broadcast_to(value: Any, shape: Any) -> Any:
    value = as_array(value)
    try:
        return np.array(np.broadcast_to(value, shape))
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: [{','.join(map(str, value.shape))}] vs. "
                        f"[{','.join(map(str, shape.tolist()))}]") from None


@broadcast_to_op.gradient
def _broadcast_to_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    value, target = op.inputs
    sizes = array_ops.shape(value)
    _, axes = apply_op("BroadcastGradientArgs", s0=target, s1=sizes)
    return [array_ops.reshape(math_ops.reduce_sum(grad, axis=axes, keepdims=True), sizes), None]


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` stretched along its axes of size 1, and along new ones in front, to `shape`."""
    return apply_op("BroadcastTo", input=input, shape=shape, name=name)


broadcast_args_op = register_op("BroadcastArgs", "s0: T, s1: T -> r0: T", "T: type in {int32, int64} = int32")


@broadcast_args_op.shape
def _broadcast_args_shape(c: ShapeContext) -> TensorShape:
    left, right = with_rank(c.shape(0), 1).sizes, with_rank(c.shape(1), 1).sizes
    assert left is not None and right is not None
    if left[0] is None or right[0] is None:
        return TensorShape([None])
    return TensorShape([max(left[0], right[0])])


@broadcast_args_op.kernel
def _broadcast_args(s0: Any, s1: Any) -> Any:
    rank = max(len(s0), len(s1))
    left, right = [1] * (rank - len(s0)) + s0.tolist(), [1] * (rank - len(s1)) + s1.tolist()
    if any(m != n and m != 1 and n != 1 for m, n in zip(left, right)):
        raise errors.InvalidArgumentError(None, None, f"Incompatible shapes: [{','.join(map(str, s0.tolist()))}] vs. "
                                                      f"[{','.join(map(str, s1.tolist()))}]")
    return np.array([n if m == 1 else m for m, n in zip(left, right)], s0.dtype)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a tensor, that tensors of two shapes broadcast to."""
    return apply_op("BroadcastArgs", s0=shape_x, s1=shape_y)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The TensorShape that two TensorShapes broadcast to; `ValueError` where they do not."""
    try:
        return broadcast_shapes(TensorShape(shape_x), TensorShape(shape_y))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}") from None


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of the grid that vectors span: for n vectors n tensors of rank n.

    `indexing="xy"` (the default) puts the second vector along the first axis, "ij" the first.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with ops.name_scope(name, "meshgrid", args):
        rank = len(args)
        grids = [array_ops.reshape(array_ops.stack(x), [1] * i + [-1] + [1] * (rank - i - 1))
                 for i, x in enumerate(args)]
        sizes = [array_ops.size(x) for x in args]
        dtype = ops.convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and rank > 1:
            grids[0] = array_ops.reshape(grids[0], [1, -1] + [1] * (rank - 2))
            grids[1] = array_ops.reshape(grids[1], [-1, 1] + [1] * (rank - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        stretch = array_ops.ones(sizes, dtype)
        return [grid * stretch for grid in grids]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Every slice of `input` along `axis` (flat if None) repeated `repeats` times (one number, or one each)."""
    if axis is None:
        input = array_ops.reshape(input, [-1])
        axis = 0
    return _repeat_along(input, repeats, axis, name)


def _repeat_along(data: Any, repeats: Any, axis: int, name: str | None) -> Tensor:
    from tfsandbox.ops import math_ops
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    with ops.name_scope(name, "Repeat", [data, repeats]):
        data = ops.convert_to_tensor(data, name="data")
        repeats = ops.convert_to_tensor(repeats, name="repeats")
        if not repeats.dtype.is_integer:
            raise TypeError(f"repeats must be integers; got {repeats.dtype.name}")
        repeats = apply_op("Cast", x=repeats, DstT=dtypes.int32)
        repeats.shape.with_rank_at_most(1)
        sizes = array_ops.shape(data)
        if axis < 0:
            if data.shape.ndims is None:
                raise ValueError(f"axis={axis} is negative, and the rank of data is not known")
            axis += data.shape.ndims
        data.shape.with_rank_at_least(axis + 1)
        if repeats.shape.num_elements() == 1:
            repeats = array_ops.reshape(repeats, []) if repeats.shape.ndims else repeats
            tiled = _tile_axis(array_ops.expand_dims(data, axis + 1), axis + 1, repeats)
            return array_ops.reshape(tiled, array_ops.concat([sizes[:axis], [-1], sizes[axis + 1:]], 0))
        if repeats.shape.ndims == 1 and data.shape.dims is not None:
            data.shape.dims[axis].assert_is_compatible_with(repeats.shape.dims[0])  # type: ignore[index]
        if repeats.shape.ndims != axis + 1:
            own = array_ops.shape(repeats)
            rank = array_ops.rank(repeats)
            repeats = broadcast_to(repeats, array_ops.concat([sizes[:axis + 1 - rank], own], 0))
            repeats.set_shape([None] * (axis + 1))
        axes = constant(np.arange(repeats.shape.ndims, dtype=np.int32), dtypes.int32)
        most = math_ops.maximum(0, apply_op("Max", input=repeats, reduction_indices=axes))
        mask = array_ops.sequence_mask(repeats, most)
        tiled = _tile_axis(array_ops.expand_dims(data, axis + 1), axis + 1, most)
        masked = array_ops.boolean_mask(tiled, mask)
        if axis == 0:
            return masked
        return array_ops.reshape(masked, array_ops.concat([sizes[:axis], [-1], sizes[axis + 1:]], 0))


def _tile_axis(data: Tensor, axis: int, times: Tensor) -> Tensor:
    """`data` tiled along one axis."""
    if data.shape.ndims is not None:
        multiples: Any = [1] * data.shape.ndims
        multiples[axis] = times
        return tile(data, multiples)
    ones = array_ops.ones(array_ops.rank(data), dtypes.int32)
    return tile(data, array_ops.concat([ones[:axis], [times], ones[axis + 1:]], 0))
