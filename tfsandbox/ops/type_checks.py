"""Checks of types, made while the graph is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor

__all__ = ["assert_integer", "assert_proper_iterable", "assert_same_float_dtype", "assert_type", "is_numeric_tensor"]


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Operation:
    """A no-op; `TypeError` at once unless `tensor` has that type."""
    from tfsandbox.ops import control_flow_ops
    with ops.name_scope(name, "assert_type", [tensor]):
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        wanted = dtypes.as_dtype(tf_type)
        if tensor.dtype != wanted:
            raise TypeError(f"{message or ''}  {tensor.name} must be of type {wanted}")
        return control_flow_ops.no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """A no-op; `TypeError` at once unless `x` is of an integer type."""
    from tfsandbox.ops import control_flow_ops
    with ops.name_scope(name, "assert_integer", [x]):
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {x.name} of dtype {x.dtype}')
        return control_flow_ops.no_op("statically_determined_was_integer")


def assert_proper_iterable(values: Any) -> None:
    """`TypeError` unless `values` can be iterated over and is not a tensor, an array or a string."""
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, str, bytes)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> dtypes.DType:
    """The one floating type of all `tensors`, and of `dtype` if given; float32 if there is none. `ValueError` else."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if wanted is None:
            wanted, first = found, tensor
        elif found != wanted:
            where = "" if first is None else f" as {first.name}"
            raise ValueError(f"{tensor.name}, type={tensor.dtype}, must be of the same type ({wanted}){where}.")
    if wanted is None:
        return dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return isinstance(tensor, Tensor) and (
        tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex or tensor.dtype.is_quantized)
