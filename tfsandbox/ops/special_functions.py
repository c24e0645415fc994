"""Special functions: error function, gamma and beta functions, zeta, Bessel functions. Values are scipy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, errors, ops, shape_inference, shape_rules
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, complex_ops, elementwise, reductions
from tfsandbox.ops.broadcasting import Unbroadcast, broadcast_gradient_args
from tfsandbox.ops.elementwise import FLOATS, apply_unary, unary
from tfsandbox.ops.kernel_values import text_of_sizes

__all__ = [
    "betainc", "digamma", "erf", "erfc", "igamma", "igammac", "lgamma", "polygamma", "zeta",
]


def _special() -> Any:
    import scipy.special
    return scipy.special


# ------------------------------------------------------------ one argument


def _unary_kernel(op_def: OpDef, function_name: str) -> OpDef:
    def kernel(x: Any) -> Any:
        return getattr(_special(), function_name)(x).astype(x.dtype)

    kernel.__name__ = function_name
    op_def.kernel(kernel)
    return op_def


erf_op = _unary_kernel(unary("Erf", FLOATS), "erf")
erfc_op = _unary_kernel(unary("Erfc", FLOATS), "erfc")


@erf_op.gradient
def _erf_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [_gaussian(op, grad, 2 / math.sqrt(math.pi))]


@erfc_op.gradient
def _erfc_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [_gaussian(op, grad, -2 / math.sqrt(math.pi))]


def _gaussian(op: Operation, grad: Tensor, factor: float) -> Tensor:
    x = op.inputs[0]
    scale = constant_op.constant(factor, dtype=grad.dtype)
    with ops.control_dependencies([grad]):
        x = complex_ops.conj(x)
        return grad * scale * elementwise.exp(-elementwise.square(x))


def erf(x: Any, name: str | None = None) -> Any:
    """The error function."""
    return apply_unary("Erf", x, name)


def erfc(x: Any, name: str | None = None) -> Tensor:
    """1 - erf(x)."""
    return apply_op("Erfc", x=x, name=name)


lgamma_op = unary("Lgamma", FLOATS)
digamma_op = unary("Digamma", FLOATS)


@lgamma_op.kernel
def _lgamma(x: Any) -> Any:
    # scipy gives -inf at -inf.
    return np.where(np.isneginf(x), np.inf, _special().gammaln(x)).astype(x.dtype)


@digamma_op.kernel
def _digamma(x: Any) -> Any:
    # At its poles, where the two sides disagree, TensorFlow gives infinity.
    pole = (x <= 0) & (x == np.floor(x))
    return np.where(pole, np.inf, _special().psi(x)).astype(x.dtype)


@lgamma_op.gradient
def _lgamma_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        return [grad * digamma(complex_ops.conj(op.inputs[0]))]


@digamma_op.gradient
def _digamma_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    with ops.control_dependencies([grad]):
        x = complex_ops.conj(op.inputs[0])
        return [grad * polygamma(constant_op.constant(1, dtype=x.dtype), x)]


def lgamma(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
    return apply_op("Lgamma", x=x, name=name)


def digamma(x: Any, name: str | None = None) -> Tensor:
    """The derivative of lgamma."""
    return apply_op("Digamma", x=x, name=name)


bessel_i0e_op = _unary_kernel(unary("BesselI0e", FLOATS), "i0e")
bessel_i1e_op = _unary_kernel(unary("BesselI1e", FLOATS), "i1e")


@bessel_i0e_op.gradient
def _bessel_i0e_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs[0], op.outputs[0]
    with ops.control_dependencies([grad]):
        return [grad * (bessel_i1e(x) - elementwise.sign(x) * y)]


@bessel_i1e_op.gradient
def _bessel_i1e_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs[0], op.outputs[0]
    with ops.control_dependencies([grad]):
        # At 0 the slope is 0.5; dividing by x there would give nan.
        epsilon = np.finfo(x.dtype.as_numpy_dtype).eps
        zeros = array_ops.zeros_like(x)
        away = elementwise.abs(x) > epsilon
        safe = array_ops.where(away, x, epsilon + zeros)
        slope = bessel_i0e(safe) - y * (elementwise.sign(safe) + elementwise.reciprocal(safe))
        return [grad * array_ops.where(away, slope, 0.5 + zeros)]


def bessel_i0e(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 0, times exp(-|x|)."""
    return apply_unary("BesselI0e", x, name)


def bessel_i1e(x: Any, name: str | None = None) -> Any:
    """The modified Bessel function of order 1, times exp(-|x|)."""
    return apply_unary("BesselI1e", x, name)


# ------------------------------------------------------------ two arguments


def _binary(name: str, signature: str) -> OpDef:
    op_def = register_op(name, f"{signature} -> z: T", "T: type in {float32, float64}")
    op_def.shape(shape_inference.broadcast)
    return op_def


igamma_op = _binary("Igamma", "a: T, x: T")
igammac_op = _binary("Igammac", "a: T, x: T")
igamma_grad_a_op = _binary("IgammaGradA", "a: T, x: T")


@igamma_op.kernel
def _igamma(a: Any, x: Any) -> Any:
    return _special().gammainc(a, x).astype(x.dtype)


@igammac_op.kernel
def _igammac(a: Any, x: Any) -> Any:
    return _special().gammaincc(a, x).astype(x.dtype)


@igamma_grad_a_op.kernel
def _igamma_grad_a(a: Any, x: Any) -> Any:
    return igamma_derivative(np.asarray(a, np.float64), np.asarray(x, np.float64)).astype(x.dtype)


def igamma_derivative(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of the regularised lower incomplete gamma function P(a, x) with respect to a.

    P is the sum over n >= 0 of w_n = x^(a + n) exp(-x) / gamma(a + n + 1), so the derivative is the sum of
    w_n (log x - digamma(a + n + 1)). The w_n are positive and add up to at most 1: nothing cancels out.
    """
    special = _special()
    a, x = (np.array(v) for v in np.broadcast_arrays(a, x))
    valid = (a > 0) & (x > 0)
    a, x = np.where(valid, a, 1.0), np.where(valid, x, 1.0)
    log_x = np.log(x)
    weight = np.exp(a * log_x - x - special.gammaln(a + 1))
    psi = special.psi(a + 1)
    total = np.zeros_like(x)
    done = np.zeros(x.shape, bool)
    n = 0
    # The weights of n grow up to about x - a and then fall off as those of a Poisson distribution.
    while not done.all() and n < 100_000:
        total += np.where(done, 0.0, weight * (log_x - psi))
        n += 1
        psi = psi + 1 / (a + n)
        weight = weight * x / (a + n)
        done = (a + n > x) & (weight * (np.abs(log_x - psi) + 1) < 1e-18)
    return np.where(valid, total, np.nan)


@igamma_op.gradient
def _igamma_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs
    unbroadcast = Unbroadcast(op)
    with ops.control_dependencies([grad]):
        by_a = apply_op("IgammaGradA", a=a, x=x)
        # The density of the gamma distribution, by its logarithm.
        by_x = elementwise.exp(-x + (a - 1) * elementwise.log(x) - lgamma(a))
        left = unbroadcast(0, by_a * grad)
        return [left, unbroadcast(1, by_x * grad)]


@igammac_op.gradient
def _igammac_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    left, right = _igamma_grad(op, grad)
    return [-left, -right]


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(a, x)."""
    return apply_op("Igamma", a=a, x=x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised upper incomplete gamma function 1 - P(a, x)."""
    return apply_op("Igammac", a=a, x=x, name=name)


zeta_op = _binary("Zeta", "x: T, q: T")
polygamma_op = _binary("Polygamma", "a: T, x: T")


@zeta_op.kernel
def _zeta(x: Any, q: Any) -> Any:
    return _special().zeta(x, q).astype(q.dtype)


@polygamma_op.kernel
def _polygamma(a: Any, x: Any) -> Any:
    special = _special()
    order, place = np.asarray(a, np.float64), np.asarray(x, np.float64)
    sign = np.where(order % 2 == 0, -1.0, 1.0)
    higher = sign * special.gamma(order + 1) * special.zeta(order + 1, place)
    value = np.where(order == 0, special.psi(place), higher)
    return np.where((order < 0) | (order != np.floor(order)), np.nan, value).astype(x.dtype)


@zeta_op.gradient
def _zeta_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, q = op.inputs
    unbroadcast = Unbroadcast(op)
    with ops.control_dependencies([grad]):
        x, q = complex_ops.conj(x), complex_ops.conj(q)
        return [None, unbroadcast(1, -x * zeta(x + 1, q) * grad)]


@polygamma_op.gradient
def _polygamma_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    n, x = op.inputs
    unbroadcast = Unbroadcast(op)
    with ops.control_dependencies([grad]):
        n, x = complex_ops.conj(n), complex_ops.conj(x)
        return [None, unbroadcast(1, polygamma(n + 1, x) * grad)]


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function: the sum of (q + n)^-x over n >= 0."""
    return apply_op("Zeta", x=x, q=q, name=name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma at x; nan where `a` is not a whole number from 0."""
    return apply_op("Polygamma", a=a, x=x, name=name)


# ------------------------------------------------------------ the incomplete beta function

betainc_op = register_op("Betainc", "a: T, b: T, x: T -> z: T", "T: type in {float32, float64}")


@betainc_op.shape
def _betainc_shape(c: Any) -> TensorShape:
    shape = shape_inference.UNKNOWN
    for i in (0, 1, 2):
        # Scalars are stretched; all others have one shape.
        if c.shape(i).ndims != 0:
            shape = shape_rules.merge(shape, c.shape(i))
    return shape if shape.ndims is not None or any(c.shape(i).ndims is None for i in (0, 1, 2)) else TensorShape([])


@betainc_op.kernel
def _betainc(a: Any, b: Any, x: Any) -> Any:
    given = [(name, np.shape(value)) for name, value in (("a", a), ("b", b), ("x", x)) if np.ndim(value)]
    for name, shape in given[1:]:
        if shape != given[0][1]:
            raise errors.InvalidArgumentError(None, None, f"Shapes of {given[0][0]} and {name} are inconsistent: "
                                                          f"{text_of_sizes(given[0][1])} vs. {text_of_sizes(shape)}")
    return _special().betainc(a, b, x).astype(x.dtype)


@betainc_op.gradient
def _betainc_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    a, b, x = op.inputs
    shape_a, shape_x = array_ops.shape(a), array_ops.shape(x)
    _, axes = broadcast_gradient_args(shape_a, shape_x)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    # The density of the beta distribution, by its logarithm.
    by_x = elementwise.exp((b - 1) * elementwise.log(1 - x) + (a - 1) * elementwise.log(x) - log_beta)
    return [None, None, array_ops.reshape(reductions.reduce_sum(by_x * grad, axes), shape_x)]


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function of x in [0, 1]."""
    return apply_op("Betainc", a=a, b=b, x=x, name=name)
