"""Strings put together and taken apart: join, reduce_join, split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, reduced
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array

__all__ = ["reduce_join", "string_split"]

reduce_join_op = register_op("ReduceJoin", "inputs: string, reduction_indices: int32 -> output: string",
                             "keep_dims: bool = false; separator: string = ''")
segment_join_op = register_op(
    "UnsortedSegmentJoin", "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    "separator: string = ''; Tindices: type in {int32, int64}; Tnumsegments: type in {int32, int64} = int32")


@reduce_join_op.shape
def _reduce_join_shape(c: ShapeContext) -> TensorShape:
    axes = c.value(1)
    return reduced(c.shape(0), None if axes is None else [int(axis) for axis in np.ravel(axes)], c.attr("keep_dims"))


@reduce_join_op.kernel
def _reduce_join(inputs: Any, reduction_indices: Any, *, keep_dims: bool, separator: bytes) -> Any:
    array = as_array(inputs)
    axes = np.ravel(reduction_indices).tolist()
    for axis in axes:
        if not -array.ndim <= axis < array.ndim:
            raise errors.OutOfRangeError(None, None, f"Invalid reduction dimension {axis} for input with "
                                                          f"{array.ndim} dimension(s)")
    gone = [axis % array.ndim for axis in axes]
    if len(set(gone)) != len(gone):
        raise errors.InvalidArgumentError(None, None, "Duplicate reduction dimension")
    if not gone:
        return array
    kept = [axis for axis in range(array.ndim) if axis not in gone]
    # The axes are joined in the order in which they are given: the first one innermost.
    rows = array.transpose(kept + gone[::-1]).reshape([array.shape[axis] for axis in kept] + [-1])
    result = np.empty(rows.shape[:-1], object)
    for index in np.ndindex(*result.shape):
        result[index] = separator.join(rows[index].tolist())
    if keep_dims:
        return result.reshape([1 if axis in gone else size for axis, size in enumerate(array.shape)])
    return result


def reduce_join(inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
                name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None) -> Tensor:
    """The strings along some axes joined, in the order of `axis`; along all of them, row by row, where None."""
    if axis is not None and reduction_indices is not None:
        raise ValueError("Cannot specify both 'axis' and 'reduction_indices'")
    if keepdims is not None and keep_dims is not None:
        raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
    axis = reduction_indices if axis is None else axis
    keep = keep_dims if keepdims is None else keepdims
    with ops.name_scope(name, "ReduceJoin", [inputs, axis]):
        inputs = ops.convert_to_tensor(inputs, dtypes.string)
        if axis is None:
            rank = inputs.shape.ndims
            if rank is not None:
                axis = constant(np.arange(rank - 1, -1, -1), dtype=dtypes.int32)
            else:
                from tfsandbox.ops import math_ops
                axis = math_ops.range(array_ops.rank(inputs) - 1, -1, -1)
        return apply_op("ReduceJoin", inputs=inputs, reduction_indices=axis, keep_dims=bool(keep), separator=separator)


@segment_join_op.shape
def _segment_join_shape(c: ShapeContext) -> TensorShape:
    inputs, ids, count = c.shape(0), c.shape(1), c.value(2)
    if inputs.sizes is None or ids.sizes is None:
        return UNKNOWN
    return TensorShape.from_sizes((None if count is None else int(count), *inputs.sizes[len(ids.sizes):]))


@segment_join_op.kernel
def _segment_join(inputs: Any, segment_ids: Any, num_segments: Any, *, separator: bytes) -> Any:
    array = as_array(inputs)
    rest = array.shape[segment_ids.ndim:]
    rows = array.reshape(segment_ids.size, -1)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(int(num_segments))]
    for row, segment in zip(rows, segment_ids.ravel().tolist()):
        if segment >= num_segments:
            raise errors.InvalidArgumentError(None, None, "Number of segments must be greater than the segment ids")
        if segment >= 0:
            for cell, text in zip(parts[segment], row):
                cell.append(text)
    result = np.empty((int(num_segments), rows.shape[1]), object)
    for i, segment_parts in enumerate(parts):
        for k, cell in enumerate(segment_parts):
            result[i, k] = separator.join(cell)
    return result.reshape(int(num_segments), *rest)


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Tensor:
    """The strings of each segment joined in order."""
    return apply_op("UnsortedSegmentJoin", inputs=inputs, segment_ids=segment_ids, num_segments=num_segments,
                    separator=separator, name=name)


# ------------------------------------------------------------ split

_PARTS = "indices: int64, values: string, shape: int64"
split_op = register_op("StringSplit", f"input: string, delimiter: string -> {_PARTS}", "skip_empty: bool = true")
split_v2_op = register_op("StringSplitV2", f"input: string, sep: string -> {_PARTS}", "maxsplit: int = -1")


@split_op.shape
@split_v2_op.shape
def _split_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 1)
    with_rank(c.shape(1), 0)
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


def _as_sparse_rows(rows: Sequence[Sequence[bytes]]) -> tuple[Any, Any, Any]:
    indices = np.array([(i, k) for i, row in enumerate(rows) for k in range(len(row))], np.int64).reshape(-1, 2)
    values = np.empty(len(indices), object)
    values[:] = [text for row in rows for text in row]
    return indices, values, np.array([len(rows), max((len(row) for row in rows), default=0)], np.int64)


@split_op.kernel
def _split(input: Any, delimiter: Any, *, skip_empty: bool) -> tuple[Any, Any, Any]:
    marks = as_array(delimiter).item()
    rows = []
    for text in input.tolist():
        if not text:
            parts = []
        elif not marks:
            parts = [text[i:i + 1] for i in range(len(text))]
        else:
            # Every byte of the delimiter is one.
            parts, start = [], 0
            for i, byte in enumerate(text):
                if byte in marks:
                    parts.append(text[start:i])
                    start = i + 1
            parts.append(text[start:])
        rows.append([part for part in parts if part or not skip_empty])
    return _as_sparse_rows(rows)


@split_v2_op.kernel
def _split_v2(input: Any, sep: Any, *, maxsplit: int) -> tuple[Any, Any, Any]:
    mark = as_array(sep).item()
    return _as_sparse_rows([text.split(mark or None, maxsplit) if text or mark else [] for text in input.tolist()])


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
                 result_type: str = "SparseTensor", name: str | None = None) -> SparseTensor:
    """[n, most]: the parts of each string of the vector `source` between the bytes of `delimiter`, as a SparseTensor.

    An empty delimiter cuts into bytes. `skip_empty` leaves out empty parts.
    """
    _check_result_type(result_type)
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'")
    mark = delimiter if sep is None else sep
    mark = " " if mark is None else mark
    with ops.name_scope(name, "StringSplit", [source]):
        mark = ops.convert_to_tensor(mark, dtype=dtypes.string)
        source = ops.convert_to_tensor(source, dtype=dtypes.string)
        indices, values, shape = apply_op("StringSplit", input=source, delimiter=mark, skip_empty=skip_empty)
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def _check_result_type(result_type: str) -> None:
    if result_type != "SparseTensor":
        raise NotImplementedError(
            f"result_type={result_type!r}: tfsandbox gives the parts of strings as a SparseTensor")


def strings_split(input: Any = None, sep: str | None = None, maxsplit: int = -1, result_type: str = "SparseTensor",
                  source: Any = None, name: str | None = None) -> SparseTensor:
    """As Python's `str.split` on each string of a vector: at `sep`, or at white space where None. A SparseTensor."""
    _check_result_type(result_type)
    strings = source if input is None else input
    with ops.name_scope(name, "StringSplit", [strings]):
        strings = ops.convert_to_tensor(strings, dtype=dtypes.string, name="input")
        mark = ops.convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
        indices, values, shape = apply_op("StringSplitV2", input=strings, sep=mark, maxsplit=maxsplit)
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)
