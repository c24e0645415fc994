"""Sets of values along the last axis of tensors, dense or sparse: intersection, difference, union, size."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext, unknown
from tfsandbox.framework.shape_rules import merge, with_rank, with_rank_at_least
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array

__all__: list[str] = []

_ATTRS = ("set_operation: string; validate_indices: bool = true; "
          "T: type in {int8, int16, int32, int64, uint8, uint16, string}")
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"

dense_to_dense_op = register_op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", _ATTRS).no_gradient()
dense_to_sparse_op = register_op(
    "DenseToSparseSetOperation", f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    _ATTRS).no_gradient()
sparse_to_sparse_op = register_op(
    "SparseToSparseSetOperation", "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64 -> {_RESULT}", _ATTRS).no_gradient()
set_size_op = register_op("SetSize", "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
                          _ATTRS.removeprefix("set_operation: string; ")).no_gradient()


def _result_shapes(rank: int | None) -> list[TensorShape]:
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


@dense_to_dense_op.shape
def _dense_to_dense_shape(c: ShapeContext) -> list[TensorShape]:
    left, right = c.shape(0), c.shape(1)
    rank = left.ndims if left.ndims is not None else right.ndims
    if left.sizes is not None and right.sizes is not None:
        with_rank_at_least(left, 2)
        with_rank(right, len(left.sizes))
        merge(TensorShape.from_sizes(left.sizes[:-1]), TensorShape.from_sizes(right.sizes[:-1]))
    return _result_shapes(rank)


@dense_to_sparse_op.shape
def _dense_to_sparse_shape(c: ShapeContext) -> list[TensorShape]:
    sizes = with_rank(c.shape(3), 1).sizes
    return _result_shapes(c.shape(0).ndims if c.shape(0).ndims is not None else sizes[0] if sizes else None)


@sparse_to_sparse_op.shape
def _sparse_to_sparse_shape(c: ShapeContext) -> list[TensorShape]:
    left, right = with_rank(c.shape(2), 1).sizes, with_rank(c.shape(5), 1).sizes
    assert left is not None and right is not None
    return _result_shapes(left[0] if left[0] is not None else right[0])


set_size_op.shape(unknown)


Groups = dict[tuple[int, ...], set[Any]]


def _dense_groups(values: np.ndarray) -> Groups:
    rows = values.reshape(-1, values.shape[-1]).tolist()
    return {index: set(row) for index, row in zip(np.ndindex(*values.shape[:-1]), rows)}


def _sparse_groups(indices: Any, values: Any) -> Groups:
    groups: Groups = {}
    for index, value in zip(indices.tolist(), values.tolist()):
        groups.setdefault(tuple(index[:-1]), set()).add(value)
    return groups


_OPERATIONS: dict[bytes, Any] = {
    b"a-b": lambda a, b: a - b, b"b-a": lambda a, b: b - a,
    b"intersection": lambda a, b: a & b, b"union": lambda a, b: a | b,
}


def _combined(left: Groups, right: Groups, outer: tuple[int, ...], operation: bytes,
              dtype: Any) -> tuple[Any, Any, Any]:
    combine = _OPERATIONS.get(operation.lower())
    if combine is None:
        raise errors.InvalidArgumentError(None, None, f"Invalid set_operation {operation.decode()}.")
    indices, values, most = [], [], 0
    none: set[Any] = set()
    for group in sorted({*left, *right}):
        found = sorted(combine(left.get(group, none), right.get(group, none)))
        indices += [(*group, i) for i in range(len(found))]
        values += found
        most = max(most, len(found))
    array = np.empty(len(values), dtype)
    array[:] = values
    return (np.array(indices, np.int64).reshape(len(indices), len(outer) + 1), array,
            np.array([*outer, most], np.int64))


@dense_to_dense_op.kernel
def _dense_to_dense(set1: Any, set2: Any, *, set_operation: bytes) -> tuple[Any, Any, Any]:
    set1, set2 = as_array(set1), as_array(set2)
    if set1.ndim < 2 or set1.shape[:-1] != set2.shape[:-1]:
        raise errors.InvalidArgumentError(None, None, f"Mismatched shapes {_outer_text(set1)} vs "
                                                      f"{_outer_text(set2)}")
    return _combined(_dense_groups(set1), _dense_groups(set2), set1.shape[:-1], set_operation, set1.dtype)


def _outer_text(values: np.ndarray) -> str:
    return f"[{','.join(map(str, values.shape[:-1]))}]"


@dense_to_sparse_op.kernel
def _dense_to_sparse(set1: Any, set2_indices: Any, set2_values: Any, set2_shape: Any, *,
                     set_operation: bytes) -> tuple[Any, Any, Any]:
    set1 = as_array(set1)
    return _combined(_dense_groups(set1), _sparse_groups(set2_indices, set2_values), set1.shape[:-1], set_operation,
                     set1.dtype)


@sparse_to_sparse_op.kernel
def _sparse_to_sparse(set1_indices: Any, set1_values: Any, set1_shape: Any, set2_indices: Any, set2_values: Any,
                      set2_shape: Any, *, set_operation: bytes) -> tuple[Any, Any, Any]:
    return _combined(_sparse_groups(set1_indices, set1_values), _sparse_groups(set2_indices, set2_values),
                     tuple(set1_shape[:-1].tolist()), set_operation, set1_values.dtype)


@set_size_op.kernel
def _set_size(set_indices: Any, set_values: Any, set_shape: Any) -> Any:
    result = np.zeros(set_shape[:-1], np.int32)
    for group, values in _sparse_groups(set_indices, set_values).items():
        result[group] = len(values)
    return result


# ------------------------------------------------------------ public functions


def _operand(value: Any, name: str) -> Any:
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else ops.convert_to_tensor(value, name=name)


def _parts(value: Any, prefix: str) -> dict[str, Any]:
    if isinstance(value, SparseTensor):
        return {f"{prefix}_indices": value.indices, f"{prefix}_values": value.values,
                f"{prefix}_shape": value.dense_shape}
    return {prefix: value}


def _set_operation(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    a, b = _operand(a, "a"), _operand(b, "b")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        # The op takes the dense operand first.
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    kinds = ["Sparse" if isinstance(value, SparseTensor) else "Dense" for value in (a, b)]
    indices, values, shape = apply_op(f"{kinds[0]}To{kinds[1]}SetOperation", **_parts(a, "set1"), **_parts(b, "set2"),
                                      set_operation=operation, validate_indices=validate_indices)
    return SparseTensor(indices, values, shape)


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """a.shape[:-1], int32: the number of different values in each row of the SparseTensor `a`."""
    a = _operand(a, "a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    return apply_op("SetSize", set_indices=a.indices, set_values=a.values, set_shape=a.dense_shape,
                    validate_indices=validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that are in the last axis of both `a` and `b`, row by row, sorted. Tensors or SparseTensors."""
    return _set_operation(a, b, "intersection", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The values of `a` that are not in `b`, row by row, sorted; the other way round without `aminusb`."""
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that are in `a` or in `b`, row by row, sorted."""
    return _set_operation(a, b, "union", validate_indices)
