"""Quotients and products that are 0 where one argument is 0, whatever the other is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import casts, comparison_ops, elementwise
from tfsandbox.ops.binary_ops import COMPLEX, binary, quotient_grad
from tfsandbox.ops.broadcasting import Unbroadcast, same_static_shapes

__all__ = ["div_no_nan"]

_TYPES = f"float16, float32, float64, {COMPLEX}"


def _zero(x: Any) -> Any:
    return x.dtype.type(0)


div_no_nan_op = binary("DivNoNan", _TYPES)


@div_no_nan_op.kernel
def _div_no_nan(x: Any, y: Any) -> Any:
    return np.where(y == 0, _zero(y), x / y)


@div_no_nan_op.gradient
def _div_no_nan_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return quotient_grad(op, grad, div_no_nan)


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 wherever y is 0."""
    with ops.name_scope(name, "div_no_nan", [x, y]) as name:
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return apply_op("DivNoNan", x=x, y=y, name=name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 wherever x is 0."""
    with ops.name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = ops.convert_to_tensor(x, name="x")
        one = ops.convert_to_tensor(1, dtype=x.dtype.base_dtype, name="one")
        return apply_op("DivNoNan", x=one, y=x, name=scope)


mul_no_nan_op = binary("MulNoNan", _TYPES)


@mul_no_nan_op.kernel
def _mul_no_nan(x: Any, y: Any) -> Any:
    return np.where(y == 0, _zero(y), x * y)


@mul_no_nan_op.gradient
def _mul_no_nan_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    if same_static_shapes(x, y, grad):
        return [apply_op("MulNoNan", x=grad, y=y), apply_op("MulNoNan", x=x, y=grad)]
    unbroadcast = Unbroadcast(op)
    left = unbroadcast(0, apply_op("MulNoNan", x=grad, y=y))
    return [left, unbroadcast(1, apply_op("MulNoNan", x=x, y=grad))]


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 wherever y is 0, even where x is nan or infinite."""
    with ops.name_scope(name, "multiply_no_nan", [x, y]) as name:
        x = ops.convert_to_tensor(x, name="x")
        y = ops.convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise TypeError(f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}")
        return apply_op("MulNoNan", x=x, y=y, name=name)


xdivy_op = binary("Xdivy", _TYPES)
xlogy_op = binary("Xlogy", _TYPES)


@xdivy_op.kernel
def _xdivy(x: Any, y: Any) -> Any:
    return np.where(x == 0, _zero(x), x / y)


@xlogy_op.kernel
def _xlogy(x: Any, y: Any) -> Any:
    return np.where(x == 0, _zero(x), x * np.log(y))


def _where_not_zero(x: Tensor) -> Tensor:
    return casts.cast(comparison_ops.not_equal(x, casts.cast(0.0, x.dtype)), x.dtype)


@xdivy_op.gradient
def _xdivy_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    unbroadcast = Unbroadcast(op)
    with ops.control_dependencies([grad]):
        by_x = xdivy(_where_not_zero(x), y)
        by_y = xdivy(elementwise.negative(x), y ** 2)
        left = unbroadcast(0, by_x * grad)
        return [left, unbroadcast(1, by_y * grad)]


@xlogy_op.gradient
def _xlogy_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    unbroadcast = Unbroadcast(op)
    with ops.control_dependencies([grad]):
        by_x = xlogy(_where_not_zero(x), y)
        by_y = xdivy(x, y)
        left = unbroadcast(0, by_x * grad)
        return [left, unbroadcast(1, by_y * grad)]


def xdivy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 wherever x is 0."""
    return apply_op("Xdivy", x=x, y=y, name=name)


def xlogy(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * log(y), and 0 wherever x is 0."""
    return apply_op("Xlogy", x=x, y=y, name=name)
