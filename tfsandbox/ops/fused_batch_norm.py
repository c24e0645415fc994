"""Batch normalization as one op, in the three versions that TensorFlow's graphs hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib.matrix_reductions import column_sums
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.inner_gradients import inner_gradients
from tfsandbox.ops.nn_shapes import channel_axis, channels_first, channels_last, spatial_axes

__all__: list[str] = []

_COMMON = "epsilon: float = 0.0001; data_format: string in {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true"
_ONE = "T: type in {float32}; " + _COMMON
_TWO = "T: type in {float16, bfloat16, float32}; U: type in {float32}; " + _COMMON

_OUTPUTS = "y: T, batch_mean: {0}, batch_variance: {0}, reserve_space_1: {0}, reserve_space_2: {0}"
_GRADS = "x_backprop: T, scale_backprop: {0}, offset_backprop: {0}, reserve_space_{1}: {0}, reserve_space_{2}: {0}"

fused_batch_norm_op = register_op(
    "FusedBatchNorm", "x: T, scale: T, offset: T, mean: T, variance: T -> " + _OUTPUTS.format("T"), _ONE)
fused_batch_norm_v2_op = register_op(
    "FusedBatchNormV2", "x: T, scale: U, offset: U, mean: U, variance: U -> " + _OUTPUTS.format("U"), _TWO)
fused_batch_norm_v3_op = register_op(
    "FusedBatchNormV3", "x: T, scale: U, offset: U, mean: U, variance: U -> " + _OUTPUTS.format("U")
    + ", reserve_space_3: U", _TWO)
fused_batch_norm_grad_op = register_op(
    "FusedBatchNormGrad", "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> "
    + _GRADS.format("T", 3, 4), _ONE)
fused_batch_norm_grad_v2_op = register_op(
    "FusedBatchNormGradV2", "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U -> "
    + _GRADS.format("U", 3, 4), _TWO)
fused_batch_norm_grad_v3_op = register_op(
    "FusedBatchNormGradV3", "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, "
    "reserve_space_3: U -> " + _GRADS.format("U", 4, 5), _TWO)

_FORWARD = (fused_batch_norm_op, fused_batch_norm_v2_op, fused_batch_norm_v3_op)
_BACKWARD = (fused_batch_norm_grad_op, fused_batch_norm_grad_v2_op, fused_batch_norm_grad_v3_op)

# ------------------------------------------------------------ shapes


def _forward_shape(c: Any) -> list[TensorShape]:
    sizes = with_rank(c.shape(0), 4).as_list()
    at = channel_axis(c.attr("data_format"), 4)
    for i in range(1, 3 if c.attr("is_training") else 5):
        sizes[at] = merge_sizes(sizes[at], with_rank(c.shape(i), 1).as_list()[0])
    each = TensorShape([sizes[at]])
    shapes = [TensorShape(sizes), each, each, each, each]
    return [*shapes, TensorShape(None)] if c.op_def.name.endswith("V3") else shapes


def _backward_shape(c: Any) -> list[TensorShape]:
    sizes = with_rank(c.shape(1), 4).as_list()
    at = channel_axis(c.attr("data_format"), 4)
    sizes[at] = merge_sizes(with_rank(c.shape(0), 4).as_list()[at], sizes[at])
    for i in (2, 3, 4):
        sizes[at] = merge_sizes(sizes[at], with_rank(c.shape(i), 1).as_list()[0])
    each = TensorShape([sizes[at]])
    rest = TensorShape([0]) if c.attr("is_training") else each
    return [TensorShape(sizes), each, each, rest, rest]


# ------------------------------------------------------------ kernels


def _forward(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, epsilon: float, data_format: bytes,
             is_training: bool) -> tuple[Any, ...]:
    value = channels_last(x, data_format)
    rows = value.reshape(-1, value.shape[-1])
    if rows.dtype != scale.dtype:
        rows = rows.astype(scale.dtype)
    number = scale.dtype.type
    if is_training:
        count = rows.shape[0]
        mean = column_sums(rows) / number(count)
        centered = rows - mean
        variance = column_sums(np.square(centered)) / number(count)
        # The moving average gets the unbiased estimate.
        unbiased = variance * number(count / max(count - 1, 1))
    else:
        centered = rows - mean
        unbiased = variance
    centered *= scale / np.sqrt(variance + number(epsilon))
    centered += offset
    y = channels_first(centered.astype(x.dtype, copy=False).reshape(value.shape), data_format)
    # Every output owns its memory: a later op may write into one of them.
    return y, mean.copy(), unbiased.copy(), mean.copy(), variance.copy()


def _forward_v3(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, *, epsilon: float, data_format: bytes,
                is_training: bool) -> tuple[Any, ...]:
    return (*_forward(x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
                      is_training=is_training), np.zeros((), scale.dtype))


def _backward(grad: Any, x: Any, scale: Any, mean: Any, variance: Any, *, epsilon: float, data_format: bytes,
              is_training: bool) -> tuple[Any, ...]:
    value = channels_last(x, data_format)
    rows = value.reshape(-1, value.shape[-1])
    grads = channels_last(grad, data_format).reshape(rows.shape)
    if rows.dtype != scale.dtype:
        rows, grads = rows.astype(scale.dtype), grads.astype(scale.dtype)
    number = scale.dtype.type
    inverse = number(1) / np.sqrt(variance + number(epsilon))
    centered = rows - mean
    offset_grad = column_sums(grads)
    scale_grad = column_sums(grads * centered) * inverse
    if is_training:
        # Mean and variance depend on x: take out of the gradient what runs along them.
        count = number(rows.shape[0])
        centered *= inverse * scale_grad / count
        np.subtract(grads, centered, out=centered)
        centered -= offset_grad / count
        centered *= scale * inverse
        rest = np.zeros(0, scale.dtype)
    else:
        centered = grads * (scale * inverse)
        rest = np.zeros(scale.shape, scale.dtype)
    x_grad = channels_first(centered.astype(x.dtype, copy=False).reshape(value.shape), data_format)
    return x_grad, scale_grad, offset_grad, rest, rest.copy()


def _backward_v3(grad: Any, x: Any, scale: Any, mean: Any, variance: Any, reserve: Any, *, epsilon: float,
                 data_format: bytes, is_training: bool) -> tuple[Any, ...]:
    return _backward(grad, x, scale, mean, variance, epsilon=epsilon, data_format=data_format,
                     is_training=is_training)


for _op in _FORWARD:
    _op.shape(_forward_shape)
    _op.kernel(_forward_v3 if _op is fused_batch_norm_v3_op else _forward)
for _op in _BACKWARD:
    _op.shape(_backward_shape)
    _op.kernel(_backward_v3 if _op is fused_batch_norm_grad_v3_op else _backward)

# ------------------------------------------------------------ gradients


def _gradient(version: int) -> Any:
    def gradient(op: Operation, *grads: Any) -> list[Any]:
        return _forward_gradient(op, version, grads)
    return gradient


def _forward_gradient(op: Operation, version: int, grads: Sequence[Any]) -> list[Any]:
    x, scale = op.inputs[0], op.inputs[1]
    grad = grads[0]
    layout, training = op.get_attr("data_format"), op.get_attr("is_training")
    back = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")[version]
    arguments = {"epsilon": op.get_attr("epsilon"), "is_training": training}
    if version == 2:
        arguments["reserve_space_3"] = op.outputs[5]
    if training:
        results = apply_op(back, y_backprop=grad, x=x, scale=scale, reserve_space_1=op.outputs[3],
                           reserve_space_2=op.outputs[4], data_format=layout, **arguments)
        return list(results)
    if layout == b"NCHW":
        x = array_ops.transpose(x, [0, 2, 3, 1])
        grad = array_ops.transpose(grad, [0, 2, 3, 1])
    results = apply_op(back, y_backprop=grad, x=x, scale=scale, reserve_space_1=op.inputs[3],
                       reserve_space_2=op.inputs[4], data_format="NHWC", **arguments)
    x_grad = results[0]
    if layout == b"NCHW":
        x_grad = array_ops.transpose(x_grad, [0, 3, 1, 2])
    return [x_grad, results[1], results[2], None, None]


def _second_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of the gradient, through the formula written out in plain ops."""
    grad, x, scale, mean, variance = op.inputs[:5]
    training, layout = op.get_attr("is_training"), op.get_attr("data_format")
    if training:
        targets = _training_formula(grad, x, scale, op.get_attr("epsilon"), layout)
    else:
        targets = _inference_formula(grad, x, scale, mean, variance, op.get_attr("epsilon"))
    # In TensorFlow's order, which later names depend on.
    order = (0, 1, 2) if training and layout == b"NHWC" else (0, 2, 1)
    found = inner_gradients([targets[i] for i in order], [grads[i] for i in order], [grad, x, scale])
    return [*found, *[None] * (len(op.inputs) - 3)]


