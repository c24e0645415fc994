"""Ops that send slices of tensors to several places and gather them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge, merge_prefix
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array, text_of_shape

__all__ = ["dynamic_partition", "dynamic_stitch"]

dynamic_partition_op = register_op("DynamicPartition", "data: T, partitions: int32 -> outputs: num_partitions*T",
                                   "num_partitions: int >= 1; T: type")


@dynamic_partition_op.shape
def _dynamic_partition_shape(c: ShapeContext) -> list[TensorShape]:
    count, partitions = c.attr("num_partitions"), c.shape(1)
    if partitions.sizes is None:
        return [UNKNOWN] * count
    data = merge_prefix(c.shape(0), partitions)
    if data.sizes is None:
        return [UNKNOWN] * count
    return [TensorShape.from_sizes((None, *data.sizes[len(partitions.sizes):]))] * count


@dynamic_partition_op.kernel
def _dynamic_partition(data: Any, partitions: Any, *, num_partitions: int) -> tuple[Any, ...]:
    data, partitions = as_array(data), np.asarray(partitions)
    if data.shape[:partitions.ndim] != partitions.shape:
        raise errors.InvalidArgumentError(
            None, None, f"data.shape must start with partitions.shape, got data.shape = {text_of_shape(data)}, "
                        f"partitions.shape = {text_of_shape(partitions)}")
    outside = (partitions < 0) | (partitions >= num_partitions)
    if outside.any():
        bad = tuple(np.argwhere(outside)[0])
        raise errors.InvalidArgumentError(None, None, f"partitions[{','.join(map(str, bad))}] = {partitions[bad]} is "
                                                      f"not in [0, {num_partitions})")
    return tuple(data[partitions == i] for i in range(num_partitions))


@dynamic_partition_op.gradient
def _dynamic_partition_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    data, partitions = op.inputs
    sizes = array_ops.shape(partitions)
    # The places of the slices are partitioned as the slices were; stitching the gradients at them undoes it.
    places = array_ops.reshape(math_ops.range(math_ops.reduce_prod(sizes)), sizes)
    parted = dynamic_partition(places, partitions, op.get_attr("num_partitions"))
    whole = dynamic_stitch(parted, list(grads))
    return [array_ops.reshape(whole, array_ops.shape(data)), None]


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """The slices of `data` sorted into `num_partitions` tensors, each to the one that `partitions` says.

    The shape of `partitions` begins that of `data`. A number outside [0, num_partitions) raises
    `InvalidArgumentError` in a run.
    """
    return apply_op("DynamicPartition", data=data, partitions=partitions, num_partitions=num_partitions, name=name)


_STITCH = ("indices: N*int32, data: N*T -> merged: T", "N: int >= 1; T: type")
dynamic_stitch_op = register_op("DynamicStitch", *_STITCH)
parallel_dynamic_stitch_op = register_op("ParallelDynamicStitch", *_STITCH)


@dynamic_stitch_op.shape
@parallel_dynamic_stitch_op.shape
def _dynamic_stitch_shape(c: ShapeContext) -> TensorShape:
    count = c.attr("N")
    rest, most, known = UNKNOWN, -1, True
    for i in range(count):
        indices, data = c.shape(i), c.shape(count + i)
        if indices.sizes is not None:
            data = merge_prefix(data, indices)
            if data.sizes is not None:
                rest = merge(rest, TensorShape.from_sizes(data.sizes[len(indices.sizes):]))
        value = c.value(i)
        if value is None:
            known = False
        elif np.size(value):
            most = max(most, int(np.max(value)))
    if rest.sizes is None:
        return UNKNOWN
    return TensorShape.from_sizes((most + 1 if known else None, *rest.sizes))


@dynamic_stitch_op.kernel
@parallel_dynamic_stitch_op.kernel
def _dynamic_stitch(indices: list[Any], data: list[Any]) -> Any:
    first = as_array(data[0])
    rest = first.shape[np.ndim(indices[0]):]
    count = 0
    for i, (places, values) in enumerate(zip(indices, data)):
        if np.shape(values)[:np.ndim(places)] != np.shape(places):
            raise errors.InvalidArgumentError(
                None, None, f"data[{i}].shape = {text_of_shape(values)} does not start with indices[{i}].shape = "
                            f"{text_of_shape(places)}")
        if np.shape(values)[np.ndim(places):] != rest:
            raise errors.InvalidArgumentError(
                None, None, f"Need data[0].shape[{np.ndim(indices[0])}:] = data[{i}].shape[{np.ndim(places)}:], got "
                            f"data[0].shape = {text_of_shape(first)}, data[{i}].shape = {text_of_shape(values)}, "
                            f"indices[0].shape = {text_of_shape(indices[0])}, indices[{i}].shape = "
                            f"{text_of_shape(places)}")
        if np.size(places):
            if np.min(places) < 0:
                bad = np.flatnonzero(np.ravel(places) < 0)[0]
                raise errors.InvalidArgumentError(None, None, f"indices[{bad}] is out of range")
            count = max(count, int(np.max(places)) + 1)
    # Rows that no index names are left open by TensorFlow; zeros are as good as any.
    result = np.full((count, *rest), b"", object) if first.dtype == object else np.zeros((count, *rest), first.dtype)
    for places, values in zip(indices, data):
        result[places] = values
    return result


@dynamic_stitch_op.gradient
@parallel_dynamic_stitch_op.gradient
def _dynamic_stitch_grad(op: Operation, grad: Any) -> list[Tensor | None]:
    count = op.get_attr("N")
    if isinstance(grad, IndexedSlices):
        grad = ops.convert_to_tensor(grad)
    return [None] * count + [array_ops.gather(grad, op.inputs[i]) for i in range(count)]


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """One tensor whose row `indices[m][i]` is the slice `data[m][i]`; of a row named twice the last is taken."""
    return apply_op("DynamicStitch", indices=indices, data=data, name=name)


def parallel_dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """As `dynamic_stitch`, where no row may be named twice."""
    return apply_op("ParallelDynamicStitch", indices=indices, data=data, name=name)
