"""The gradient of a concatenation: the parts of a dense gradient, or of IndexedSlices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import tensor_util
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops
from tfsandbox.ops.control_flow_context import output_context

MANY = 16
"""More parts than this are cut by one split instead of a slice each."""


def parts(grad: Any, values: Sequence[Tensor], axis: Tensor) -> list[Any]:
    """The gradient with respect to each of the concatenated `values`."""
    if len(values) == 1:
        return [grad]
    if isinstance(grad, IndexedSlices):
        return _sparse_parts(grad, values, axis)
    place = _here(axis, grad) % array_ops.rank(values[0])
    sizes = _shapes(values)
    if len(sizes) > MANY:
        along = array_ops.squeeze(array_ops.slice(array_ops.stack(sizes, axis=1), [place, 0], [1, -1]))
        return array_ops.split(grad, along, place)
    offsets = array_ops.concat_offset(place, sizes)
    return [array_ops.slice(grad, begin, size) for begin, size in zip(offsets, sizes)]


def _here(axis: Tensor, grad: Tensor) -> Tensor:
    """The axis; a constant of a branch or loop that the gradient is not in is made again."""
    if axis.op.type != "Const" or output_context(axis.op) is output_context(grad.op):
        return axis
    return constant(tensor_util.constant_value(axis), dtype=axis.dtype)


def _shapes(values: Sequence[Tensor]) -> list[Tensor]:
    sizes = []
    for value in values:
        sizes.append(array_ops.shape(value))
        if sizes[-1].op.type != "Const":
            return array_ops.shape_n(values)
    return sizes


def _sparse_parts(grad: IndexedSlices, values: Sequence[Tensor], axis: Tensor) -> list[IndexedSlices]:
    static = tensor_util.constant_value(axis)
    if static is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if static < 0:
        rank = values[0].shape.ndims
        if rank is None:
            raise ValueError("Can only compute IndexedSlices gradient with negative concat_dim when first value rank "
                             "is statically-known.")
        static = static % rank
    place = axis % array_ops.rank(values[0])
    sizes = [array_ops.shape(value) for value in values]
    return _rows_split(grad, sizes, place) if static == 0 else _columns_split(grad, sizes, place)


def _columns_split(grad: IndexedSlices, sizes: list[Tensor], place: Tensor) -> list[IndexedSlices]:
    """Joined along a later axis, every part has all the rows: their values are cut."""
    from tfsandbox.ops import math_ops
    length = array_ops.shape(sizes[0])
    mask = array_ops.concat([
        array_ops.fill(array_ops.expand_dims(place, 0), 0), [1],
        array_ops.fill(length - place - 1, 0)], 0)
    begin = array_ops.fill(length, 0)
    found = []
    for size in sizes:
        block = array_ops.slice(grad.values, begin, array_ops.concat([[-1], array_ops.slice(size, [1], [-1])], 0))
        found.append(IndexedSlices(block, grad.indices, size))
        begin = math_ops.add(begin, size * mask)
    return found


def _rows_split(grad: IndexedSlices, sizes: list[Tensor], place: Tensor) -> list[IndexedSlices]:
    """Joined along the first axis, every part has the rows whose index lies in it."""
    from tfsandbox.ops import math_ops
    start = constant(0, dtype=grad.indices.dtype)
    found = []
    for size in sizes:
        count = array_ops.gather(size, place)
        if count.dtype != grad.indices.dtype:
            count = math_ops.cast(count, dtype=grad.indices.dtype)
        end = start + count
        chosen = array_ops.squeeze(array_ops.where(
            math_ops.logical_and(grad.indices >= start, grad.indices < end)), squeeze_dims=[1])
        indices = array_ops.gather(grad.indices, chosen) - start
        found.append(IndexedSlices(array_ops.gather(grad.values, chosen), indices, size))
        start = end
    return found
