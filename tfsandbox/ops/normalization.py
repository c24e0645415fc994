"""Normalization: moments, batch normalization (also as one fused op), l2 and local response normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.convolution import either

__all__: list[str] = []

# ------------------------------------------------------------ moments


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
            keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """(mean, variance) over `axes`. `shift` is not used; float16 is computed in float32."""
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with ops.name_scope(name, "moments", [x, axes]):
        half = ops.convert_to_tensor(x).dtype in (dtypes.float16, dtypes.bfloat16) if not isinstance(x, Tensor) \
            else x.dtype in (dtypes.float16, dtypes.bfloat16)
        y = math_ops.cast(x, dtypes.float32) if half else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        # No gradient flows through the mean in the variance: it would be 0.
        variance = math_ops.reduce_mean(math_ops.squared_difference(y, array_ops.stop_gradient(mean)), axes,
                                        keepdims=True, name="variance")
        if not keepdims:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        if half:
            return math_ops.cast(mean, x.dtype), math_ops.cast(variance, x.dtype)
        return mean, variance


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None,
                     keep_dims: bool | None = None, keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """(mean, variance) over `axes`, each element counted `frequency_weights` times."""
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with ops.name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype == dtypes.float16
        given = x.dtype
        if half:
            x = math_ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        total = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # The weights spread over x: their sum counts every element.
        count = math_ops.reduce_sum(weights + array_ops.zeros_like(x), axes, name="sum_of_weights", keepdims=True)
        divisor = math_ops.reciprocal(count, name="inv_weight_sum")
        mean = math_ops.multiply(total, divisor)
        distance = math_ops.reduce_sum(weights * math_ops.squared_difference(x, mean), axes, name="weighted_distsq",
                                       keepdims=True)
        variance = math_ops.multiply(distance, divisor)
        if not keepdims:
            mean, variance = array_ops.squeeze(mean, axes), array_ops.squeeze(variance, axes)
        if half:
            return math_ops.cast(mean, given), math_ops.cast(variance, given)
        return mean, variance


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keep_dims: bool | None = None,
                          name: str | None = None,
                          keepdims: bool | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """(count, sum, sum of squares, shift) of x - shift over `axes`: what `normalize_moments` makes moments of."""
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    axes = list(set(axes))
    with ops.name_scope(name, "sufficient_statistics", [x, shift]):
        x = ops.convert_to_tensor(x, name="x")
        sizes = x.get_shape()
        if sizes.ndims is not None and all(sizes[d].value is not None for d in axes):
            counted = 1
            for d in axes:
                counted *= sizes.as_list()[d]  # type: ignore[operator]
            count = constant(counted, dtype=x.dtype)
        else:
            chosen = array_ops.gather(math_ops.cast(array_ops.shape(x), x.dtype), axes)
            count = math_ops.reduce_prod(chosen, name="count")
        if shift is not None:
            shift = ops.convert_to_tensor(shift, name="shift")
            values = math_ops.subtract(x, shift)
            squares = math_ops.squared_difference(x, shift)
        else:
            values, squares = x, math_ops.square(x)
        total = math_ops.reduce_sum(values, axes, keepdims=keepdims, name="mean_ss")
        return count, total, math_ops.reduce_sum(squares, axes, keepdims=keepdims, name="var_ss"), shift


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any,
                      name: str | None = None) -> tuple[Tensor, Tensor]:
    """(mean, variance) from sufficient statistics."""
    with ops.name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math_ops.add(shifted, shift, name="mean")
        else:
            shifted = mean = math_ops.multiply(mean_ss, divisor, name="mean")
        variance = math_ops.subtract(math_ops.multiply(variance_ss, divisor), math_ops.square(shifted),
                                     name="variance")
        return mean, variance


# ------------------------------------------------------------ batch normalization


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any,
                        name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset; `offset` and `scale` may be None.

    Source: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    with ops.name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        # Two passes over x instead of four: x * factor + (offset - mean * factor).
        scaled = x * math_ops.cast(factor, x.dtype)
        return scaled + math_ops.cast(offset - mean * factor if offset is not None else -mean * factor, x.dtype)


def batch_norm_with_global_normalization(t: Any = None, m: Any = None, v: Any = None, beta: Any = None,
                                         gamma: Any = None, variance_epsilon: Any = None,
                                         scale_after_normalization: bool | None = None, name: str | None = None,
                                         input: Any = None, mean: Any = None, variance: Any = None) -> Tensor:  # noqa: A002
    """`batch_normalization` under its older name; `gamma` counts only with `scale_after_normalization`."""
    t = either("input", input, "t", t)
    m = either("mean", mean, "m", m)
    v = either("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


# ------------------------------------------------------------ l2 and local response


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """x / sqrt(max(sum(x ** 2), epsilon)) along `axis` (`dim` is its old name)."""
    axis = either("axis", axis, "dim", dim)
    with ops.name_scope(name, "l2_normalize", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        total = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
        return math_ops.multiply(x, math_ops.rsqrt(math_ops.maximum(total, epsilon)), name=name)


_LRN = ("depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
        "T: type in {float16, bfloat16, float32} = float32")
lrn_op = register_op("LRN", "input: T -> output: T", _LRN)
lrn_grad_op = register_op("LRNGrad", "input_grads: T, input_image: T, output_image: T -> output: T", _LRN)


@lrn_op.shape
@lrn_grad_op.shape
def _lrn_shape(c: Any) -> TensorShape:
    return with_rank(c.shape(0), 4)


def _band(channels: int, radius: int, dtype: Any) -> Any:
    """[c, c]: ones where two channels are at most `radius` apart."""
    places = np.arange(channels)
    return (np.abs(places[:, None] - places) <= radius).astype(dtype)


@lrn_op.kernel
def _lrn(value: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    rows = value.reshape(-1, value.shape[-1])
    number = value.dtype.type
    norm = np.dot(np.square(rows), _band(rows.shape[1], depth_radius, rows.dtype)) * number(alpha) + number(bias)
    return (rows * norm ** number(-beta)).reshape(value.shape)


@lrn_op.gradient
def _lrn_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [apply_op("LRNGrad", input_grads=grad, input_image=op.inputs[0], output_image=op.outputs[0],
                     **{name: op.get_attr(name) for name in ("depth_radius", "bias", "alpha", "beta")})]


@lrn_grad_op.kernel
def _lrn_grad(grads: Any, value: Any, result: Any, *, depth_radius: int, bias: float, alpha: float,
              beta: float) -> Any:
    # d out_j / d in_i = [i = j] norm_j ** -beta - 2 alpha beta in_i out_j / norm_j for channels within the radius.
    channels = value.shape[-1]
    rows, grad_rows, result_rows = (a.reshape(-1, channels) for a in (value, grads, result))
    number = value.dtype.type
    band = _band(channels, depth_radius, rows.dtype)
    norm = np.dot(np.square(rows), band) * number(alpha) + number(bias)
    spread = np.dot(grad_rows * result_rows / norm, band)
    return (grad_rows * norm ** number(-beta) - number(2 * alpha * beta) * rows * spread).reshape(value.shape)


def local_response_normalization(input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1,  # noqa: A002
                                 beta: float = 0.5, name: str | None = None) -> Tensor:
    """input / (bias + alpha * sum(input ** 2 over 2 * depth_radius + 1 channels)) ** beta: [n, h, w, c].

    Source: Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012.
    """
    return apply_op("LRN", input=input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization
