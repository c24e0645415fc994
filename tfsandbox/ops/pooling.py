"""Pooling ops and functions: the largest or the mean of a sliding window, their gradients, and `pool`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops import pooling_kernels as kernels
from tfsandbox.ops.convolution import either, require_list
from tfsandbox.ops.convolution_kernels import Windows
from tfsandbox.ops.convolution_ops import sequence_of
from tfsandbox.ops.nn_shapes import (
    channel_axis,
    channels_first,
    channels_last,
    invalid,
    sizes_last,
    spatial_axes,
    windowed_size,
)
from tfsandbox.ops.space_to_batch import with_space_to_batch

__all__: list[str] = []

_FLOATS = "T: type in {float16, bfloat16, float32, float64}"
_REALS = "T: type in {realnumbertype}"
_WINDOW = "ksize: list(int) >= 4; strides: list(int) >= 4; padding: string in {'SAME', 'VALID'}"
_WINDOW_3D = "ksize: list(int) >= 5; strides: list(int) >= 5; padding: string in {'SAME', 'VALID'}"
_LAYOUT = "data_format: string in {'NHWC', 'NCHW'} = 'NHWC'"
_LAYOUT_3D = "data_format: string in {'NDHWC', 'NCDHW'} = 'NDHWC'"
_HALVES = "{float16, bfloat16, float32}"

avg_pool_op = register_op("AvgPool", "value: T -> output: T", f"{_WINDOW}; {_LAYOUT}; {_FLOATS}")
avg_pool_grad_op = register_op("AvgPoolGrad", "orig_input_shape: int32, grad: T -> output: T",
                               f"{_WINDOW}; {_LAYOUT}; {_FLOATS}")
avg_pool3d_op = register_op("AvgPool3D", "input: T -> output: T", f"{_WINDOW_3D}; {_LAYOUT_3D}; {_FLOATS}")
avg_pool3d_grad_op = register_op("AvgPool3DGrad", "orig_input_shape: int32, grad: T -> output: T",
                                 f"{_WINDOW_3D}; {_LAYOUT_3D}; {_FLOATS}")
max_pool_op = register_op(
    "MaxPool", "input: T -> output: T",
    "T: type in {float16, bfloat16, float32, float64, int32, int64, uint8, int16, int8, uint16, qint8} = float32; "
    f"{_WINDOW}; data_format: string in {{'NHWC', 'NCHW', 'NCHW_VECT_C'}} = 'NHWC'")
max_pool_grad_op = register_op("MaxPoolGrad", "orig_input: T, orig_output: T, grad: T -> output: T",
                               f"{_WINDOW}; {_LAYOUT}; {_REALS} = float32")
max_pool_grad_grad_op = register_op("MaxPoolGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T",
                                    f"{_WINDOW}; {_LAYOUT}; {_REALS}")
max_pool3d_op = register_op("MaxPool3D", "input: T -> output: T",
                            f"{_WINDOW_3D}; {_LAYOUT_3D}; T: type in {_HALVES}")
max_pool3d_grad_op = register_op(
    "MaxPool3DGrad", "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    f"{_WINDOW_3D}; {_LAYOUT_3D}; T: type in {_HALVES} = float32; TInput: type in {_HALVES} = float32")
max_pool3d_grad_grad_op = register_op("MaxPool3DGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T",
                                      f"{_WINDOW_3D}; {_LAYOUT_3D}; {_REALS}")
max_pool_with_argmax_op = register_op(
    "MaxPoolWithArgmax", "input: T -> output: T, argmax: Targmax",
    "ksize: list(int) >= 4; strides: list(int) >= 4; Targmax: type in {int32, int64} = int64; "
    f"padding: string in {{'SAME', 'VALID'}}; include_batch_in_index: bool = false; {_REALS}")
max_pool_grad_with_argmax_op = register_op(
    "MaxPoolGradWithArgmax", "input: T, grad: T, argmax: Targmax -> output: T",
    f"{_WINDOW}; include_batch_in_index: bool = false; Targmax: type in {{int32, int64}}; {_REALS}")

# ------------------------------------------------------------ shapes


def _pool_shape(c: Any) -> TensorShape:
    rank = 5 if "3D" in c.op_def.name else 4
    layout = c.attrs.get("data_format", b"NHWC")
    ksize, strides, padding = c.attr("ksize"), c.attr("strides"), c.attr("padding")
    sizes = with_rank(c.shape(0), rank).as_list()
    if c.op_def.name.startswith("Max") and 0 in ksize:
        raise ValueError("ksize cannot be zero.")
    result = list(sizes)
    for axis in (*spatial_axes(layout, rank), channel_axis(layout, rank)):
        if axis == channel_axis(layout, rank) and c.op_def.name.startswith("Avg"):
            continue
        result[axis] = windowed_size(sizes[axis], ksize[axis], strides[axis], padding)
    return TensorShape(result)


for _op in (avg_pool_op, avg_pool3d_op, max_pool_op, max_pool3d_op):
    _op.shape(_pool_shape)


@max_pool_with_argmax_op.shape
def _with_argmax_shape(c: Any) -> list[TensorShape]:
    shape = _pool_shape(c)
    return [shape, shape]


avg_pool_grad_op.shape(lambda c: with_rank(c.value_as_shape(0), 4))
avg_pool3d_grad_op.shape(lambda c: with_rank(c.value_as_shape(0), 5))
max_pool_grad_op.shape(lambda c: with_rank(c.shape(0), 4))
max_pool3d_grad_op.shape(lambda c: with_rank(c.shape(0), 5))
max_pool_grad_with_argmax_op.shape(lambda c: with_rank(c.shape(0), 4))


@max_pool_grad_grad_op.shape
@max_pool3d_grad_grad_op.shape
def _grad_grad_shape(c: Any) -> TensorShape:
    # As the pooled output, which is there as the second input.
    return merge(_pool_shape(c), c.shape(1))


# ------------------------------------------------------------ kernels


def _windows(shape: Sequence[int], ksize: Sequence[int], strides: Sequence[int], layout: bytes,
             padding: bytes) -> tuple[list[int], Windows]:
    """(the window, where it lies) over an input of this shape, channels last."""
    rank = len(ksize)
    if len(shape) != rank:
        raise invalid(f"tensor_in_shape must have {rank - 2} spatial dimensions. {len(shape)} 0")
    channels = channel_axis(layout, rank)
    if ksize[channels] != 1:
        _check_channels(shape, ksize, strides, layout)
        raise _unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)")
    if ksize[0] != 1 or strides[0] != 1:
        raise _unimplemented("Pooling is not yet supported on the batch dimension.")
    axes = spatial_axes(layout, rank)
    window = [ksize[a] for a in axes]
    where = Windows.over(shape[1:-1], window, [strides[a] for a in axes], [1] * len(window), padding)
    return window, where


@avg_pool_op.kernel
@avg_pool3d_op.kernel
def _avg_pool(value: Any, *, ksize: list[int], strides: list[int], padding: bytes, data_format: bytes) -> Any:
    value = channels_last(value, data_format)
    window, where = _windows(value.shape, ksize, strides, data_format, padding)
    return channels_first(kernels.average_pool(value, window, where), data_format)


@avg_pool_grad_op.kernel
@avg_pool3d_grad_op.kernel
def _avg_pool_grad(sizes: Any, grad: Any, *, ksize: list[int], strides: list[int], padding: bytes,
                   data_format: bytes) -> Any:
    shape, grad = sizes_last(sizes, data_format), channels_last(grad, data_format)
    window, where = _windows(shape, ksize, strides, data_format, padding)
    return channels_first(kernels.average_pool_gradient(shape, grad, window, where), data_format)


@max_pool_op.kernel
@max_pool3d_op.kernel
def _max_pool(value: Any, *, ksize: list[int], strides: list[int], padding: bytes, data_format: bytes) -> Any:
    value = channels_last(value, data_format)
    if value.ndim == len(ksize) and ksize[channel_axis(data_format, value.ndim)] > 1:
        return channels_first(_over_channels(value, ksize, strides, data_format), data_format)
    window, where = _windows(value.shape, ksize, strides, data_format, padding)
    return channels_first(kernels.max_pool(value, window, where), data_format)


def _unimplemented(message: str) -> errors.UnimplementedError:
    return errors.UnimplementedError(None, None, message)


def _check_channels(shape: Sequence[int], ksize: Sequence[int], strides: Sequence[int], layout: bytes) -> None:
    """That a pool over neighbouring channels is over these alone, group by group; the shape has channels last."""
    at = channel_axis(layout, len(ksize))
    if any(ksize[a] != 1 for a in range(len(ksize)) if a != at):
        raise _unimplemented("MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    if ksize[at] != strides[at]:
        raise _unimplemented("Depthwise max pooling requires the depth window to equal the depth stride")
    if shape[-1] % ksize[at]:
        raise _unimplemented("Depthwise max pooling requires the depth window to evenly divide the input depth")


def _over_channels(value: Any, ksize: list[int], strides: list[int], layout: bytes) -> Any:
    """The largest of each group of neighbouring channels."""
    _check_channels(value.shape, ksize, strides, layout)
    window = ksize[channel_axis(layout, value.ndim)]
    return np.maximum.reduce(value.reshape(*value.shape[:-1], -1, window), axis=-1)


@max_pool_grad_op.kernel
@max_pool3d_grad_op.kernel
def _max_pool_grad(value: Any, pooled: Any, grad: Any, *, ksize: list[int], strides: list[int], padding: bytes,
                   data_format: bytes) -> Any:
    value, pooled, grad = (channels_last(a, data_format) for a in (value, pooled, grad))
    window, where = _windows(value.shape, ksize, strides, data_format, padding)
    return channels_first(kernels.max_pool_gradient(value, pooled, grad, window, where), data_format)


@max_pool_grad_grad_op.kernel
@max_pool3d_grad_grad_op.kernel
def _max_pool_grad_grad(value: Any, pooled: Any, grad: Any, *, ksize: list[int], strides: list[int],
                        padding: bytes, data_format: bytes) -> Any:
    value, pooled, grad = (channels_last(a, data_format) for a in (value, pooled, grad))
    window, where = _windows(value.shape, ksize, strides, data_format, padding)
    return channels_first(kernels.max_pool_second_gradient(value, pooled, grad, window, where), data_format)


@max_pool_with_argmax_op.kernel
def _max_pool_with_argmax(value: Any, *, ksize: list[int], strides: list[int], Targmax: dtypes.DType,
                          padding: bytes, include_batch_in_index: bool) -> tuple[Any, Any]:
    window, where = _windows(value.shape, ksize, strides, b"NHWC", padding)
    pooled, positions = kernels.max_pool_positions(value, window, where, include_batch_in_index)
    return pooled, positions.astype(Targmax.as_numpy_dtype)


@max_pool_grad_with_argmax_op.kernel
def _max_pool_grad_with_argmax(value: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool) -> Any:
    positions = argmax.reshape(argmax.shape[0], -1).astype(np.int64)
    if not include_batch_in_index:
        positions = positions + (np.arange(value.shape[0]) * (value.size // max(value.shape[0], 1)))[:, None]
    result = np.zeros(value.size, grad.dtype)
    np.add.at(result, positions.ravel(), grad.ravel())
    return result.reshape(value.shape)


# ------------------------------------------------------------ gradients


def _attrs(op: Operation, *more: str) -> dict[str, Any]:
    return {name: op._attrs[name] for name in ("ksize", "strides", "padding", "data_format", *more)
            if name in op._attrs}


def _zeros(tensor: Tensor) -> Tensor:
    return array_ops.zeros(array_ops.shape(tensor), tensor.dtype)


def _average_family(forward: OpDef, by_input: OpDef, argument: str) -> None:
    def forward_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [apply_op(by_input.name, orig_input_shape=array_ops.shape(op.inputs[0]), grad=grad, **_attrs(op))]

    def input_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [array_ops.stop_gradient(op.inputs[0]), apply_op(forward.name, **{**_attrs(op), argument: grad})]

    forward.gradient(forward_gradient)
    by_input.gradient(input_gradient)


def _maximum_family(forward: OpDef, by_input: OpDef, second: OpDef) -> None:
    def forward_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [apply_op(by_input.name, orig_input=op.inputs[0], orig_output=op.outputs[0], grad=grad, **_attrs(op))]

    def input_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [_zeros(op.inputs[0]), _zeros(op.inputs[1]),
                apply_op(second.name, orig_input=op.inputs[0], orig_output=op.inputs[1], grad=grad, **_attrs(op))]

    def second_gradient(op: Operation, grad: Tensor) -> list[Any]:
        return [_zeros(op.inputs[0]), _zeros(op.inputs[1]),
                apply_op(by_input.name, orig_input=op.inputs[0], orig_output=op.inputs[1], grad=grad, **_attrs(op))]

    forward.gradient(forward_gradient)
    by_input.gradient(input_gradient)
    second.gradient(second_gradient)


_average_family(avg_pool_op, avg_pool_grad_op, "value")
_average_family(avg_pool3d_op, avg_pool3d_grad_op, "input")
_maximum_family(max_pool_op, max_pool_grad_op, max_pool_grad_grad_op)
_maximum_family(max_pool3d_op, max_pool3d_grad_op, max_pool3d_grad_grad_op)


@max_pool_with_argmax_op.gradient
def _max_pool_with_argmax_gradient(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    return [apply_op("MaxPoolGradWithArgmax", input=op.inputs[0], grad=grad, argmax=op.outputs[1],
                     **_attrs(op, "include_batch_in_index"))]


# ------------------------------------------------------------ functions

MaxPoolWithArgmax = namedtuple("MaxPoolWithArgmax", ["output", "argmax"])


def max_pool_with_argmax(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC",  # noqa: A002
                         Targmax: Any = None, name: str | None = None, output_dtype: Any = None,
                         include_batch_in_index: bool = False) -> MaxPoolWithArgmax:
    """(the largest of each window, where it stands in the flat image): [n, h, w, c]."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    output_dtype = either("output_dtype", output_dtype, "Targmax", Targmax)
    pooled, positions = apply_op(
        "MaxPoolWithArgmax", input=input, ksize=require_list(ksize, "ksize", "max_pool_with_argmax"), strides=strides,
        padding=padding, Targmax=dtypes.int64 if output_dtype is None else output_dtype,
        include_batch_in_index=include_batch_in_index, name=name)
    return MaxPoolWithArgmax(pooled, positions)


