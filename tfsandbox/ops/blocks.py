"""Ops that move blocks between space, depth and batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, tensor_util
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import unknown_of_rank, with_rank, with_rank_at_least, with_size
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops

_DATA_FORMAT = "data_format: string in {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"

_BLOCK_ATTRS = f"T: type; block_size: int >= 2; {_DATA_FORMAT}"
space_to_depth_op = register_op("SpaceToDepth", "input: T -> output: T", _BLOCK_ATTRS)
depth_to_space_op = register_op("DepthToSpace", "input: T -> output: T", _BLOCK_ATTRS)


def _divided(size: int | None, by: int | None) -> int | None:
    if size is None or by is None:
        return None
    if size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return size // by


def _times(size: int | None, by: int) -> int | None:
    return None if size is None else size * by


@space_to_depth_op.shape
def _space_to_depth_shape(c: ShapeContext) -> TensorShape:
    sizes, block = with_rank(c.shape(0), 4).sizes, c.attr("block_size")
    assert sizes is not None
    if c.attr("data_format") == b"NCHW":
        return TensorShape.from_sizes((sizes[0], _times(sizes[1], block * block), _divided(sizes[2], block),
                                       _divided(sizes[3], block)))
    return TensorShape.from_sizes((sizes[0], _divided(sizes[1], block), _divided(sizes[2], block),
                                   _times(sizes[3], block * block)))


@depth_to_space_op.shape
def _depth_to_space_shape(c: ShapeContext) -> TensorShape:
    sizes, block = with_rank(c.shape(0), 4).sizes, c.attr("block_size")
    assert sizes is not None
    if c.attr("data_format") == b"NCHW":
        return TensorShape.from_sizes((sizes[0], _divided(sizes[1], block * block), _times(sizes[2], block),
                                       _times(sizes[3], block)))
    return TensorShape.from_sizes((sizes[0], _times(sizes[1], block), _times(sizes[2], block),
                                   _divided(sizes[3], block * block)))


@space_to_depth_op.kernel(view=True)
def _space_to_depth(value: Any, *, block_size: int, data_format: bytes) -> Any:
    b = block_size
    if data_format == b"NCHW":
        return np.moveaxis(_space_to_depth(np.moveaxis(value, 1, 3), block_size=b, data_format=b"NHWC"), 3, 1)
    n, height, width, depth = value.shape
    if height % b or width % b:
        size = width if width % b else height
        raise errors.InvalidArgumentError(None, None, f"Image width {size} and height {height} should be divisible by "
                                                      f"block_size: {b}")
    blocks = value.reshape(n, height // b, b, width // b, b, depth)
    return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, height // b, width // b, b * b * depth)


@depth_to_space_op.kernel(view=True)
def _depth_to_space(value: Any, *, block_size: int, data_format: bytes) -> Any:
    b = block_size
    if data_format == b"NCHW":
        return np.moveaxis(_depth_to_space(np.moveaxis(value, 1, 3), block_size=b, data_format=b"NHWC"), 3, 1)
    n, height, width, depth = value.shape
    if depth % (b * b):
        raise errors.InvalidArgumentError(None, None, f"Input depth dimension {depth} should be divisible by: {b * b}")
    blocks = value.reshape(n, height, width, b, b, depth // (b * b))
    return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, height * b, width * b, depth // (b * b))


@space_to_depth_op.gradient
def _space_to_depth_grad(op: Operation, grad: Tensor) -> Tensor:
    return depth_to_space(grad, op.get_attr("block_size"), data_format=op.get_attr("data_format").decode())


@depth_to_space_op.gradient
def _depth_to_space_grad(op: Operation, grad: Tensor) -> Tensor:
    return space_to_depth(grad, op.get_attr("block_size"), data_format=op.get_attr("data_format").decode())


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """[n, h, w, d]: every block of block_size x block_size pixels becomes one pixel of that much more depth."""
    return apply_op("SpaceToDepth", input=input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """The inverse of `space_to_depth`."""
    return apply_op("DepthToSpace", input=input, block_size=block_size, data_format=data_format, name=name)


# ------------------------------------------------------------ space to batch and back

_TBLOCK = "Tblock_shape: type in {int32, int64} = int32"
space_to_batch_nd_op = register_op(
    "SpaceToBatchND", "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    f"T: type; {_TBLOCK}; Tpaddings: type in {{int32, int64}} = int32")
batch_to_space_nd_op = register_op(
    "BatchToSpaceND", "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    f"T: type; {_TBLOCK}; Tcrops: type in {{int32, int64}} = int32")
space_to_batch_op = register_op("SpaceToBatch", "input: T, paddings: Tpaddings -> output: T",
                                "T: type; Tpaddings: type in {int32, int64} = int32; block_size: int >= 2")
batch_to_space_op = register_op("BatchToSpace", "input: T, crops: Tidx -> output: T",
                                "T: type; block_size: int >= 2; Tidx: type in {int32, int64} = int32")


def _spaced_to_batch(shape: TensorShape, count: int, block: Any, paddings: Any) -> TensorShape:
    shape = with_rank_at_least(shape, count + 1)
    if shape.sizes is None:
        return UNKNOWN
    blocks: list[int | None] = [None] * count if block is None else [int(b) for b in block]
    spatial = []
    for i, (size, by) in enumerate(zip(shape.sizes[1:], blocks)):
        if by is not None and by < 1:
            raise ValueError(f"block_shape must be positive, but block_shape[{i}] = {by}")
        padded = None if size is None or paddings is None else size + int(paddings[i][0]) + int(paddings[i][1])
        spatial.append(_divided(padded, by))
    batch = shape.sizes[0]
    batch = None if batch is None or block is None else batch * math.prod(int(b) for b in block)
    return TensorShape.from_sizes((batch, *spatial, *shape.sizes[count + 1:]))


def _batched_to_space(shape: TensorShape, count: int, block: Any, crops: Any) -> TensorShape:
    shape = with_rank_at_least(shape, count + 1)
    if shape.sizes is None:
        return UNKNOWN
    batch = None if block is None else shape.sizes[0]
    for by in () if block is None else block:
        batch = _divided(batch, int(by))
    spatial: list[int | None] = []
    for i, size in enumerate(shape.sizes[1:count + 1]):
        if size is None or block is None or crops is None:
            spatial.append(None)
            continue
        whole = size * int(block[i])
        for crop in crops[i]:
            if crop > whole:
                raise ValueError(f"Negative dimension size caused by subtracting {crop} from {whole}")
            whole -= int(crop)
        spatial.append(whole)
    return TensorShape.from_sizes((batch, *spatial, *shape.sizes[count + 1:]))


def _block_count(c: ShapeContext) -> int | None:
    sizes = c.shape(1).sizes
    if sizes is not None and len(sizes) != 1:
        raise ValueError("block_shape must have rank 1.")
    count = sizes[0] if sizes else None
    pairs = with_rank(c.shape(2), 2).sizes
    assert pairs is not None
    with_size(pairs[1], 2)
    return pairs[0] if count is None else count


@space_to_batch_nd_op.shape
def _space_to_batch_nd_shape(c: ShapeContext) -> TensorShape:
    count = _block_count(c)
    return unknown_of_rank(c.shape(0).ndims) if count is None else \
        _spaced_to_batch(c.shape(0), count, c.value(1), c.value(2))


@batch_to_space_nd_op.shape
def _batch_to_space_nd_shape(c: ShapeContext) -> TensorShape:
    count = _block_count(c)
    return unknown_of_rank(c.shape(0).ndims) if count is None else \
        _batched_to_space(c.shape(0), count, c.value(1), c.value(2))


@space_to_batch_op.shape
def _space_to_batch_shape(c: ShapeContext) -> TensorShape:
    return _spaced_to_batch(with_rank(c.shape(0), 4), 2, [c.attr("block_size")] * 2, c.value(1))


@batch_to_space_op.shape
def _batch_to_space_shape(c: ShapeContext) -> TensorShape:
    return _batched_to_space(with_rank(c.shape(0), 4), 2, [c.attr("block_size")] * 2, c.value(1))


@space_to_batch_nd_op.kernel
def _space_to_batch_nd(value: Any, block_shape: Any, paddings: Any) -> Any:
    blocks, pairs = block_shape.tolist(), paddings.tolist()
    count = len(blocks)
    padded = np.pad(value, [(0, 0), *map(tuple, pairs), *[(0, 0)] * (value.ndim - count - 1)])
    split = [padded.shape[0]]
    for i, (size, by) in enumerate(zip(padded.shape[1:], blocks)):
        if size % by:
            raise errors.InvalidArgumentError(None, None, f"padded_shape[{i}]={size} is not divisible by "
                                                          f"block_shape[{i}]={by}")
        split += [size // by, by]
    rest = padded.shape[count + 1:]
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, 2 * count + 1 + len(rest))]
    moved = padded.reshape(*split, *rest).transpose(order)
    return moved.reshape(math.prod(blocks) * value.shape[0], *split[1::2], *rest)


@batch_to_space_nd_op.kernel
def _batch_to_space_nd(value: Any, block_shape: Any, crops: Any) -> Any:
    blocks, pairs = block_shape.tolist(), crops.tolist()
    count, total = len(blocks), math.prod(blocks)
    if value.shape[0] % total:
        raise errors.InvalidArgumentError(None, None, f"Input batch dimension ({value.shape[0]}) is not divisible by "
                                                      f"product of block sizes ({total})")
    spatial, rest = value.shape[1:count + 1], value.shape[count + 1:]
    split = value.reshape(*blocks, value.shape[0] // total, *spatial, *rest)
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    whole = split.transpose(order).reshape(value.shape[0] // total, *(n * b for n, b in zip(spatial, blocks)), *rest)
    for i, (before, after) in enumerate(pairs):
        if before + after > whole.shape[i + 1]:
            raise errors.InvalidArgumentError(None, None, f"cropped_shape[{i}]={whole.shape[i + 1] - before - after} "
                                                          "must be non-negative")
    return whole[(slice(None), *(slice(before, size - after)
                                 for (before, after), size in zip(pairs, whole.shape[1:])))]


@space_to_batch_op.kernel
def _space_to_batch(value: Any, paddings: Any, *, block_size: int) -> Any:
    return _space_to_batch_nd(value, np.array([block_size] * 2), paddings)


@batch_to_space_op.kernel
def _batch_to_space(value: Any, crops: Any, *, block_size: int) -> Any:
    return _batch_to_space_nd(value, np.array([block_size] * 2), crops)


@space_to_batch_nd_op.gradient
def _space_to_batch_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None]


@batch_to_space_nd_op.gradient
def _batch_to_space_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None]


@space_to_batch_op.gradient
def _space_to_batch_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("BatchToSpace", input=grad, crops=op.inputs[1], block_size=op.get_attr("block_size")), None]


@batch_to_space_op.gradient
def _batch_to_space_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("SpaceToBatch", input=grad, paddings=op.inputs[1], block_size=op.get_attr("block_size")), None]


def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """[n, spatial..., rest...]: padded, then the places within blocks of `block_shape` become batches of their own."""
    return apply_op("SpaceToBatchND", input=input, block_shape=block_shape, paddings=paddings, name=name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch_nd`, with `crops` cut off the borders."""
    return apply_op("BatchToSpaceND", input=input, block_shape=block_shape, crops=crops, name=name)


