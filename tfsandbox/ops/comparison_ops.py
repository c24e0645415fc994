"""Comparisons, logic on booleans, and questions about floating point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import text_of_shape

__all__ = [
    "equal", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less", "less_equal", "logical_and",
    "logical_not", "logical_or", "logical_xor", "not_equal",
]

_EQUALITY = ("bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, complex64, quint8, qint8, qint32, "
             "string, bool, complex128")


def _comparison(name: str) -> OpDef:
    op_def = register_op(name, "x: T, y: T -> z: bool", "T: type in {realnumbertype}")
    op_def.shape(shape_inference.broadcast)
    return op_def.no_gradient()


less_op = _comparison("Less").ufunc(np.less, "<")
less_equal_op = _comparison("LessEqual").ufunc(np.less_equal, "<=")
greater_op = _comparison("Greater").ufunc(np.greater, ">")
greater_equal_op = _comparison("GreaterEqual").ufunc(np.greater_equal, ">=")


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x < y, element by element with broadcasting, as bool."""
    return apply_op("Less", x=x, y=y, name=name)


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x <= y, element by element with broadcasting, as bool."""
    return apply_op("LessEqual", x=x, y=y, name=name)


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x > y, element by element with broadcasting, as bool."""
    return apply_op("Greater", x=x, y=y, name=name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x >= y, element by element with broadcasting, as bool."""
    return apply_op("GreaterEqual", x=x, y=y, name=name)


def _equality(name: str) -> OpDef:
    op_def = register_op(name, "x: T, y: T -> z: bool",
                         f"T: type in {{{_EQUALITY}}}; incompatible_shape_error: bool = true", commutative=True)
    op_def.shape(_equality_shape)
    return op_def.no_gradient()


def _equality_shape(c: Any) -> TensorShape:
    try:
        return shape_inference.broadcast(c)
    except ValueError:
        if c.attr("incompatible_shape_error"):
            raise
        return shape_inference.UNKNOWN


equal_op = _equality("Equal")
not_equal_op = _equality("NotEqual")


@equal_op.kernel
def _equal(x: Any, y: Any, *, incompatible_shape_error: bool) -> Any:
    return _compared(np.equal, x, y)


@not_equal_op.kernel
def _not_equal(x: Any, y: Any, *, incompatible_shape_error: bool) -> Any:
    return _compared(np.not_equal, x, y)


def _compared(function: Any, x: Any, y: Any) -> Any:
    # Quantized and bfloat16 arrays have one field with the bits.
    try:
        return function(_plain(x), _plain(y)).astype(np.bool_)
    except ValueError:
        raise errors.InvalidArgumentError(
            None, None, f"Incompatible shapes: {text_of_shape(x)} vs. {text_of_shape(y)}") from None


def _plain(x: Any) -> Any:
    return x[x.dtype.names[0]] if x.dtype.names else x


@equal_op.emit
def _equal_emit(node: Any) -> str | None:
    return "{0} == {1}" if _is_plain(node) else None


@not_equal_op.emit
def _not_equal_emit(node: Any) -> str | None:
    return "{0} != {1}" if _is_plain(node) else None


def _is_plain(node: Any) -> bool:
    dtype = node.dtype(0)
    return dtype.name in ("float32", "float64", "int32", "int64", "bool")


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x == y, element by element with broadcasting, as bool. (`==` on tensors compares identity.)"""
    return apply_op("Equal", x=x, y=y, name=name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x != y, element by element with broadcasting, as bool. (`!=` on tensors compares identity.)"""
    return apply_op("NotEqual", x=x, y=y, name=name)


approximate_equal_op = register_op("ApproximateEqual", "x: T, y: T -> z: bool",
                                   "T: type in {numbertype}; tolerance: float = 1e-05", commutative=True).no_gradient()
approximate_equal_op.shape(shape_inference.merged)


@approximate_equal_op.kernel
def _approximate_equal(x: Any, y: Any, *, tolerance: float) -> Any:
    return np.abs(x - y) < tolerance


def approximate_equal(x: Any, y: Any, tolerance: float = 1e-5, name: str | None = None) -> Tensor:
    """|x - y| < tolerance, for inputs of one shape."""
    return apply_op("ApproximateEqual", x=x, y=y, tolerance=tolerance, name=name)


# ------------------------------------------------------------ booleans

logical_and_op = register_op("LogicalAnd", "x: bool, y: bool -> z: bool", commutative=True).no_gradient()
logical_and_op.ufunc(np.logical_and, "&").shape(shape_inference.broadcast)
logical_or_op = register_op("LogicalOr", "x: bool, y: bool -> z: bool", commutative=True).no_gradient()
logical_or_op.ufunc(np.logical_or, "|").shape(shape_inference.broadcast)
logical_not_op = register_op("LogicalNot", "x: bool -> y: bool").no_gradient()
logical_not_op.ufunc(np.logical_not).shape(shape_inference.unchanged)


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x and y, element by element with broadcasting."""
    return apply_op("LogicalAnd", x=x, y=y, name=name)


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x or y, element by element with broadcasting."""
    return apply_op("LogicalOr", x=x, y=y, name=name)


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """not x, element by element."""
    return apply_op("LogicalNot", x=x, name=name)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Whether exactly one of x and y is true: (x or y) and not (x and y)."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


# ------------------------------------------------------------ nan and infinity


def _question(name: str) -> OpDef:
    op_def = register_op(name, "x: T -> y: bool", "T: type in {floattype}").no_gradient()
    op_def.shape(shape_inference.unchanged)
    return op_def


is_nan_op = _question("IsNan").ufunc(np.isnan)
is_inf_op = _question("IsInf").ufunc(np.isinf)
is_finite_op = _question("IsFinite").ufunc(np.isfinite)


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Which elements are not a number."""
    return apply_op("IsNan", x=x, name=name)


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """Which elements are plus or minus infinity."""
    return apply_op("IsInf", x=x, name=name)


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """Which elements are neither nan nor infinite."""
    return apply_op("IsFinite", x=x, name=name)
