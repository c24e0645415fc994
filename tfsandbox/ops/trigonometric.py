"""Trigonometric and hyperbolic functions of one argument, and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import binary_ops, complex_ops
from tfsandbox.ops.elementwise import FLOATS_AND_COMPLEX, NUMBERS, reciprocal, sqrt, square, unary

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan"]

# ------------------------------------------------------------ circular

sin_op = unary("Sin").ufunc(np.sin)
cos_op = unary("Cos").ufunc(np.cos)
tan_op = unary("Tan", NUMBERS).ufunc(np.tan)


@sin_op.gradient
def _sin_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * cos(complex_ops.conj(op.inputs[0]))]


@cos_op.gradient
def _cos_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [-grad * sin(complex_ops.conj(op.inputs[0]))]


@tan_op.gradient
def _tan_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        secant = reciprocal(cos(complex_ops.conj(op.inputs[0])))
        return [square(secant) * grad]


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of x in radians."""
    return apply_op("Sin", x=x, name=name)


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of x in radians."""
    return apply_op("Cos", x=x, name=name)


def tan(x: Any, name: str | None = None) -> Tensor:
    """The tangent of x in radians."""
    return apply_op("Tan", x=x, name=name)


asin_op = unary("Asin", NUMBERS).ufunc(np.arcsin)
acos_op = unary("Acos", NUMBERS).ufunc(np.arccos)
atan_op = unary("Atan", NUMBERS).ufunc(np.arctan)


def _cathetus(x: Tensor) -> Tensor:
    """The reciprocal of sqrt(1 - x^2)."""
    squared = square(x)
    one = constant_op.constant(1, dtype=x.dtype)
    return reciprocal(sqrt(binary_ops.subtract(one, squared)))


@asin_op.gradient
def _asin_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * _cathetus(complex_ops.conj(op.inputs[0]))]


@acos_op.gradient
def _acos_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        factor = _cathetus(complex_ops.conj(op.inputs[0]))
        return [-grad * factor]


@atan_op.gradient
def _atan_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        x = complex_ops.conj(op.inputs[0])
        squared = square(x)
        one = constant_op.constant(1, dtype=grad.dtype)
        return [grad * reciprocal(binary_ops.add(one, squared))]


def asin(x: Any, name: str | None = None) -> Tensor:
    """The angle in radians whose sine is x; nan outside [-1, 1]."""
    return apply_op("Asin", x=x, name=name)


def acos(x: Any, name: str | None = None) -> Tensor:
    """The angle in radians whose cosine is x; nan outside [-1, 1]."""
    return apply_op("Acos", x=x, name=name)


def atan(x: Any, name: str | None = None) -> Tensor:
    """The angle in radians whose tangent is x, between -pi/2 and pi/2."""
    return apply_op("Atan", x=x, name=name)


# ------------------------------------------------------------ hyperbolic

sinh_op = unary("Sinh").ufunc(np.sinh)
cosh_op = unary("Cosh").ufunc(np.cosh)


@sinh_op.gradient
def _sinh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * cosh(complex_ops.conj(op.inputs[0]))]


@cosh_op.gradient
def _cosh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * sinh(complex_ops.conj(op.inputs[0]))]


def sinh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic sine."""
    return apply_op("Sinh", x=x, name=name)


def cosh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic cosine."""
    return apply_op("Cosh", x=x, name=name)


asinh_op = unary("Asinh", FLOATS_AND_COMPLEX).ufunc(np.arcsinh)
acosh_op = unary("Acosh", FLOATS_AND_COMPLEX).ufunc(np.arccosh)
atanh_op = unary("Atanh", FLOATS_AND_COMPLEX).ufunc(np.arctanh)


@asinh_op.gradient
def _asinh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad / cosh(complex_ops.conj(op.outputs[0]))]


@acosh_op.gradient
def _acosh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad / sinh(complex_ops.conj(op.outputs[0]))]


@atanh_op.gradient
def _atanh_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        x = complex_ops.conj(op.inputs[0])
        squared = square(x)
        one = constant_op.constant(1, dtype=grad.dtype)
        return [grad * reciprocal(binary_ops.subtract(one, squared))]


def asinh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
    return apply_op("Asinh", x=x, name=name)


def acosh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic cosine; nan below 1."""
    return apply_op("Acosh", x=x, name=name)


def atanh(x: Any, name: str | None = None) -> Tensor:
    """The inverse hyperbolic tangent; nan outside [-1, 1]."""
    return apply_op("Atanh", x=x, name=name)