def _block_size(block_size: Any, block_shape: Any) -> Any:
    if block_size is not None and block_shape is not None:
        raise ValueError("Cannot specify both 'block_size' and 'block_shape'")
    return block_shape if block_size is None else block_size


def space_to_batch(input: Any, paddings: Any, block_size: Any = None, name: str | None = None,
                   block_shape: Any = None) -> Tensor:
    """`space_to_batch_nd` for images [n, h, w, d] and square blocks."""
    block = _block_size(block_size, block_shape)
    result = space_to_batch_nd(input, [block, block], paddings, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(input: Any, crops: Any, block_size: Any = None, name: str | None = None,
                   block_shape: Any = None) -> Tensor:
    """`batch_to_space_nd` for images [n, h, w, d] and square blocks."""
    block = _block_size(block_size, block_shape)
    result = batch_to_space_nd(input, [block, block], crops, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(input_shape: Any, block_shape: Any, base_paddings: Any = None,
                                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """The paddings that make `block_shape` divide `input_shape`, and the crops that undo them: each [n, 2]."""
    with ops.name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = ops.convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = ops.convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape.shape.as_list()[0]
        if count == 0:
            return (array_ops.zeros([0, 2], dtypes.int32),) * 2
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is not None:
            base_paddings = ops.convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base_paddings.shape.assert_is_compatible_with([count, 2])
        else:
            base_paddings = array_ops.zeros([count, 2], dtypes.int32)
        known = [tensor_util.constant_value(t) for t in (input_shape, block_shape, base_paddings)]
        if all(value is not None for value in known):
            return _known_paddings(*known)
        start, end = base_paddings[:, 0], base_paddings[:, 1]
        full = input_shape + start + end
        more = (block_shape - full % block_shape) % block_shape
        end = end + more
        pairs = [[start[i], end[i]] for i in range(count)]
        paddings = array_ops.stack(pairs, name="paddings")
        crops = array_ops.stack([[0, more[i]] for i in range(count)], name="crops")
        return paddings, crops


def _known_paddings(sizes: Any, blocks: Any, base: Any) -> tuple[Tensor, Tensor]:
    start, end = base[:, 0], base[:, 1]
    more = (blocks - (sizes + start + end) % blocks) % blocks
    return (constant(np.stack([start, end + more], axis=1), dtypes.int32, name="paddings"),
            constant(np.stack([np.zeros_like(more), more], axis=1), dtypes.int32, name="crops"))