def _pool(op_type: str, argument: str, value: Any, n: int, ksize: Any, strides: Any, padding: Any,
          data_format: str, name: str | None) -> Tensor:
    """A pooling node over n spatial axes; window and strides are one number, n or n + 2."""
    at = 1 if data_format.startswith("NC") else n + 1
    return apply_op(op_type, **{argument: value}, ksize=sequence_of(ksize, n, at, "ksize"),
                    strides=sequence_of(strides, n, at, "strides"), padding=padding, data_format=data_format,
                    name=name)


def max_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC",
             name: str | None = None, input: Any = None) -> Tensor:  # noqa: A002
    """The largest of each window: [n, h, w, c] -> [n, h', w', c] (data_format 'NCHW' has the channels second)."""
    value = either("input", input, "value", value)
    with ops.name_scope(name, "MaxPool", [value]) as name:
        return _pool("MaxPool", "input", value, 2, ksize, strides, padding, data_format or "NHWC", name)


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NWC",  # noqa: A002
               name: str | None = None) -> Tensor:
    """The largest of each window: [n, w, c] -> [n, w', c]."""
    return _line_pool("MaxPool", "input", "MaxPool1d", input, ksize, strides, padding, data_format, name)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC",  # noqa: A002
               name: str | None = None) -> Tensor:
    """As `max_pool`."""
    with ops.name_scope(name, "MaxPool2d", [input]) as name:
        return _pool("MaxPool", "input", input, 2, ksize, strides, padding, data_format or "NHWC", name)


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC",  # noqa: A002
               name: str | None = None) -> Tensor:
    """The largest of each window: [n, d, h, w, c] -> [n, d', h', w', c]."""
    with ops.name_scope(name, "MaxPool3D", [input]) as name:
        return _pool("MaxPool3D", "input", input, 3, ksize, strides, padding, data_format or "NDHWC", name)


