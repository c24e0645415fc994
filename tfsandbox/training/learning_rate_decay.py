"""Schedules: the learning rate as a tensor computed from the global step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import constant_op, dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import control_flow_ops, math_ops, random_ops

__all__ = [
    "cosine_decay", "cosine_decay_restarts", "exponential_decay", "inverse_time_decay", "linear_cosine_decay",
    "natural_exp_decay", "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay",
    "polynomial_decay",
]


def _rate(learning_rate: Any) -> Tensor:
    return ops.convert_to_tensor(learning_rate, name="initial_learning_rate")


def _half_cosine(fraction: Any) -> Tensor:
    """From 1 down to 0 as the fraction goes from 0 to 1."""
    return 0.5 * (1.0 + math_ops.cos(constant_op.constant(math.pi) * fraction))


def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                      staircase: bool = False, name: str | None = None) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps); `staircase` takes the floor of the exponent."""
    with ops.name_scope(name or "ExponentialDecay") as scope:
        rate = _rate(learning_rate)
        steps = math_ops.cast(decay_steps, rate.dtype)
        base = math_ops.cast(decay_rate, rate.dtype)
        exponent = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            exponent = math_ops.floor(exponent)
        return math_ops.multiply(rate, math_ops.pow(base, exponent), name=scope)


