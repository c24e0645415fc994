"""Cross entropies of logits against labels, and the losses that come with them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib.matrix_reductions import row_sums
from tfsandbox.ops import activations, array_ops, math_ops
from tfsandbox.ops.kernel_values import text_of_shape
from tfsandbox.ops.nn_shapes import invalid

__all__: list[str] = []

_FLOATS = "T: type in {float16, bfloat16, float32, float64}"

# ------------------------------------------------------------ softmax, labels as distributions

softmax_cross_entropy_op = register_op(
    "SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", _FLOATS)


@softmax_cross_entropy_op.shape
def _softmax_cross_entropy_shape(c: Any) -> list[TensorShape]:
    both = with_rank(shape_inference.broadcast(c), 2)
    return [TensorShape(both.as_list()[:1]), both]


@softmax_cross_entropy_op.kernel
def _softmax_cross_entropy(features: Any, labels: Any) -> tuple[Any, Any]:
    if features.shape != labels.shape:
        features, labels = _broadcast_pair(features, labels)
    if features.ndim != 2:
        raise invalid("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional")
    if not features.size:
        return np.zeros(features.shape[0], features.dtype), features.copy()
    shifted = activations.shifted_rows(features)
    backprop = np.exp(shifted)
    total = row_sums(backprop)
    backprop /= total[:, None]
    backprop -= labels
    np.subtract(np.log(total)[:, None], shifted, out=shifted)
    shifted *= labels
    return row_sums(shifted), backprop


def _broadcast_pair(features: Any, labels: Any) -> tuple[Any, Any]:
    try:
        shape = np.broadcast_shapes(features.shape, labels.shape)
    except ValueError:
        sizes = [text_of_shape(a) for a in (features, labels)]
        raise invalid(f"logits and labels must be broadcastable: logits_size={sizes[0]} "
                      f"labels_size={sizes[1]}") from None
    return np.broadcast_to(features, shape), np.broadcast_to(labels, shape)


@softmax_cross_entropy_op.gradient
def _softmax_cross_entropy_gradient(op: Operation, grad_loss: Tensor, grad_backprop: Tensor | None) -> list[Any]:
    logits = op.inputs[0]
    grad = _times_rows(grad_loss, op.outputs[1])
    if grad_backprop is not None and not _is_zero(grad_backprop):
        # The second output has a gradient of its own where a gradient of a gradient is taken.
        probabilities = activations.softmax(logits)
        mean = array_ops.squeeze(math_ops.matmul(array_ops.expand_dims(grad_backprop, 1),
                                                 array_ops.expand_dims(probabilities, 2)), axis=1)
        grad = grad + (grad_backprop - mean) * probabilities
    return [grad, _times_rows(grad_loss, -activations.log_softmax(logits))]


def _times_rows(factors: Tensor, matrix: Tensor) -> Tensor:
    """[n], [n, c] -> [n, c]: each row times its factor."""
    return array_ops.expand_dims(factors, -1) * matrix


def _is_zero(tensor: Tensor) -> bool:
    return tensor.op.type in ("ZerosLike", "Zeros")


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: Any = None, name: str | None = None,
                                         dim: Any = None) -> Tensor:
    """-sum(labels * log(softmax(logits))) along `axis` (the last one by default; `dim` is its old name).

    `labels` are distributions; the gradient flows into them too. Raises `ValueError` without labels and logits.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'")
        axis = dim
    return _softmax_cross_entropy_along(labels, logits, -1 if axis is None else axis, name)


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
                                      name: str | None = None, axis: Any = None) -> Tensor:
    """-sum(labels * log(softmax(logits))) along an axis; the gradient does not flow into `labels`."""
    if axis is not None:
        dim = axis
    _check_arguments("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with ops.name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
        return _softmax_cross_entropy_along(labels, logits, dim, name)


def _check_arguments(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _softmax_cross_entropy_along(labels: Any, logits: Any, axis: Any, name: str | None) -> Tensor:
    with ops.name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        half = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        # Labels may be integers.
        labels = math_ops.cast(labels, precise.dtype)
        rank = array_ops.rank(precise)
        static = logits.get_shape()
        if axis != -1:
            precise = _axis_to_end(precise, axis, rank)
            labels = _axis_to_end(labels, axis, rank)
        shape = array_ops.shape(precise)
        loss, _ = apply_op("SoftmaxCrossEntropyWithLogits", features=_flat_rows(precise), labels=_flat_rows(labels),
                           name=name)
        loss = array_ops.reshape(loss, array_ops.slice(shape, [0], [math_ops.subtract(rank, 1)]))
        if static.ndims is not None:
            sizes = static.as_list()
            del sizes[axis]
            loss.set_shape(sizes)
        return math_ops.cast(loss, logits.dtype) if half else loss


def _axis_to_end(tensor: Tensor, axis: Any, rank: Tensor) -> Tensor:
    return array_ops.transpose(
        tensor, array_ops.concat([math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]], 0))


def _flat_rows(tensor: Tensor) -> Tensor:
    """[..., c] -> [n, c]."""
    rank = array_ops.rank(tensor)
    last = array_ops.slice(array_ops.shape(tensor), [math_ops.subtract(rank, 1)], [1])
    rows = array_ops.reshape(tensor, array_ops.concat([[-1], last], 0))
    if tensor.shape.ndims:
        sizes = tensor.shape.as_list()
        count = TensorShape(sizes[:-1]).num_elements()
        rows.set_shape([count, sizes[-1]])
    return rows


# ------------------------------------------------------------ softmax, labels as class numbers

sparse_softmax_cross_entropy_op = register_op(
    "SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels -> loss: T, backprop: T",
    _FLOATS + "; Tlabels: type in {int32, int64} = int64")

_NO_SECOND_DERIVATIVE = ("Currently there is no way to take the second derivative of "
                         "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction with "
                         "tf.gradients()")


@sparse_softmax_cross_entropy_op.shape
def _sparse_softmax_cross_entropy_shape(c: Any) -> list[TensorShape]:
    rows, classes = with_rank(c.shape(0), 2).as_list()
    rows = merge_sizes(rows, with_rank(c.shape(1), 1).as_list()[0])
    return [TensorShape([rows]), TensorShape([rows, classes])]


@lru_cache(maxsize=16)
def _row_starts(rows: int, classes: int) -> np.ndarray:
    """Where each row begins in the flat matrix."""
    starts = np.arange(0, rows * classes, classes)
    starts.flags.writeable = False
    return starts


@sparse_softmax_cross_entropy_op.kernel
def _sparse_softmax_cross_entropy(features: Any, labels: Any) -> tuple[Any, Any]:
    if features.ndim != 2:
        raise invalid(f"logits must be 2-D, but got shape {list(features.shape)}")
    rows, classes = features.shape
    if labels.shape != (rows,):
        raise invalid(f"logits and labels must have the same first dimension, got logits shape "
                      f"[{rows},{classes}] and labels shape [{','.join(map(str, labels.shape))}]")
    if not features.size:
        if classes == 0:
            raise invalid(f"Must have at least one class, but got logits shape "
                          f"[{rows},{classes}]")
        return np.zeros(rows, features.dtype), features.copy()
    # As unsigned numbers the negative ones are large: one comparison finds both kinds of bad label.
    if np.maximum.reduce(labels.view(f"u{labels.itemsize}")) >= classes:
        bad = next(v for v in labels.tolist() if not 0 <= v < classes)
        listed = " ".join(map(str, labels.tolist()))
        raise invalid(f"Received a label value of {bad} which is outside the valid range "
                      f"of [0, {classes}).  Label values: {listed}")
    at = _row_starts(rows, classes) + labels
    shifted = activations.shifted_rows(features)
    chosen = shifted.ravel()[at]
    backprop = np.exp(shifted, out=shifted)
    total = row_sums(backprop)
    backprop /= total[:, None]
    backprop.ravel()[at] -= backprop.dtype.type(1)
    return np.log(total) - chosen, backprop


@sparse_softmax_cross_entropy_op.gradient
def _sparse_softmax_cross_entropy_gradient(op: Operation, grad_loss: Tensor, _: Any) -> list[Any]:
    backprop = array_ops.prevent_gradient(op.outputs[1], message=_NO_SECOND_DERIVATIVE)
    return [_times_rows(grad_loss, backprop), None]


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                             name: str | None = None) -> Tensor:
    """-log(softmax(logits)[label]): labels [d...] of int32 or int64, logits [d..., c] -> [d...].

    Raises `ValueError` where ranks or shapes disagree; in the run `InvalidArgumentError` for a label outside [0, c).
    """
    _check_arguments("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with ops.name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = ops.convert_to_tensor(labels)
        logits = ops.convert_to_tensor(logits)
        half = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        labels_static, logits_static = labels.get_shape(), logits.get_shape()
        shape = array_ops.shape(labels)
        known = labels_static.is_fully_defined() and logits_static[:-1].is_fully_defined()
        if logits_static.ndims == 0:
            raise ValueError(f"Logits cannot be scalars - received shape {logits_static}.")
        if logits_static.ndims is not None and labels_static.ndims is not None \
                and labels_static.ndims != logits_static.ndims - 1:
            raise ValueError(f"Rank mismatch: Rank of labels (received {labels_static.ndims}) should equal rank of "
                             f"logits minus 1 (received {logits_static.ndims}).")
        if known and labels_static != logits_static[:-1]:
            raise ValueError(f"Shape mismatch: The shape of labels (received {labels_static}) should equal the shape "
                             f"of logits except for the last dimension (received {logits_static}).")
        if logits_static.ndims == 2:
            loss = _sparse_loss(precise, labels, name)
            return math_ops.cast(loss, logits.dtype) if half else loss
        checks = []
        if not known:
            from tfsandbox.ops import check_ops
            checks.append(check_ops.assert_equal(array_ops.shape(labels), array_ops.shape(logits)[:-1]))
        with ops.control_dependencies(checks):
            classes = array_ops.shape(logits)[array_ops.rank(logits) - 1]
            loss = _sparse_loss(array_ops.reshape(precise, [-1, classes]), array_ops.reshape(labels, [-1]), name)
            loss = array_ops.reshape(loss, shape)
            loss.set_shape(labels_static)
            return math_ops.cast(loss, logits.dtype) if half else loss


def _sparse_loss(logits: Tensor, labels: Tensor, name: str | None) -> Tensor:
    return apply_op("SparseSoftmaxCrossEntropyWithLogits", features=logits, labels=labels, name=name)[0]


# ------------------------------------------------------------ sigmoid and poisson


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      name: str | None = None) -> Tensor:
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), element by element, without overflow.

    Raises `ValueError` where the shapes of labels and logits differ.
    """
    _check_arguments("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with ops.name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        _check_same_shape("logits", logits, "labels", labels)
        # max(x, 0) - x * z + log(1 + exp(-abs(x))), by selects, which have the right gradient at 0.
        zeros = array_ops.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        rectified = array_ops.where(positive, logits, zeros)
        negative = array_ops.where(positive, -logits, logits)
        return math_ops.add(rectified - logits * labels, math_ops.log1p(math_ops.exp(negative)), name=name)


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None,
                                       name: str | None = None, targets: Any = None) -> Tensor:
    """The sigmoid cross entropy with the positive labels counted `pos_weight` times; `targets` is labels' old name.

    Raises `ValueError` where the shapes of labels and logits differ.
    """
    if targets is not None:
        if labels is not None:
            raise ValueError("Cannot specify both 'targets' and 'labels'")
        labels = targets
    with ops.name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        _check_same_shape("logits", logits, "labels", labels)
        # (1 - z) * x + (1 + (q - 1) * z) * (log(1 + exp(-abs(x))) + max(-x, 0))
        weight = 1 + (pos_weight - 1) * labels
        return math_ops.add((1 - labels) * logits,
                            weight * (math_ops.log1p(math_ops.exp(-math_ops.abs(logits))) + activations.relu(-logits)),
                            name=name)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Tensor:
    """exp(log_input) - log_input * targets: minus the log-likelihood of counts with the log-rate `log_input`.

    With `compute_full_loss` Stirling's approximation of log(targets!) is added for targets outside [0, 1].
    """
    with ops.name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = ops.convert_to_tensor(log_input, name="log_input")
        targets = ops.convert_to_tensor(targets, name="targets")
        _check_same_shape("log_input", log_input, "targets", targets)
        result = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            from tfsandbox.framework.constant_op import constant

            half = constant(0.5, dtype=targets.dtype)
            two_pi = constant(2 * math.pi, dtype=targets.dtype)
            stirling = targets * math_ops.log(targets) - targets + half * math_ops.log(two_pi * targets)
            zeros = array_ops.zeros_like(targets, dtype=targets.dtype)
            ones = array_ops.ones_like(targets, dtype=targets.dtype)
            small = math_ops.logical_and(targets >= zeros, targets <= ones)
            result = result + array_ops.where(small, zeros, stirling)
        return result


def _check_same_shape(left_name: str, left: Tensor, right_name: str, right: Tensor) -> None:
    if not left.get_shape().is_compatible_with(right.get_shape()):
        raise ValueError(f"{left_name} and {right_name} must have the same shape ({left.get_shape()} vs "
                         f"{right.get_shape()})")


# ------------------------------------------------------------ half the sum of squares

l2_loss_op = register_op("L2Loss", "t: T -> output: T", _FLOATS)
l2_loss_op.shape(shape_inference.scalar)


@l2_loss_op.kernel
def _l2_loss(t: Any) -> Any:
    flat = t.ravel()
    return np.dot(flat, flat) * t.dtype.type(0.5)


@l2_loss_op.gradient
def _l2_loss_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [op.inputs[0] * grad]


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """sum(t ** 2) / 2."""
    return apply_op("L2Loss", t=t, name=name)
