"""Random numbers as a function of a seed given as a tensor: the same seed gives the same numbers in every run."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import math_ops
from tfsandbox.ops.random_ops import _shape_tensor, multinomial_shape, shape_from_vector

__all__ = ["stateless_categorical", "stateless_multinomial", "stateless_random_normal", "stateless_random_uniform",
           "stateless_truncated_normal"]


def _stream(seed: Any) -> Any:
    from tfsandbox.lib.philox import stateless_stream
    return stateless_stream(seed)


def _shape(c: ShapeContext) -> TensorShape:
    seed = c.shape(1)
    if seed.sizes is not None and len(seed.sizes) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(seed.sizes)}")
    if seed.sizes is not None and seed.sizes[0] not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {seed.sizes[0]}")
    return shape_from_vector(c)


def _fill_op(name: str, method: str) -> OpDef:
    definition = register_op(
        name, "shape: T, seed: Tseed -> output: dtype",
        "dtype: type in {float16, bfloat16, float32, float64} = float32; T: type in {int32, int64} = int32; "
        "Tseed: type in {int32, int64} = int64").no_gradient()
    definition.shape(_shape)

    def kernel(shape: np.ndarray, seed: np.ndarray, *, dtype: dtypes.DType) -> np.ndarray:
        return getattr(_stream(seed), method)(shape, dtype.as_numpy_dtype)

    kernel.__name__ = "stateless_" + method
    definition.kernel(kernel)
    return definition


stateless_random_uniform_op = _fill_op("StatelessRandomUniform", "uniform")
stateless_random_normal_op = _fill_op("StatelessRandomNormal", "standard_normal")
stateless_truncated_normal_op = _fill_op("StatelessTruncatedNormal", "truncated_normal")

stateless_random_uniform_int_op = register_op(
    "StatelessRandomUniformInt", "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    "dtype: type in {int32, int64}; T: type in {int32, int64}; Tseed: type in {int32, int64} = int64").no_gradient()
stateless_random_uniform_int_op.shape(_shape)


@stateless_random_uniform_int_op.kernel
def _stateless_random_uniform_int(shape: np.ndarray, seed: np.ndarray, minval: Any, maxval: Any, *,
                                  dtype: dtypes.DType) -> np.ndarray:
    return _stream(seed).uniform_int(shape, minval, maxval, dtype.as_numpy_dtype)


stateless_multinomial_op = register_op(
    "StatelessMultinomial", "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    "T: type in {realnumbertype}; Tseed: type in {int32, int64} = int64; "
    "output_dtype: type in {int32, int64} = int64").no_gradient()
stateless_multinomial_op.shape(multinomial_shape)


@stateless_multinomial_op.kernel
def _stateless_multinomial(logits: np.ndarray, num_samples: Any, seed: np.ndarray, *,
                           output_dtype: dtypes.DType) -> np.ndarray:
    return _stream(seed).multinomial(logits, int(num_samples), output_dtype.as_numpy_dtype)


def stateless_random_uniform(shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                             name: str | None = None) -> Tensor:
    """Uniform numbers in [minval, maxval) for a seed of two integers."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with ops.name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return apply_op("StatelessRandomUniformInt", shape=shape, seed=seed, minval=minval, maxval=maxval,
                            dtype=dtype, name=scope)
        drawn = apply_op("StatelessRandomUniform", shape=shape, seed=seed, dtype=dtype)
        return math_ops.add(drawn * (maxval - minval), minval, name=scope)


def _scaled(op_type: str, scope: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
    shape = _shape_tensor(shape)
    mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
    stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
    drawn = apply_op(op_type, shape=shape, seed=seed, dtype=dtype)
    return math_ops.add(drawn * stddev, mean, name=scope)


def stateless_random_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                            name: str | None = None) -> Tensor:
    """Normal numbers for a seed of two integers."""
    with ops.name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as scope:
        return _scaled("StatelessRandomNormal", scope, shape, seed, mean, stddev, dtype)


def stateless_truncated_normal(shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                               name: str | None = None) -> Tensor:
    """Normal numbers within two deviations of the mean, for a seed of two integers."""
    with ops.name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as scope:
        return _scaled("StatelessTruncatedNormal", scope, shape, seed, mean, stddev, dtype)


def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """[batch, num_samples] class numbers drawn by the odds exp(logits), for a seed of two integers."""
    with ops.name_scope(name, "stateless_multinomial", [logits, seed]):
        return _choices(logits, num_samples, seed, output_dtype)


def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64,
                          name: str | None = None) -> Tensor:
    """[batch, num_samples] class numbers drawn by the odds exp(logits), for a seed of two integers."""
    with ops.name_scope(name, "stateless_categorical", [logits, seed]):
        return _choices(logits, num_samples, seed, dtype)


def _choices(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = ops.convert_to_tensor(logits, name="logits")
    return apply_op("StatelessMultinomial", logits=logits, num_samples=num_samples, seed=seed, output_dtype=dtype)
