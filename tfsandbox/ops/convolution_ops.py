"""The convolution ops: two and three spatial axes, each channel by itself, and what their gradients are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops import convolution_kernels as kernels
from tfsandbox.ops.convolution_kernels import Windows
from tfsandbox.ops.kernel_values import text_of_sizes
from tfsandbox.ops.nn_shapes import (
    channel_axis,
    channels_first,
    channels_last,
    invalid,
    pairs,
    sizes_last,
    spatial_axes,
    windowed_size,
)

__all__: list[str] = []

_FLOATS = "T: type in {float16, bfloat16, float32, float64}"
_PADDING = "padding: string in {'SAME', 'VALID'}"
_LAYOUT = "data_format: string in {'NHWC', 'NCHW'} = 'NHWC'"
_LAYOUT_3D = "data_format: string in {'NDHWC', 'NCDHW'} = 'NDHWC'"
_CONV2D = (_FLOATS + "; strides: list(int); use_cudnn_on_gpu: bool = true; padding: string in {'SAME', 'VALID', "
           "'EXPLICIT'}; explicit_paddings: list(int) = []; " + _LAYOUT + "; dilations: list(int) = [1, 1, 1, 1]")
_CONV3D = (_FLOATS + "; strides: list(int) >= 5; " + _PADDING + "; " + _LAYOUT_3D
           + "; dilations: list(int) = [1, 1, 1, 1, 1]")
_OLD_CONV3D = ("T: type in {float16, float32, float64}; strides: list(int) >= 5; " + _PADDING
               + "; dilations: list(int) = [1, 1, 1, 1, 1]")
_DEPTHWISE = _FLOATS + "; strides: list(int); " + _PADDING + "; " + _LAYOUT + "; dilations: list(int) = [1, 1, 1, 1]"

conv2d_op = register_op("Conv2D", "input: T, filter: T -> output: T", _CONV2D)
conv2d_backprop_input_op = register_op(
    "Conv2DBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T", _CONV2D)
conv2d_backprop_filter_op = register_op(
    "Conv2DBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T", _CONV2D)
conv3d_op = register_op("Conv3D", "input: T, filter: T -> output: T", _CONV3D)
conv3d_backprop_input_v2_op = register_op(
    "Conv3DBackpropInputV2", "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    _CONV3D + "; Tshape: type in {int32, int64} = int32")
conv3d_backprop_filter_v2_op = register_op(
    "Conv3DBackpropFilterV2", "input: T, filter_sizes: int32, out_backprop: T -> output: T", _CONV3D)
conv3d_backprop_input_op = register_op(
    "Conv3DBackpropInput", "input: T, filter: T, out_backprop: T -> output: T", _OLD_CONV3D)
conv3d_backprop_filter_op = register_op(
    "Conv3DBackpropFilter", "input: T, filter: T, out_backprop: T -> output: T", _OLD_CONV3D)
depthwise_op = register_op("DepthwiseConv2dNative", "input: T, filter: T -> output: T", _DEPTHWISE)
depthwise_backprop_input_op = register_op(
    "DepthwiseConv2dNativeBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T", _DEPTHWISE)
depthwise_backprop_filter_op = register_op(
    "DepthwiseConv2dNativeBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T", _DEPTHWISE)

# ------------------------------------------------------------ shapes


@conv2d_op.shape
@conv3d_op.shape
@depthwise_op.shape
def _convolution_shape(c: Any) -> TensorShape:
    op_type = c.op_def.name
    rank = 5 if op_type == "Conv3D" else 4
    strides, dilations, layout, padding = (c.attr(a) for a in ("strides", "dilations", "data_format", "padding"))
    if len(strides) != rank:
        named = "DepthwiseConv2D" if op_type.startswith("Depthwise") else op_type
        raise ValueError(f"{named} requires the stride attribute to contain {rank} values, but got: {len(strides)}")
    if len(dilations) != rank:
        raise ValueError(f"{op_type} requires the dilation attribute to contain {rank} values, but got: "
                         f"{len(dilations)}")
    sizes = with_rank(c.shape(0), rank).as_list()
    *window, depth, outputs = with_rank(c.shape(1), rank).as_list()
    pads = _checked_pads(c.attrs.get("explicit_paddings", []), padding, layout, rank)
    channels = channel_axis(layout, rank)
    inputs = sizes[channels]
    if op_type.startswith("Depthwise"):
        inputs = merge_sizes(inputs, depth)
        outputs = None if inputs is None or outputs is None else inputs * outputs
    elif inputs is not None and depth is not None and (depth == 0 or inputs % depth):
        raise ValueError(f"Depth of input ({inputs}) is not a multiple of input depth of filter ({depth})")
    result = list(sizes)
    result[channels] = outputs
    for axis, size in zip(spatial_axes(layout, rank), window):
        result[axis] = windowed_size(sizes[axis], size, strides[axis], padding, pads[axis], dilations[axis])
    return TensorShape(result)


def _checked_pads(flat: Sequence[int], padding: bytes, layout: bytes, rank: int) -> list[tuple[int, int]]:
    if padding != b"EXPLICIT":
        return [(0, 0)] * rank
    if len(flat) != 2 * rank:
        raise ValueError(f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(flat)}")
    pads = pairs(flat)
    if min(flat) < 0:
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    if any(pads[0]) or any(pads[channel_axis(layout, rank)]):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported")
    return pads


def _given_shape(rank: int, index: int) -> Any:
    """A rule for ops whose result has the shape that an input spells out."""
    def rule(c: Any) -> TensorShape:
        return with_rank(c.value_as_shape(index), rank)
    return rule


for _op, _index in ((conv2d_backprop_input_op, 0), (conv2d_backprop_filter_op, 1), (depthwise_backprop_input_op, 0),
                    (depthwise_backprop_filter_op, 1)):
    _op.shape(_given_shape(4, _index))
conv3d_backprop_input_v2_op.shape(_given_shape(5, 0))
conv3d_backprop_filter_v2_op.shape(_given_shape(5, 1))
conv3d_backprop_input_op.shape(lambda c: with_rank(c.shape(0), 5))
conv3d_backprop_filter_op.shape(lambda c: with_rank(c.shape(1), 5))

# ------------------------------------------------------------ kernels


def _windows(op_type: str, shape: Sequence[int], kernel_shape: Sequence[int], strides: Sequence[int],
             dilations: Sequence[int], layout: bytes, padding: bytes, explicit: Sequence[int] = ()) -> Windows:
    """The windows over an input of this shape (channels last), after TensorFlow's checks in the run."""
    rank = len(kernel_shape)
    if len(shape) != rank:
        raise invalid(f"input must be {rank}-dimensional{text_of_sizes(shape)}")
    axes = spatial_axes(layout, rank)
    steps, spread = [strides[a] for a in axes], [dilations[a] for a in axes]
    if strides[0] != 1 or strides[channel_axis(layout, rank)] != 1:
        raise invalid("Current implementation does not yet support strides in the batch "
                      "and depth dimensions.")
    if shape[-1] != kernel_shape[-2]:
        raise invalid(f"input depth must be evenly divisible by filter depth: {shape[-1]} vs {kernel_shape[-2]}")
    pads = [pairs(explicit)[a] for a in axes] if padding == b"EXPLICIT" else ()
    where = Windows.over(shape[1:-1], kernel_shape[:-2], steps, spread, padding, pads)
    for i, size in enumerate(shape[1:-1]):
        span = (kernel_shape[i] - 1) * spread[i] + 1
        room = size + (sum(pads[i]) if pads else 0)
        if padding != b"SAME" and room < span - (steps[i] - 1):
            raise invalid(f"Computed output size would be negative: {(room - span) // steps[i] + 1} [input_size: "
                          f"{size}, effective_filter_size: {span}, stride: {steps[i]}]")
    return where


