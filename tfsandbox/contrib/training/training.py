"""Train ops, what is done to gradients on the way, and the training loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import variables
from tfsandbox.platform import tf_logging
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training import train_op as train_op_lib
from tfsandbox.training.train_op import GradsAndVars, add_gradients_summaries, clip_gradient_norms

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op",
           "multiply_gradients", "train"]

USE_GLOBAL_STEP = 0
"""Stands for the graph's global step, made if it is missing; None stands for no step."""


def create_train_op(total_loss: Tensor, optimizer: Any, global_step: Any = USE_GLOBAL_STEP,
                    update_ops: Iterable[Any] | None = None, variables_to_train: list[Any] | None = None,
                    transform_grads_fn: Callable[[GradsAndVars], GradsAndVars] | None = None,
                    summarize_gradients: bool = False,
                    gate_gradients: int = optimizer_lib.Optimizer.GATE_OP, aggregation_method: int | None = None,
                    colocate_gradients_with_ops: bool = False, check_numerics: bool = True) -> Tensor:
    """A tensor that runs one training step when it is evaluated, and gives the loss.

    `update_ops` (default: the graph's UPDATE_OPS) run before the gradients are computed. With `check_numerics` a loss
    that is NaN or infinite raises `InvalidArgumentError`, beside the updates; `training_util.make_train_op` checks it
    before them.

    Raises `AssertionError` where `variables_to_train` is empty or holds one that is not trainable, `ValueError` where
    no variable has a gradient.
    """
    if global_step is USE_GLOBAL_STEP:
        global_step = train_op_lib.USE_DEFAULT
    if update_ops is not None:
        update_ops = list(update_ops)
        if not set(ops.get_collection(GraphKeys.UPDATE_OPS)) <= set(update_ops):
            tf_logging.warning("update_ops in create_train_op does not contain all the update_ops in "
                               "GraphKeys.UPDATE_OPS")
    if variables_to_train is not None:
        trainable = set(variables.trainable_variables())
        for variable in variables_to_train:
            if variable not in trainable:
                raise AssertionError(f"variables_to_train holds {variable!r}, which is not trainable")
        if not variables_to_train:
            raise AssertionError("variables_to_train is empty")
    return train_op_lib.build_train_op(
        total_loss, optimizer, global_step, variables_to_train, update_ops,
        [transform_grads_fn] if transform_grads_fn is not None else [], summarize_gradients,
        check_after=check_numerics, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops)


def clip_gradient_norms_fn(max_norm: float) -> Callable[[GradsAndVars], GradsAndVars]:
    """A function for `transform_grads_fn` that clips the L2 norm of each gradient."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars: GradsAndVars, gradient_multipliers: Mapping[Any, Any]) -> GradsAndVars:
    """The pairs with the gradients of some variables multiplied.

    `gradient_multipliers`: {variable or its name: number or tensor}. Raises `ValueError` for an empty dict or what is
    none, and where a gradient to multiply is None.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    multiplied: GradsAndVars = []
    for grad, var in grads_and_vars:
        key = var if var in gradient_multipliers else var.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            multiplier = ops.convert_to_tensor(gradient_multipliers[key], dtype=grad.dtype.base_dtype)
            if isinstance(grad, IndexedSlices):
                grad = IndexedSlices(grad.values * multiplier, grad.indices, grad.dense_shape)
            else:
                grad = grad * multiplier
        multiplied.append((grad, var))
    return multiplied


def train(train_op: Any, logdir: str | None, master: str = "", is_chief: bool = True, scaffold: Any = None,
          hooks: Any = None, chief_only_hooks: Any = None, save_checkpoint_secs: float | None = 600,
          save_summaries_steps: int | None = 100, config: Any = None, max_wait_secs: float = 7200,
          run_metadata: Any = None) -> Any:
    """Run the train op in a MonitoredTrainingSession until a hook stops it; gives the last loss.

    Raises `ValueError` where checkpoints or summaries are to be written and there is no `logdir`.
    """
    from tfsandbox.training import monitored_session

    if logdir is None and is_chief:
        for name, value in (("save_summaries_steps", save_summaries_steps),
                            ("save_checkpoint_secs", save_checkpoint_secs)):
            if value:
                raise ValueError(f"logdir cannot be None when {name} is not None")
    loss = None
    with monitored_session.MonitoredTrainingSession(
            master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
            chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
            save_summaries_steps=save_summaries_steps, config=config, max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
