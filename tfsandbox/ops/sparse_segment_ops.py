"""Reductions over segments of selected rows: gather the rows at `indices`, then reduce those of one segment id."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, segment_ops
from tfsandbox.ops.segment_ops import reduce_sorted, row_counts

__all__ = ["sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum"]


def _define(name: str, counted_name: str, types: str) -> tuple[OpDef, OpDef]:
    """The op, and its variant that is told the number of segments."""
    plain = register_op(name, "data: T, indices: Tidx, segment_ids: int32 -> output: T",
                        f"T: type in {types}; Tidx: type in {{int32, int64}} = int32")
    counted = register_op(counted_name,
                          "data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments -> output: T",
                          f"T: type in {types}; Tidx: type in {{int32, int64}} = int32; "
                          "Tnumsegments: type in {int32, int64} = int32")
    plain.shape(_shape)
    counted.shape(_shape)
    return plain, counted


def _shape(c: Any) -> TensorShape:
    for i in (1, 2):
        if c.shape(i).ndims not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {c.shape(i).ndims}")
    c.shape(1).merge_with(c.shape(2))
    data = c.shape(0)
    if data.ndims is None:
        return shape_inference.UNKNOWN
    rows = c.value(3) if c.num_inputs == 4 else None
    return TensorShape([None if rows is None else int(rows), *data.as_list()[1:]])


def _rows(data: Any, indices: Any, segment_ids: Any) -> Any:
    if len(indices) != len(segment_ids):
        raise errors.InvalidArgumentError(None, None, "segment_ids and indices should have same size.")
    wrong = np.flatnonzero((indices < 0) | (indices >= len(data)))
    if wrong.size:
        raise errors.InvalidArgumentError(None, None, f"Bad: indices[{wrong[0]}] == {indices[wrong[0]]} out of range "
                                                      f"[0, {len(data)})")
    return data[indices]


sum_op, sum_counted_op = _define("SparseSegmentSum", "SparseSegmentSumWithNumSegments", "{realnumbertype}")
mean_op, mean_counted_op = _define("SparseSegmentMean", "SparseSegmentMeanWithNumSegments", "{float32, float64}")
sqrt_n_op, sqrt_n_counted_op = _define("SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments", "{float32, float64}")


@sum_op.kernel
@sum_counted_op.kernel
def _sum(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    rows = None if num_segments is None else int(num_segments)
    return reduce_sorted(np.add, _rows(data, indices, segment_ids), segment_ids, 0, rows)


@mean_op.kernel
@mean_counted_op.kernel
def _mean(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    total = _sum(data, indices, segment_ids, num_segments)
    return total / row_counts(segment_ids, len(total), total)


@sqrt_n_op.kernel
@sqrt_n_counted_op.kernel
def _sqrt_n(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
    total = _sum(data, indices, segment_ids, num_segments)
    return total / np.sqrt(row_counts(segment_ids, len(total), total))


@sum_op.gradient
def _sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    rows = array_ops.shape(op.inputs[0])[0]
    spread = array_ops.gather(grad, op.inputs[2])
    return [segment_ops.unsorted_segment_sum(spread, op.inputs[1], rows), None, None]


@sum_counted_op.gradient
def _sum_counted_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [*_sum_grad(op, grad), None]


# ------------------------------------------------------------ gradients as ops


def _grad_op(name: str) -> OpDef:
    op_def = register_op(name, "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T",
                         "T: type in {float32, float64}; Tidx: type in {int32, int64} = int32").no_gradient()
    op_def.shape(_grad_shape)
    return op_def


def _grad_shape(c: Any) -> TensorShape:
    shape, rows = c.shape(0), c.value(3)
    if shape.ndims is None:
        return shape_inference.UNKNOWN
    return TensorShape([None if rows is None else int(rows), *shape.as_list()[1:]])


mean_grad_op = _grad_op("SparseSegmentMeanGrad")
sqrt_n_grad_op = _grad_op("SparseSegmentSqrtNGrad")


def _spread(scaled: Any, indices: Any, segment_ids: Any, output_dim0: Any) -> Any:
    result = np.zeros((int(output_dim0), *scaled.shape[1:]), scaled.dtype)
    np.add.at(result, indices, scaled[segment_ids])
    return result


@mean_grad_op.kernel
def _mean_grad_kernel(grad: Any, indices: Any, segment_ids: Any, output_dim0: Any) -> Any:
    return _spread(grad / row_counts(segment_ids, len(grad), grad), indices, segment_ids, output_dim0)


@sqrt_n_grad_op.kernel
def _sqrt_n_grad_kernel(grad: Any, indices: Any, segment_ids: Any, output_dim0: Any) -> Any:
    return _spread(grad / np.sqrt(row_counts(segment_ids, len(grad), grad)), indices, segment_ids, output_dim0)


@mean_op.gradient
def _mean_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_apply_grad("SparseSegmentMeanGrad", op, grad), None, None]


@mean_counted_op.gradient
def _mean_counted_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [*_mean_grad(op, grad), None]


@sqrt_n_op.gradient
def _sqrt_n_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_apply_grad("SparseSegmentSqrtNGrad", op, grad), None, None]


@sqrt_n_counted_op.gradient
def _sqrt_n_counted_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [*_sqrt_n_grad(op, grad), None]


def _apply_grad(op_type: str, op: Operation, grad: Tensor) -> Tensor:
    rows = array_ops.shape(op.inputs[0])[0]
    return apply_op(op_type, grad=grad, indices=op.inputs[1], segment_ids=op.inputs[2], output_dim0=rows)


# ------------------------------------------------------------ the public functions


def _apply(op_type: str, data: Any, indices: Any, segment_ids: Any, name: str | None, num_segments: Any) -> Tensor:
    if num_segments is not None:
        return apply_op(f"{op_type}WithNumSegments", data=data, indices=indices, segment_ids=segment_ids,
                        num_segments=num_segments, name=name)
    return apply_op(op_type, data=data, indices=indices, segment_ids=segment_ids, name=name)


def sparse_segment_sum(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                       num_segments: Any = None) -> Tensor:
    """Sums of the rows of `data` at `indices` with one segment id; ids are sorted. `num_segments` adds empty rows."""
    return _apply("SparseSegmentSum", data, indices, segment_ids, name, num_segments)


def sparse_segment_mean(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                        num_segments: Any = None) -> Tensor:
    """Means of the rows of `data` at `indices` with one segment id, as `sparse_segment_sum`."""
    return _apply("SparseSegmentMean", data, indices, segment_ids, name, num_segments)


def sparse_segment_sqrt_n(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                          num_segments: Any = None) -> Tensor:
    """Sums divided by the square root of the number of rows, as `sparse_segment_sum`."""
    return _apply("SparseSegmentSqrtN", data, indices, segment_ids, name, num_segments)
