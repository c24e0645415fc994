"""Convolutions as functions: one to three spatial axes, depthwise, separable, dilated and transposed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.convolution_ops import sequence_of
from tfsandbox.ops.space_to_batch import with_space_to_batch

__all__: list[str] = []


def either(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of an argument with two names; `ValueError` where both are given."""
    if new is not None:
        if old is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return new
    return old


def _padding_attrs(padding: Any) -> dict[str, Any]:
    """A padding, by name or as [before, after] an axis, as the op's two attributes."""
    if not isinstance(padding, (list, tuple)):
        if padding is None:
            raise TypeError("Expected string for argument 'padding' not None.")
        return {"padding": padding, "explicit_paddings": []}
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError("When padding is a list, each element of padding must be a list/tuple of size 2. Element "
                             f"with index {i} of padding is not a list/tuple")
        if len(pair) != 2:
            raise ValueError("When padding is a list, each element of padding must be a list/tuple of size 2. Element "
                             f"with index {i} of padding has size {len(pair)}")
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return {"padding": "EXPLICIT", "explicit_paddings": [size for pair in padding for size in pair]}


def require_list(value: Any, name: str, function: str) -> Any:
    """`value`, which must be a list; `TypeError` in TensorFlow's words where it is not."""
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Expected list for '{name}' argument to '{function}' Op, not {value}.")
    return value


# ------------------------------------------------------------ two spatial axes


def conv2d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None,  # noqa: A002
           use_cudnn_on_gpu: bool = True, data_format: str | None = "NHWC", dilations: Any = (1, 1, 1, 1),
           name: str | None = None, filters: Any = None) -> Tensor:
    """[n, h, w, in], [kh, kw, in, out] -> [n, h', w', out] (data_format 'NCHW' has the channels second).

    `strides` and `dilations` are one number, two or four; `padding` is 'SAME', 'VALID' or four pairs of zeros. Raises
    `ValueError` where depths disagree or the window is larger than the input.
    """
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    attrs = _padding_attrs(padding)
    data_format = data_format or "NHWC"
    at = 1 if data_format.startswith("NC") else 3
    return apply_op("Conv2D", input=input, filter=filter, strides=sequence_of(strides, 2, at, "strides"),
                    use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format,
                    dilations=sequence_of(dilations, 2, at, "dilations"), name=name, **attrs)


def conv2d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any,  # noqa: A002
                           padding: Any, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
                           dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """The gradient of conv2d by its filter (of shape `filter_sizes`)."""
    return apply_op("Conv2DBackpropFilter", input=input, filter_sizes=filter_sizes, out_backprop=out_backprop,
                    strides=require_list(strides, "strides", "conv2d_backprop_filter"),
                    use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format, dilations=dilations, name=name,
                    **_padding_attrs(padding))


def conv2d_backprop_input(input_sizes: Any, filter: Any = None, out_backprop: Any = None,  # noqa: A002
                          strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
                          data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
                          filters: Any = None) -> Tensor:
    """The gradient of conv2d by its input (of shape `input_sizes`)."""
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    return apply_op("Conv2DBackpropInput", input_sizes=input_sizes, filter=filter, out_backprop=out_backprop,
                    strides=require_list(strides, "strides", "conv2d_backprop_input"),
                    use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format, dilations=dilations, name=name,
                    **_padding_attrs(padding))


def conv2d_transpose(value: Any = None, filter: Any = None, output_shape: Any = None,  # noqa: A002
                     strides: Any = None, padding: str = "SAME", data_format: str = "NHWC", name: str | None = None,
                     input: Any = None, filters: Any = None, dilations: Any = None) -> Tensor:  # noqa: A002
    """The gradient of conv2d as a layer: [n, h, w, in], [kh, kw, out, in] -> `output_shape`."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    with ops.name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NHWC"
        at = 1 if data_format.startswith("NC") else 3
        return conv2d_backprop_input(output_shape, filter, value, sequence_of(strides, 2, at, "strides"), padding,
                                     data_format=data_format, dilations=sequence_of(dilations, 2, at, "dilations"),
                                     name=name)


# ------------------------------------------------------------ one and three spatial axes


def _line_layout(data_format: str | None) -> tuple[str, int]:
    """The two-axis layout of a one-axis one, and where the axis of size 1 goes."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


