"""Random numbers: TensorFlow's own streams for a seed.

Each random node has a generator in each session (`lib.philox.RandomStream`), keyed by its `seed` and `seed2`, which
`framework.random_seed` makes from the graph's and the op's seed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops, random_seed
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, unchanged
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import Dimension, TensorShape
from tfsandbox.ops import array_ops, control_flow_ops, math_ops

__all__ = [
    "multinomial", "random_crop", "random_gamma", "random_normal", "random_poisson", "random_shuffle",
    "random_uniform", "truncated_normal",
]

_SEEDS = "seed: int = 0; seed2: int = 0; "
_FLOATS = "{float16, bfloat16, float32, float64}"
_INDEX = "{int32, int64}"


def _stream(op: Operation, session_state: Any) -> Any:
    from tfsandbox.lib.philox import RandomStream
    return RandomStream(op._attrs["seed"], op._attrs["seed2"])


def _random_op(name: str, signature: str, attrs: str) -> OpDef:
    definition = register_op(name, signature, _SEEDS + attrs, stateful=True)
    definition.state(_stream)
    return definition


def shape_from_vector(c: ShapeContext) -> TensorShape:
    """Shape rule: the first input is the shape of the output."""
    with_rank(c.shape(0), 1)
    value = c.value(0)
    if value is not None and value.size and value.min() < -1:
        raise ValueError(f"Invalid value in tensor used for shape: {value.min()}")
    return c.value_as_shape(0)


def _shape_tensor(shape: Any) -> Tensor:
    """A shape as a tensor; lists may hold Dimensions."""
    dtype = None
    if isinstance(shape, (list, tuple)):
        dtype = None if shape else dtypes.int32
        shape = type(shape)(d.value if isinstance(d, Dimension) else d for d in shape)
    return ops.convert_to_tensor(shape, dtype=dtype, name="shape")


# ------------------------------------------------------------ normal

random_standard_normal_op = _random_op("RandomStandardNormal", "shape: T -> output: dtype",
                                       f"dtype: type in {_FLOATS}; T: type in {_INDEX}").no_gradient()
random_standard_normal_op.shape(shape_from_vector)


@random_standard_normal_op.kernel
def _random_standard_normal(shape: np.ndarray, *, dtype: dtypes.DType, state: Any) -> np.ndarray:
    return state.standard_normal(shape, dtype.as_numpy_dtype)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                  seed: int | None = None, name: str | None = None) -> Tensor:
    """Normal numbers; `mean` and `stddev` broadcast to `shape`."""
    with ops.name_scope(name, "random_normal", [shape, mean, stddev]) as scope:
        shape = _shape_tensor(shape)
        mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
        seed1, seed2 = random_seed.get_seed(seed)
        drawn = apply_op("RandomStandardNormal", shape=shape, dtype=dtype, seed=seed1, seed2=seed2)
        return math_ops.add(drawn * stddev, mean, name=scope)


truncated_normal_op = _random_op("TruncatedNormal", "shape: T -> output: dtype",
                                 f"dtype: type in {_FLOATS}; T: type in {_INDEX}").no_gradient()
truncated_normal_op.shape(shape_from_vector)


@truncated_normal_op.kernel
def _truncated_normal(shape: np.ndarray, *, dtype: dtypes.DType, state: Any) -> np.ndarray:
    return state.truncated_normal(shape, dtype.as_numpy_dtype)


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                     seed: int | None = None, name: str | None = None) -> Tensor:
    """Normal numbers, drawn again while they are more than two deviations from the mean."""
    with ops.name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
        shape = _shape_tensor(shape)
        mean = ops.convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = ops.convert_to_tensor(stddev, dtype=dtype, name="stddev")
        seed1, seed2 = random_seed.get_seed(seed)
        drawn = apply_op("TruncatedNormal", shape=shape, dtype=dtype, seed=seed1, seed2=seed2)
        return math_ops.add(drawn * stddev, mean, name=scope)


parameterized_truncated_normal_op = _random_op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    f"dtype: type in {_FLOATS}; T: type in {_INDEX}").no_gradient()
parameterized_truncated_normal_op.shape(shape_from_vector)


@parameterized_truncated_normal_op.kernel
def _parameterized_truncated_normal(shape: np.ndarray, means: Any, stdevs: Any, minvals: Any, maxvals: Any, *,
                                    state: Any) -> np.ndarray:
    return state.parameterized_truncated_normal(shape, *(np.asarray(p) for p in (means, stdevs, minvals, maxvals)))


def parameterized_truncated_normal(shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0,
                                   maxvals: Any = 2.0, dtype: Any = dtypes.float32, seed: int | None = None,
                                   name: str | None = None) -> Tensor:
    """Normal numbers between bounds; the parameters are scalars or one for each row of `shape`."""
    with ops.name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = _shape_tensor(shape)
        means = ops.convert_to_tensor(means, dtype=dtype, name="means")
        stddevs = ops.convert_to_tensor(stddevs, dtype=dtype, name="stddevs")
        minvals = ops.convert_to_tensor(minvals, dtype=dtype, name="minvals")
        maxvals = ops.convert_to_tensor(maxvals, dtype=dtype, name="maxvals")
        seed1, seed2 = random_seed.get_seed(seed)
        return apply_op("ParameterizedTruncatedNormal", shape=shape, means=means, stdevs=stddevs, minvals=minvals,
                        maxvals=maxvals, seed=seed1, seed2=seed2)


# ------------------------------------------------------------ uniform

random_uniform_op = _random_op("RandomUniform", "shape: T -> output: dtype",
                               f"dtype: type in {_FLOATS}; T: type in {_INDEX}").no_gradient()
random_uniform_op.shape(shape_from_vector)


@random_uniform_op.kernel
def _random_uniform(shape: np.ndarray, *, dtype: dtypes.DType, state: Any) -> np.ndarray:
    return state.uniform(shape, dtype.as_numpy_dtype)


random_uniform_int_op = _random_op("RandomUniformInt", "shape: T, minval: Tout, maxval: Tout -> output: Tout",
                                   f"Tout: type in {_INDEX}; T: type in {_INDEX}")
random_uniform_int_op.shape(shape_from_vector)


@random_uniform_int_op.kernel
def _random_uniform_int(shape: np.ndarray, minval: Any, maxval: Any, *, Tout: dtypes.DType, state: Any) -> np.ndarray:
    return state.uniform_int(shape, minval, maxval, Tout.as_numpy_dtype)


def random_uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                   seed: int | None = None, name: str | None = None) -> Tensor:
    """Uniform numbers in [minval, maxval), floats or int32/int64; integers need `maxval`.

    Raises `ValueError` for another dtype.
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with ops.name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = _shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        seed1, seed2 = random_seed.get_seed(seed)
        if dtype.is_integer:
            return apply_op("RandomUniformInt", shape=shape, minval=minval, maxval=maxval, seed=seed1, seed2=seed2,
                            name=scope)
        drawn = apply_op("RandomUniform", shape=shape, dtype=dtype, seed=seed1, seed2=seed2)
        return math_ops.add(drawn * (maxval - minval), minval, name=scope)


