"""sequence_loss: weighted cross entropy of sequences of logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.cross_entropy import sparse_softmax_cross_entropy_with_logits

__all__ = ["sequence_loss"]


def sequence_loss(logits: Tensor, targets: Tensor, weights: Tensor, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
                  softmax_loss_function: Callable[..., Any] | None = None, name: str | None = None) -> Tensor:
    """Cross entropy of `logits` [batch, time, classes] for `targets` int[batch, time], weighted by `weights`.

    Averages divide by the sum of the weights, sums by how many weights are not zero. What is neither averaged nor
    summed keeps its axis. Raises `ValueError` for other ranks, and where an axis is to be both averaged and summed.
    """
    if len(logits.get_shape()) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.get_shape()) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.get_shape()) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with ops.name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_ops.shape(logits)[2]
        flat_logits, flat_targets = array_ops.reshape(logits, [-1, classes]), array_ops.reshape(targets, [-1])
        loss_function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = loss_function(labels=flat_targets, logits=flat_logits) * array_ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return math_ops.div_no_nan(math_ops.reduce_sum(losses), math_ops.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            total = math_ops.reduce_sum(losses)
            return math_ops.div_no_nan(total, math_ops.cast(math_ops.count_nonzero(weights), total.dtype))
        losses = array_ops.reshape(losses, array_ops.shape(logits)[0:2])
        # Where one axis is averaged, TensorFlow leaves the other as it is.
        if average_across_timesteps or average_across_batch:
            axis = [1] if average_across_timesteps else [0]
            return math_ops.div_no_nan(math_ops.reduce_sum(losses, axis=axis), math_ops.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [1] if sum_over_timesteps else [0]
            total = math_ops.reduce_sum(losses, axis=axis)
            return math_ops.div_no_nan(total, math_ops.cast(math_ops.count_nonzero(weights, axis=axis), total.dtype))
        return losses