def avg_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NHWC",
             name: str | None = None, input: Any = None) -> Tensor:  # noqa: A002
    """The mean of each window: [n, h, w, c] -> [n, h', w', c] (data_format 'NCHW' has the channels second)."""
    value = either("input", input, "value", value)
    with ops.name_scope(name, "AvgPool", [value]) as name:
        return _pool("AvgPool", "value", value, 2, ksize, strides, padding, data_format or "NHWC", name)


avg_pool2d = avg_pool


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NWC",  # noqa: A002
               name: str | None = None) -> Tensor:
    """The mean of each window: [n, w, c] -> [n, w', c]."""
    return _line_pool("AvgPool", "value", "AvgPool1D", input, ksize, strides, padding, data_format, name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = "NDHWC",  # noqa: A002
               name: str | None = None) -> Tensor:
    """The mean of each window: [n, d, h, w, c] -> [n, d', h', w', c]."""
    with ops.name_scope(name, "AvgPool3D", [input]) as name:
        return _pool("AvgPool3D", "input", input, 3, ksize, strides, padding, data_format or "NDHWC", name)


def _line_pool(op_type: str, argument: str, scope: str, value: Any, ksize: Any, strides: Any, padding: Any,
               data_format: str | None, name: str | None) -> Tensor:
    with ops.name_scope(name, scope, [value]) as name:
        data_format = data_format or "NWC"
        layout, axis, at = ("NCHW", 2, 1) if data_format.startswith("NC") else ("NHWC", 1, 2)
        ksize = [1, *sequence_of(ksize, 1, at, "ksize")]
        strides = [1, *sequence_of(strides, 1, at, "strides")]
        expanded = array_ops.expand_dims(value, axis)
        result = apply_op(op_type, **{argument: expanded}, ksize=ksize, strides=strides, padding=padding,
                          data_format=layout, name=name)
        return array_ops.squeeze(result, axis)