# ------------------------------------------------------------ choices

random_shuffle_op = _random_op("RandomShuffle", "value: T -> output: T", "T: type")
random_shuffle_op.shape(unchanged)


@random_shuffle_op.kernel
def _random_shuffle(value: Any, *, state: Any) -> np.ndarray:
    return state.shuffle(np.asarray(value))


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of `value` (first dimension) in random order."""
    seed1, seed2 = random_seed.get_seed(seed)
    return apply_op("RandomShuffle", value=value, seed=seed1, seed2=seed2, name=name)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of `value` of shape `size` at a random place; fails at run time where `value` is smaller."""
    with ops.name_scope(name, "random_crop", [value, size]) as scope:
        value = ops.convert_to_tensor(value, name="value")
        size = ops.convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = array_ops.shape(value)
        fits = control_flow_ops.Assert(math_ops.reduce_all(shape >= size),
                                       ["Need value.shape >= size, got ", shape, size], summarize=1000)
        shape = control_flow_ops.with_dependencies([fits], shape)
        limit = shape - size + 1
        offset = random_uniform(array_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed) % limit
        return array_ops.slice(value, offset, size, name=scope)


random_crop_op = _random_op("RandomCrop", "image: T, size: int64 -> output: T",
                            "T: type in {uint8, int8, int16, int32, int64, float32, float64}").no_gradient()

multinomial_op = _random_op("Multinomial", "logits: T, num_samples: int32 -> output: output_dtype",
                            "T: type in {realnumbertype}; output_dtype: type in {int32, int64} = int64").no_gradient()


@multinomial_op.shape
def multinomial_shape(c: ShapeContext) -> TensorShape:
    """Shape rule: [batch, num_samples] for logits [batch, classes]."""
    logits = with_rank(c.shape(0), 2)
    with_rank(c.shape(1), 0)
    count = c.value(1)
    if count is not None and count < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {int(count)}")
    batch = None if logits.sizes is None else logits.sizes[0]
    return TensorShape([batch, None if count is None else int(count)])


@multinomial_op.kernel
def _multinomial(logits: np.ndarray, num_samples: Any, *, output_dtype: dtypes.DType, state: Any) -> np.ndarray:
    return state.multinomial(logits, int(num_samples), output_dtype.as_numpy_dtype)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Tensor:
    """[batch, num_samples] class numbers drawn by the odds exp(logits), logits [batch, classes]."""
    with ops.name_scope(name, "multinomial", [logits]):
        return _categorical(logits, num_samples, output_dtype, seed)


def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None,
                name: str | None = None) -> Tensor:
    """[batch, num_samples] class numbers drawn by the odds exp(logits), logits [batch, classes]."""
    with ops.name_scope(name, "categorical", [logits]):
        return _categorical(logits, num_samples, dtype, seed)


