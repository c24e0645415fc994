"""Reductions over segments: the rows of one segment id are reduced together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes, errors, ops, shape_inference, shape_rules
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, casts, comparison_ops, elementwise
from tfsandbox.ops.kernel_values import text_of_sizes

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]


def _invalid(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)


# ------------------------------------------------------------ sorted ids


def _sorted(name: str, types: str) -> OpDef:
    op_def = register_op(name, "data: T, segment_ids: Tindices -> output: T",
                         f"T: type in {types}; Tindices: type in {{int32, int64}}")
    op_def.shape(_sorted_shape)
    return op_def


def _sorted_shape(c: Any) -> TensorShape:
    if c.shape(1).ndims not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {c.shape(1).ndims}")
    shape = c.shape(0)
    if shape.ndims is None:
        return shape_inference.UNKNOWN
    if shape.ndims < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return TensorShape([None, *shape.as_list()[1:]])


def reduce_sorted(function: Any, data: Any, segment_ids: Any, empty: float, rows: int | None = None) -> Any:
    """Reduce runs of equal ids; segments without a row are `empty`. `InvalidArgumentError` for ids out of order."""
    if segment_ids.ndim != 1:
        raise _invalid("segment_ids should be a vector.")
    if len(segment_ids) != len(data):
        raise _invalid("segment_ids should be the same size as dimension 0 of input.")
    count = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
    if rows is None:
        rows = count
    elif count > rows:
        raise _invalid(f"segment ids must be < num_segments, got {count - 1}")
    result = np.full((rows, *data.shape[1:]), empty, data.dtype)
    if len(segment_ids):
        if segment_ids[0] < 0:
            raise _invalid(f"Segment id {segment_ids[0]} out of range [0, {rows}), possibly because 'segment_ids' "
                           "input is not sorted.")
        steps = np.diff(segment_ids)
        if (steps < 0).any():
            raise _invalid("segment ids are not increasing")
        starts = np.concatenate([[0], np.flatnonzero(steps) + 1])
        result[segment_ids[starts]] = function.reduceat(data, starts, axis=0, dtype=data.dtype) \
            if function in (np.add, np.multiply) else function.reduceat(data, starts, axis=0)
    return result


segment_sum_op = _sorted("SegmentSum", "{numbertype}")
segment_mean_op = _sorted("SegmentMean", "{numbertype}")
segment_prod_op = _sorted("SegmentProd", "{numbertype}").no_gradient()
segment_max_op = _sorted("SegmentMax", "{realnumbertype}")
segment_min_op = _sorted("SegmentMin", "{realnumbertype}")


@segment_sum_op.kernel
def _segment_sum(data: Any, segment_ids: Any) -> Any:
    return reduce_sorted(np.add, data, segment_ids, 0)


@segment_prod_op.kernel
def _segment_prod(data: Any, segment_ids: Any) -> Any:
    return reduce_sorted(np.multiply, data, segment_ids, 1)


@segment_max_op.kernel
def _segment_max(data: Any, segment_ids: Any) -> Any:
    return reduce_sorted(np.maximum, data, segment_ids, 0)


@segment_min_op.kernel
def _segment_min(data: Any, segment_ids: Any) -> Any:
    return reduce_sorted(np.minimum, data, segment_ids, 0)


@segment_mean_op.kernel
def _segment_mean(data: Any, segment_ids: Any) -> Any:
    total = reduce_sorted(np.add, data, segment_ids, 0)
    return _divided(total, row_counts(segment_ids, len(total), total))


def row_counts(segment_ids: Any, rows: int, like: Any) -> Any:
    """How many rows each segment has, at least 1, as a column of the type of `like`."""
    counts = np.maximum(np.bincount(segment_ids, minlength=rows), 1).astype(like.dtype)
    return counts.reshape(-1, *[1] * (like.ndim - 1))


def _divided(total: Any, counts: Any) -> Any:
    return (total // counts if total.dtype.kind in "iu" else total / counts).astype(total.dtype)


@segment_sum_op.gradient
def _segment_sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [array_ops.gather(grad, op.inputs[1]), None]


@segment_mean_op.gradient
def _segment_mean_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs
    rank = array_ops.rank(data)
    column = array_ops.concat([array_ops.shape(ids), array_ops.fill(array_ops.expand_dims(rank - 1, 0), 1)], 0)
    ones = array_ops.fill(column, constant_op.constant(1, dtype=grad.dtype))
    scaled = binary_ops.divide(grad, segment_sum(ones, ids))
    return [array_ops.gather(scaled, ids), None]


@segment_max_op.gradient
@segment_min_op.gradient
def _segment_extreme_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The gradient goes to the rows that equal the extreme of their segment, in equal parts."""
    data, ids = op.inputs
    zeros = array_ops.zeros_like(data)
    chosen = comparison_ops.equal(data, array_ops.gather(op.outputs[0], ids))
    count = segment_sum(casts.cast(chosen, grad.dtype), ids)
    part = array_ops.gather(binary_ops.divide(grad, count), ids)
    return [array_ops.where(chosen, part, zeros), None]


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Sums of rows with one id; ids are sorted and start from 0, one a row. Out of order they raise in the run."""
    return apply_op("SegmentSum", data=data, segment_ids=segment_ids, name=name)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Means of rows with one id, as `segment_sum`."""
    return apply_op("SegmentMean", data=data, segment_ids=segment_ids, name=name)


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Products of rows with one id, as `segment_sum`; 1 for an id without rows."""
    return apply_op("SegmentProd", data=data, segment_ids=segment_ids, name=name)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Maxima of rows with one id, as `segment_sum`."""
    return apply_op("SegmentMax", data=data, segment_ids=segment_ids, name=name)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """Minima of rows with one id, as `segment_sum`."""
    return apply_op("SegmentMin", data=data, segment_ids=segment_ids, name=name)


