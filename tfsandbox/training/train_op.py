"""Train ops that give the loss: `make_train_op`, and what it shares with `tf.contrib.training.create_train_op`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import clip_ops, control_flow_ops, math_ops, numerics
from tfsandbox.ops import variables as variables_lib
from tfsandbox.platform import tf_logging
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training import training_scope as scope_lib
from tfsandbox.training import training_util

USE_DEFAULT: Any = type("UseDefault", (), {"__repr__": lambda self: "USE_DEFAULT"})()
"""Stands for the graph's global step, made if it is missing."""

GradsAndVars = list[tuple[Any, Any]]


def make_train_op(loss: Any, optimizer: Any, global_step: Any = USE_DEFAULT, var_list: Any = None,
                  update_ops: Iterable[Any] | None = None,
                  transform_grads_fn: Callable[[GradsAndVars], GradsAndVars] | None = None,
                  clip_gradient_norm: float = 0, summarize_gradients: bool = False, check_numerics: bool = True,
                  name: str | None = None) -> Tensor:
    """A scalar tensor that runs one training step when it is evaluated, and gives the loss of that step.

    Args:
      loss: a scalar tensor.
      optimizer: a `tf.train.Optimizer`.
      global_step: a variable that the step increments; by default the graph's global step, made if missing; None: none.
      var_list: the variables to train (list, dict, variable or pattern); by default those of the active training
        scope, else all trainable ones.
      update_ops: what runs before the variables change; by default the graph's UPDATE_OPS, so that averages of batch
        normalisation are not forgotten.
      transform_grads_fn: a function from a list of (gradient, variable) pairs to another one.
      clip_gradient_norm: if positive, the largest L2 norm of each gradient.
      summarize_gradients: add histogram and norm summaries of the gradients.
      check_numerics: a loss that is NaN or infinite raises `InvalidArgumentError` naming loss and step, and no
        variable changes.

    Raises `TypeError` or `ValueError` naming the argument that does not fit.
    """
    loss = checked_loss(loss)
    if not isinstance(optimizer, optimizer_lib.Optimizer):
        raise TypeError(f"optimizer must be a tf.train.Optimizer, but is {type(optimizer).__name__}: {optimizer!r}")
    if isinstance(clip_gradient_norm, bool) or not isinstance(clip_gradient_norm, (int, float)):
        raise TypeError(f"clip_gradient_norm must be a number, but is {clip_gradient_norm!r}")
    if clip_gradient_norm < 0:
        raise ValueError(f"clip_gradient_norm must not be negative, but is {clip_gradient_norm!r}")
    if global_step is not None and global_step is not USE_DEFAULT \
            and not isinstance(global_step, variables_lib.Variable):
        raise TypeError(f"global_step must be a tf.Variable or None, but is {type(global_step).__name__}: "
                        f"{global_step!r}")
    if transform_grads_fn is not None and not callable(transform_grads_fn):
        raise TypeError(f"transform_grads_fn must be a function from (gradient, variable) pairs to such pairs, but is "
                        f"{type(transform_grads_fn).__name__}: {transform_grads_fn!r}")
    variables = None
    if var_list is not None:
        with loss.graph.as_default():
            variables = scope_lib.select_variables(var_list, "var_list", loss.graph)
    transforms = [transform_grads_fn] if transform_grads_fn is not None else []
    if clip_gradient_norm:
        transforms.append(lambda pairs: clip_gradient_norms(pairs, clip_gradient_norm))
    with loss.graph.as_default():
        return build_train_op(loss, optimizer, global_step, variables, update_ops, transforms, summarize_gradients,
                              check_first=check_numerics, name=name)


def checked_loss(loss: Any) -> Tensor:
    """`loss`, if it is a floating scalar tensor; else `TypeError` or `ValueError`."""
    if not isinstance(loss, Tensor):
        raise TypeError(f"loss must be a scalar Tensor, but is {type(loss).__name__}: {loss!r}")
    if loss.shape.ndims not in (None, 0):
        raise ValueError(f"loss must be a scalar, but {loss.name} has shape {loss.shape}: reduce it first, for example "
                         f"with tf.reduce_mean")
    if not loss.dtype.is_floating:
        raise TypeError(f"loss must be of a floating type, but {loss.name} is {loss.dtype.name}")
    return loss


