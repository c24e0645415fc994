"""A decoder that is unrolled step by step, and the losses of lists of logits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops import variable_scope as vs
from tfsandbox.ops.cross_entropy import sparse_softmax_cross_entropy_with_logits

__all__ = ["rnn_decoder", "sequence_loss", "sequence_loss_by_example"]


def rnn_decoder(decoder_inputs: Sequence[Any], initial_state: Any, cell: Any,
                loop_function: Callable[[Any, int], Any] | None = None, scope: Any = None) -> tuple[list[Any], Any]:
    """(outputs, last state) of a cell over a list of inputs; `loop_function(last output, step)` replaces all but the
    first input.
    """
    with vs.variable_scope(scope or "rnn_decoder"):
        state = initial_state
        outputs: list[Any] = []
        for i, value in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with vs.variable_scope("loop_function", reuse=True):
                    value = loop_function(outputs[-1], i)
            if i > 0:
                vs.get_variable_scope().reuse_variables()
            output, state = cell(value, state)
            outputs.append(output)
    return outputs, state


def sequence_loss_by_example(logits: Sequence[Tensor], targets: Sequence[Tensor], weights: Sequence[Tensor],
                             average_across_timesteps: bool = True,
                             softmax_loss_function: Callable[..., Any] | None = None,
                             name: str | None = None) -> Tensor:
    """float [batch]: the weighted cross entropy of each sequence; `ValueError` for lists of different lengths."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
                         f"{len(targets)}.")
    with ops.name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                target = array_ops.reshape(target, [-1])
                cross_entropy = sparse_softmax_cross_entropy_with_logits(labels=target, logits=logit)
            else:
                cross_entropy = softmax_loss_function(labels=target, logits=logit)
            losses.append(cross_entropy * weight)
        total = math_ops.add_n(losses)
        if average_across_timesteps:
            # Weights that are all zero give a loss of zero.
            total /= math_ops.add_n(list(weights)) + 1e-12
        return total


def sequence_loss(logits: Sequence[Tensor], targets: Sequence[Tensor], weights: Sequence[Tensor],
                  average_across_timesteps: bool = True, average_across_batch: bool = True,
                  softmax_loss_function: Callable[..., Any] | None = None, name: str | None = None) -> Tensor:
    """The sum of `sequence_loss_by_example`, divided by the batch size with `average_across_batch`."""
    with ops.name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = math_ops.reduce_sum(sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / math_ops.cast(array_ops.shape(targets[0])[0], cost.dtype)
