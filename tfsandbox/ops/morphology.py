"""Grayscale morphology: dilation and erosion with a structuring function."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.convolution import either, require_list
from tfsandbox.ops.convolution_kernels import Windows, padded
from tfsandbox.ops.nn_shapes import windowed_size
from tfsandbox.ops.pooling_kernels import lowest

__all__: list[str] = []

_ATTRS = ("strides: list(int) >= 4; rates: list(int) >= 4; padding: string in {'SAME', 'VALID'}; "
          "T: type in {realnumbertype}")

dilation2d_op = register_op("Dilation2D", "input: T, filter: T -> output: T", _ATTRS)
dilation2d_backprop_input_op = register_op(
    "Dilation2DBackpropInput", "input: T, filter: T, out_backprop: T -> in_backprop: T", _ATTRS)
dilation2d_backprop_filter_op = register_op(
    "Dilation2DBackpropFilter", "input: T, filter: T, out_backprop: T -> filter_backprop: T", _ATTRS)

dilation2d_backprop_input_op.shape(lambda c: c.shape(0))
dilation2d_backprop_filter_op.shape(lambda c: c.shape(1))


@dilation2d_op.shape
def _dilation_shape(c: Any) -> TensorShape:
    batch, height, width, depth = with_rank(c.shape(0), 4).as_list()
    rows, columns, filter_depth = with_rank(c.shape(1), 3).as_list()
    depth = merge_sizes(depth, filter_depth)
    sizes = [_windows_along(size, window, stride, c.attr("padding"), rate) for size, window, stride, rate in
             zip((height, width), (rows, columns), c.attr("strides")[1:3], c.attr("rates")[1:3])]
    return TensorShape([batch, *sizes, depth])


def _windows_along(size: int | None, window: int | None, stride: int, padding: bytes, rate: int) -> int | None:
    """How many windows fit along an axis: none, where one is larger by less than a stride."""
    if padding != b"VALID" or size is None or window is None:
        return windowed_size(size, window, stride, padding, dilation=rate)
    span = (window - 1) * rate + 1
    count = int((size - span + stride) / stride)  # towards zero
    if count < 0:
        raise ValueError(f"Computed output size would be negative: {count} [input_size: {size}, "
                         f"effective_filter_size: {span}, stride: {stride}]")
    return count


def _windows(value: Any, kernel: Any, strides: list[int], rates: list[int], padding: bytes) -> tuple[Windows, Any]:
    """(where the windows lie, the padded input)."""
    where = Windows.over(value.shape[1:3], kernel.shape[:2], strides[1:3], rates[1:3], padding)
    return where, padded(value, where.pads, lowest(value.dtype))


def _sums(padded_value: Any, kernel: Any, where: Windows) -> Iterator[tuple[tuple[int, int], Any, Any]]:
    """For each tap of the window, in order: the tap, its place in the input, input plus filter there."""
    for i, j in itertools.product(range(kernel.shape[0]), range(kernel.shape[1])):
        place = (slice(None), *where.tap((i, j)))
        yield (i, j), place, padded_value[place] + kernel[i, j]


@dilation2d_op.kernel
def _dilation(value: Any, kernel: Any, *, strides: list[int], rates: list[int], padding: bytes) -> Any:
    where, wide = _windows(value, kernel, strides, rates, padding)
    result: Any = None
    for _, _, total in _sums(wide, kernel, where):
        result = total if result is None else np.maximum(result, total, out=result)
    return result


def _chosen(value: Any, kernel: Any, where: Windows, wide: Any) -> Iterator[tuple[tuple[int, int], Any, Any]]:
    """For each tap: the tap, its place, and in which windows it is the first maximum."""
    best: Any = None
    for _, _, total in _sums(wide, kernel, where):
        best = total.copy() if best is None else np.maximum(best, total, out=best)
    free = np.ones(best.shape, bool)
    for tap, place, total in _sums(wide, kernel, where):
        chosen = (total == best) & free
        free ^= chosen
        yield tap, place, chosen


@dilation2d_backprop_input_op.kernel
def _dilation_by_input(value: Any, kernel: Any, grad: Any, *, strides: list[int], rates: list[int],
                       padding: bytes) -> Any:
    where, wide = _windows(value, kernel, strides, rates, padding)
    whole = np.zeros(wide.shape, grad.dtype)
    for _, place, chosen in _chosen(value, kernel, where, wide):
        whole[place] += grad * chosen
    (top, _), (left, _) = where.pads
    return whole[:, top:top + value.shape[1], left:left + value.shape[2]].copy()


@dilation2d_backprop_filter_op.kernel
def _dilation_by_filter(value: Any, kernel: Any, grad: Any, *, strides: list[int], rates: list[int],
                        padding: bytes) -> Any:
    where, wide = _windows(value, kernel, strides, rates, padding)
    result = np.zeros(kernel.shape, grad.dtype)
    for tap, _, chosen in _chosen(value, kernel, where, wide):
        result[tap] = np.add.reduce(grad * chosen, axis=(0, 1, 2))
    return result


@dilation2d_op.gradient
def _dilation_gradient(op: Operation, grad: Tensor) -> list[Any]:
    attrs = {name: op.get_attr(name) for name in ("strides", "rates", "padding")}
    return [apply_op(op_type, input=op.inputs[0], filter=op.inputs[1], out_backprop=grad, **attrs)
            for op_type in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter")]


def dilation2d(input: Any, filter: Any = None, strides: Any = None, rates: Any = None,  # noqa: A002
               padding: Any = None, name: str | None = None, filters: Any = None, dilations: Any = None) -> Tensor:
    """max over the window of input + filter: [n, h, w, c], [kh, kw, c] -> [n, h', w', c]."""
    filter = either("filters", filters, "filter", filter)  # noqa: A001
    rates = either("dilations", dilations, "rates", rates)
    return apply_op("Dilation2D", input=input, filter=filter, strides=require_list(strides, "strides", "dilation2d"),
                    rates=require_list(rates, "rates", "dilation2d"), padding=padding, name=name)


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """min over the window of value - kernel: the dilation of -value by the kernel turned around, negated."""
    with ops.name_scope(name, "erosion2d", [value, kernel]) as name:
        return math_ops.negative(dilation2d(math_ops.negative(value), array_ops.reverse_v2(kernel, [0, 1]), strides,
                                            rates, padding, name=name))
