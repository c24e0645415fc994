"""Initializers that keep the variance of what flows through a layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import random_ops

Initializer = Callable[..., Tensor]


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Variance 2 / (in + out), uniform or normal (Glorot and Bengio, 2010)."""
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False,
                                 seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """Variance factor / n, with n the inputs of a unit (`mode` FAN_IN), its outputs (FAN_OUT) or their mean (FAN_AVG).

    The normal values are cut off at two standard deviations. The defaults are for relu (He et al., 2015).
    Raises `TypeError` for another mode, or a type that is not floating.
    """
    _check_floating(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def _initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        """The initial value of a variable of this shape: [..., in, out]."""
        _check_floating(dtype)
        n = _fan(shape, mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # Cutting off lowers the variance: 1.3 makes up for it.
        return random_ops.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return _initializer


def _check_floating(dtype: Any) -> None:
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _fan(shape: Any, mode: str) -> float:
    """The number of inputs or outputs of a unit; a convolution has as many for every element of its window."""
    sizes = [float(size) for size in shape]
    inputs = sizes[-2] if len(sizes) > 1 else sizes[-1] if sizes else 1.0
    outputs = sizes[-1] if sizes else 1.0
    window = math.prod(sizes[:-2])
    return {"FAN_IN": inputs * window, "FAN_OUT": outputs * window, "FAN_AVG": (inputs + outputs) * window / 2.0}[mode]
