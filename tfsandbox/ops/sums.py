"""Sums of several tensors, and running sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, comparison_ops, elementwise
from tfsandbox.ops.kernel_values import text_of_sizes

__all__ = ["accumulate_n", "add_n", "cumprod", "cumsum"]

_ADD_N = ("float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
          "complex128, float16, uint32, uint64")
add_n_op = register_op("AddN", "inputs: N*T -> sum: T", f"N: int >= 1; T: type in {{{_ADD_N}, variant}}",
                       commutative=True, aggregate=True)


@add_n_op.shape
def _add_n_shape(c: Any) -> TensorShape:
    shape = c.shape(0)
    for i in range(1, c.num_inputs):
        try:
            shape = shape.merge_with(c.shape(i))
        except ValueError:
            raise ValueError(_disagreement(shape, c.shape(i), i)) from None
    return shape


def _disagreement(first: TensorShape, other: TensorShape, index: int) -> str:
    a, b = first.as_list(), other.as_list()
    if len(a) != len(b):
        reason = f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
    else:
        at = next(i for i, (m, n) in enumerate(zip(a, b)) if None not in (m, n) and m != n)
        reason = f"Dimension {at} in both shapes must be equal, but are {a[at]} and {b[at]}"
        reason += f". Shapes are {text_of_sizes(a)} and {text_of_sizes(b)}."
    return f"{reason}\n\tFrom merging shape {index - 1} with other shapes."


def _check_shapes(inputs: list[Any]) -> None:
    for i, value in enumerate(inputs):
        if value.shape != inputs[0].shape:
            raise errors.InvalidArgumentError(
                None, None, f"Inputs to operation of type AddN must have the same size and shape.  Input 0: "
                            f"{text_of_sizes(inputs[0].shape)} != input {i}: {text_of_sizes(value.shape)}")


@add_n_op.kernel
def _add_n(inputs: list[Any]) -> Any:
    _check_shapes(inputs)
    if len(inputs) == 1:
        return np.array(inputs[0])
    total = np.add(inputs[0], inputs[1])
    for value in inputs[2:]:
        total = np.add(total, value)
    return total


_WRITTEN_OUT = 20
"""A longer sum is left to the kernel: Python's parser nests one level for each `+`."""


def _sum_emit(node: Any) -> str | None:
    count = node.attr("N")
    shapes = [node.shape(i) for i in range(count)]
    same = all(s.is_fully_defined() and s.as_list() == shapes[0].as_list() for s in shapes)
    if count == 1 or count > _WRITTEN_OUT or not same:
        return None
    return " + ".join(f"{{{i}}}" for i in range(count))


add_n_op.emit(_sum_emit)


