"""Tensors' shapes and types asserted, and a sum over all elements of several tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, check_ops, confusion_matrix, control_flow_ops, math_ops


def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor; `ValueError` unless it is a scalar of an integer type."""
    with ops.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = ops.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype!s}.")
        return check_ops.assert_scalar(tensor, name=scope)


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Tensor:
    """The sum of all elements of all tensors; `ValueError` for an empty list."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with ops.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [math_ops.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else math_ops.add_n(sums, name=scope)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Both, without a last axis of size 1 that only one of them has."""
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def with_same_shape(expected_tensor: Any, tensor: Any) -> Tensor:
    """`tensor`, with a check in the run that its shape is that of `expected_tensor`, where it is not known yet."""
    with ops.name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(array_ops.shape(expected_tensor, name="expected_shape"), tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Tensor:
    """`tensor` with a shape: checked now where it is known, else in the run.

    Raises `ValueError` where the shapes are known to differ.
    """
    if isinstance(tensor, (list, tuple, np.ndarray)):
        tensor = ops.convert_to_tensor(tensor)
    if isinstance(expected_shape, TensorShape):
        expected_shape = expected_shape.as_list()
    if not isinstance(expected_shape, Tensor):
        expected_shape = np.asarray(expected_shape, np.int32)
    elif expected_shape.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype {expected_shape.dtype!s} for shape {expected_shape.name} of tensor "
                         f"{tensor.name}.")
    known = constant_value(expected_shape) if isinstance(expected_shape, Tensor) else expected_shape
    shape = tensor.get_shape()
    if known is None or not shape.is_fully_defined():
        return _checked_in_run(expected_shape, known, tensor)
    if tuple(shape.as_list()) != tuple(int(size) for size in known):
        raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {list(map(int, known))}, got {shape}.")
    return tensor


def _checked_in_run(expected: Any, known: np.ndarray | None, tensor: Tensor) -> Tensor:
    with ops.name_scope(f"{tensor.op.name}/", values=[tensor]):
        with ops.name_scope("assert_shape", values=[tensor]) as scope:
            actual = array_ops.shape(tensor, name="actual")
            equal = _is_shape(expected, tensor, actual)
            shown = expected if isinstance(expected, Tensor) else list(map(int, expected))
            check = control_flow_ops.Assert(
                equal, [f"Wrong shape for {tensor.name} [expected] [actual].", shown, actual], name=scope)
        with ops.control_dependencies([check]):
            result = array_ops.identity(tensor)
    if known is not None:
        result.set_shape([None if size < 0 else int(size) for size in known])
    return result


def _is_shape(expected: Any, tensor: Tensor, actual: Tensor) -> Tensor:
    """bool scalar: the ranks are equal, and so are the sizes; an expected -1 is any size."""
    with ops.name_scope("is_shape", values=[tensor]) as scope:
        size = array_ops.size(expected)
        with ops.name_scope("is_rank", values=[tensor]) as rank_scope:
            is_rank = math_ops.equal(size, array_ops.rank(tensor, name="actual"), name=rank_scope)
        with ops.name_scope("shape_tensor_equal", values=[tensor]) as equal_scope:
            sizes = math_ops.logical_or(math_ops.equal(expected, -1), math_ops.equal(expected, actual, name="equal"),
                                        name="exclude_partial_shape")
            equal = math_ops.reduce_all(sizes, name=equal_scope)
        return math_ops.logical_and(is_rank, equal, name=scope)
