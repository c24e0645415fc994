"""Ops that put slices at places: scatter_nd and the updates of a tensor's copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge, text, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.gathering import check_nd_indices
from tfsandbox.ops.kernel_values import as_array, text_of_shape

_INDICES = "Tindices: type in {int32, int64}"

scatter_nd_op = register_op("ScatterNd", "indices: Tindices, updates: T, shape: Tindices -> output: T",
                            f"T: type; {_INDICES}")
scatter_nd_add_op = register_op("ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T -> output: T",
                                f"T: type in {{numbertype, bool}}; {_INDICES}")
tensor_update_op = register_op("TensorScatterUpdate", "tensor: T, indices: Tindices, updates: T -> output: T",
                               f"T: type; {_INDICES}")
tensor_add_op = register_op("TensorScatterAdd", "tensor: T, indices: Tindices, updates: T -> output: T",
                            f"T: type; {_INDICES}")
tensor_sub_op = register_op("TensorScatterSub", "tensor: T, indices: Tindices, updates: T -> output: T",
                            f"T: type; {_INDICES}")


def scattered_shape(indices: TensorShape, updates: TensorShape, output: TensorShape) -> TensorShape:
    """The shape of a tensor in which `updates` are put at `indices`; `ValueError` where the three do not fit."""
    if indices.sizes is None or updates.sizes is None or output.sizes is None:
        return output
    outer = len(indices.sizes) - 1
    depth = indices.sizes[-1] if indices.sizes else 1
    head, tail = TensorShape.from_sizes(indices.sizes[:-1]), TensorShape.from_sizes(updates.sizes[:outer])
    try:
        merge(head, tail)
    except ValueError as error:
        raise ValueError(f"The outer {outer} dimensions of indices.shape={text(indices)} must match the outer {outer} "
                         f"dimensions of updates.shape={text(updates)}: {error}") from None
    if depth is None:
        return output
    inner = len(updates.sizes) - outer
    try:
        merge(TensorShape.from_sizes(output.sizes[depth:]), TensorShape.from_sizes(updates.sizes[outer:]))
    except ValueError as error:
        raise ValueError(f"The inner {len(output.sizes) - depth} dimensions of output.shape={text(output)} must match "
                         f"the inner {inner} dimensions of updates.shape={text(updates)}: {error}") from None
    return output


@scatter_nd_op.shape
def _scatter_nd_shape(c: ShapeContext) -> TensorShape:
    indices, updates = with_rank_at_least(c.shape(0), 1), with_rank_at_least(c.shape(1), 1)
    return scattered_shape(indices, updates, c.value_as_shape(2))


@scatter_nd_add_op.shape
@tensor_update_op.shape
@tensor_add_op.shape
@tensor_sub_op.shape
def _tensor_scatter_shape(c: ShapeContext) -> TensorShape:
    output = with_rank_at_least(c.shape(0), 1)
    indices, updates = with_rank_at_least(c.shape(1), 1), with_rank_at_least(c.shape(2), 1)
    return scattered_shape(indices, updates, output)


def place_of(target: np.ndarray, indices: Any, updates: Any) -> tuple[Any, ...]:
    """The numpy index at which `updates` go into `target`; `InvalidArgumentError` where they do not fit."""
    if not np.ndim(updates):
        raise errors.InvalidArgumentError(None, None, f"Updates shape must have rank at least one. Found:"
                                                      f"{text_of_shape(updates)}")
    if np.ndim(indices) < 1:
        raise errors.InvalidArgumentError(None, None, f"Indices shape must have rank at least one. Found:"
                                                      f"{text_of_shape(indices)}")
    outer, depth = indices.shape[:-1], indices.shape[-1]
    if np.ndim(indices) == 1 and updates.shape[0] != indices.shape[0]:
        raise errors.InvalidArgumentError(
            None, None, f"The outermost dimension of updates and indices must match. Got indices.shape "
                        f"{text_of_shape(indices)}, updates.shape {text_of_shape(updates)}")
    if updates.shape[:len(outer)] != outer:
        raise errors.InvalidArgumentError(
            None, None, f"Outer dimensions of indices and update must match. Indices shape: {text_of_shape(indices)}, "
                        f"updates shape:{text_of_shape(updates)}")
    inner = updates.shape[len(outer):]
    if len(target.shape[depth:]) != len(inner) or depth > target.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"Inner dimensions of output shape must match inner dimensions of updates shape. Output: "
                        f"{text_of_shape(target)} updates: {text_of_shape(updates)}")
    if target.shape[depth:] != inner:
        raise errors.InvalidArgumentError(
            None, None, f"The inner {len(inner)} dimensions of output.shape={text_of_shape(target)} must match the "
                        f"inner {len(inner)} dimensions of updates.shape={text_of_shape(updates)}")
    check_nd_indices(indices, target.shape, "shape")
    return tuple(indices[..., i] for i in range(depth))


def add_at(target: np.ndarray, indices: Any, updates: Any) -> None:
    """Add `updates` into `target` at `indices`; what goes to one place is added up in order."""
    place = place_of(target, indices, updates)
    if target.dtype == bool:
        np.logical_or.at(target, place, updates)
    elif place:
        np.add.at(target, place, updates)
    else:
        np.add(target, np.add.reduce(updates.reshape(-1, *target.shape), axis=0), out=target)


@scatter_nd_op.kernel
def _scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    if np.ndim(updates) < 1:
        place_of(np.zeros(shape), indices, updates)
    result = np.zeros(shape, updates.dtype)
    add_at(result, indices, updates)
    return result


@scatter_nd_add_op.kernel
@tensor_add_op.kernel
def _tensor_scatter_add(tensor: Any, indices: Any, updates: Any) -> Any:
    result = np.array(tensor)
    add_at(result, indices, updates)
    return result


@tensor_sub_op.kernel
def _tensor_scatter_sub(tensor: Any, indices: Any, updates: Any) -> Any:
    result = np.array(tensor)
    np.subtract.at(result, place_of(result, indices, updates), updates)
    return result


@tensor_update_op.kernel
def _tensor_scatter_update(tensor: Any, indices: Any, updates: Any) -> Any:
    result = np.array(as_array(tensor))
    result[place_of(result, indices, updates)] = updates
    return result


@scatter_nd_op.gradient
def _scatter_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, array_ops.gather_nd(grad, op.inputs[0]), None]


@scatter_nd_add_op.gradient
def _scatter_nd_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [grad, None, array_ops.gather_nd(grad, op.inputs[1])]


@tensor_update_op.gradient
def _tensor_update_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    indices = op.inputs[1]
    placed = array_ops.gather_nd(grad, indices)
    kept = tensor_scatter_update(array_ops.identity(grad), indices,
                                 array_ops.zeros_like(op.inputs[2], dtype=grad.dtype))
    return [kept, None, placed]


@tensor_add_op.gradient
def _tensor_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    placed = array_ops.gather_nd(grad, op.inputs[1])
    return [array_ops.identity(grad), None, placed]


@tensor_sub_op.gradient
def _tensor_sub_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    placed = array_ops.gather_nd(grad, op.inputs[1])
    return [array_ops.identity(grad), None, -placed]


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of that shape with `updates` added at the index vectors along the last axis of `indices`."""
    return apply_op("ScatterNd", indices=indices, updates=updates, shape=shape, name=name)


def tensor_scatter_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` in place of what was at `indices`."""
    return apply_op("TensorScatterUpdate", tensor=tensor, indices=indices, updates=updates, name=name)


def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` added at `indices`."""
    return apply_op("TensorScatterAdd", tensor=tensor, indices=indices, updates=updates, name=name)


def tensor_scatter_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """A copy of `tensor` with `updates` subtracted at `indices`."""
    return apply_op("TensorScatterSub", tensor=tensor, indices=indices, updates=updates, name=name)


tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