def _check_grad(op_type: str, grad: Any, shape: Sequence[int], kernel_shape: Sequence[int], where: Windows,
                outputs: int) -> None:
    """The gradient must have the shape that the convolution would give."""
    if grad.shape[0] != shape[0]:
        raise invalid(f"{op_type}: input and out_backprop must have the same batch size. "
                      f"Input batch: {shape[0]}, outbackprop batch: {grad.shape[0]}")
    if grad.shape[-1] != outputs:
        raise invalid(f"{op_type}: filter and out_backprop must have the same out_depth")
    for i, count in enumerate(where.counts):
        if grad.shape[i + 1] != count:
            raise invalid(f"{op_type}: Size of out_backprop doesn't match computed: actual = {grad.shape[i + 1]}, "
                          f"computed = {count} spatial_dim: {i + 1} input: {shape[i + 1]} filter: {kernel_shape[i]} "
                          f"output: {grad.shape[i + 1]} stride: {where.strides[i]} dilation: {where.dilations[i]}")


def _check_filter(kernel: Any, rank: int) -> None:
    if kernel.ndim != rank:
        raise invalid(f"filter must be {rank}-dimensional: {text_of_sizes(kernel.shape)}")


@conv2d_op.kernel
def _conv2d(x: Any, kernel: Any, *, strides: list[int], padding: bytes, explicit_paddings: list[int],
            data_format: bytes, dilations: list[int]) -> Any:
    _check_filter(kernel, 4)
    x = channels_last(x, data_format)
    where = _windows("Conv2D", x.shape, kernel.shape, strides, dilations, data_format, padding, explicit_paddings)
    return channels_first(kernels.convolve(x, kernel, where), data_format)