# ------------------------------------------------------------ ids in any order


def _unsorted(name: str, types: str) -> OpDef:
    op_def = register_op(name, "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
                         f"T: type in {types}; Tindices: type in {{int32, int64}}; "
                         "Tnumsegments: type in {int32, int64} = int32")
    op_def.shape(_unsorted_shape)
    return op_def


def _unsorted_shape(c: Any) -> TensorShape:
    data, ids = c.shape(0), c.shape(1)
    if data.ndims is None or ids.ndims is None:
        return shape_inference.UNKNOWN
    if ids.ndims > data.ndims:
        raise ValueError(f"Shape must be at least rank {ids.ndims} but is rank {data.ndims}")
    shape_rules.merge_prefix(data, ids)
    rows = c.value(2)
    return TensorShape([None if rows is None else int(rows), *data.as_list()[ids.ndims:]])


def _reduce_unsorted(function: Any, data: Any, segment_ids: Any, num_segments: Any, empty: Any) -> Any:
    rows = int(num_segments)
    if data.shape[:segment_ids.ndim] != segment_ids.shape:
        raise _invalid(f"data.shape = {text_of_sizes(data.shape)} does not start with segment_ids.shape = "
                       f"{text_of_sizes(segment_ids.shape)}")
    inner = data.shape[segment_ids.ndim:]
    flat_ids = segment_ids.ravel()
    outside = np.flatnonzero(flat_ids >= rows)
    if outside.size:
        raise _invalid(f"segment_ids{text_of_sizes(np.unravel_index(outside[0], segment_ids.shape))} = "
                       f"{flat_ids[outside[0]]} is out of range [0, {rows})")
    result = np.full((rows, *inner), empty, data.dtype)
    kept = flat_ids >= 0
    function.at(result, flat_ids[kept], data.reshape(-1, *inner)[kept])
    return result


unsorted_segment_sum_op = _unsorted("UnsortedSegmentSum", "{numbertype}")
unsorted_segment_prod_op = _unsorted("UnsortedSegmentProd", "{numbertype}")
unsorted_segment_max_op = _unsorted("UnsortedSegmentMax", "{realnumbertype}")
unsorted_segment_min_op = _unsorted("UnsortedSegmentMin", "{realnumbertype}")


def _limits(dtype: Any) -> Any:
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


@unsorted_segment_sum_op.kernel
def _unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    return _reduce_unsorted(np.add, data, segment_ids, num_segments, 0)


@unsorted_segment_prod_op.kernel
def _unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    return _reduce_unsorted(np.multiply, data, segment_ids, num_segments, 1)


@unsorted_segment_max_op.kernel
def _unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    return _reduce_unsorted(np.maximum, data, segment_ids, num_segments, _limits(data.dtype).min)


@unsorted_segment_min_op.kernel
def _unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    return _reduce_unsorted(np.minimum, data, segment_ids, num_segments, _limits(data.dtype).max)


def _clipped(ids: Tensor) -> Tensor:
    return binary_ops.maximum(ids, array_ops.zeros_like(ids))


