"""Arithmetic of two arguments, with broadcasting: add, subtract, multiply, divide, power, minimum, maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, casts, comparison_ops, complex_ops, elementwise
from tfsandbox.ops.broadcasting import StaticUnbroadcast, Unbroadcast, same_static_shapes

__all__ = [
    "add", "atan2", "div", "divide", "floor_div", "floordiv", "floormod", "maximum", "minimum", "mod",
    "multiply", "pow", "realdiv", "scalar_mul", "squared_difference", "subtract", "truediv", "truncatediv",
    "truncatemod",
]

REALS = "bfloat16, float16, float32, float64"
COMPLEX = "complex64, complex128"
ARITHMETIC = f"{REALS}, uint8, int8, uint16, int16, int32, int64, {COMPLEX}"


def binary(name: str, types: str, **flags: bool) -> OpDef:
    op_def = register_op(name, "x: T, y: T -> z: T", f"T: type in {{{types}}}", **flags)
    op_def.shape(shape_inference.broadcast)
    return op_def


# ------------------------------------------------------------ Add, Sub, Mul

add_op = binary("Add", f"{REALS}, uint8, int8, int16, int32, int64, {COMPLEX}, string").ufunc(np.add, "+")
add_v2_op = binary("AddV2", f"{REALS}, uint8, int8, int16, int32, int64, {COMPLEX}",
                    commutative=True, aggregate=True).ufunc(np.add, "+")


@add_op.gradient
@add_v2_op.gradient
def _add_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    if same_static_shapes(op.inputs[0], op.inputs[1], grad):
        return [grad, grad]
    unbroadcast = StaticUnbroadcast(op, grad)
    return [unbroadcast(0, grad), unbroadcast(1, grad)]


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y; strings are joined. The operator `+` builds the newer AddV2."""
    return apply_op("Add", x=x, y=y, name=name)


