"""The losses of tf.contrib.losses: older than tf.losses, with predictions first and a mean over what has a weight.

Every function gives a scalar and notes it in the graph's LOSSES. `weights` is a scalar, or weighs the examples [n], or
has more of the losses' axes; where a weight is zero the loss is not counted.
"""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, math_ops, nn_impl, nn_ops
from tfsandbox.util.arg_scoping import add_arg_scope

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss", "mean_pairwise_squared_error",
    "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy",
]


def _float(x: Any) -> Tensor:
    return math_ops.cast(x, dtypes.float32)


def _scaled(losses: Tensor, weights: Tensor) -> Tensor:
    """The sum of the losses, each times its weight."""
    rank = losses.get_shape().ndims
    assert rank is not None
    axes = list(range(weights.get_shape().ndims or 0, rank))
    reduced = math_ops.multiply(math_ops.reduce_sum(losses, axis=axes), weights)
    return math_ops.reduce_sum(reduced)


def _safe_mean(losses: Tensor, num_present: Tensor) -> Tensor:
    return math_ops.div_no_nan(math_ops.reduce_sum(losses), num_present, name="value")


def _num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not zero, in all or for each example."""
    if weights.get_shape().ndims == 0:
        batch = array_ops.reshape(array_ops.slice(array_ops.shape(losses), [0], [1]), [])
        each = math_ops.div(_float(array_ops.size(losses)), _float(batch))
        each = array_ops.where(math_ops.equal(weights, 0), 0.0, each)
        counts = math_ops.multiply(array_ops.ones(array_ops.reshape(batch, [1])), each)
        return counts if per_batch else math_ops.reduce_sum(counts)
    rank = weights.get_shape().ndims
    assert rank is not None
    present = _float(math_ops.not_equal(weights, 0))
    if rank >= 1:
        present = math_ops.reduce_sum(present, axis=list(range(1, rank)))
    repeated = array_ops.slice(array_ops.shape(losses), [rank], [-1])
    counts = math_ops.multiply(present, _float(math_ops.reduce_prod(repeated)))
    return counts if per_batch else math_ops.reduce_sum(counts)


@add_arg_scope
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The mean of the losses with their weights; `ValueError` where shapes are unknown or do not fit."""
    with ops.name_scope(scope, "weighted_loss", [losses, weights]):
        losses = ops.convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses = _float(losses)
        weights = _float(ops.convert_to_tensor(weights))
        if losses.get_shape().ndims is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        shape = weights.get_shape()
        if shape.ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        if shape.ndims > 1 and shape.as_list()[-1] in (1, None):
            weights = array_ops.squeeze(weights, [-1])
        mean = _safe_mean(_scaled(losses, weights), _num_present(losses, weights))
        mean = math_ops.cast(mean, input_dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Note a loss in a collection."""
    if loss_collection:
        ops.add_to_collection(loss_collection, loss)


@add_arg_scope
def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection, of those whose name matches `scope` from its start."""
    return ops.get_collection(loss_collection, scope)


@add_arg_scope
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses, of those whose name matches `scope` from its start."""
    return ops.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@add_arg_scope
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Tensor:
    """The sum of all losses, with those of regularization."""
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return math_ops.add_n(losses, name=name)


def _floats(predictions: Any, labels: Any) -> tuple[Tensor, Tensor]:
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return _float(predictions), _float(labels)


@add_arg_scope
def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """|predictions - labels|."""
    with ops.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def sigmoid_cross_entropy(logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None) -> Tensor:
    """The cross entropy of independent classes; `label_smoothing` pulls the labels towards 1/2."""
    with ops.name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_impl.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None) -> Tensor:
    """The cross entropy of exclusive classes, labels as distributions [n, classes]."""
    with ops.name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = math_ops.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = nn_ops.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The cross entropy of exclusive classes, labels as numbers [n] or [n, 1]."""
    with ops.name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7,
             scope: str | None = None) -> Tensor:
    """-labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)."""
    with ops.name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = -math_ops.multiply(labels, math_ops.log(predictions + epsilon)) - math_ops.multiply(
            (1 - labels), math_ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """max(0, 1 - t * logits) with t = 2 * labels - 1, for each element: this one is not reduced and not noted."""
    with ops.name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = _float(labels)
        ones = array_ops.ones_like(labels)
        labels = math_ops.subtract(2 * labels, ones)
        return nn_ops.relu(math_ops.subtract(ones, math_ops.multiply(labels, logits)))


@add_arg_scope
def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """(predictions - labels)^2."""
    with ops.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = math_ops.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope=scope)


@add_arg_scope
def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0,
                                scope: str | None = None) -> Tensor:
    """The mean over all pairs of elements of an example of the squared difference of their differences."""
    with ops.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        weights = _float(ops.convert_to_tensor(weights))
        diffs = math_ops.subtract(predictions, labels)
        # One reduction an example.
        axes = list(range(1, diffs.get_shape().ndims or 1))
        squares = math_ops.reduce_sum(math_ops.square(diffs), axis=axes)
        present = _num_present(diffs, weights, per_batch=True)
        term1 = 2.0 * math_ops.div_no_nan(squares, present, name="value")
        total = math_ops.reduce_sum(diffs, axis=axes)
        term2 = 2.0 * math_ops.div_no_nan(math_ops.square(total), math_ops.square(present), name="value")
        loss = _scaled(term1 - term2, weights)
        mean = array_ops.where(math_ops.reduce_sum(present) > 0, loss, array_ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


@add_arg_scope
def cosine_distance(predictions: Any, labels: Any = None, axis: int | None = None, weights: Any = 1.0,
                    scope: str | None = None, dim: int | None = None) -> Tensor:
    """1 - the cosine of the angle along `axis`; both must be unit vectors there."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with ops.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        radial = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(radial, axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)
