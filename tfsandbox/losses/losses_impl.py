"""Losses: elementwise, weighted, reduced, and noted in a collection.

Every function takes `labels` and `predictions` (or `logits`) of one shape, `weights` that broadcast over the losses,
`scope` for the name scope, `loss_collection` to note the loss in (None: nowhere) and a `reduction`. It gives a float
tensor: a scalar, or with `Reduction.NONE` one loss an element. `ValueError` is raised for what is None, for shapes that
do not fit and for an unknown reduction.
"""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Tensor
from tfsandbox.losses import util
from tfsandbox.losses.reduction import Reduction
from tfsandbox.ops import (
    activations,
    array_ops,
    confusion_matrix,
    control_flow_ops,
    cross_entropy,
    math_ops,
    weights_broadcast_ops,
)
from tfsandbox.util.arg_scoping import accept_arg_scope

_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS
_LOSSES = GraphKeys.LOSSES


def _safe_mean(losses: Tensor, num_present: Tensor) -> Tensor:
    """The sum over the count; 0 where nothing is counted."""
    return math_ops.div_no_nan(math_ops.reduce_sum(losses), num_present, name="value")


def _num_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not zero."""
    if isinstance(weights, float) and weights != 0.0:
        return _num_elements(losses)
    with ops.name_scope(None, "num_present", (losses, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        present = array_ops.where(math_ops.equal(weights, 0.0), array_ops.zeros_like(weights),
                                  array_ops.ones_like(weights))
        present = weights_broadcast_ops.broadcast_weights(present, losses)
        if per_batch:
            axes = math_ops.range(1, array_ops.rank(present))
            return math_ops.reduce_sum(present, axis=axes, keepdims=True, name=scope)
        return math_ops.reduce_sum(present, name=scope)


def _num_elements(losses: Tensor) -> Tensor:
    with ops.name_scope(None, "num_elements", values=[losses]) as scope:
        return math_ops.cast(array_ops.size(losses, name=scope), dtype=losses.dtype)


@accept_arg_scope
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None,
                          loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """`losses` times `weights`, reduced, and noted in the collection."""
    return _weighted_loss(losses, weights, scope, loss_collection, reduction)


def _weighted_loss(losses: Any, weights: Any, scope: str | None, loss_collection: str | None,
                   reduction: str) -> Tensor:
    Reduction.validate(reduction)
    with ops.name_scope(scope, "weighted_loss", (losses, weights)):
        get_default_graph()._caches["last_loss_reduction"] = reduction
        with ops.control_dependencies((weights_broadcast_ops.assert_broadcastable(weights, losses),)):
            losses = ops.convert_to_tensor(losses)
            input_dtype = losses.dtype
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(weights, dtypes.float32)
            weighted = math_ops.multiply(losses, weights)
            if reduction == Reduction.NONE:
                loss = weighted
            else:
                loss = math_ops.reduce_sum(weighted)
                if reduction == Reduction.MEAN:
                    loss = _safe_mean(loss, math_ops.reduce_sum(array_ops.ones_like(losses) * weights))
                elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                    loss = _safe_mean(loss, _num_present(losses, weights))
                elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                    loss = _safe_mean(loss, _num_elements(losses))
            loss = math_ops.cast(loss, input_dtype)
            util.add_loss(loss, loss_collection)
            return loss


def _require(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _floats(predictions: Any, labels: Any) -> tuple[Tensor, Tensor]:
    predictions = math_ops.cast(predictions, dtypes.float32)
    labels = math_ops.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


@accept_arg_scope
def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """|predictions - labels|."""
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def cosine_distance(labels: Any, predictions: Any, axis: int | None = None, weights: Any = 1.0,
                    scope: str | None = None, loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT,
                    dim: int | None = None) -> Tensor:
    """1 - the cosine of the angle along `axis`; both must be unit vectors there."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        radial = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(radial, axis=(axis,), keepdims=True)
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
               loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """max(0, 1 - t * logits), with t = 2 * labels - 1: labels are 0 or 1."""
    _require(labels=labels, logits=logits)
    with ops.name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = _floats(logits, labels)
        ones = array_ops.ones_like(labels)
        labels = math_ops.subtract(2 * labels, ones)
        losses = activations.relu(math_ops.subtract(ones, math_ops.multiply(labels, logits)))
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
               loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """error^2 / 2 up to `delta`, linear beyond (Huber, 1964)."""
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        error = math_ops.subtract(predictions, labels)
        size = math_ops.abs(error)
        quadratic = math_ops.minimum(size, delta)
        linear = math_ops.subtract(size, quadratic)
        losses = math_ops.add(
            math_ops.multiply(ops.convert_to_tensor(0.5, dtype=quadratic.dtype),
                              math_ops.multiply(quadratic, quadratic)),
            math_ops.multiply(delta, linear))
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
             loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """-labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)."""
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = -math_ops.multiply(labels, math_ops.log(predictions + epsilon)) - math_ops.multiply(
            (1 - labels), math_ops.log(1 - predictions + epsilon))
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def mean_pairwise_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                                loss_collection: str | None = _LOSSES) -> Tensor:
    """The mean over all pairs of elements of a sample of the squared difference of their differences."""
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        labels = math_ops.cast(labels, dtypes.float32)
        with ops.control_dependencies((weights_broadcast_ops.assert_broadcastable(weights, labels),)):
            predictions = math_ops.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            diffs = math_ops.subtract(predictions, labels)
            axes = math_ops.range(1, array_ops.rank(diffs))
            squares = math_ops.reduce_sum(math_ops.square(diffs), axis=axes, keepdims=True)
            present = _num_present(diffs, weights, per_batch=True)
            term1 = 2.0 * math_ops.div_no_nan(squares, math_ops.maximum(present - 1, 0), name="value")
            total = math_ops.reduce_sum(diffs, axis=axes, keepdims=True)
            term2 = 2.0 * math_ops.div_no_nan(math_ops.square(total), math_ops.maximum(
                math_ops.multiply(present, present - 1), 0), name="value")
            weighted = math_ops.multiply(term1 - term2, weights)
            loss = math_ops.reduce_sum(weighted)
            mean = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss), name="value")
            util.add_loss(mean, loss_collection)
            return mean