def conv1d(value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None,
           use_cudnn_on_gpu: bool | None = None, data_format: str | None = None, name: str | None = None,
           input: Any = None, dilations: Any = None) -> Tensor:  # noqa: A002
    """[n, w, in], [kw, in, out] -> [n, w', out] (data_format 'NCW' has the channels second)."""
    value = either("input", input, "value", value)
    with ops.name_scope(name, "conv1d", [value, filters]) as name:
        layout, axis = _line_layout(data_format)
        at = 1 if layout == "NCHW" else 2
        strides = [1, *sequence_of(stride, 1, at, "stride")]
        spread = [1, *sequence_of(dilations, 1, at, "dilations")]
        value = array_ops.expand_dims(value, axis)
        filters = array_ops.expand_dims(filters, 0)
        result = conv2d(value, filters, strides, padding, data_format=layout, dilations=spread, name=name,
                        use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu)
        return array_ops.squeeze(result, [axis])


def conv1d_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME",  # noqa: A002
                     data_format: str | None = "NWC", dilations: Any = None, name: str | None = None) -> Tensor:
    """The gradient of conv1d as a layer: [n, w, in], [kw, out, in] -> `output_shape`."""
    with ops.name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        layout, axis = _line_layout(data_format)
        at = 1 if layout == "NCHW" else 2
        steps = [1, *sequence_of(strides, 1, at, "stride")]
        spread = [1, *sequence_of(dilations, 1, at, "dilations")]
        input = array_ops.expand_dims(input, axis)  # noqa: A001
        filters = array_ops.expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        sizes = array_ops.concat([output_shape[:axis], [1], output_shape[axis:]], 0)
        result = conv2d_backprop_input(sizes, filters, input, steps, padding, data_format=layout, dilations=spread,
                                       name=name)
        return array_ops.squeeze(result, [axis])


def conv3d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None,  # noqa: A002
           data_format: str | None = "NDHWC", dilations: Any = (1, 1, 1, 1, 1), name: str | None = None,
           filters: Any = None) -> Tensor:
    """[n, d, h, w, in], [kd, kh, kw, in, out] -> [n, d', h', w', out]."""
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    if padding is None:
        raise TypeError("Expected string for argument 'padding' not None.")
    return apply_op("Conv3D", input=input, filter=filter, strides=require_list(strides, "strides", "conv3d"),
                    padding=padding, data_format=data_format, dilations=dilations, name=name)


def conv3d_backprop_filter_v2(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any,  # noqa: A002
                              padding: str, data_format: str = "NDHWC", dilations: Any = (1, 1, 1, 1, 1),
                              name: str | None = None) -> Tensor:
    """The gradient of conv3d by its filter (of shape `filter_sizes`)."""
    return apply_op("Conv3DBackpropFilterV2", input=input, filter_sizes=filter_sizes, out_backprop=out_backprop,
                    strides=require_list(strides, "strides", "conv3d_backprop_filter_v2"), padding=padding,
                    data_format=data_format, dilations=dilations, name=name)


conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(value: Any, filter: Any = None, output_shape: Any = None, strides: Any = None,  # noqa: A002
                     padding: str = "SAME", data_format: str = "NDHWC", name: str | None = None,
                     input: Any = None, filters: Any = None, dilations: Any = None) -> Tensor:  # noqa: A002
    """The gradient of conv3d as a layer: [n, d, h, w, in], [kd, kh, kw, out, in] -> `output_shape`."""
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    value = either("input", input, "value", value)
    with ops.name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        at = 1 if data_format.startswith("NC") else 4
        return apply_op("Conv3DBackpropInputV2", input_sizes=output_shape, filter=filter, out_backprop=value,
                        strides=sequence_of(strides, 3, at, "strides"), padding=padding, data_format=data_format,
                        dilations=sequence_of(dilations, 3, at, "dilations"), name=name)