def _gather_kept(params: Tensor, ids: Tensor, clipped: Tensor, kept: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The rows of params at ids, zeros where an id is negative; and where it is not."""
    gathered = array_ops.gather(params, clipped)
    if kept is None:
        kept = comparison_ops.greater_equal(ids, 0)
        for _ in range(gathered.shape.ndims - kept.shape.ndims):  # type: ignore[operator]
            kept = array_ops.expand_dims(kept, -1)
        kept = kept & array_ops.ones_like(gathered, dtype=dtypes.bool)
    return array_ops.where(kept, gathered, array_ops.zeros_like(gathered)), kept


@unsorted_segment_sum_op.gradient
def _unsorted_segment_sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    ids = op.inputs[1]
    return [_gather_kept(grad, ids, _clipped(ids))[0], None, None]


@unsorted_segment_max_op.gradient
@unsorted_segment_min_op.gradient
def _unsorted_segment_extreme_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The gradient goes to the elements that equal the extreme of their segment, in equal parts."""
    data, ids, rows = op.inputs
    clipped = _clipped(ids)
    extreme, kept = _gather_kept(op.outputs[0], ids, clipped)
    chosen = comparison_ops.logical_and(comparison_ops.equal(data, extreme), kept)
    count = unsorted_segment_sum(casts.cast(chosen, grad.dtype), ids, rows)
    part, _ = _gather_kept(binary_ops.divide(grad, count), ids, clipped, kept)
    return [array_ops.where(chosen, part, array_ops.zeros_like(part)), None, None]


@unsorted_segment_prod_op.gradient
def _unsorted_segment_prod_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The product of the others: the whole product divided by the element. Where the element is the only 0 of its
    segment it is the product of the rest; with two zeros it is 0 for all.
    """
    data, ids, rows = op.inputs
    zero = comparison_ops.equal(data, 0)
    zeros = unsorted_segment_sum(casts.cast(zero, dtypes.int32), ids, rows)
    grad = array_ops.where(comparison_ops.greater(zeros, 1), array_ops.zeros_like(grad), grad)
    rest = array_ops.where(zero, array_ops.ones_like(data), data)
    product_of_rest = unsorted_segment_prod(rest, ids, rows)
    clipped = _clipped(ids)
    whole = array_ops.gather(op.outputs[0], clipped)
    others = array_ops.gather(product_of_rest, clipped)
    partial = array_ops.where(zero, others, whole / data)
    return [_gather_kept(grad, ids, clipped)[0] * partial, None, None]


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sums of elements with one id, [num_segments, ...]. Ids may come in any order; negative ones are left out.

    The shape of `segment_ids` is the beginning of that of `data`. An id that is too large raises in the run.
    """
    return apply_op("UnsortedSegmentSum", data=data, segment_ids=segment_ids, num_segments=num_segments, name=name)


def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Products of elements with one id, as `unsorted_segment_sum`; 1 for an id without elements."""
    return apply_op("UnsortedSegmentProd", data=data, segment_ids=segment_ids, num_segments=num_segments, name=name)


def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Maxima of elements with one id, as `unsorted_segment_sum`; the lowest number for an id without elements."""
    return apply_op("UnsortedSegmentMax", data=data, segment_ids=segment_ids, num_segments=num_segments, name=name)


def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Minima of elements with one id, as `unsorted_segment_sum`; the highest number for an id without elements."""
    return apply_op("UnsortedSegmentMin", data=data, segment_ids=segment_ids, num_segments=num_segments, name=name)


def _counts(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    ones = array_ops.ones(array_ops.shape_internal(segment_ids), dtype=data.dtype)
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    if data.shape.ndims is None or segment_ids.shape.ndims is None:
        raise ValueError("The ranks of data and segment_ids must be known while the graph is built.")
    counts = array_ops.reshape(counts, [num_segments] + [1] * (data.shape.ndims - segment_ids.shape.ndims))
    return binary_ops.maximum(counts, 1)


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Means of elements with one id, as `unsorted_segment_sum`."""
    with ops.name_scope(name, "UnsortedSegmentMean"):
        data = ops.convert_to_tensor(data)
        segment_ids = ops.convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Sums of elements with one id divided by the square root of their number, as `unsorted_segment_sum`."""
    with ops.name_scope(name, "UnsortedSegmentSqrtN"):
        data = ops.convert_to_tensor(data)
        segment_ids = ops.convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / elementwise.sqrt(counts)