@conv2d_backprop_input_op.kernel
def _conv2d_backprop_input(sizes: Any, kernel: Any, grad: Any, *, strides: list[int], padding: bytes,
                           explicit_paddings: list[int], data_format: bytes, dilations: list[int]) -> Any:
    shape, grad = sizes_last(sizes, data_format), channels_last(grad, data_format)
    where = _windows("Conv2DBackpropInput", shape, kernel.shape, strides, dilations, data_format, padding,
                     explicit_paddings)
    _check_grad("Conv2DCustomBackpropInput", grad, shape, kernel.shape, where, kernel.shape[-1])
    return channels_first(kernels.input_gradient(shape, kernel, grad, where), data_format)


@conv2d_backprop_filter_op.kernel
def _conv2d_backprop_filter(x: Any, sizes: Any, grad: Any, *, strides: list[int], padding: bytes,
                            explicit_paddings: list[int], data_format: bytes, dilations: list[int]) -> Any:
    x, grad = channels_last(x, data_format), channels_last(grad, data_format)
    shape = [int(n) for n in sizes]
    where = _windows("Conv2DBackpropFilter", x.shape, shape, strides, dilations, data_format, padding,
                     explicit_paddings)
    _check_grad("Conv2DCustomBackpropFilter", grad, x.shape, shape, where, shape[-1])
    return kernels.kernel_gradient(x, grad, shape, where)


@conv3d_op.kernel
def _conv3d(x: Any, kernel: Any, *, strides: list[int], padding: bytes, data_format: bytes,
            dilations: list[int]) -> Any:
    _check_filter(kernel, 5)
    x = channels_last(x, data_format)
    where = _windows("Conv3D", x.shape, kernel.shape, strides, dilations, data_format, padding)
    return channels_first(kernels.convolve(x, kernel, where), data_format)


@conv3d_backprop_input_v2_op.kernel
def _conv3d_backprop_input(sizes: Any, kernel: Any, grad: Any, *, strides: list[int], padding: bytes,
                           data_format: bytes, dilations: list[int]) -> Any:
    shape, grad = sizes_last(sizes, data_format), channels_last(grad, data_format)
    where = _windows("Conv3DBackpropInput", shape, kernel.shape, strides, dilations, data_format, padding)
    _check_grad("Conv3DBackpropInput", grad, shape, kernel.shape, where, kernel.shape[-1])
    return channels_first(kernels.input_gradient(shape, kernel, grad, where), data_format)


@conv3d_backprop_filter_v2_op.kernel
def _conv3d_backprop_filter(x: Any, sizes: Any, grad: Any, *, strides: list[int], padding: bytes,
                            data_format: bytes, dilations: list[int]) -> Any:
    x, grad = channels_last(x, data_format), channels_last(grad, data_format)
    shape = [int(n) for n in sizes]
    where = _windows("Conv3DBackpropFilter", x.shape, shape, strides, dilations, data_format, padding)
    _check_grad("Conv3DBackpropFilter", grad, x.shape, shape, where, shape[-1])
    return kernels.kernel_gradient(x, grad, shape, where)


@conv3d_backprop_input_op.kernel
def _conv3d_backprop_input_v1(x: Any, kernel: Any, grad: Any, *, strides: list[int], padding: bytes,
                              dilations: list[int]) -> Any:
    return _conv3d_backprop_input(x.shape, kernel, grad, strides=strides, padding=padding, data_format=b"NDHWC",
                                  dilations=dilations)


@conv3d_backprop_filter_op.kernel
def _conv3d_backprop_filter_v1(x: Any, kernel: Any, grad: Any, *, strides: list[int], padding: bytes,
                               dilations: list[int]) -> Any:
    return _conv3d_backprop_filter(x, kernel.shape, grad, strides=strides, padding=padding, data_format=b"NDHWC",
                                   dilations=dilations)


def _depthwise_windows(shape: Sequence[int], kernel_shape: Sequence[int], strides: list[int], dilations: list[int],
                       layout: bytes, padding: bytes) -> Windows:
    where = _windows("DepthwiseConv2dNative", shape, kernel_shape, strides, dilations, layout, padding)
    if where.strides[0] != where.strides[1]:
        raise invalid("Current implementation only supports equal length strides in the "
                      "row and column dimensions.")
    return where