def build_train_op(loss: Tensor, optimizer: Any, global_step: Any, variables: list[Any] | None,
                   update_ops: Iterable[Any] | None, transforms: list[Callable[[GradsAndVars], GradsAndVars]],
                   summarize_gradients: bool, *, check_first: bool = False, check_after: bool = False,
                   name: str | None = None, gate_gradients: int = optimizer_lib.Optimizer.GATE_OP,
                   aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False) -> Tensor:
    """The nodes of a train op, as TensorFlow's create_train_op builds them.

    `check_after` checks the loss beside the updates, as TensorFlow does; `check_first` before any of them.
    """
    if global_step is USE_DEFAULT:
        global_step = training_util.get_or_create_global_step()
    graph = get_default_graph()
    collected = list(dict.fromkeys(graph.get_collection(GraphKeys.UPDATE_OPS)))
    updates = collected if update_ops is None else list(dict.fromkeys(update_ops))
    checked = loss
    guards: list[Operation] = []
    if check_first:
        guards.append(_check(loss, global_step))
    if updates:
        with ops.control_dependencies(updates):
            barrier = control_flow_ops.no_op(name="update_barrier")
        if check_first:
            # The loss itself must not wait for the updates: they would have happened when it turns out to be NaN.
            guards.append(barrier)
        else:
            loss = checked = control_flow_ops.with_dependencies([barrier], loss)
    pairs = optimizer.compute_gradients(loss, variables, gate_gradients=gate_gradients,
                                        aggregation_method=aggregation_method,
                                        colocate_gradients_with_ops=colocate_gradients_with_ops)
    for transform in transforms:
        pairs = transform(pairs)
    if summarize_gradients:
        with ops.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    with ops.control_dependencies(guards):
        applied = optimizer.apply_gradients(pairs, global_step=global_step)
    with ops.name_scope(name or "train_op"):
        if check_after:
            checked = numerics.check_numerics(checked, "LossTensor is inf or nan")
        train_op = control_flow_ops.with_dependencies([applied], checked)
    collection = graph.get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in collection:
        collection.append(train_op)
    return train_op


def _check(loss: Tensor, global_step: Any) -> Operation:
    """A node that raises where the loss is not finite, saying which loss and at which step."""
    with ops.name_scope("check_loss"):
        data: list[Any] = [f"{loss.name} is inf or nan", loss]
        if global_step is not None:
            data = [f"{loss.name} is inf or nan at step", global_step, loss]
        # A plain Assert: it must run before the updates, and a conditional one would be no simpler to prune.
        return apply_op("Assert", condition=math_ops.is_finite(loss), data=data, name="Assert")


def clip_gradient_norms(gradients_to_variables: GradsAndVars, max_norm: float) -> GradsAndVars:
    """The pairs with each gradient's L2 norm clipped to `max_norm`."""
    clipped: GradsAndVars = []
    for gradient, variable in gradients_to_variables:
        if gradient is not None:
            if isinstance(gradient, IndexedSlices):
                values = clip_ops.clip_by_norm(gradient.values, max_norm)
                gradient = IndexedSlices(values, gradient.indices, gradient.dense_shape)
            else:
                gradient = clip_ops.clip_by_norm(gradient, max_norm)
        clipped.append((gradient, variable))
    return clipped


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Tensor]:
    """A histogram and the norm of each gradient, as summaries `variable_gradient` and `variable_gradient_norm`."""
    return gradient_summaries(grads_and_vars, "_")


def gradient_summaries(grads_and_vars: GradsAndVars, joint: str) -> list[Tensor]:
    """A histogram and the norm of each gradient; `joint` stands between a variable's name and `gradient`."""
    from tfsandbox.ops import summary_ops
    summaries = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            tf_logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        summaries.append(summary_ops.histogram(f"{variable.op.name}{joint}gradient", values))
        summaries.append(summary_ops.scalar(f"{variable.op.name}{joint}gradient_norm", clip_ops.global_norm([values])))
    return summaries
