"""Functions of one argument, element by element: powers, exponentials, logarithms, signs, rounding, sigmoid, tanh."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, complex_ops

__all__ = [
    "abs", "ceil", "exp", "expm1", "floor", "log", "log1p", "log_sigmoid", "negative", "reciprocal", "rint", "round",
    "rsqrt", "sigmoid", "sign", "sqrt", "square", "tanh",
]

FLOATS = "bfloat16, float16, float32, float64"
FLOATS_AND_COMPLEX = f"{FLOATS}, complex64, complex128"
NUMBERS = f"{FLOATS}, int32, int64, complex64, complex128"


def unary(name: str, types: str = FLOATS_AND_COMPLEX) -> OpDef:
    """Register an op of one argument whose result has the argument's type and shape."""
    op_def = register_op(name, "x: T -> y: T", f"T: type in {{{types}}}")
    op_def.shape(shape_inference.unchanged)
    return op_def


def grad_op(name: str, types: str = FLOATS_AND_COMPLEX) -> OpDef:
    """Register the op that computes a gradient from the result `y` and its gradient `dy`."""
    op_def = register_op(name, "y: T, dy: T -> z: T", f"T: type in {{{types}}}")
    op_def.shape(shape_inference.merged)
    return op_def


def apply_unary(op_type: str, x: Any, name: str | None) -> Any:
    """Apply an op to a tensor, or to the values of a SparseTensor (for functions with f(0) = 0)."""
    if isinstance(x, SparseTensor):
        use_up_name(name or op_type)
        return SparseTensor(x.indices, apply_op(op_type, x=x.values, name=name), x.dense_shape)
    return apply_op(op_type, x=x, name=name)


def use_up_name(name: str) -> None:
    """TensorFlow tries an op on the SparseTensor itself first: the name is taken when it comes to the values."""
    with ops.name_scope(name):
        pass


def of_arrays(node: Any) -> bool:
    """Whether the inputs of a step are arrays of the usual floats: beside these, a Python number keeps their type."""
    rank = node.shape(0).ndims
    return rank is not None and rank > 0 and node.dtype(0).name in ("float32", "float64")


def _number(x: Any, value: float) -> Any:
    """A Python number in the type of an array: numpy 1 makes float64 of a float32 scalar and a Python number."""
    return x.dtype.type(value)


# ------------------------------------------------------------ signs

abs_op = unary("Abs", f"{FLOATS}, int8, int16, int32, int64").ufunc(np.absolute)


@abs_op.gradient
def _abs_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad * sign(op.inputs[0])]


def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers too, as a real tensor. A SparseTensor stays sparse."""
    if isinstance(x, SparseTensor):
        use_up_name(name or "Abs")
        return SparseTensor(x.indices, abs(x.values, name=name), x.dense_shape)
    with ops.name_scope(name, "Abs", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return apply_op("ComplexAbs", x=x, Tout=x.dtype.real_dtype, name=name)
        return apply_op("Abs", x=x, name=name)


neg_op = unary("Neg", NUMBERS).ufunc(np.negative, "-")


@neg_op.gradient
def _neg_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [-grad]


def negative(x: Any, name: str | None = None) -> Any:
    """-x."""
    return apply_unary("Neg", x, name)


neg = negative

sign_op = unary("Sign", NUMBERS)


@sign_op.kernel
def _sign(x: Any) -> Any:
    if x.dtype.kind != "c":
        # np.sign would keep nan; here it becomes 0.
        return np.subtract(x > 0, x < 0, dtype=x.dtype)
    size = np.absolute(x)
    return np.where(size == 0, _number(x, 0), x / np.where(size == 0, _number(size, 1), size))


@sign_op.emit
def _sign_emit(node: Any) -> str | None:
    name = node.dtype(0).name
    return f"np.subtract({{0}} > 0, {{0}} < 0, dtype=np.{name})" if name in ("float32", "float64") else None


@sign_op.gradient
def _sign_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x = op.inputs[0]
    return [array_ops.zeros(array_ops.shape(x), dtype=x.dtype)]


def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1; for complex numbers x / |x|, and 0 at 0."""
    return apply_unary("Sign", x, name)


# ------------------------------------------------------------ powers

reciprocal_op = unary("Reciprocal", NUMBERS).ufunc(np.reciprocal)
inv_op = unary("Inv", NUMBERS).ufunc(np.reciprocal)
reciprocal_grad_op = grad_op("ReciprocalGrad")
inv_grad_op = grad_op("InvGrad")


