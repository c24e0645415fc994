"""Dropout: elements set to zero at random, the others scaled up."""

from __future__ import annotations

import numbers
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.ops import array_ops, math_ops, random_ops
from tfsandbox.ops.convolution import either

__all__: list[str] = []


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
            rate: Any = None) -> Tensor:
    """`x` with each element 0 with probability `rate`, else divided by 1 - rate. `keep_prob` is 1 - rate.

    `noise_shape` with ones in it lets elements along those axes share one draw. Raises `ValueError` for a rate outside
    [0, 1) and an `x` that is not floating point.

    Source: Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.
    """
    try:
        kept = 1.0 - keep_prob if keep_prob is not None else None
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = either("rate", rate, "keep_prob", kept)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape, seed, name)


def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None,
               name: str | None = None) -> Tensor:
    """As `dropout`, by the rate alone."""
    known = isinstance(rate, numbers.Real)
    with ops.name_scope(name, "dropout", [x]):
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype} "
                             f"tensor instead.")
        if known and not 0 <= rate < 1:
            raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
        if known and rate == 0:
            return x
        rate = ops.convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if not known and constant_value(rate) == 0:
            return x
        drawn = random_ops.random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        # The draws lie in [0, 1): below the rate, an element is dropped.
        keep = drawn >= rate
        result = x * scale * math_ops.cast(keep, x.dtype)
        result.set_shape(x.get_shape())
        return result


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the draws: unknown sizes in `noise_shape` are those of x."""
    if noise_shape is None:
        return array_ops.shape(x)
    try:
        wanted = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.ndims is not None and wanted.ndims == x.shape.ndims:
        return TensorShape([own if size is None and own is not None else size
                            for own, size in zip(x.shape.as_list(), wanted.as_list())])
    return noise_shape