def _by_rank(functions: Sequence[Any], value: Any, ksize: Any, strides: Any, padding: Any,
             data_format: str | None, name: str | None) -> Tensor:
    if data_format is None:
        n = ops.convert_to_tensor(value).shape.ndims
        if n is None:
            raise ValueError("The rank of the input must be known, or a data_format be given.")
        n -= 2
    else:
        n = len(data_format) - 2
    if not 1 <= n <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {n + 2}.")
    return functions[n - 1](value, ksize, strides, padding,
                            data_format or ("NWC", "NHWC", "NDHWC")[n - 1], name)


def max_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None,  # noqa: A002
                name: str | None = None) -> Tensor:
    """The largest of each window, over one to three spatial axes by the rank of the input."""
    return _by_rank((max_pool1d, max_pool, max_pool3d), input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None,  # noqa: A002
                name: str | None = None) -> Tensor:
    """The mean of each window, over one to three spatial axes by the rank of the input."""
    return _by_rank((avg_pool1d, avg_pool, avg_pool3d), input, ksize, strides, padding, data_format, name)


_POOLS: dict[tuple[str, int], Any] = {("MAX", 1): max_pool1d, ("MAX", 2): max_pool, ("MAX", 3): max_pool3d,
                                      ("AVG", 1): avg_pool1d, ("AVG", 2): avg_pool, ("AVG", 3): avg_pool3d}