@add_n_op.gradient
def _add_n_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad] * len(op.inputs)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and type. One tensor is given back as it is.

    `ValueError` where `inputs` is no list of tensors.
    """
    message = "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
    if isinstance(inputs, Tensor) or not hasattr(inputs, "__iter__") or not inputs:
        raise ValueError(message)
    inputs = ops.convert_n_to_tensor_or_indexed_slices(list(inputs))
    if not all(isinstance(x, (Tensor, ops.IndexedSlices)) for x in inputs):
        raise ValueError(message)
    if len(inputs) == 1:
        values = ops.convert_to_tensor(inputs[0]) if isinstance(inputs[0], ops.IndexedSlices) else inputs[0]
        return array_ops.identity(values, name=name) if name else values
    return apply_op("AddN", inputs=inputs, name=name)


accumulate_n_op = register_op("AccumulateNV2", "inputs: N*T -> sum: T",
                              f"N: int >= 1; T: type in {{{_ADD_N}}}; shape: shape",
                              commutative=True, aggregate=True)


@accumulate_n_op.shape
def _accumulate_n_shape(c: Any) -> TensorShape:
    return shape_inference.merged(c).merge_with(c.attr("shape"))


@accumulate_n_op.kernel
def _accumulate_n(inputs: list[Any]) -> Any:
    return _add_n(inputs)


accumulate_n_op.emit(_sum_emit)


@accumulate_n_op.gradient
def _accumulate_n_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad] * len(op.inputs)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """As `add_n`; the shape must be known from the inputs or `shape`. `ValueError`, `TypeError` where they disagree."""
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(message)
    inputs = ops.convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor) for x in inputs) or not all(x.dtype == inputs[0].dtype for x in inputs):
        raise ValueError(message)
    shape = TensorShape(shape) if shape is not None else TensorShape(None)
    for x in inputs:
        shape = shape.merge_with(x.shape)
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}")
    if len(inputs) == 1 and name is None:
        return inputs[0]
    if len(inputs) == 1:
        return array_ops.identity(inputs[0], name=name)
    return apply_op("AccumulateNV2", inputs=inputs, shape=shape, name=name)


# ------------------------------------------------------------ running sums and products


def _running(name: str, types: str) -> OpDef:
    op_def = register_op(name, "x: T, axis: Tidx -> out: T",
                         f"exclusive: bool = false; reverse: bool = false; T: type in {types}; "
                         f"Tidx: type in {{int32, int64}} = int32")
    op_def.shape(shape_inference.unchanged)
    return op_def


def _accumulate(x: Any, axis: Any, exclusive: bool, reverse: bool, function: Any, start: int) -> Any:
    axis = int(axis)
    if not -x.ndim <= axis < x.ndim:
        raise errors.InvalidArgumentError(None, None, f"ScanOp: Expected scan axis in the range [{-x.ndim}, {x.ndim}), "
                                                      f"but got {axis}")
    ordered = np.flip(x, axis) if reverse else x
    result = function.accumulate(ordered, axis=axis, dtype=x.dtype)
    if exclusive:
        # One place on: the first element is that of an empty sum.
        moved = np.empty_like(result)
        moved_view, result_view = np.moveaxis(moved, axis, 0), np.moveaxis(result, axis, 0)
        moved_view[:1] = start
        moved_view[1:] = result_view[:-1]
        result = moved
    return np.ascontiguousarray(np.flip(result, axis)) if reverse else result


cumsum_op = _running("Cumsum", "{numbertype}")
cumprod_op = _running("Cumprod", "{numbertype}")


@cumsum_op.kernel
def _cumsum(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return _accumulate(x, axis, exclusive, reverse, np.add, 0)


@cumprod_op.kernel
def _cumprod(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    return _accumulate(x, axis, exclusive, reverse, np.multiply, 1)


@cumsum_op.gradient
def _cumsum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    axis, exclusive, reverse = op.inputs[1], op.get_attr("exclusive"), op.get_attr("reverse")
    return [cumsum(grad, axis, exclusive=exclusive, reverse=not reverse), None]


@cumprod_op.gradient
def _cumprod_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # Not right where x holds zeros, as in TensorFlow.
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    summed = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [binary_ops.divide(summed, x), None]


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along an axis. `exclusive` leaves each element out of its own sum; `reverse` sums from the end."""
    with ops.name_scope(name, "Cumsum", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return apply_op("Cumsum", x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along an axis, arguments as in `cumsum`."""
    with ops.name_scope(name, "Cumprod", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return apply_op("Cumprod", x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)


cumulative_logsumexp_op = _running("CumulativeLogsumexp", "{float16, float32, float64}")


@cumulative_logsumexp_op.kernel
def _cumulative_logsumexp(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    lowest = np.finfo(x.dtype).min
    return _accumulate(x, axis, exclusive, reverse, np.logaddexp, lowest)


@cumulative_logsumexp_op.gradient
def _cumulative_logsumexp_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, axis = op.inputs
    cumulative = op.outputs[0]
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    # The logarithm takes no negative gradients: both signs are summed apart.
    lowest = grad.dtype.min
    positive, negative = comparison_ops.greater(grad, 0), comparison_ops.less(grad, 0)
    log_positive = array_ops.where_v2(positive, elementwise.log(grad), lowest)
    log_negative = array_ops.where_v2(negative, elementwise.log(-grad), lowest)
    parts = [elementwise.exp(cumulative_logsumexp(part - cumulative, axis=axis, reverse=not reverse,
                                                  exclusive=exclusive) + x)
             for part in (log_positive, log_negative)]
    return [parts[0] - parts[1], None]


def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False,
                         name: str | None = None) -> Tensor:
    """Running log(sum(exp(x))) along an axis, arguments as in `cumsum`."""
    with ops.name_scope(name, "CumulativeLogsumexp", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return apply_op("CumulativeLogsumexp", x=x, axis=axis, exclusive=exclusive, reverse=reverse, name=name)