def conv_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME",  # noqa: A002
                   data_format: str | None = None, dilations: Any = None, name: str | None = None) -> Tensor:
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, by the length of `output_shape`."""
    with ops.name_scope(name, "conv_transpose", [input, filters, output_shape, strides, padding, data_format,
                                                 dilations]) as name:
        if isinstance(output_shape, Tensor):
            count = output_shape.shape[0].value if output_shape.shape.ndims else None
        else:
            count = len(output_shape)
        if count == 3:
            return conv1d_transpose(input, filters, output_shape, strides, padding, data_format, dilations, name)
        if count == 4:
            return conv2d_transpose(input, filters, output_shape, strides, padding, data_format or "NHWC", name,
                                    dilations=dilations)
        if count == 5:
            return conv3d_transpose(input, filters, output_shape, strides, padding, data_format or "NDHWC", name,
                                    dilations=dilations)
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {'?' if count is None else count}.")


# ------------------------------------------------------------ any number of axes, dilated


def convolution(input: Any, filter: Any, padding: str, strides: Any = None, dilation_rate: Any = None,  # noqa: A002
                name: str | None = None, data_format: str | None = None, filters: Any = None,
                dilations: Any = None) -> Tensor:
    """A convolution over one to three spatial axes, by the rank of its arguments.

    A dilated one is computed on the input's pixels sorted into batches, as TensorFlow does. Raises `ValueError` for
    strides and dilations together, and for an unknown rank.
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    rank = input.shape.ndims
    if rank is None:
        rank = filter.shape.ndims
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    with ops.name_scope(name, "convolution", [input, filter]) as name:
        n = rank - 2
        if not 1 <= n <= 3:
            raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
        at = 1 if data_format is not None and data_format.startswith("NC") else n + 1
        steps = sequence_of(strides, n, at, "strides")
        spread = sequence_of(dilation_rate, n, at, "dilations")
        rates = spread[2:] if at == 1 else spread[1:-1]
        if all(rate == 1 for rate in rates):
            return _plain_convolution(n, input, filter, padding, steps, data_format, name)
        space_steps = steps[2:] if at == 1 else steps[1:-1]
        if any(rate < 1 for rate in rates):
            raise ValueError("all values of dilation_rate must be positive")
        if any(step > 1 for step in space_steps):
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        first = 2 if at == 1 else 1
        return with_space_to_batch(
            input, rates, padding,
            lambda spaced, num_spatial_dims, padding: _plain_convolution(
                n, spaced, filter, padding, steps, data_format, name),
            filter_shape=filter.shape, spatial_dims=range(first, first + n), data_format=data_format)


def _plain_convolution(n: int, value: Any, filter: Any, padding: Any, strides: list[int],  # noqa: A002
                       data_format: str | None, name: str | None) -> Tensor:
    if n == 1:
        step = strides[2:] if data_format is not None and data_format.startswith("NC") else strides[1:-1]
        return conv1d(value, filter, step, padding, data_format=data_format, name=name)
    if n == 2:
        return conv2d(value, filter, strides, padding, data_format=data_format or "NHWC", name=name)
    return conv3d(value, filter, strides, padding, data_format=data_format or "NDHWC", name=name)


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Tensor:
    """conv2d with `rate - 1` holes between the filter's taps."""
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: str,
                            name: str | None = None) -> Tensor:
    """The gradient of atrous_conv2d as a layer: [n, h, w, in], [kh, kw, out, in] -> `output_shape`."""
    with ops.name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        value = ops.convert_to_tensor(value, name="value")
        filters = ops.convert_to_tensor(filters, name="filters")
        depth, filter_depth = value.get_shape().with_rank(4)[3], filters.get_shape().with_rank(4)[3]
        if not depth.is_compatible_with(filter_depth):
            raise ValueError(f"value's input channels does not match filters' input channels, {depth} != "
                             f"{filter_depth}")
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        sizes = ops.convert_to_tensor(output_shape, name="output_shape")
        if not sizes.get_shape().is_compatible_with(TensorShape([4])):
            raise ValueError(f"output_shape must have shape (4,), got {sizes.get_shape()}")
        known = constant_value(sizes)
        if known is not None and not filters.get_shape()[2].is_compatible_with(int(known[3])):
            raise ValueError(f"output_shape does not match filter's output channels, {int(known[3])} != "
                             f"{filters.get_shape()[2]}")
        return _dilated_transpose(value, filters, sizes, known, rate, padding)