@accept_arg_scope
def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """(predictions - labels)^2."""
    _require(labels=labels, predictions=predictions)
    with ops.name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = math_ops.squared_difference(predictions, labels)
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = _LOSSES,
                          reduction: str = _DEFAULT) -> Tensor:
    """The cross entropy of independent classes; `label_smoothing` pulls the labels towards 1/2."""
    _require(multi_class_labels=multi_class_labels, logits=logits)
    with ops.name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = ops.convert_to_tensor(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = cross_entropy.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


@accept_arg_scope
def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = _LOSSES,
                          reduction: str = _DEFAULT) -> Tensor:
    """The cross entropy of exclusive classes, labels as distributions [..., classes], losses [...]."""
    _require(onehot_labels=onehot_labels, logits=logits)
    with ops.name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = ops.convert_to_tensor(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            positives = 1.0 - label_smoothing
            negatives = label_smoothing / classes
            labels = labels * positives + negatives
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
        losses = cross_entropy.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)


def _remove_squeezable_dimensions(labels: Any, predictions: Any, weights: Any = None,
                                  expected_rank_diff: int = 0) -> tuple[Any, Any, Any]:
    """The three without a last axis of size 1 that one has more than expected."""
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions,
                                                                        expected_rank_diff=expected_rank_diff)
    if weights is None:
        return labels, predictions, None
    weights = ops.convert_to_tensor(weights)
    labels_rank, weights_rank = labels.shape.ndims, weights.shape.ndims
    if labels_rank is not None and weights_rank is not None:
        if weights_rank - labels_rank == 1:
            weights = array_ops.squeeze(weights, [-1])
        return labels, predictions, weights
    difference = array_ops.rank(weights) - array_ops.rank(labels)
    if weights_rank is None or (weights_rank > 0 and weights.shape.dims[-1].is_compatible_with(1)):
        full = weights
        weights = control_flow_ops.cond(math_ops.equal(1, difference), lambda: array_ops.squeeze(full, [-1]),
                                        lambda: full)
    return labels, predictions, weights


@accept_arg_scope
def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: str | None = _LOSSES, reduction: str = _DEFAULT) -> Tensor:
    """The cross entropy of exclusive classes, labels as class numbers [...], logits [..., classes], losses [...]."""
    _require(labels=labels, logits=logits)
    with ops.name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits, weights = _remove_squeezable_dimensions(labels, logits, weights, expected_rank_diff=1)
        losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return _weighted_loss(losses, weights, scope, loss_collection, reduction)