def pool(input: Any, window_shape: Any, pooling_type: str, padding: str, dilation_rate: Any = None,  # noqa: A002
         strides: Any = None, name: str | None = None, data_format: str | None = None,
         dilations: Any = None) -> Tensor:
    """Pooling of type 'MAX' or 'AVG' over the one to three axes of `window_shape`, with strides or dilations.

    Raises `ValueError` for strides larger than the window, strides and dilations together, 'SAME' with dilations, and
    an unknown type.
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with ops.name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        value = ops.convert_to_tensor(input, name="input")
        n = len(window_shape)
        if not 1 <= n <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        value.get_shape().with_rank(n + 2)
        steps, rates = _steps_and_rates(n, strides, dilation_rate)
        if padding == "SAME" and np.any(rates > 1):
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if np.any(steps > np.asarray(window_shape)):
            raise ValueError("strides > window_shape not supported due to inconsistency between CPU and GPU "
                             "implementations")
        if (pooling_type, n) not in _POOLS:
            raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        layout = data_format or ("NWC", "NHWC", "NDHWC")[n - 1]

        def op(spaced: Tensor, num_spatial_dims: int, padding: str) -> Tensor:
            return _POOLS[pooling_type, n](spaced, [int(k) for k in window_shape], steps.tolist(), padding, layout,
                                           scope)

        return with_space_to_batch(value, rates, padding, op, filter_shape=window_shape,
                                   spatial_dims=range(first, first + n), data_format=data_format)


def _steps_and_rates(n: int, strides: Any, rates: Any) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for name, value in (("dilation_rate", rates), ("strides", strides)):
        value = [1] * n if value is None else value
        if len(value) != n:
            raise ValueError(f"len({name})={len(value)} but should be {n}")
        array = np.array(value, np.int32)
        if np.any(array < 1):
            raise ValueError(f"all values of {name} must be positive")
        found.append(array)
    if np.any(found[1] > 1) and np.any(found[0] > 1):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return found[1], found[0]
