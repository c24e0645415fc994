"""Adding a vector of biases along the channels, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib.matrix_reductions import column_sums, row_sums
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.kernel_values import text_of_shape
from tfsandbox.ops.nn_shapes import channel_axis, invalid

__all__: list[str] = []

_LAYOUT = "data_format: string in {'NHWC', 'NCHW'} = 'NHWC'"

bias_add_op = register_op("BiasAdd", "value: T, bias: T -> output: T", "T: type in {numbertype}; " + _LAYOUT)
bias_add_v1_op = register_op("BiasAddV1", "value: T, bias: T -> output: T", "T: type in {numbertype}")
bias_add_grad_op = register_op("BiasAddGrad", "out_backprop: T -> output: T", "T: type in {numbertype}; " + _LAYOUT)


@bias_add_op.shape
def _bias_add_shape(c: Any) -> TensorShape:
    layout = c.attrs.get("data_format", b"NHWC")
    value = with_rank_at_least(c.shape(0), 3 if layout == b"NCHW" else 2)
    bias = with_rank(c.shape(1), 1)
    if value.ndims is None:
        return value
    sizes = value.as_list()
    at = channel_axis(layout, len(sizes))
    sizes[at] = merge_sizes(sizes[at], bias.as_list()[0])
    return TensorShape(sizes)


bias_add_v1_op.shape(_bias_add_shape)


def _check_bias(value: Any, bias: Any, axis: int) -> None:
    text = {id(a): text_of_shape(a) for a in (value, bias)}
    if np.ndim(value) < 2:
        raise invalid(f"Input tensor must be at least 2D: {text[id(value)]}")
    if np.ndim(bias) != 1:
        raise invalid(f"Biases must be 1D: {text[id(bias)]}")
    if bias.shape[0] != value.shape[axis]:
        last = "last" if axis == np.ndim(value) - 1 else "second"
        raise invalid(f"Must provide as many biases as the {last} dimension of the "
                      f"input tensor: {text[id(bias)]} vs. {text[id(value)]}")


@bias_add_op.kernel
def _bias_add(value: Any, bias: Any, *, data_format: bytes) -> Any:
    axis = channel_axis(data_format, np.ndim(value))
    _check_bias(value, bias, axis)
    return value + bias if axis == value.ndim - 1 else value + bias.reshape((-1,) + (1,) * (value.ndim - 2))


@bias_add_op.emit
def _bias_add_emit(node: Any) -> str | None:
    # The shape rule has compared the sizes it knows; a bias of one element would be spread without a word.
    value, bias = node.shape(0), node.shape(1)
    if not (bias.is_fully_defined() and value.ndims) or node.attr("data_format") != b"NHWC":
        return None
    return "{0} + {1}" if value.as_list()[-1] is not None else None


@bias_add_op.gradient
def _bias_add_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [grad, bias_add_grad(grad, op.get_attr("data_format"))]


@bias_add_v1_op.kernel
def _bias_add_v1(value: Any, bias: Any) -> Any:
    _check_bias(value, bias, np.ndim(value) - 1)
    return value + bias


@bias_add_v1_op.gradient
def _bias_add_v1_gradient(op: Operation, grad: Tensor) -> list[Any]:
    summed = math_ops.range(array_ops.rank(grad) - 1)
    return [grad, math_ops.reduce_sum(grad, summed)]


@bias_add_grad_op.shape
def _bias_add_grad_shape(c: Any) -> TensorShape:
    layout = c.attr("data_format")
    shape = with_rank_at_least(c.shape(0), 3 if layout == b"NCHW" else 2)
    return TensorShape([None if shape.ndims is None else shape.as_list()[channel_axis(layout, shape.ndims)]])


@bias_add_grad_op.kernel
def _bias_add_grad(out_backprop: Any, *, data_format: bytes) -> Any:
    shape = out_backprop.shape
    axis = channel_axis(data_format, len(shape))
    if axis == len(shape) - 1:
        return column_sums(out_backprop if len(shape) == 2 else out_backprop.reshape(-1, shape[-1]))
    flat = out_backprop.reshape(shape[0] * shape[1], -1)
    return column_sums(row_sums(flat).reshape(shape[:2]))


@bias_add_grad_op.gradient
def _bias_add_grad_gradient(op: Operation, received: Tensor) -> list[Any]:
    # The gradient of a sum: every element gets that of its channel, by reshaping and tiling.
    shape = array_ops.shape(op.inputs[0])
    bias_shape = array_ops.shape(received)
    if op.get_attr("data_format") == b"NCHW":
        expanded = array_ops.concat([array_ops.ones_like(shape[:1]), bias_shape, array_ops.ones_like(shape[2:])], 0)
        multiples = array_ops.concat([shape[:1], [1], shape[2:]], 0)
    else:
        expanded = array_ops.concat([array_ops.ones_like(shape[:-1]), bias_shape], 0)
        multiples = array_ops.concat([shape[:-1], [1]], 0)
    return [array_ops.tile(array_ops.reshape(received, expanded), multiples)]


def bias_add_grad(out_backprop: Any, data_format: Any = "NHWC", name: str | None = None) -> Tensor:
    """The sum of `out_backprop` over all axes but the channels."""
    return apply_op("BiasAddGrad", out_backprop=out_backprop, data_format=data_format, name=name)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`value` plus the vector `bias` along its last axis, or the second one with a data_format of 'NC...'.

    Raises `ValueError` for a data_format that is neither 'N...C' nor 'NC...', or a bias of another length.
    """
    with ops.name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = ops.convert_to_tensor(value, name="input")
        bias = ops.convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return apply_op("BiasAdd", value=value, bias=bias, data_format=data_format, name=name)


def bias_add_v1(value: Any, bias: Any, name: str | None = None) -> Tensor:
    """`value` plus the vector `bias` along its last axis, by the op that TensorFlow had first."""
    with ops.name_scope(name, "BiasAddV1", [value, bias]) as name:
        value = ops.convert_to_tensor(value, name="input")
        bias = ops.convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return apply_op("BiasAddV1", value=value, bias=bias, name=name)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """matmul(x, weights) + biases: [n, in], [in, out], [out] -> [n, out]."""
    with ops.name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(weights, name="weights")
        biases = ops.convert_to_tensor(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=name)


def xw_plus_b_v1(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """As `xw_plus_b`, by the op that TensorFlow had first."""
    with ops.name_scope(name, "xw_plus_b_v1", [x, weights, biases]) as name:
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(weights, name="weights")
        biases = ops.convert_to_tensor(biases, name="biases")
        return bias_add_v1(math_ops.matmul(x, weights), biases, name=name)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(matmul(x, weights) + biases): [n, in], [in, out], [out] -> [n, out]."""
    from tfsandbox.ops.activations import relu

    with ops.name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = ops.convert_to_tensor(x, name="x")
        weights = ops.convert_to_tensor(weights, name="weights")
        biases = ops.convert_to_tensor(biases, name="biases")
        return relu(bias_add(math_ops.matmul(x, weights), biases), name=name)
