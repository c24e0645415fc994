"""What the gradient of a broadcast binary op needs: along which axes each input was stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, reductions
from tfsandbox.ops.kernel_values import text_of_sizes

__all__: list[str] = []

broadcast_gradient_args_op = register_op(
    "BroadcastGradientArgs", "s0: T, s1: T -> r0: T, r1: T", "T: type in {int32, int64} = int32").no_gradient()


@broadcast_gradient_args_op.shape
def _broadcast_gradient_args_shape(c: Any) -> list[TensorShape]:
    return [TensorShape([None]), TensorShape([None])]


@broadcast_gradient_args_op.kernel
def _broadcast_gradient_args(s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from tfsandbox.framework import errors
    rank = max(len(s0), len(s1))
    left = [1] * (rank - len(s0)) + s0.tolist()
    right = [1] * (rank - len(s1)) + s1.tolist()
    axes: tuple[list[int], list[int]] = ([], [])
    for axis, (m, n) in enumerate(zip(left, right)):
        if m != n and m != 1 and n != 1:
            raise errors.InvalidArgumentError(
                None, None, f"Incompatible shapes: {text_of_sizes(s0)} vs. {text_of_sizes(s1)}")
        # Where both sizes are 1 there is nothing to add up, but both sides count as stretched.
        if m == 1:
            axes[0].append(axis)
        if n == 1:
            axes[1].append(axis)
    return np.array(axes[0], s0.dtype), np.array(axes[1], s1.dtype)


def broadcast_gradient_args(s0: Any, s1: Any, name: str | None = None) -> list[Tensor]:
    """The axes to sum a gradient over for two inputs of shapes `s0` and `s1` that were broadcast together."""
    return apply_op("BroadcastGradientArgs", s0=s0, s1=s1, name=name)


class Unbroadcast:
    """Sums the gradient of a binary op over the axes its inputs were broadcast along, and restores their shapes.

    Call it with the input's number (0 or 1) and the gradient.
    """

    def __init__(self, op: Operation, shapes: tuple[Tensor, Tensor] | None = None) -> None:
        self._shapes = shapes or (array_ops.shape(op.inputs[0]), array_ops.shape(op.inputs[1]))
        self._axes = broadcast_gradient_args(*self._shapes)

    def __call__(self, index: int, grad: Tensor) -> Tensor:
        return array_ops.reshape(reductions.reduce_sum(grad, self._axes[index]), self._shapes[index])


class StaticUnbroadcast:
    """As `Unbroadcast`, for the ops whose gradients TensorFlow 1.15 keeps short: where all shapes are known while the
    graph is built, an input that was not stretched needs no nodes, and the axes of the others are constants.
    """

    def __init__(self, op: Operation, grad: Tensor) -> None:
        x, y = op.inputs[0], op.inputs[1]
        self._needed = (True, True)
        self._shapes: Sequence[Any]
        self._axes: Sequence[Any]
        if not isinstance(grad, Tensor):  # IndexedSlices
            self._shapes = (array_ops.shape(x), array_ops.shape(y))
            self._axes = broadcast_gradient_args(*self._shapes)
        elif all(t.shape.is_fully_defined() for t in (x, y, grad)):
            left, right, result = (tuple(t.shape.as_list()) for t in (x, y, grad))
            self._needed = (left != result, right != result)
            self._shapes = (left, right)
            self._axes = _static_axes(op.graph, left, right)
        else:
            self._shapes = (array_ops.shape_internal(x, optimize=False), array_ops.shape_internal(y, optimize=False))
            self._axes = broadcast_gradient_args(*self._shapes)

    def __call__(self, index: int, grad: Tensor) -> Tensor:
        if not self._needed[index]:
            return grad
        return array_ops.reshape(reductions.reduce_sum(grad, self._axes[index]), self._shapes[index])


def _static_axes(graph: Any, left: tuple[int | None, ...],
                 right: tuple[int | None, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The axes as arrays. The node is made once for a pair of shapes in a graph."""
    cache = graph._caches.setdefault("broadcast_gradient_args", {})
    found = cache.get((left, right))
    if found is None:
        nodes = broadcast_gradient_args(np.array(left, np.int32), np.array(right, np.int32))
        values = [shape_inference.constant_value(node) for node in nodes]
        assert values[0] is not None and values[1] is not None
        found = cache[left, right] = (values[0], values[1])
    return found


def same_static_shapes(*tensors: Tensor) -> bool:
    """Whether all shapes are known while the graph is built, and equal."""
    first = tensors[0].shape
    return all(t.shape.is_fully_defined() and t.shape.as_list() == first.as_list() for t in tensors) \
        if first.ndims is not None else False
