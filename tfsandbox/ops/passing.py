"""Ops that give their input on: Identity and those that say something about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
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

guarantee_const_op = register_op("GuaranteeConst", "input: T -> output: T", "T: type", stateful=True)
guarantee_const_op.shape(unchanged)
guarantee_const_op.kernel(view=True)(lambda value: value)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, with the promise that its value never changes."""
    return apply_op("GuaranteeConst", input=input, name=name)


ensure_shape_op = register_op("EnsureShape", "input: T -> output: T", "shape: shape; T: type")


@ensure_shape_op.shape
def _ensure_shape_shape(c: ShapeContext) -> TensorShape:
    return merge(c.attr("shape"), c.shape(0))


@ensure_shape_op.kernel(view=True)
def _ensure_shape(value: Any, *, shape: TensorShape) -> Any:
    found = TensorShape(np.shape(value))
    if not shape.is_compatible_with(found):
        raise errors.InvalidArgumentError(None, None, f"Shape of tensor {text(found)} is not compatible with expected "
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


_BIT_TYPES = ("{bfloat16, float16, float32, float64, int64, int32, uint8, uint16, uint32, uint64, int8, int16, "
              "complex64, complex128, qint8, quint8, qint16, quint16, qint32}")
bitcast_op = register_op("Bitcast", "input: T -> output: type",
                         f"T: type in {_BIT_TYPES}; type: type in {_BIT_TYPES}")


@bitcast_op.shape
def _bitcast_shape(c: ShapeContext) -> TensorShape:
    shape, before, after = c.shape(0), c.attr("T").size, c.attr("type").size
    if shape.sizes is None or before == after:
        return shape
    if before > after:
        return TensorShape.from_sizes((*shape.sizes, before // after))
    wanted = after // before
    if not shape.sizes or (shape.sizes[-1] is not None and shape.sizes[-1] != wanted):
        last = shape.sizes[-1] if shape.sizes else 0
        raise ValueError(f"Cannot bitcast due to shape. {last} does not match {wanted}")
    return TensorShape.from_sizes(shape.sizes[:-1])


@bitcast_op.kernel
def _bitcast(value: Any, *, type: dtypes.DType) -> Any:
    value = np.asarray(value)
    before, after = value.dtype.itemsize, np.dtype(type.as_numpy_dtype).itemsize
    if before == after:
        return np.frombuffer(value.tobytes(), type.as_numpy_dtype).reshape(value.shape)
    if before < after:
        if not value.ndim or value.shape[-1] != after // before:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot bitcast from {value.dtype} to {type.name}: the last dimension must be "
                            f"{after // before}")
        return np.frombuffer(value.tobytes(), type.as_numpy_dtype).reshape(value.shape[:-1])
    return np.frombuffer(value.tobytes(), type.as_numpy_dtype).reshape(*value.shape, before // after)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bits of `input` taken as another type; where the sizes differ the last axis is made or used up."""
    return apply_op("Bitcast", input=input, type=type, name=name)