def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                      staircase: bool = False, name: str | None = None) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps); `staircase` takes the floor of the quotient."""
    base = math_ops.exp(math_ops.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
                       staircase: bool = False, name: str | None = None) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps); `staircase` takes the floor of the quotient."""
    with ops.name_scope(name or "InverseTimeDecay") as scope:
        rate = _rate(learning_rate)
        steps = math_ops.cast(decay_steps, rate.dtype)
        factor = math_ops.cast(decay_rate, rate.dtype)
        quotient = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            quotient = math_ops.floor(quotient)
        one = math_ops.cast(constant_op.constant(1), rate.dtype)
        return math_ops.divide(rate, math_ops.add(one, math_ops.multiply(factor, quotient)), name=scope)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Tensor:
    """values[0] up to boundaries[0], values[i] from there up to boundaries[i], values[-1] beyond the last.

    Raises `ValueError` where the lengths or the types do not go together.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    x = ops.convert_to_tensor(x)
    bounds = ops.convert_n_to_tensor(boundaries)
    pieces = ops.convert_n_to_tensor(values)
    for i, bound in enumerate(bounds):
        if bound.dtype.base_dtype == x.dtype.base_dtype:
            continue
        if bound.dtype.base_dtype == dtypes.int32 and x.dtype.base_dtype == dtypes.int64:
            bounds[i] = math_ops.cast(bound, x.dtype.base_dtype)
        else:
            raise ValueError(f"Boundaries ({bound.dtype.base_dtype!s}) must have the same dtype as x "
                             f"({x.dtype.base_dtype!s}).")
    for piece in pieces[1:]:
        if piece.dtype.base_dtype != pieces[0].dtype.base_dtype:
            raise ValueError(f"Values must have elements all with the same dtype ({pieces[0].dtype.base_dtype!s} vs "
                             f"{piece.dtype.base_dtype!s}).")
    with ops.name_scope(name or "PiecewiseConstant"):
        def gives(piece: Tensor) -> Callable[[], Tensor]:
            return lambda: piece

        cases = [(x <= bounds[0], gives(pieces[0])), (x > bounds[-1], gives(pieces[-1]))]
        for low, high, piece in zip(bounds[:-1], bounds[1:], pieces[1:-1]):
            cases.append(((x > low) & (x <= high), gives(piece)))
        return control_flow_ops.case(cases, gives(pieces[0]), exclusive=True)


piecewise_constant_decay = piecewise_constant


def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Tensor:
    """From learning_rate to end_learning_rate in `decay_steps` steps, as (1 - step / decay_steps) ** power.

    `cycle`: begin again beyond the last step, stretched to the next multiple of `decay_steps`.
    """
    with ops.name_scope(name or "PolynomialDecay") as scope:
        rate = _rate(learning_rate)
        end = math_ops.cast(end_learning_rate, rate.dtype)
        exponent = math_ops.cast(power, rate.dtype)
        step = math_ops.cast(global_step, rate.dtype)
        steps = math_ops.cast(decay_steps, rate.dtype)
        if cycle:
            rounds = control_flow_ops.cond(math_ops.equal(step, 0), lambda: 1.0,
                                           lambda: math_ops.ceil(step / decay_steps))
            steps = math_ops.multiply(steps, rounds)
        else:
            step = math_ops.minimum(step, decay_steps)
        done = math_ops.divide(step, steps)
        return math_ops.add(math_ops.multiply(rate - end, math_ops.pow(1 - done, exponent)), end, name=scope)


def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0,
                 name: str | None = None) -> Tensor:
    """From learning_rate to alpha * learning_rate in `decay_steps` steps, as half a cosine (Loshchilov, 2016)."""
    with ops.name_scope(name or "CosineDecay"):
        rate = _rate(learning_rate)
        steps = math_ops.cast(decay_steps, rate.dtype)
        step = math_ops.minimum(math_ops.cast(global_step, rate.dtype), steps)
        decayed = (1 - alpha) * _half_cosine(step / steps) + alpha
        return math_ops.multiply(rate, decayed)


def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: Any = 2.0,
                          m_mul: Any = 1.0, alpha: Any = 0.0, name: str | None = None) -> Tensor:
    """Half cosines one after the other, each `t_mul` times as long and `m_mul` times as high as the one before."""
    with ops.name_scope(name or "SGDRDecay") as scope:
        rate = _rate(learning_rate)
        first = math_ops.cast(first_decay_steps, rate.dtype)
        low = math_ops.cast(alpha, rate.dtype)
        longer = math_ops.cast(t_mul, rate.dtype)
        higher = math_ops.cast(m_mul, rate.dtype)
        done = math_ops.cast(global_step, rate.dtype) / first

        def equal_rounds() -> tuple[Tensor, Tensor]:
            restarts = math_ops.floor(done)
            return restarts, done - restarts

        def growing_rounds() -> tuple[Tensor, Tensor]:
            restarts = math_ops.floor(math_ops.log(1.0 - done * (1.0 - longer)) / math_ops.log(longer))
            before = (1.0 - longer ** restarts) / (1.0 - longer)
            return restarts, (done - before) / longer ** restarts

        restarts, fraction = control_flow_ops.cond(math_ops.equal(longer, 1.0), equal_rounds, growing_rounds)
        height = higher ** restarts
        cosine = 0.5 * height * (1.0 + math_ops.cos(constant_op.constant(math.pi) * fraction))
        return math_ops.multiply(rate, (1 - low) * cosine + low, name=scope)


def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: Any = 0.5,
                        alpha: Any = 0.0, beta: Any = 0.001, name: str | None = None) -> Tensor:
    """learning_rate * ((alpha + linear) * cosine + beta), both falling over `decay_steps` (Bello et al., 2017)."""
    with ops.name_scope(name or "LinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        steps = math_ops.cast(decay_steps, rate.dtype)
        periods = math_ops.cast(num_periods, rate.dtype)
        floor, end = math_ops.cast(alpha, rate.dtype), math_ops.cast(beta, rate.dtype)
        step = math_ops.minimum(math_ops.cast(global_step, rate.dtype), steps)
        linear = (steps - step) / steps
        done = step / steps
        cosine = _half_cosine(2.0 * periods * done)
        return math_ops.multiply(rate, (floor + linear) * cosine + end, name=scope)


def noisy_linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: Any = 1.0,
                              variance_decay: Any = 0.55, num_periods: Any = 0.5, alpha: Any = 0.0,
                              beta: Any = 0.001, name: str | None = None) -> Tensor:
    """`linear_cosine_decay`, the linear part noisy, of variance initial_variance / (1 + step) ** variance_decay."""
    with ops.name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        steps = math_ops.cast(decay_steps, rate.dtype)
        variance = math_ops.cast(initial_variance, rate.dtype)
        fading = math_ops.cast(variance_decay, rate.dtype)
        periods = math_ops.cast(num_periods, rate.dtype)
        floor, end = math_ops.cast(alpha, rate.dtype), math_ops.cast(beta, rate.dtype)
        step = math_ops.minimum(math_ops.cast(global_step, rate.dtype), steps)
        linear = (steps - step) / steps
        deviation = math_ops.sqrt(variance / math_ops.pow(1.0 + step, fading))
        noisy = linear + random_ops.random_normal(linear.shape, stddev=deviation)
        done = step / steps
        cosine = _half_cosine(2.0 * periods * done)
        return math_ops.multiply(rate, (floor + noisy) * cosine + end, name=scope)