def _training_formula(grad: Tensor, x: Tensor, scale: Tensor, epsilon: float,
                      layout: bytes) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients with respect to x, scale and offset."""
    axes, keep = [0, *spatial_axes(layout, 4)], layout == b"NCHW"
    wide = array_ops.reshape(scale, [1, array_ops.size(scale), 1, 1]) if keep else scale
    grad_mean = math_ops.reduce_mean(grad, axes, keepdims=keep)
    mean = math_ops.reduce_mean(x, axes, keepdims=keep)
    variance = math_ops.reduce_mean(math_ops.squared_difference(x, array_ops.stop_gradient(mean)), axes, keepdims=keep)
    grad_offset, x_offset = grad - grad_mean, x - mean
    product = math_ops.reduce_mean(grad * x_offset, axes, keepdims=keep)
    x_grad = wide * math_ops.rsqrt(variance + epsilon) * (
        grad_offset - math_ops.reciprocal(variance + epsilon) * product * x_offset)
    scale_grad = math_ops.rsqrt(variance + epsilon) * math_ops.reduce_sum(grad * x_offset, axes, keepdims=keep)
    if keep:
        scale_grad = array_ops.squeeze(scale_grad)
    return x_grad, scale_grad, math_ops.reduce_sum(grad, axes)


def _inference_formula(grad: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor,
                       epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients with respect to x, scale and offset; the channels are last."""
    axes = [0, 1, 2]
    offset_grad = math_ops.reduce_sum(grad, axes)
    inverse = math_ops.rsqrt(variance + epsilon)
    scale_grad = math_ops.reduce_sum(grad * (x - mean) * inverse, axes)
    return grad * scale * inverse, scale_grad, offset_grad


for _version, _op in enumerate(_FORWARD):
    _op.gradient(_gradient(_version))
for _op in _BACKWARD:
    _op.gradient(_second_gradient)


def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None,
                     epsilon: float = 0.001, data_format: str = "NHWC", is_training: bool = True,
                     name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(y, mean, variance): batch normalization of [n, h, w, c] by the batch's moments, or by those given.

    In training `mean` and `variance` must be None, and the variance returned is the unbiased estimate. Raises
    `ValueError` otherwise. Source: Ioffe and Szegedy, Batch Normalization, 2015.
    """
    x = ops.convert_to_tensor(x, name="input")
    scale = ops.convert_to_tensor(scale, name="scale")
    offset = ops.convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    # cuDNN takes no smaller one, and the same graph must give the same everywhere.
    smallest = 1.001e-5
    results = apply_op("FusedBatchNormV3", x=x, scale=scale, offset=offset, mean=mean, variance=variance,
                       epsilon=epsilon if epsilon > smallest else smallest, data_format=data_format,
                       is_training=is_training, name=name)
    return results[0], results[1], results[2]
