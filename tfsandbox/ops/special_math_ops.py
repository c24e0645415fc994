"""The names of `tensorflow.python.ops.special_math_ops`: functions built from other special functions; einsum."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import elementwise, reductions, special_functions
from tfsandbox.ops.einsum import einsum

__all__ = ["einsum", "lbeta"]


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate beta function over the last axis: sum of lgamma(x) less lgamma of the sum."""
    with ops.name_scope(name, "lbeta", [x]):
        x = ops.convert_to_tensor(x, name="x")
        product = reductions.reduce_sum(special_functions.lgamma(x), axis=[-1])
        total = reductions.reduce_sum(x, axis=[-1])
        return product - special_functions.lgamma(total)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0."""
    with ops.name_scope(name, "bessel_i0", [x]):
        return elementwise.exp(elementwise.abs(x)) * special_functions.bessel_i0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1."""
    with ops.name_scope(name, "bessel_i1", [x]):
        return elementwise.exp(elementwise.abs(x)) * special_functions.bessel_i1e(x)
