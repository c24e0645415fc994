"""optimize_loss: a train op from a loss, with clipping, noise, schedules and summaries on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import (
    array_ops,
    check_ops,
    clip_ops,
    control_flow_ops,
    init_ops,
    math_ops,
    random_ops,
    summary_ops,
    variable_scope,
    variables,
)
from tfsandbox.training import (
    adagrad,
    adam,
    ftrl,
    gradient_descent,
    momentum,
    moving_averages,
    rmsprop,
    training_util,
)
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training.train_op import GradsAndVars

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": adagrad.AdagradOptimizer,
    "Adam": adam.AdamOptimizer,
    "Ftrl": ftrl.FtrlOptimizer,
    "Momentum": lambda learning_rate: momentum.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": rmsprop.RMSPropOptimizer,
    "SGD": gradient_descent.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]
_DEFAULT_SUMMARIES = ["loss", "learning_rate", "global_gradient_norm"]


def optimize_loss(loss: Any, global_step: Any, learning_rate: Any, optimizer: Any,
                  gradient_noise_scale: float | None = None, gradient_multipliers: dict[Any, Any] | None = None,
                  clip_gradients: Any = None, learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
                  update_ops: Sequence[Any] | None = None, variables: Sequence[Any] | None = None,
                  name: str | None = None, summaries: Sequence[str] | None = None,
                  colocate_gradients_with_ops: bool = False, increment_global_step: bool = True) -> Tensor:
    """A tensor that runs one training step when it is evaluated, and gives the loss.

    Args:
      loss: a scalar tensor.
      global_step: the step to increment; None takes the graph's, if there is one.
      learning_rate: a float (it becomes a variable `learning_rate`), a scalar tensor, or None.
      optimizer: a name of OPTIMIZER_CLS_NAMES, an Optimizer or a class of them, or a function from the learning rate
        (or, without one, from nothing) to an Optimizer.
      gradient_noise_scale: the size of the normal noise that is added to the gradients.
      gradient_multipliers: {variable or its name with `:0`: factor}.
      clip_gradients: a float, the largest global norm of all gradients, or a function from pairs to pairs.
      learning_rate_decay_fn: a function from learning rate and step to the rate of that step.
      update_ops: what runs before the gradients are computed; by default the graph's UPDATE_OPS.
      variables: those to train; by default all trainable ones.
      summaries: what of OPTIMIZER_SUMMARIES is summarized.

    Raises `ValueError` for an argument that is none of these.
    """
    loss = ops.convert_to_tensor(loss)
    check_ops.assert_scalar(loss)
    if global_step is None:
        global_step = training_util.get_global_step()
    else:
        training_util.assert_global_step(global_step)
    with variable_scope.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = ops.get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
        if updates:
            loss = control_flow_ops.with_dependencies(list(updates), loss)
        rate = _rate(learning_rate)
        wanted = _checked_summaries(summaries)
        if rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in wanted:
                summary_ops.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        pairs = opt.compute_gradients(loss, _trained(variables),
                                      colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = _with_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
        norms = "global_gradient_norm" in wanted or "gradient_norm" in wanted
        if norms:
            summary_ops.scalar("global_norm/gradient_norm", clip_ops.global_norm([grad for grad, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            summary_ops.scalar("loss", loss)
        _summarize(pairs, wanted)
        if clip_gradients is not None and norms:
            summary_ops.scalar("global_norm/clipped_gradient_norm", clip_ops.global_norm([grad for grad, _ in pairs]))
        applied = opt.apply_gradients(pairs, global_step=global_step if increment_global_step else None, name="train")
        return control_flow_ops.with_dependencies([applied], loss)


def _trained(chosen: Sequence[Any] | None) -> list[Any]:
    return variables.trainable_variables() if chosen is None else list(chosen)


def _rate(learning_rate: Any) -> Any:
    """The learning rate as a tensor or variable."""
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.get_shape().ndims == 0:
        return learning_rate
    if isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError("Invalid learning_rate %s.", learning_rate)
        return variable_scope.get_variable("learning_rate", [], trainable=False,
                                           initializer=init_ops.constant_initializer(learning_rate))
    raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}")


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return _DEFAULT_SUMMARIES
    for summary in summaries:
        if summary not in OPTIMIZER_SUMMARIES:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {summary}.")
    return summaries


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                             f"{optimizer}.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, optimizer_lib.Optimizer):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is class ({optimizer}).")
        return optimizer(learning_rate=rate)  # type: ignore[call-arg]
    if isinstance(optimizer, optimizer_lib.Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if rate is None else optimizer(rate)
        if not isinstance(made, optimizer_lib.Optimizer):
            raise ValueError("Unrecognized optimizer: function should return subclass of Optimizer. Got "
                             f"{made!s}.")
        return made
    raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
                     f"Optimizer or function with one argument. Got {optimizer!s}.")


# ------------------------------------------------------------ what is done to gradients


def _times(grad: Any, factor: Any) -> Any:
    """A gradient times a scalar."""
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor


def _with_noise(pairs: GradsAndVars, noise_scale: float) -> GradsAndVars:
    noisy: GradsAndVars = []
    for grad, var in pairs:
        if grad is not None:
            shape = grad.dense_shape if isinstance(grad, IndexedSlices) else grad.get_shape()
            grad = grad + random_ops.truncated_normal(shape) * noise_scale
        noisy.append((grad, var))
    return noisy


def _multiplied(pairs: GradsAndVars, multipliers: dict[Any, Any]) -> GradsAndVars:
    result: GradsAndVars = []
    for grad, var in pairs:
        key = var if var in multipliers else var.name
        if grad is not None and key in multipliers:
            grad = _times(grad, math_ops.cast(multipliers[key], grad.dtype))
        result.append((grad, var))
    return result


def _clipped(pairs: GradsAndVars, clip_gradients: Any) -> GradsAndVars:
    if isinstance(clip_gradients, float):
        grads, _ = clip_ops.clip_by_global_norm([grad for grad, _ in pairs], clip_gradients)
        return list(zip(grads, [var for _, var in pairs]))
    if callable(clip_gradients):
        return clip_gradients(pairs)
    if clip_gradients is not None:
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    return pairs


def _summarize(pairs: GradsAndVars, wanted: Sequence[str]) -> None:
    for grad, var in pairs:
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        if values is None:
            continue
        name = var.name.replace(":", "_")
        if "gradients" in wanted:
            summary_ops.histogram(f"gradients/{name}", values)
        if "gradient_norm" in wanted:
            summary_ops.scalar(f"gradient_norm/{name}", clip_ops.global_norm([values]))


def adaptive_clipping_fn(std_factor: float = 2.0, decay: float = 0.95, static_max_norm: float | None = None,
                         global_step: Any = None, report_summary: bool = False, epsilon: float = 1e-8,
                         name: str | None = None) -> Callable[[GradsAndVars], GradsAndVars]:
    """A function that scales the gradients down where their global norm is unusual.

    Unusual is a logarithm more than `std_factor` standard deviations above its moving mean, or a norm above
    `static_max_norm`. With a `global_step` the averages move faster at the start.
    """
    def gradient_clipping(grads_and_vars: GradsAndVars) -> GradsAndVars:
        """The pairs, clipped."""
        grads = [grad for grad, _ in grads_and_vars]
        norm = clip_ops.global_norm(grads)
        largest, log_mean = _usual_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary_ops.scalar("global_norm/adaptive_max_gradient_norm", largest)
        if static_max_norm is not None:
            largest = math_ops.minimum(largest, static_max_norm)
        factor = array_ops.where(norm < largest, array_ops.ones_like(norm), math_ops.exp(log_mean) / norm)
        return [(None if grad is None else _times(grad, factor), var) for grad, var in grads_and_vars]

    return gradient_clipping


def _usual_norm(norm: Tensor, std_factor: float, decay: Any, global_step: Any, epsilon: float,
                name: str | None) -> tuple[Tensor, Tensor]:
    """(the largest usual norm, the mean of its logarithm)."""
    with variable_scope.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = math_ops.log(norm + epsilon)

        def averaged(name: str, value: Tensor) -> Tensor:
            average = variable_scope.get_variable(name, shape=value.get_shape(), dtype=value.dtype,
                                                  initializer=init_ops.zeros_initializer(), trainable=False)
            share: Any = decay
            if global_step is not None:
                steps = math_ops.cast(global_step, dtypes.float32)
                share = math_ops.minimum(decay, steps / (steps + 1.0))
            return moving_averages.assign_moving_average(average, value, share, zero_debias=False)

        mean = averaged("mean", log_norm)
        square_mean = averaged("sq_mean", math_ops.square(log_norm))
        variance = square_mean - math_ops.square(mean)
        deviation = math_ops.sqrt(math_ops.maximum(epsilon, variance))
        return math_ops.exp(mean + std_factor * deviation), mean
