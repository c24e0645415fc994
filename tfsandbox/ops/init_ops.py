"""Initializers: objects that, called with a shape, add the nodes of a variable's initial value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, diagonals, linear_systems, math_ops, random_ops

__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer", "ones_initializer",
    "orthogonal_initializer", "random_normal_initializer", "random_uniform_initializer",
    "truncated_normal_initializer", "uniform_unit_scaling_initializer", "variance_scaling_initializer",
    "zeros_initializer",
]

_TRUNCATED_DEVIATION = 0.87962566103423978
"""The deviation of a standard normal cut off at two deviations."""


class Initializer:
    """Base class. `initializer(shape, dtype=None, partition_info=None)` gives the initial value."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer: `from_config` takes them."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


class _Typed(Initializer):
    """An initializer with a dtype of its own, for calls without one."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def _dtype(self, dtype: Any) -> Any:
        return self.dtype if dtype is None else dtype

    def _config(self, **arguments: Any) -> dict[str, Any]:
        return {**arguments, "dtype": self.dtype.name}


def _floating(dtype: Any) -> dtypes.DType:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!s}.")
    return dtype


class Zeros(_Typed):
    """Zeros."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.zeros(shape, self._dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        return self._config()


class Ones(_Typed):
    """Ones."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return array_ops.ones(shape, self._dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        return self._config()


class Constant(_Typed):
    """A value, or values that fill the shape in order; the last one repeats where there are too few.

    Raises `TypeError` unless it is a Python scalar, list or tuple, or an array.
    """

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray).")
        super().__init__(dtype)
        self.value, self._verify_shape = value, verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None,
                 verify_shape: bool | None = None) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant_op.constant(self.value, dtype=self._dtype(dtype), shape=shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        return self._config(value=self.value)


class RandomUniform(_Typed):
    """Uniform numbers in [minval, maxval)."""

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_uniform(shape, self.minval, self.maxval, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return self._config(minval=self.minval, maxval=self.maxval, seed=self.seed)


class RandomNormal(_Typed):
    """Normal numbers."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
                 dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.random_normal(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return self._config(mean=self.mean, stddev=self.stddev, seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Normal numbers within two deviations of the mean."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return random_ops.truncated_normal(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)


def _full_shape(shape: Any, partition_info: Any) -> list[int]:
    """The shape of the whole variable, of which this may be a part."""
    whole = shape if partition_info is None else partition_info.full_shape
    return [int(d) for d in whole]


class UniformUnitScaling(_Typed):
    """Uniform numbers in +-factor * sqrt(3 / inputs), which keeps the scale of what passes a linear layer."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.factor, self.seed = factor, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        inputs = max(float(math.prod(_full_shape(shape, partition_info)[:-1])), 1.0)
        bound = math.sqrt(3 / inputs) * self.factor
        return random_ops.random_uniform(shape, -bound, bound, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return self._config(factor=self.factor, seed=self.seed)


class VarianceScaling(_Typed):
    """Numbers of variance scale / n; n is the number of inputs (`fan_in`), of outputs (`fan_out`) or their mean.

    `distribution` is "truncated_normal" ("normal" is the same), "untruncated_normal" or "uniform".
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        super().__init__(_floating(dtype))
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        inputs, outputs = _compute_fans(_full_shape(shape, partition_info))
        count = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        variance = self.scale / max(1.0, count)
        dtype = self._dtype(dtype)
        if self.distribution == "uniform":
            bound = math.sqrt(3.0 * variance)
            return random_ops.random_uniform(shape, -bound, bound, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_ops.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        return random_ops.truncated_normal(shape, 0.0, math.sqrt(variance) / _TRUNCATED_DEVIATION, dtype,
                                           seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return self._config(scale=self.scale, mode=self.mode, distribution=self.distribution, seed=self.seed)


def _compute_fans(shape: Sequence[int]) -> tuple[float, float]:
    """(inputs, outputs) of one unit of a layer whose weights have that shape, the last two axes being in and out."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    receptive = math.prod(shape[:-2])
    return shape[-2] * receptive, shape[-1] * receptive


class GlorotUniform(VarianceScaling):
    """Uniform numbers of variance 2 / (inputs + outputs) (Glorot and Bengio, 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="uniform", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return self._config(seed=self.seed)


class GlorotNormal(VarianceScaling):
    """Truncated normal numbers of variance 2 / (inputs + outputs) (Glorot and Bengio, 2010)."""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(scale=1.0, mode="fan_avg", distribution="truncated_normal", seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        return self._config(seed=self.seed)


class Orthogonal(_Typed):
    """A matrix with orthogonal rows or columns, all axes but the last flattened together (Saxe et al., 2013)."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dtype = self._dtype(dtype)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(int(d) for d in shape[:-1]), int(shape[-1])
        # The QR decomposition wants a tall matrix.
        tall = (columns, rows) if rows < columns else (rows, columns)
        drawn = random_ops.random_normal(tall, dtype=dtype, seed=self.seed)
        q, r = apply_op("Qr", input=drawn, full_matrices=False)
        # With the signs of r's diagonal the result is uniform among orthogonal matrices.
        q *= math_ops.sign(diagonals.diag_part(r))
        if rows < columns:
            q = array_ops.matrix_transpose(q)
        return self.gain * array_ops.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return self._config(gain=self.gain, seed=self.seed)


class Identity(_Typed):
    """`gain` times the identity matrix."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        whole = _full_shape(shape, partition_info)
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        value = linear_systems.eye(whole[0], whole[1], dtype=self._dtype(dtype))
        if partition_info is not None:
            value = array_ops.slice(value, partition_info.var_offset, shape)
        return self.gain * value

    def get_config(self) -> dict[str, Any]:
        return self._config(gain=self.gain)


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
orthogonal_initializer = Orthogonal
identity_initializer = Identity
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal numbers of variance 1 / inputs (LeCun et al., 1998)."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers of variance 1 / inputs (LeCun et al., 1998)."""
    return VarianceScaling(scale=1.0, mode="fan_in", distribution="uniform", seed=seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal numbers of variance 2 / inputs (He et al., 2015)."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="truncated_normal", seed=seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers of variance 2 / inputs (He et al., 2015)."""
    return VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=seed)
