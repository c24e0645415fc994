"""The confusion matrix, and the shapes of labels and predictions made to agree."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, binary_ops, casts, reductions

__all__ = ["confusion_matrix"]


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """Labels and predictions, with the last axis of size 1 taken off the one that has a rank too many.

    `expected_rank_diff` is how much higher the rank of the predictions should be.
    """
    with ops.name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = ops.convert_to_tensor(predictions)
        labels = ops.convert_to_tensor(labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if ranks[0] is not None and ranks[1] is not None:
            difference = ranks[0] - ranks[1]
            if difference == expected_rank_diff + 1 and predictions.shape.as_list()[-1] in (1, None):
                predictions = array_ops.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1 and labels.shape.as_list()[-1] in (1, None):
                labels = array_ops.squeeze(labels, [-1])
            return labels, predictions
        # The ranks are known only in the run.
        from tfsandbox.ops import control_flow_ops
        difference_node = array_ops.rank(predictions) - array_ops.rank(labels)
        if ranks[0] is None or predictions.shape.as_list()[-1] in (1, None):
            unsqueezed = predictions
            predictions = control_flow_ops.cond(_equal(expected_rank_diff + 1, difference_node),
                                                lambda: array_ops.squeeze(unsqueezed, [-1]), lambda: unsqueezed)
        if ranks[1] is None or labels.shape.as_list()[-1] in (1, None):
            original = labels
            labels = control_flow_ops.cond(_equal(expected_rank_diff - 1, difference_node),
                                           lambda: array_ops.squeeze(original, [-1]), lambda: original)
        return labels, predictions


def _equal(x: Any, y: Any) -> Tensor:
    from tfsandbox.ops import comparison_ops
    return comparison_ops.equal(x, y)


def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32,
                     name: str | None = None, weights: Any = None) -> Tensor:
    """How often each label (row) was predicted as each class (column), [num_classes, num_classes].

    Labels and predictions are vectors of whole numbers from 0. Without `num_classes` there are as many as the largest
    of them needs; with it, larger ones raise `InvalidArgumentError` in the run, as negative ones do.
    """
    from tfsandbox.ops import check_ops, control_flow_ops, sparse_ops
    with ops.name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            ops.convert_to_tensor(labels, name="labels"), ops.convert_to_tensor(predictions, name="predictions"))
        predictions = casts.cast(predictions, dtypes.int64)
        labels = casts.cast(labels, dtypes.int64)
        labels = control_flow_ops.with_dependencies(
            [check_ops.assert_non_negative(labels, message="`labels` contains negative values")], labels)
        predictions = control_flow_ops.with_dependencies(
            [check_ops.assert_non_negative(predictions, message="`predictions` contains negative values")], predictions)
        if num_classes is None:
            num_classes = binary_ops.maximum(reductions.reduce_max(predictions), reductions.reduce_max(labels)) + 1
        else:
            count = casts.cast(num_classes, dtypes.int64)
            labels = control_flow_ops.with_dependencies(
                [check_ops.assert_less(labels, count, message="`labels` out of bound")], labels)
            predictions = control_flow_ops.with_dependencies(
                [check_ops.assert_less(predictions, count, message="`predictions` out of bound")], predictions)
        if weights is not None:
            weights = ops.convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = casts.cast(weights, dtype)
        shape = array_ops.stack([num_classes, num_classes])
        indices = array_ops.stack([labels, predictions], axis=1)
        values = array_ops.ones_like(predictions, dtype) if weights is None else weights
        counts = SparseTensor(indices=indices, values=values, dense_shape=casts.cast(shape, dtypes.int64))
        zeros = array_ops.zeros(casts.cast(shape, dtypes.int32), dtype)
        return sparse_ops.sparse_add(zeros, counts)