def _dilated_transpose(value: Tensor, filters: Tensor, sizes: Tensor, known: Any, rate: int, padding: str) -> Tensor:
    """The pixels sorted into rate * rate batches, a transposed convolution on each, and sorted back."""
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    static: list[Any] = value.get_shape().as_list()
    dynamic = array_ops.shape(value) if None in static[:3] else None
    taps: list[Any] = filters.get_shape().as_list()[:2]
    pads, crops, inner = [], [], []
    for axis in (1, 2):
        reach = (taps[axis - 1] - 1) * rate if padding == "SAME" else 0
        before = reach // 2
        size = static[axis] if dynamic is None else dynamic[axis]
        wanted = int(known[axis]) if known is not None else sizes[axis]
        missing = (rate - size % rate) % rate
        extra = (rate - (wanted + reach) % rate) % rate
        pads.append([0, missing])
        crops.append([before, reach - before + extra])
        inner.append((wanted + reach + extra) // rate)
    batch = (static[0] if dynamic is None else dynamic[0]) * (rate * rate)
    depth = int(known[3]) if known is not None else filters.get_shape().as_list()[2]
    spaced = array_ops.space_to_batch_nd(value, [rate, rate], pads)
    result = conv2d_backprop_input([batch, *inner, depth], filters, spaced, [1, 1, 1, 1], "VALID",
                                   name="Conv2DBackpropInput")
    return array_ops.batch_to_space_nd(result, [rate, rate], crops)


# ------------------------------------------------------------ each channel by itself


def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: str,  # noqa: A002
                            data_format: str | None = "NHWC", dilations: Any = (1, 1, 1, 1),
                            name: str | None = None) -> Tensor:
    """[n, h, w, c], [kh, kw, c, m] -> [n, h', w', c * m]: each channel has m filters of its own."""
    return apply_op("DepthwiseConv2dNative", input=input, filter=filter,
                    strides=require_list(strides, "strides", "depthwise_conv2d_native"), padding=padding,
                    data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native_backprop_input(input_sizes: Any, filter: Any, out_backprop: Any,  # noqa: A002
                                           strides: Any, padding: str, data_format: str = "NHWC",
                                           dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """The gradient of depthwise_conv2d_native by its input (of shape `input_sizes`)."""
    return apply_op("DepthwiseConv2dNativeBackpropInput", input_sizes=input_sizes, filter=filter,
                    out_backprop=out_backprop,
                    strides=require_list(strides, "strides", "depthwise_conv2d_native_backprop_input"),
                    padding=padding, data_format=data_format, dilations=dilations, name=name)


def depthwise_conv2d_native_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any,  # noqa: A002
                                            strides: Any, padding: str, data_format: str = "NHWC",
                                            dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """The gradient of depthwise_conv2d_native by its filter (of shape `filter_sizes`)."""
    return apply_op("DepthwiseConv2dNativeBackpropFilter", input=input, filter_sizes=filter_sizes,
                    out_backprop=out_backprop,
                    strides=require_list(strides, "strides", "depthwise_conv2d_native_backprop_filter"),
                    padding=padding, data_format=data_format, dilations=dilations, name=name)


depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter


def depthwise_conv2d(input: Any, filter: Any, strides: Any, padding: str, rate: Any = None,  # noqa: A002
                     name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Tensor:
    """[n, h, w, c], [kh, kw, c, m] -> [n, h', w', c * m], dilated by `rate` (`dilations` is its new name)."""
    rate = either("dilations", dilations, "rate", rate)
    with ops.name_scope(name, "depthwise", [input, filter]) as name:
        input = ops.convert_to_tensor(input, name="tensor_in")  # noqa: A001
        filter = ops.convert_to_tensor(filter, name="filter_in")  # noqa: A001
        return _depthwise(input, filter, strides, padding, rate, data_format, name)


def _depthwise(value: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any,  # noqa: A002
               data_format: str | None, name: str | None) -> Tensor:
    layout = data_format or "NHWC"
    return with_space_to_batch(
        value, [1, 1] if rate is None else rate, padding,
        lambda spaced, num_spatial_dims, padding: depthwise_conv2d_native(
            spaced, filter, strides, padding, data_format=layout, name=name),
        filter_shape=array_ops.shape(filter), data_format=data_format)


def separable_conv2d(input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any,  # noqa: A002
                     padding: str, rate: Any = None, name: str | None = None, data_format: str | None = None,
                     dilations: Any = None) -> Tensor:
    """A depthwise convolution, then one of 1 x 1 over the channels: [kh, kw, c, m] and [1, 1, c * m, out]."""
    rate = either("dilations", dilations, "rate", rate)
    with ops.name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = ops.convert_to_tensor(input, name="tensor_in")  # noqa: A001
        depthwise_filter = ops.convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = ops.convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = pointwise_filter.get_shape().with_rank(4)
        shape[0].assert_is_compatible_with(1)
        shape[1].assert_is_compatible_with(1)
        spread = _depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(spread, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format or "NHWC", name=name)
