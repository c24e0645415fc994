"""Ops that find places: searchsorted, unravel_index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import text_of_shape

_BOUND = "T: type; out_type: type in {int32, int64} = int32"
lower_bound_op = register_op("LowerBound", "sorted_inputs: T, values: T -> output: out_type", _BOUND)
upper_bound_op = register_op("UpperBound", "sorted_inputs: T, values: T -> output: out_type", _BOUND)


@lower_bound_op.shape
@upper_bound_op.shape
def _bound_shape(c: ShapeContext) -> TensorShape:
    rows, values = with_rank(c.shape(0), 2).sizes, with_rank(c.shape(1), 2).sizes
    assert rows is not None and values is not None
    return TensorShape.from_sizes((merge_sizes(rows[0], values[0]), values[1]))


def _bounds(rows: Any, values: Any, side: str, out_type: dtypes.DType) -> Any:
    result = np.empty(values.shape, out_type.as_numpy_dtype)
    for row, wanted, found in zip(rows, values, result):
        found[:] = np.searchsorted(row, wanted, side)  # type: ignore[call-overload]
    return result


@lower_bound_op.kernel
def _lower_bound(sorted_inputs: Any, values: Any, *, out_type: dtypes.DType) -> Any:
    return _bounds(sorted_inputs, values, "left", out_type)


@upper_bound_op.kernel
def _upper_bound(sorted_inputs: Any, values: Any, *, out_type: dtypes.DType) -> Any:
    return _bounds(sorted_inputs, values, "right", out_type)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32,
                 name: str | None = None) -> Tensor:
    """Where each of `values` would go into the sorted last axis of `sorted_sequence`: before equal elements, or after
    them with `side="right"`. Both have the same shape but for the last axis."""
    last = array_ops.shape_internal(sorted_sequence)[-1]
    values_last = array_ops.shape_internal(values)[-1]
    rows = array_ops.reshape(sorted_sequence, [-1, last])
    wanted = array_ops.reshape(values, [-1, values_last])
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    op_type = "UpperBound" if side == "right" else "LowerBound"
    found = apply_op(op_type, sorted_inputs=rows, values=wanted, out_type=out_type, name=name)
    return array_ops.reshape(found, array_ops.shape_internal(values))


unravel_index_op = register_op("UnravelIndex", "indices: Tidx, dims: Tidx -> output: Tidx",
                               "Tidx: type in {int32, int64} = int32")


@unravel_index_op.shape
def _unravel_index_shape(c: ShapeContext) -> TensorShape:
    indices, dims = c.shape(0), with_rank(c.shape(1), 1).sizes
    if indices.sizes is None or dims is None:
        return UNKNOWN
    if not indices.sizes:
        return TensorShape.from_sizes(dims)
    count = indices.num_elements()
    return TensorShape.from_sizes((dims[0], count))


@unravel_index_op.kernel
def _unravel_index(indices: Any, dims: Any) -> Any:
    indices = np.asarray(indices)
    if indices.ndim > 1:
        raise errors.InvalidArgumentError(
            None, None, f'The indices can only be scalar or vector, got "{text_of_shape(indices)}"')
    # Indices outside wrap around, as in C.
    sizes = np.multiply.accumulate(dims[::-1])[::-1]
    places = [np.trunc(np.fmod(indices, size) / (size // dim)) for dim, size in zip(dims, sizes)]
    return np.array(places, indices.dtype)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates, [rank, n], of flat `indices` into an array of shape `dims`."""
    return apply_op("UnravelIndex", indices=indices, dims=dims, name=name)
