"""Ops that give their input on: Identity and those that say something about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext, unchanged
from tfsandbox.framework.shape_rules import merge, text
from tfsandbox.framework.tensor_shape import TensorShape

identity_op = register_op("Identity", "input: T -> output: T", "T: type")
identity_op.shape(unchanged)
identity_op.kernel(view=True)(lambda value: value)


@identity_op.gradient
def _identity_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the same shape and values as `input`; of a variable, its value."""
    return apply_op("Identity", input=input, name=name)


identity_n_op = register_op("IdentityN", "input: T -> output: T", "T: list(type) >= 1")


@identity_n_op.shape
def _identity_n_shape(c: ShapeContext) -> list[TensorShape]:
    return [c.shape(i) for i in range(c.num_inputs)]


@identity_n_op.kernel(view=True)
def _identity_n(values: list[Any]) -> tuple[Any, ...]:
    return tuple(values)


@identity_n_op.gradient
def _identity_n_grad(op: Operation, *grads: Tensor) -> Sequence[Tensor]:
    return grads


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Tensors with the same shapes and values as those of the list `input`, as one node."""
    return apply_op("IdentityN", input=input, name=name)


stop_gradient_op = register_op("StopGradient", "input: T -> output: T", "T: type").no_gradient()
stop_gradient_op.shape(unchanged)
stop_gradient_op.kernel(view=True)(lambda value: value)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input`, taken as a constant by `tf.gradients`."""
    return apply_op("StopGradient", input=input, name=name)


prevent_gradient_op = register_op("PreventGradient", "input: T -> output: T", "T: type; message: string = ''")
prevent_gradient_op.shape(unchanged)
prevent_gradient_op.kernel(view=True)(lambda value: value)


@prevent_gradient_op.gradient
def _prevent_gradient_grad(op: Operation, grad: Tensor) -> None:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')!r}")


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """`input`; asking for a gradient through it raises `LookupError` with `message`."""
    return apply_op("PreventGradient", input=input, message=message, name=name)


snapshot_op = register_op("Snapshot", "input: T -> output: T", "T: type")
snapshot_op.shape(unchanged)
snapshot_op.kernel(lambda value: np.array(value))

deep_copy_op = register_op("DeepCopy", "x: T -> y: T", "T: type", stateful=True)
deep_copy_op.shape(unchanged)
deep_copy_op.kernel(lambda value: np.array(value))

guarantee_const_op = register_op("GuaranteeConst", "input: T -> output: T", "T: type", stateful=True).no_gradient()
guarantee_const_op.shape(unchanged)
guarantee_const_op.kernel(view=True)(lambda value: value)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, with the promise that its value never changes."""
    return apply_op("GuaranteeConst", input=input, name=name)


ensure_shape_op = register_op("EnsureShape", "input: T -> output: T", "shape: shape; T: type")


@ensure_shape_op.shape
def _ensure_shape_shape(c: ShapeContext) -> TensorShape:
    return merge(c.shape(0), c.attr("shape"))


@ensure_shape_op.kernel(view=True)
def _ensure_shape(value: Any, *, shape: TensorShape) -> Any:
    found = TensorShape(np.shape(value))
    if not shape.is_compatible_with(found):
        raise errors.InvalidArgumentError(None, None, f"Shape of tensor  {text(found)} is not compatible with expected "
                                                      f"shape {text(shape)}.")
    return value


@ensure_shape_op.gradient
def _ensure_shape_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x` with the static shape merged with `shape`; a run in which `x` has another raises `InvalidArgumentError`."""
    if not isinstance(shape, TensorShape):
        shape = TensorShape(shape)
    return apply_op("EnsureShape", input=x, shape=shape, name=name)
