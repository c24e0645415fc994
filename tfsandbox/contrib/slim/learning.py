"""Train ops and the training loop of slim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfsandbox.contrib.training import training
from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import clip_ops, summary_ops
from tfsandbox.platform import tf_logging
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training.train_op import GradsAndVars, clip_gradient_norms

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients"]

multiply_gradients = training.multiply_gradients


def create_train_op(total_loss: Tensor, optimizer: Any, global_step: Any = training.USE_GLOBAL_STEP,
                    update_ops: Iterable[Any] | None = None, variables_to_train: list[Any] | None = None,
                    clip_gradient_norm: float = 0, summarize_gradients: bool = False,
                    gate_gradients: int = optimizer_lib.Optimizer.GATE_OP, aggregation_method: int | None = None,
                    colocate_gradients_with_ops: bool = False, gradient_multipliers: Mapping[Any, Any] | None = None,
                    check_numerics: bool = True) -> Tensor:
    """`tf.contrib.training.create_train_op`; the gradients are multiplied, then clipped, by these arguments."""
    def transform(pairs: GradsAndVars) -> GradsAndVars:
        if gradient_multipliers:
            with ops.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with ops.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return training.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transform_grads_fn=transform,
        summarize_gradients=summarize_gradients, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops, check_numerics=check_numerics)


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Tensor]:
    """A histogram and the norm of each gradient, as summaries `variable/gradient` and `variable/gradient_norm`."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            tf_logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        summaries.append(summary_ops.histogram(var.op.name + "/gradient", values))
        summaries.append(summary_ops.scalar(var.op.name + "/gradient_norm", clip_ops.global_norm([values])))
    return summaries