@depthwise_op.kernel
def _depthwise(x: Any, kernel: Any, *, strides: list[int], padding: bytes, data_format: bytes,
               dilations: list[int]) -> Any:
    _check_filter(kernel, 4)
    x = channels_last(x, data_format)
    where = _depthwise_windows(x.shape, kernel.shape, strides, dilations, data_format, padding)
    return channels_first(kernels.convolve_depthwise(x, kernel, where), data_format)


@depthwise_backprop_input_op.kernel
def _depthwise_backprop_input(sizes: Any, kernel: Any, grad: Any, *, strides: list[int], padding: bytes,
                              data_format: bytes, dilations: list[int]) -> Any:
    shape, grad = sizes_last(sizes, data_format), channels_last(grad, data_format)
    where = _depthwise_windows(shape, kernel.shape, strides, dilations, data_format, padding)
    _check_grad("DepthwiseConv2DBackpropInput", grad, shape, kernel.shape, where, shape[-1] * kernel.shape[-1])
    return channels_first(kernels.depthwise_input_gradient(shape, kernel, grad, where), data_format)


@depthwise_backprop_filter_op.kernel
def _depthwise_backprop_filter(x: Any, sizes: Any, grad: Any, *, strides: list[int], padding: bytes,
                               data_format: bytes, dilations: list[int]) -> Any:
    x, grad = channels_last(x, data_format), channels_last(grad, data_format)
    shape = [int(n) for n in sizes]
    where = _depthwise_windows(x.shape, shape, strides, dilations, data_format, padding)
    _check_grad("DepthwiseConv2DBackpropFilter", grad, x.shape, shape, where, x.shape[-1] * shape[-1])
    return kernels.depthwise_kernel_gradient(x, grad, shape, where)


# ------------------------------------------------------------ gradients
#
# The three ops of a family are linear in both inputs, and each is the gradient of the others.


def _attrs(op: Operation) -> dict[str, Any]:
    return {name: op._attrs[name] for name in ("strides", "padding", "use_cudnn_on_gpu", "explicit_paddings",
                                               "data_format", "dilations") if name in op._attrs}


@conv2d_op.gradient
def _conv2d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    sizes, kernel_sizes = array_ops.shape_n([op.inputs[0], op.inputs[1]])
    return [apply_op("Conv2DBackpropInput", input_sizes=sizes, filter=op.inputs[1], out_backprop=grad, **_attrs(op)),
            apply_op("Conv2DBackpropFilter", input=op.inputs[0], filter_sizes=kernel_sizes, out_backprop=grad,
                     **_attrs(op))]


def _family(forward: str, by_input: str, by_filter: str) -> None:
    """Hang the gradients on the two gradient ops of a family."""
    from tfsandbox.framework import op_registry

    def input_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [None,
                apply_op(by_filter, input=grad, filter_sizes=array_ops.shape(op.inputs[1]), out_backprop=op.inputs[2],
                         **_attrs(op)),
                apply_op(forward, input=grad, filter=op.inputs[1], **_attrs(op))]

    def filter_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [apply_op(by_input, input_sizes=array_ops.shape(op.inputs[0]), filter=grad, out_backprop=op.inputs[2],
                         **_attrs(op)),
                None,
                apply_op(forward, input=op.inputs[0], filter=grad, **_attrs(op))]

    op_registry.get(by_input).gradient(input_gradient)
    op_registry.get(by_filter).gradient(filter_gradient)


_family("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
_family("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
_family("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter")


@conv3d_op.gradient
def _conv3d_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [apply_op("Conv3DBackpropInputV2", input_sizes=array_ops.shape(op.inputs[0]), filter=op.inputs[1],
                     out_backprop=grad, **_attrs(op)),
            apply_op("Conv3DBackpropFilterV2", input=op.inputs[0], filter_sizes=array_ops.shape(op.inputs[1]),
                     out_backprop=grad, **_attrs(op))]


@depthwise_op.gradient
def _depthwise_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [apply_op("DepthwiseConv2dNativeBackpropInput", input_sizes=array_ops.shape(op.inputs[0]),
                     filter=op.inputs[1], out_backprop=grad, **_attrs(op)),
            apply_op("DepthwiseConv2dNativeBackpropFilter", input=op.inputs[0],
                     filter_sizes=array_ops.shape(op.inputs[1]), out_backprop=grad, **_attrs(op))]


def sequence_of(value: Any, n: int, channel_index: int, name: str) -> list[int]:
    """Strides or dilations of n spatial axes, written as one number, n or n + 2, as n + 2 numbers."""
    if value is None:
        value = [1]
    elif not isinstance(value, (list, tuple, np.ndarray)):
        value = [value]
    value = list(value)
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(f"{name} should be of length 1, {n} or {n + 2} but was {len(value)}")
    return [1, *value, 1] if channel_index == n + 1 else [1, 1, *value]
