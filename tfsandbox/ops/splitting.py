"""Ops that take tensors apart: split and unstack."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import unknown_of_rank, with_rank, with_rank_at_least, with_size
from tfsandbox.framework.tensor_shape import TensorShape

split_op = register_op("Split", "split_dim: int32, value: T -> output: num_split*T", "num_split: int >= 1; T: type")


def _checked_axis(c: ShapeContext, index: int, rank: int) -> int | None:
    axis = c.value(index)
    if axis is None:
        return None
    place = int(axis)
    if not -rank <= place < rank:
        raise ValueError(f"Dimension size, given by scalar input {place} must be in range [{-rank}, {rank})")
    return place % rank


@split_op.shape
def _split_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 0)
    count = c.attr("num_split")
    shape = c.shape(1)
    if shape.sizes is None:
        return [UNKNOWN] * count
    axis = _checked_axis(c, 0, len(shape.sizes))
    if axis is None:
        return [unknown_of_rank(len(shape.sizes))] * count
    size = shape.sizes[axis]
    if size is not None and size % count:
        raise ValueError(f"Dimension size must be evenly divisible by {count} but is {size}\n\t"
                         "Number of ways to split should evenly divide the split dimension")
    part = None if size is None else size // count
    return [TensorShape.from_sizes((*shape.sizes[:axis], part, *shape.sizes[axis + 1:]))] * count


@split_op.kernel(view=True)
def _split(split_dim: Any, value: Any, *, num_split: int) -> tuple[Any, ...]:
    rank = value.ndim
    if not -rank <= split_dim < rank:
        raise errors.InvalidArgumentError(None, None, f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but "
                                                      f"got {split_dim}")
    size = value.shape[split_dim]
    if size % num_split:
        raise errors.InvalidArgumentError(
            None, None, f"Number of ways to split should evenly divide the split dimension, but got split_dim "
                        f"{split_dim} (size = {size}) and num_split {num_split}")
    return _parts(value, int(split_dim) % rank, [size // num_split] * num_split)


def _parts(value: Any, axis: int, sizes: list[int]) -> tuple[Any, ...]:
    """Consecutive parts of `value` along `axis`, as views."""
    before = (slice(None),) * axis
    at, result = 0, []
    for size in sizes:
        result.append(value[(*before, slice(at, at + size))])
        at += size
    return tuple(result)


@split_op.gradient
def _split_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    return [None, array_ops.concat(list(grads), op.inputs[0])]


split_v_op = register_op("SplitV", "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T",
                         "num_split: int >= 1; T: type; Tlen: type in {int32, int64} = int64")


@split_v_op.shape
def _split_v_shape(c: ShapeContext) -> list[TensorShape]:
    count = c.attr("num_split")
    with_rank(c.shape(1), 1)
    with_rank(c.shape(2), 0)
    shape, sizes = c.shape(0), c.value(1)
    if shape.sizes is None:
        return [UNKNOWN] * count
    axis = _checked_axis(c, 2, len(shape.sizes))
    if axis is None:
        if count == 1:
            return [shape]
        return [unknown_of_rank(len(shape.sizes))] * count
    if sizes is None:
        part = shape.sizes[axis] if count == 1 else None
        return [TensorShape.from_sizes((*shape.sizes[:axis], part, *shape.sizes[axis + 1:]))] * count
    wanted: list[int | None] = [int(size) for size in sizes]
    if len(wanted) != count:
        raise ValueError("Length of size_splits should be equal to num_outputs")
    whole = shape.sizes[axis]
    total = sum(size for size in wanted if size is not None and size >= 0)
    if wanted.count(-1) > 1:
        raise ValueError("size_splits can only have one -1")
    if whole is not None and (total > whole or (-1 not in wanted and total < whole)):
        listed = ",".join(map(str, wanted))
        raise ValueError(f"can't split axis of size {whole} into pieces of size [{listed}]")
    rest = None if whole is None else whole - total
    return [TensorShape.from_sizes((*shape.sizes[:axis], rest if size == -1 else size, *shape.sizes[axis + 1:]))
            for size in wanted]


@split_v_op.kernel(view=True)
def _split_v(value: Any, size_splits: Any, split_dim: Any, *, num_split: int) -> tuple[Any, ...]:
    rank = value.ndim
    if not -rank <= split_dim < rank:
        raise errors.InvalidArgumentError(None, None, f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but "
                                                      f"got {split_dim}")
    sizes = size_splits.tolist()
    if len(sizes) != num_split:
        raise errors.InvalidArgumentError(
            None, None, f"size of the split_tensor must be 1-D and have the same elements as outputs got "
                        f"{size_splits.ndim} -D and {len(sizes)} elements")
    whole = value.shape[split_dim]
    total = sum(size for size in sizes if size >= 0)
    if sizes.count(-1) > 1:
        raise errors.InvalidArgumentError(None, None, "There can only be one -1 in the input.")
    if total > whole or (-1 not in sizes and total != whole) or any(size < -1 for size in sizes):
        raise errors.InvalidArgumentError(
            None, None, f"Determined shape must either match input shape along split_dim exactly if fully specified, "
                        f"or be less than the size of the input along split_dim if not fully specified.  Got: {total}")
    return _parts(value, int(split_dim) % rank, [whole - total if size == -1 else size for size in sizes])


@split_v_op.gradient
def _split_v_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    return [array_ops.concat(list(grads), op.inputs[2]), None, None]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None,
          name: str = "split") -> list[Tensor]:
    """`value` cut along `axis` into that many equal parts, or into parts of the sizes given (one may be -1: the rest).

    `num` tells the number of parts where the shape of the sizes does not.
    """
    sizes = ops.convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer)) or type(num_or_size_splits).__name__ == "Dimension":
        return apply_op("Split", split_dim=axis, num_split=int(num_or_size_splits), value=value, name=name)
    if sizes.shape.ndims == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument "
                         f"provided: {num_or_size_splits}")
    if num is None:
        num = None if sizes.shape.ndims is None else sizes.shape.as_list()[0]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return apply_op("SplitV", value=value, size_splits=sizes, split_dim=axis, num_split=num, name=name)


unpack_op = register_op("Unpack", "value: T -> output: num*T", "num: int >= 0; T: type; axis: int = 0")


@unpack_op.shape
def _unpack_shape(c: ShapeContext) -> list[TensorShape]:
    shape = c.shape(0)
    count, axis = c.attr("num"), c.attr("axis")
    if shape.sizes is None:
        return [UNKNOWN] * count
    with_rank_at_least(shape, 1)
    rank = len(shape.sizes)
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    axis %= rank
    with_size(shape.sizes[axis], count)
    return [TensorShape.from_sizes((*shape.sizes[:axis], *shape.sizes[axis + 1:]))] * count


@unpack_op.kernel(view=True)
def _unpack(value: Any, *, num: int, axis: int) -> tuple[Any, ...]:
    rank = np.ndim(value)
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(None, None, f"axis = {axis} not in [{-rank}, {rank})")
    if value.shape[axis] != num:
        raise errors.InvalidArgumentError(None, None, f"Input shape axis {axis % rank} must equal {num}, got shape "
                                                      f"[{','.join(map(str, value.shape))}]")
    before = (slice(None),) * (axis % rank)
    return tuple(value[(*before, i)] for i in range(num))


@unpack_op.gradient
def _unpack_grad(op: Operation, *grads: Tensor) -> Tensor:
    from tfsandbox.ops import array_ops
    return array_ops.stack(list(grads), axis=op.get_attr("axis"))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices of `value` along `axis`, without that axis. `num` tells their number where the shape does not."""
    if num is None:
        value = ops.convert_to_tensor(value)
        rank = value.shape.ndims
        if rank is not None:
            if not -rank <= axis < rank:
                raise ValueError(f"axis = {axis} not in [{-rank}, {rank})")
            num = value.shape.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.shape}")
    return apply_op("Unpack", value=value, num=num, axis=axis, name=name)