def _categorical(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = ops.convert_to_tensor(logits, name="logits")
    seed1, seed2 = random_seed.get_seed(seed)
    return apply_op("Multinomial", logits=logits, num_samples=num_samples, seed=seed1, seed2=seed2, output_dtype=dtype)


# ------------------------------------------------------------ gamma and Poisson

random_gamma_op = _random_op("RandomGamma", "shape: S, alpha: T -> output: T",
                             f"S: type in {_INDEX}; T: type in {{float16, float32, float64}}")


def _samples_of_each(c: ShapeContext) -> TensorShape:
    shape = shape_from_vector(c)
    if shape.sizes is None or c.shape(1).sizes is None:
        return UNKNOWN
    return shape.concatenate(c.shape(1))


random_gamma_op.shape(_samples_of_each)


@random_gamma_op.kernel
def _random_gamma(shape: np.ndarray, alpha: Any, *, state: Any) -> np.ndarray:
    return state.gamma(shape, np.asarray(alpha))


@random_gamma_op.gradient
def _random_gamma_grad(op: Operation, grad: Tensor) -> list[Any]:
    shape, alpha = op.inputs
    sample = op.outputs[0]
    with ops.control_dependencies([grad]):
        sample_dims = array_ops.shape(shape)[0]
        ones = array_ops.ones([sample_dims], dtypes.int32)
        aligned = array_ops.reshape(alpha, array_ops.concat([ones, array_ops.shape(alpha)], axis=0))
        slope = apply_op("RandomGammaGrad", alpha=aligned, sample=sample)
        return [None, math_ops.reduce_sum(grad * slope, axis=math_ops.range(sample_dims))]


random_gamma_grad_op = register_op("RandomGammaGrad", "alpha: T, sample: T -> output: T",
                                   "T: type in {float32, float64}")


@random_gamma_grad_op.shape
def _random_gamma_grad_shape(c: ShapeContext) -> TensorShape:
    from tfsandbox.framework.shape_inference import broadcast_shapes
    return broadcast_shapes(c.shape(0), c.shape(1))


@random_gamma_grad_op.kernel
def _random_gamma_slope(alpha: Any, sample: Any) -> np.ndarray:
    # Implicit differentiation of P(alpha, sample) = const: dx/da = -(dP/da) / (dP/dx). There is no closed form of
    # dP/da; central differences of the float64 function are good to more digits than float32 has.
    from scipy.special import gammainc, gammaln
    a, x = np.asarray(alpha, np.float64), np.asarray(sample, np.float64)
    step = 1e-5 * np.maximum(a, 1e-3)
    by_alpha = (gammainc(a + step, x) - gammainc(a - step, x)) / (2.0 * step)
    density = np.exp((a - 1.0) * np.log(x) - x - gammaln(a))
    return (-by_alpha / density).astype(np.asarray(sample).dtype)


def random_gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: int | None = None,
                 name: str | None = None) -> Tensor:
    """Gamma samples, `shape` of them for each (alpha, beta): shape `shape + broadcast(alpha, beta).shape`."""
    with ops.name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = ops.convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = ops.convert_to_tensor(beta if beta is not None else 1, name="beta", dtype=dtype)
        both = alpha + array_ops.zeros_like(beta)
        seed1, seed2 = random_seed.get_seed(seed)
        drawn = apply_op("RandomGamma", shape=shape, alpha=both, seed=seed1, seed2=seed2)
        return math_ops.maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, drawn / beta)


_POISSON_TYPES = "{float16, float32, float64, int32, int64}"

random_poisson_op = _random_op("RandomPoisson", "shape: S, rate: dtype -> output: dtype",
                               f"S: type in {_INDEX}; dtype: type in {{float16, float32, float64}}")
random_poisson_v2_op = _random_op(
    "RandomPoissonV2", "shape: S, rate: R -> output: dtype",
    f"S: type in {_INDEX}; R: type in {_POISSON_TYPES} = float64; dtype: type in {_POISSON_TYPES} = int64")
random_poisson_op.shape(_samples_of_each)
random_poisson_v2_op.shape(_samples_of_each)


@random_poisson_op.kernel
@random_poisson_v2_op.kernel
def _random_poisson(shape: np.ndarray, rate: Any, *, dtype: dtypes.DType, state: Any) -> np.ndarray:
    return state.poisson(shape, np.asarray(rate), dtype.as_numpy_dtype)


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None,
                   name: str | None = None) -> Tensor:
    """Poisson samples, `shape` of them for each rate: shape `shape + lam.shape`."""
    return random_poisson_v2(shape, lam, dtype, seed, name)


def random_poisson_v2(shape: Any, lam: Any, dtype: Any = dtypes.float32, seed: int | None = None,
                      name: str | None = None) -> Tensor:
    """As `random_poisson`, the shape first."""
    with ops.name_scope(name, "random_poisson", [lam, shape]):
        shape = ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = random_seed.get_seed(seed)
        return apply_op("RandomPoissonV2", shape=shape, rate=lam, dtype=dtype, seed=seed1, seed2=seed2)