@reciprocal_grad_op.kernel
@inv_grad_op.kernel
def _reciprocal_grad_kernel(y: Any, dy: Any) -> Any:
    y = np.conjugate(y)
    return -dy * y * y


@reciprocal_grad_op.emit
@inv_grad_op.emit
def _reciprocal_grad_emit(node: Any) -> str | None:
    return "-{1} * {0} * {0}" if of_arrays(node) else None


@reciprocal_op.gradient
@inv_op.gradient
def _reciprocal_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [apply_op("ReciprocalGrad", y=op.outputs[0], dy=grad)]


@reciprocal_grad_op.gradient
@inv_grad_op.gradient
def _reciprocal_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    dy = op.inputs[1]
    with ops.control_dependencies([grad]):
        y, cotangent = complex_ops.conj(op.inputs[0]), complex_ops.conj(grad)
        return [cotangent * -2.0 * dy * y, apply_op("ReciprocalGrad", y=y, dy=grad)]


def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """1 / x."""
    return apply_op("Reciprocal", x=x, name=name)


square_op = unary("Square", NUMBERS).ufunc(np.square)


@square_op.gradient
def _square_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    from tfsandbox.ops import binary_ops
    x = op.inputs[0]
    # The control dependency keeps x from being needed before its gradient is.
    with ops.control_dependencies([grad]):
        x = complex_ops.conj(x)
        two = constant_op.constant(2.0, dtype=x.dtype)
        return [binary_ops.multiply(grad, binary_ops.multiply(x, two))]


def square(x: Any, name: str | None = None) -> Any:
    """x * x."""
    return apply_unary("Square", x, name)


sqrt_op = unary("Sqrt").ufunc(np.sqrt)
sqrt_grad_op = grad_op("SqrtGrad")


@sqrt_grad_op.kernel
def _sqrt_grad_kernel(y: Any, dy: Any) -> Any:
    return _number(y, 0.5) * dy / np.conjugate(y)


@sqrt_grad_op.emit
def _sqrt_grad_emit(node: Any) -> str | None:
    return "0.5 * {1} / {0}" if of_arrays(node) else None


@sqrt_op.gradient
def _sqrt_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [apply_op("SqrtGrad", y=op.outputs[0], dy=grad)]


@sqrt_grad_op.gradient
def _sqrt_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    z = op.outputs[0]
    with ops.control_dependencies([grad]):
        quotient = grad / op.inputs[0]
        return [-complex_ops.conj(quotient) * z, 0.5 * quotient]


def sqrt(x: Any, name: str | None = None) -> Any:
    """The square root; nan where x < 0."""
    return apply_unary("Sqrt", x, name)


rsqrt_op = unary("Rsqrt")
rsqrt_grad_op = grad_op("RsqrtGrad")


@rsqrt_op.kernel
def _rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


@rsqrt_op.emit
def _rsqrt_emit(node: Any) -> str:
    return "np.reciprocal(np.sqrt({0}))"


@rsqrt_grad_op.kernel
def _rsqrt_grad_kernel(y: Any, dy: Any) -> Any:
    y = np.conjugate(y)
    return _number(y, -0.5) * dy * (y * y * y)


@rsqrt_op.gradient
def _rsqrt_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [apply_op("RsqrtGrad", y=op.outputs[0], dy=grad)]


@rsqrt_grad_op.gradient
def _rsqrt_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    dy = op.inputs[1]
    with ops.control_dependencies([grad]):
        y, cotangent = complex_ops.conj(op.inputs[0]), complex_ops.conj(grad)
        first = -1.5 * cotangent * dy * square(y)
        return [first, apply_op("RsqrtGrad", y=y, dy=grad)]


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """1 / sqrt(x)."""
    return apply_op("Rsqrt", x=x, name=name)


# ------------------------------------------------------------ exponentials and logarithms

exp_op = unary("Exp").ufunc(np.exp)


@exp_op.gradient
def _exp_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * complex_ops.conj(op.outputs[0])]


def exp(x: Any, name: str | None = None) -> Tensor:
    """e to the power of x."""
    return apply_op("Exp", x=x, name=name)


expm1_op = unary("Expm1").ufunc(np.expm1)


@expm1_op.gradient
def _expm1_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * exp(complex_ops.conj(op.inputs[0]))]