def add_v2(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y, the node that `+` builds."""
    return apply_op("AddV2", x=x, y=y, name=name)


sub_op = binary("Sub", ARITHMETIC).ufunc(np.subtract, "-")


@sub_op.gradient
def _sub_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    if same_static_shapes(op.inputs[0], op.inputs[1], grad):
        return [grad, elementwise.negative(grad)]
    unbroadcast = StaticUnbroadcast(op, grad)
    return [unbroadcast(0, grad), unbroadcast(1, elementwise.negative(grad))]


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y."""
    return apply_op("Sub", x=x, y=y, name=name)


mul_op = binary("Mul", ARITHMETIC, commutative=True).ufunc(np.multiply, "*")


@mul_op.gradient
def _mul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    if same_static_shapes(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return [multiply(grad, y), multiply(grad, x)]
    unbroadcast = StaticUnbroadcast(op, grad)
    x, y = complex_ops.conj(x), complex_ops.conj(y)
    return [unbroadcast(0, multiply(grad, y)), unbroadcast(1, multiply(x, grad))]


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, element by element."""
    return apply_op("Mul", x=x, y=y, name=name)


# ------------------------------------------------------------ division

real_div_op = binary("RealDiv", ARITHMETIC).ufunc(np.divide, "/")


@real_div_op.gradient
def _real_div_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return quotient_grad(op, grad, realdiv)


def quotient_grad(op: Operation, grad: Tensor, quotient: Any) -> list[Tensor]:
    x, y = op.inputs
    unbroadcast = Unbroadcast(op)
    x, y = complex_ops.conj(x), complex_ops.conj(y)
    left = unbroadcast(0, quotient(grad, y))
    right = unbroadcast(1, grad * quotient(quotient(elementwise.negative(x), y), y))
    return [left, right]


def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y for floating point or complex arguments."""
    return apply_op("RealDiv", x=x, y=y, name=name)


div_op = binary("Div", ARITHMETIC)


@div_op.kernel
def _div(x: Any, y: Any) -> Any:
    return _truncate_div(x, y) if y.dtype.kind in "iu" else np.divide(x, y)


@div_op.gradient
def _div_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return quotient_grad(op, grad, divide)


def _check_divisor(y: Any) -> None:
    if not np.all(y):
        raise errors.InvalidArgumentError(None, None, "Integer division by zero")


floor_div_op = binary("FloorDiv", ARITHMETIC).no_gradient()


@floor_div_op.kernel
def _floor_div(x: Any, y: Any) -> Any:
    if y.dtype.kind in "iu":
        _check_divisor(y)
        return np.floor_divide(x, y)
    # Not np.floor_divide, which corrects the rounding of x / y.
    return np.floor(x / y)


def floor_div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded towards negative infinity."""
    return apply_op("FloorDiv", x=x, y=y, name=name)


truncate_div_op = binary("TruncateDiv", ARITHMETIC)


@truncate_div_op.kernel
def _truncate_div(x: Any, y: Any) -> Any:
    if y.dtype.kind not in "iu":
        return np.trunc(x / y)
    _check_divisor(y)
    quotient = np.floor_divide(x, y)
    if y.dtype.kind == "i":
        # One more where floor and truncation differ: a remainder, and signs that differ.
        quotient = quotient + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0)))
    return quotient.astype(y.dtype)


def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y of integers rounded towards zero, as in C."""
    return apply_op("TruncateDiv", x=x, y=y, name=name)


_MOD = f"int32, int64, {REALS}"
floor_mod_op = binary("FloorMod", _MOD)


@floor_mod_op.kernel
def _floor_mod(x: Any, y: Any) -> Any:
    if y.dtype.kind in "iu":
        _check_divisor(y)
    return np.remainder(x, y)


@floor_mod_op.emit
def _floor_mod_emit(node: Any) -> str | None:
    return "{0} % {1}" if node.dtype(1).is_floating else None


@floor_mod_op.gradient
def _floor_mod_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    unbroadcast = Unbroadcast(op)
    quotient = floor_div(x, y)
    left = unbroadcast(0, grad)
    return [left, unbroadcast(1, grad * elementwise.negative(quotient))]


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of `floordiv`: it has the sign of y."""
    return apply_op("FloorMod", x=x, y=y, name=name)


mod = floormod

truncate_mod_op = binary("TruncateMod", _MOD)
mod_op = binary("Mod", "int32, int64, float16, float16, bfloat16, float32, float64")


@truncate_mod_op.kernel
@mod_op.kernel
def _truncate_mod(x: Any, y: Any) -> Any:
    if y.dtype.kind in "iu":
        _check_divisor(y)
    return np.fmod(x, y)


def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of `truncatediv`: it has the sign of x."""
    return apply_op("TruncateMod", x=x, y=y, name=name)


# What Python's `/` divides integers in.
_TRUEDIV_TYPES = {
    dtypes.uint8: dtypes.float32, dtypes.int8: dtypes.float32, dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64,
    dtypes.bfloat16: None, dtypes.float16: None, dtypes.float32: None, dtypes.float64: None,
    dtypes.complex64: None, dtypes.complex128: None,
}


def _truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    with ops.name_scope(name, "truediv", [x, y]) as name:
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y")
        left, right = x.dtype.base_dtype, y.dtype.base_dtype
        if left != right:
            raise TypeError(f"x and y must have the same dtype, got {left!r} != {right!r}")
        if left not in _TRUEDIV_TYPES:
            raise TypeError(f"Invalid dtype {left!r} in __truediv__")
        target = _TRUEDIV_TYPES[left]
        if target is not None:
            x, y = casts.cast(x, target), casts.cast(y, target)
        return realdiv(x, y, name=name)


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as in Python 3: integers are divided as floating point numbers."""
    return _truediv(x, y, name)


def _div_python2(x: Any, y: Any, name: str | None = None) -> Tensor:
    with ops.name_scope(name, "div", [x, y]) as name:
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        left, right = x.dtype.base_dtype, y.dtype.base_dtype
        if left != right:
            raise TypeError(f"x and y must have the same dtype, got {left!r} != {right!r}")
        if left.is_floating or left.is_complex:
            return realdiv(x, y, name=name)
        return floor_div(x, y, name=name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as in Python 2: integers are divided rounding down. Deprecated: use `truediv` or `floordiv`."""
    return _div_python2(x, y, name)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python's operator divides. Without `name` it is the operator itself."""
    if name is not None:
        return truediv(ops.convert_to_tensor(x), y, name)
    return x / y


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y rounded towards negative infinity; Python's `//`."""
    with ops.name_scope(name, "floordiv", [x, y]) as name:
        return floor_div(x, y, name=name)


# ------------------------------------------------------------ powers

pow_op = binary("Pow", f"bfloat16, float32, float16, float64, int32, int64, {COMPLEX}")


@pow_op.kernel
def _pow(x: Any, y: Any) -> Any:
    if y.dtype.kind == "i" and np.any(y < 0):
        raise errors.InvalidArgumentError(None, None, "Integers to negative integer powers are not allowed")
    return np.power(x, y)


@pow_op.emit
def _pow_emit(node: Any) -> str | None:
    return "{0} ** {1}" if node.dtype(1).is_floating else None


@pow_op.gradient
def _pow_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    z = op.outputs[0]
    unbroadcast = StaticUnbroadcast(op, grad)
    x, y, z = complex_ops.conj(x), complex_ops.conj(y), complex_ops.conj(z)
    left = unbroadcast(0, grad * y * pow(x, y - 1))
    # The logarithm counts only where it is real; elsewhere the gradient of the exponent is 0.
    defined = comparison_ops.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe = array_ops.where(defined, x, array_ops.ones_like(x))
    log_x = array_ops.where(defined, elementwise.log(safe), array_ops.zeros_like(x))
    return [left, unbroadcast(1, grad * z * log_x)]


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power of y. Integers to a negative power raise `InvalidArgumentError` in the run."""
    with ops.name_scope(name, "Pow", [x]) as name:
        return apply_op("Pow", x=x, y=y, name=name)


squared_difference_op = binary("SquaredDifference", f"{REALS}, int32, int64, {COMPLEX}", commutative=True)


@squared_difference_op.kernel
def _squared_difference(x: Any, y: Any) -> Any:
    difference = x - y
    return difference * (difference.conj() if difference.dtype.kind == "c" else difference)


@squared_difference_op.emit
def _squared_difference_emit(node: Any) -> str | None:
    return None if node.dtype(0).is_complex else "np.square({0} - {1})"


@squared_difference_op.gradient
def _squared_difference_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    with ops.control_dependencies([grad]):
        # 2 times the gradient first: both are likely smaller than the difference.
        left = scalar_mul(2.0, grad) * (x - y)
    if same_static_shapes(x, y, grad):
        return [left, -left]
    unbroadcast = StaticUnbroadcast(op, left)
    return [unbroadcast(0, left), -unbroadcast(1, left)]


def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """(x - y) squared."""
    return apply_op("SquaredDifference", x=x, y=y, name=name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices; `ValueError` where `scalar` is not of rank 0."""
    scalar = ops.convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, ops.IndexedSlices):
        return ops.IndexedSlices(multiply(scalar, x.values, name), x.indices, x.dense_shape)
    return multiply(scalar, x, name)


# ------------------------------------------------------------ minimum and maximum

maximum_op = binary("Maximum", f"{REALS}, int32, int64").ufunc(np.maximum)
minimum_op = binary("Minimum", f"{REALS}, int32, int64").ufunc(np.minimum)


@maximum_op.gradient
def _maximum_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return _selecting_grad(op, grad, comparison_ops.greater_equal)


@minimum_op.gradient
def _minimum_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return _selecting_grad(op, grad, comparison_ops.less_equal)


def _selecting_grad(op: Operation, grad: Tensor, chosen: Any) -> list[Tensor]:
    """The gradient goes where the value came from; in a tie to x."""
    x, y = op.inputs
    shapes = array_ops.shape(x), array_ops.shape(y)
    zeros = array_ops.zeros(array_ops.shape(grad), grad.dtype)
    from_x = chosen(x, y)
    unbroadcast = Unbroadcast(op, shapes)
    left = unbroadcast(0, array_ops.where(from_x, grad, zeros))
    return [left, unbroadcast(1, array_ops.where(from_x, zeros, grad))]


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, element by element."""
    return apply_op("Maximum", x=x, y=y, name=name)


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, element by element."""
    return apply_op("Minimum", x=x, y=y, name=name)


atan2_op = register_op("Atan2", "y: T, x: T -> z: T", f"T: type in {{{REALS}}}").ufunc(np.arctan2)
atan2_op.shape(shape_inference.broadcast)


@atan2_op.gradient
def _atan2_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    y, x = op.inputs
    with ops.control_dependencies([grad]):
        scaled = grad / (elementwise.square(x) + elementwise.square(y))
        return [x * scaled, -y * scaled]


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle of the point (x, y), from -pi to pi."""
    return apply_op("Atan2", y=y, x=x, name=name)


next_after_op = register_op("NextAfter", "x1: T, x2: T -> output: T",
                            "T: type in {float64, float32} = float32").ufunc(np.nextafter)
next_after_op.shape(shape_inference.broadcast)


@next_after_op.gradient
def _next_after_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x1, x2 = op.inputs
    shapes = array_ops.shape(x1), array_ops.shape(x2)
    unbroadcast = Unbroadcast(op, shapes)
    with ops.control_dependencies([grad]):
        ones = array_ops.ones(shapes[0], dtype=x1.dtype)
        zeros = array_ops.zeros(shapes[1], dtype=x2.dtype)
        left = unbroadcast(0, ones * grad)
        return [left, unbroadcast(1, zeros * grad)]


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Tensor:
    """The next number that the type can hold after x1 in the direction of x2."""
    return apply_op("NextAfter", x1=x1, x2=x2, name=name)
