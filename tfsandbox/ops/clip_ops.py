"""Clipping of values and of norms, mostly for gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes, ops
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, casts, comparison_ops, elementwise, nn_ops, reductions, sequences
from tfsandbox.ops.broadcasting import broadcast_gradient_args

__all__ = ["clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]

clip_by_value_op = register_op("ClipByValue", "t: T, clip_value_min: T, clip_value_max: T -> output: T",
                               "T: type in {numbertype}")


@clip_by_value_op.shape
def _clip_by_value_shape(c: Any) -> TensorShape:
    return c.shape(0)


@clip_by_value_op.kernel
def _clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min)


@clip_by_value_op.gradient
def _clip_by_value_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    t, low, high = op.inputs
    shapes = [array_ops.shape(x) for x in (t, low, high)]
    zeros = array_ops.zeros(array_ops.shape(grad), grad.dtype)
    below, above = comparison_ops.less(t, low), comparison_ops.greater(t, high)
    _, low_axes = broadcast_gradient_args(shapes[0], shapes[1])
    _, high_axes = broadcast_gradient_args(shapes[0], shapes[2])
    of_t = array_ops.where(comparison_ops.logical_or(below, above), zeros, grad)
    of_low, of_high = array_ops.where(below, grad, zeros), array_ops.where(above, grad, zeros)
    return [of_t, array_ops.reshape(reductions.reduce_sum(of_low, low_axes), shapes[1]),
            array_ops.reshape(reductions.reduce_sum(of_high, high_axes), shapes[2])]


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """t with its elements brought between the limits, which may be tensors broadcast to its shape."""
    with ops.name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t)
        bounded = binary_ops.minimum(values, clip_value_max)
        # The limits may be broadcast, the result may not be.
        _check_shape(values, bounded)
        result = binary_ops.maximum(bounded, clip_value_min, name=name)
        _check_shape(values, result)
        return _like(t, result)


def _values(t: Any) -> Tensor:
    return ops.convert_to_tensor(t.values if isinstance(t, ops.IndexedSlices) else t, name="t")


def _like(t: Any, values: Tensor) -> Any:
    return ops.IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, ops.IndexedSlices) else values


def _check_shape(values: Tensor, result: Tensor) -> None:
    values.shape.assert_is_compatible_with(result.shape)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t scaled so that its L2 norm, over all axes or over `axes`, is at most `clip_norm`."""
    with ops.name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t)
        squares = reductions.reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # The square root has no gradient at 0: it is taken of 1 there.
        safe = array_ops.where(positive, squares, array_ops.ones_like(squares))
        norm = array_ops.where(positive, elementwise.sqrt(safe), squares)
        scaled = values * clip_norm
        _check_shape(values, scaled)
        clipped = array_ops.identity(scaled / binary_ops.maximum(norm, clip_norm), name=name)
        return _like(t, clipped)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """t scaled so that its L2 norm divided by its number of elements is at most `clip_norm`."""
    with ops.name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = ops.convert_to_tensor(t, name="t")
        count = casts.cast(array_ops.size(t), dtypes.float32)
        inverse_norm = elementwise.rsqrt(reductions.reduce_sum(t * t, sequences.range(array_ops.rank(t))))
        scaled = t * clip_norm
        factor = binary_ops.minimum(inverse_norm * count, constant_op.constant(1.0) / clip_norm)
        return array_ops.identity(scaled * factor, name=name)


def _checked_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _parts(t_list: list[Any]) -> list[Tensor | None]:
    return [None if t is None else ops.convert_to_tensor(t.values if isinstance(t, ops.IndexedSlices) else t,
                                                         name=f"t_{i}") for i, t in enumerate(t_list)]


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The L2 norm of all tensors of a list together; None entries do not count. `TypeError` for what is no list."""
    t_list = _checked_list(t_list)
    with ops.name_scope(name, "global_norm", t_list):
        halves = []
        for part in _parts(t_list):
            if part is not None:
                with ops.colocate_with(part):
                    halves.append(nn_ops.l2_loss(part))
        half = reductions.reduce_sum(array_ops.stack(halves))
        return elementwise.sqrt(half * constant_op.constant(2.0, dtype=half.dtype), name="global_norm")


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None,
                        name: str | None = None) -> tuple[list[Any], Tensor]:
    """The tensors of a list, all scaled alike so that their global norm is at most `clip_norm`, and that norm.

    `use_norm` is a norm that is already computed. A norm that is not finite makes every tensor nan. None entries stay
    None. `TypeError` for what is no list.
    """
    t_list = _checked_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with ops.name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as name:
        limit = constant_op.constant(1.0, dtype=use_norm.dtype)
        scale = clip_norm * binary_ops.minimum(1.0 / use_norm, limit / clip_norm)
        scale = array_ops.where(comparison_ops.is_finite(use_norm), scale,
                                constant_op.constant(float("nan"), dtype=use_norm.dtype))
        clipped: list[Any] = []
        for i, (t, part) in enumerate(zip(t_list, _parts(t_list))):
            if part is None:
                clipped.append(None)
                continue
            with ops.colocate_with(part):
                clipped.append(_like(t, array_ops.identity(part * scale, name=f"{name}_{i}")))
    return clipped, use_norm