def expm1(x: Any, name: str | None = None) -> Tensor:
    """exp(x) - 1, exact near 0."""
    return apply_op("Expm1", x=x, name=name)


log_op = unary("Log").ufunc(np.log)


@log_op.gradient
def _log_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * reciprocal(complex_ops.conj(op.inputs[0]))]


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm; -inf at 0, nan below."""
    return apply_op("Log", x=x, name=name)


log1p_op = unary("Log1p").ufunc(np.log1p)


@log1p_op.gradient
def _log1p_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * reciprocal(1 + complex_ops.conj(op.inputs[0]))]


def log1p(x: Any, name: str | None = None) -> Tensor:
    """log(1 + x), exact near 0."""
    return apply_op("Log1p", x=x, name=name)


# ------------------------------------------------------------ sigmoid and tanh

sigmoid_op = unary("Sigmoid")
sigmoid_grad_op = grad_op("SigmoidGrad")


@sigmoid_op.kernel
def _sigmoid(x: Any) -> Any:
    one = _number(x, 1)
    return one / (one + np.exp(-x))


@sigmoid_grad_op.kernel
def _sigmoid_grad_kernel(y: Any, dy: Any) -> Any:
    return dy * y * (_number(y, 1) - y)


@sigmoid_op.emit
def _sigmoid_emit(node: Any) -> str | None:
    return "1 / (1 + np.exp(-{0}))" if of_arrays(node) else None


@sigmoid_grad_op.emit
def _sigmoid_grad_emit(node: Any) -> str | None:
    return "{1} * {0} * (1 - {0})" if of_arrays(node) else None


@sigmoid_op.gradient
def _sigmoid_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [apply_op("SigmoidGrad", y=complex_ops.conj(op.outputs[0]), dy=grad)]


@sigmoid_grad_op.gradient
def _sigmoid_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        y, dy = complex_ops.conj(op.inputs[0]), complex_ops.conj(op.inputs[1])
        product = grad * dy
        return [product - 2.0 * product * y, apply_op("SigmoidGrad", y=y, dy=grad)]


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x))."""
    with ops.name_scope(name, "Sigmoid", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return apply_op("Sigmoid", x=x, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), computed as -softplus(-x)."""
    from tfsandbox.ops import nn_ops
    with ops.name_scope(name, "LogSigmoid", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return negative(nn_ops.softplus(-x), name=name)


tanh_op = unary("Tanh").ufunc(np.tanh)
tanh_grad_op = grad_op("TanhGrad")


@tanh_grad_op.kernel
def _tanh_grad_kernel(y: Any, dy: Any) -> Any:
    return dy * (_number(y, 1) - y * y)


@tanh_grad_op.emit
def _tanh_grad_emit(node: Any) -> str | None:
    return "{1} * (1 - {0} * {0})" if of_arrays(node) else None


@tanh_op.gradient
def _tanh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [apply_op("TanhGrad", y=complex_ops.conj(op.outputs[0]), dy=grad)]


@tanh_grad_op.gradient
def _tanh_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        y, dy = complex_ops.conj(op.inputs[0]), complex_ops.conj(op.inputs[1])
        return [grad * -2.0 * dy * y, apply_op("TanhGrad", y=y, dy=grad)]


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent."""
    return apply_unary("Tanh", x, name)


# ------------------------------------------------------------ rounding

floor_op = unary("Floor", FLOATS).ufunc(np.floor).no_gradient()
ceil_op = unary("Ceil", FLOATS).ufunc(np.ceil).no_gradient()
rint_op = unary("Rint", FLOATS).ufunc(np.rint).no_gradient()
round_op = unary("Round", NUMBERS).no_gradient()


@round_op.kernel
def _round(x: Any) -> Any:
    return np.array(x) if x.dtype.kind in "iu" else np.rint(x)


def floor(x: Any, name: str | None = None) -> Tensor:
    """The largest whole number that is not above x, as a float."""
    return apply_op("Floor", x=x, name=name)


def ceil(x: Any, name: str | None = None) -> Tensor:
    """The smallest whole number that is not below x, as a float."""
    return apply_op("Ceil", x=x, name=name)


def rint(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, halves to even, as a float."""
    return apply_op("Rint", x=x, name=name)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, halves to even; an integer tensor is given back as it is."""
    x = ops.convert_to_tensor(x, name="x")
    if x.dtype.is_integer:
        return x
    return apply_op("Round", x=x, name=name)
