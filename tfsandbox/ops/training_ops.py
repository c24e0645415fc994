"""What optimizers do to variables: one op an algorithm, dense (`Apply...`) and by rows (`SparseApply...`).

Kernels work in place and store into each variable by one numpy statement. `lr` and the other hyperparameters are scalar
tensors, so a schedule or a placeholder can drive them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.ops.variable_updates import arrays, dense_op, rows, sparse_op

Array = Any

_INDICES = "indices: Tindices"
_NESTEROV = "; use_nesterov: bool = false"
_UPDATE_SLOTS = "; update_slots: bool = true"


# ------------------------------------------------------------ gradient descent

apply_gradient_descent_op = dense_op("ApplyGradientDescent", "var | alpha, delta")


@apply_gradient_descent_op.kernel
def _apply_gradient_descent(var: Any, alpha: Any, delta: Array) -> None:
    delta, value = arrays(delta, var, what="delta")
    value -= alpha * delta


def _shapes_known(node: Any, *indices: int) -> bool:
    shapes = [node.shape(i) for i in indices]
    return all(s.is_fully_defined() and s.as_list() == shapes[0].as_list() for s in shapes)


@apply_gradient_descent_op.emit
def _apply_gradient_descent_emit(node: Any) -> str | None:
    return "{0}.value -= {1} * {2}" if _shapes_known(node, 0, 2) else None


def _proximal(prox: Array, step: Any, l1: float, l2: float) -> Array:
    """The point that minimises l1 |x| + l2 x^2 / 2 + (x - prox)^2 / (2 step): soft thresholding, then shrinking."""
    if l1 > 0:
        size = np.abs(prox) - step * l1
        prox = np.sign(prox) * np.maximum(size, 0, out=size)
    return prox / (1 + step * l2)


apply_proximal_gradient_descent_op = dense_op("ApplyProximalGradientDescent", "var | alpha, l1, l2, delta")


@apply_proximal_gradient_descent_op.kernel
def _apply_proximal_gradient_descent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Array) -> None:
    delta, value = arrays(delta, var, what="delta")
    alpha = float(alpha)
    value[...] = _proximal(value - alpha * delta, alpha, float(l1), float(l2))


sparse_apply_proximal_gradient_descent_op = sparse_op(
    "SparseApplyProximalGradientDescent", f"var | alpha, l1, l2, grad, {_INDICES}")


@sparse_apply_proximal_gradient_descent_op.kernel
def _sparse_apply_proximal_gradient_descent(var: Any, alpha: Any, l1: Any, l2: Any, grad: Array,
                                            indices: Array) -> None:
    alpha, l1, l2 = float(alpha), float(l1), float(l2)
    rows(lambda w, g: (_proximal(w - alpha * g, alpha, l1, l2),), [var], grad, indices)


# ------------------------------------------------------------ momentum

apply_momentum_op = dense_op("ApplyMomentum", "var, accum | lr, grad, momentum", _NESTEROV)


@apply_momentum_op.kernel
def _apply_momentum(var: Any, accum: Any, lr: Any, grad: Array, momentum: Any, *, use_nesterov: bool) -> None:
    grad, value, speed = arrays(grad, var, accum)
    step = speed * momentum
    np.add(step, grad, out=speed)
    if use_nesterov:
        np.multiply(speed, momentum, out=step)
        step += grad
        step *= lr
    else:
        np.multiply(speed, lr, out=step)
    value -= step


sparse_apply_momentum_op = sparse_op("SparseApplyMomentum", f"var, accum | lr, grad, {_INDICES}, momentum", _NESTEROV)


@sparse_apply_momentum_op.kernel
def _sparse_apply_momentum(var: Any, accum: Any, lr: Any, grad: Array, indices: Array, momentum: Any, *,
                           use_nesterov: bool) -> None:
    def rule(w: Array, a: Array, g: Array) -> tuple[Array, ...]:
        a = a * momentum + g
        return w - (g * lr + a * momentum * lr if use_nesterov else a * lr), a

    rows(rule, [var, accum], grad, indices)


# ------------------------------------------------------------ Adagrad and its relatives

apply_adagrad_op = dense_op("ApplyAdagrad", "var, accum | lr, grad", _UPDATE_SLOTS)


@apply_adagrad_op.kernel
def _apply_adagrad(var: Any, accum: Any, lr: Any, grad: Array, *, update_slots: bool) -> None:
    grad, value, squares = arrays(grad, var, accum)
    if update_slots:
        squares += grad * grad
    step = lr * grad
    step /= np.sqrt(squares)
    value -= step


sparse_apply_adagrad_op = sparse_op("SparseApplyAdagrad", f"var, accum | lr, grad, {_INDICES}", _UPDATE_SLOTS)


@sparse_apply_adagrad_op.kernel
def _sparse_apply_adagrad(var: Any, accum: Any, lr: Any, grad: Array, indices: Array, *, update_slots: bool) -> None:
    def rule(w: Array, a: Array, g: Array) -> tuple[Array, ...]:
        if update_slots:
            a = a + g * g
        return w - lr * g / np.sqrt(a), a

    rows(rule, [var, accum], grad, indices)


apply_adagrad_v2_op = dense_op("ApplyAdagradV2", "var, accum | lr, epsilon, grad", _UPDATE_SLOTS)


@apply_adagrad_v2_op.kernel
def _apply_adagrad_v2(var: Any, accum: Any, lr: Any, epsilon: Any, grad: Array, *, update_slots: bool) -> None:
    grad, value, squares = arrays(grad, var, accum)
    if update_slots:
        squares += grad * grad
    value -= lr * grad / (np.sqrt(squares) + epsilon)


sparse_apply_adagrad_v2_op = sparse_op(
    "SparseApplyAdagradV2", f"var, accum | lr, epsilon, grad, {_INDICES}", _UPDATE_SLOTS)


@sparse_apply_adagrad_v2_op.kernel
def _sparse_apply_adagrad_v2(var: Any, accum: Any, lr: Any, epsilon: Any, grad: Array, indices: Array, *,
                             update_slots: bool) -> None:
    def rule(w: Array, a: Array, g: Array) -> tuple[Array, ...]:
        if update_slots:
            a = a + g * g
        return w - lr * g / (np.sqrt(a) + epsilon), a

    rows(rule, [var, accum], grad, indices)


apply_proximal_adagrad_op = dense_op("ApplyProximalAdagrad", "var, accum | lr, l1, l2, grad")


@apply_proximal_adagrad_op.kernel
def _apply_proximal_adagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Array) -> None:
    grad, value, squares = arrays(grad, var, accum)
    squares += grad * grad
    step = lr / np.sqrt(squares)
    value[...] = _proximal(value - grad * step, step, float(l1), float(l2))


sparse_apply_proximal_adagrad_op = sparse_op(
    "SparseApplyProximalAdagrad", f"var, accum | lr, l1, l2, grad, {_INDICES}")


@sparse_apply_proximal_adagrad_op.kernel
def _sparse_apply_proximal_adagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Array,
                                   indices: Array) -> None:
    def rule(w: Array, a: Array, g: Array) -> tuple[Array, ...]:
        a = a + g * g
        step = lr / np.sqrt(a)
        return _proximal(w - g * step, step, float(l1), float(l2)), a

    rows(rule, [var, accum], grad, indices)


def _dual_averaging(sums: Array, squares: Array, lr: float, l1: float, l2: float, steps: float) -> Array:
    """The variable that the sums of gradients and of their squares stand for (Duchi et al., 2011, eq. 30)."""
    if l1 > 0:
        sums = np.sign(sums) * np.maximum(np.abs(sums) - l1 * steps, 0)
    return -lr * sums / (l2 * steps * lr + np.sqrt(squares))


apply_adagrad_da_op = dense_op(
    "ApplyAdagradDA",
    "var, gradient_accumulator, gradient_squared_accumulator | grad, lr, l1, l2, global_step: int64")


@apply_adagrad_da_op.kernel
def _apply_adagrad_da(var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Array, lr: Any,
                      l1: Any, l2: Any, global_step: Any) -> None:
    grad, value, sums, squares = arrays(grad, var, gradient_accumulator, gradient_squared_accumulator)
    sums += grad
    squares += grad * grad
    value[...] = _dual_averaging(sums, squares, float(lr), float(l1), float(l2), float(global_step))


sparse_apply_adagrad_da_op = sparse_op(
    "SparseApplyAdagradDA", "var, gradient_accumulator, gradient_squared_accumulator | "
                            f"grad, {_INDICES}, lr, l1, l2, global_step: int64")


@sparse_apply_adagrad_da_op.kernel
def _sparse_apply_adagrad_da(var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Array,
                             indices: Array, lr: Any, l1: Any, l2: Any, global_step: Any) -> None:
    def rule(w: Array, sums: Array, squares: Array, g: Array) -> tuple[Array, ...]:
        sums, squares = sums + g, squares + g * g
        return _dual_averaging(sums, squares, float(lr), float(l1), float(l2), float(global_step)), sums, squares

    rows(rule, [var, gradient_accumulator, gradient_squared_accumulator], grad, indices)


apply_adadelta_op = dense_op("ApplyAdadelta", "var, accum, accum_update | lr, rho, epsilon, grad")


@apply_adadelta_op.kernel
def _apply_adadelta(var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Array) -> None:
    grad, value, squares, steps = arrays(grad, var, accum, accum_update)
    step, squares[...], steps[...] = _adadelta(squares, steps, grad, float(rho), epsilon)
    value -= step * lr


def _adadelta(squares: Array, steps: Array, g: Array, rho: float, epsilon: Any) -> tuple[Array, Array, Array]:
    """(step, new squares, new squared steps)."""
    squares = squares * rho + g * g * (1 - rho)
    step = np.sqrt(steps + epsilon) / np.sqrt(squares + epsilon) * g
    return step, squares, steps * rho + step * step * (1 - rho)


sparse_apply_adadelta_op = sparse_op(
    "SparseApplyAdadelta", f"var, accum, accum_update | lr, rho, epsilon, grad, {_INDICES}")


@sparse_apply_adadelta_op.kernel
def _sparse_apply_adadelta(var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Array,
                           indices: Array) -> None:
    def rule(w: Array, squares: Array, steps: Array, g: Array) -> tuple[Array, ...]:
        step, squares, steps = _adadelta(squares, steps, g, float(rho), epsilon)
        return w - step * lr, squares, steps

    rows(rule, [var, accum, accum_update], grad, indices)


# ------------------------------------------------------------ RMSProp

apply_rms_prop_op = dense_op("ApplyRMSProp", "var, ms, mom | lr, rho, momentum, epsilon, grad")


@apply_rms_prop_op.kernel
def _apply_rms_prop(var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Array) -> None:
    grad, value, squares, speed = arrays(grad, var, ms, mom)
    part = grad * grad
    part -= squares
    part *= 1 - float(rho)
    squares += part
    np.add(squares, epsilon, out=part)
    np.sqrt(part, out=part)
    step = grad * lr
    step /= part
    np.multiply(speed, momentum, out=part)
    np.add(part, step, out=speed)
    value -= speed


sparse_apply_rms_prop_op = sparse_op(
    "SparseApplyRMSProp", f"var, ms, mom | lr, rho, momentum, epsilon, grad, {_INDICES}")


@sparse_apply_rms_prop_op.kernel
def _sparse_apply_rms_prop(var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Array,
                           indices: Array) -> None:
    def rule(w: Array, squares: Array, speed: Array, g: Array) -> tuple[Array, ...]:
        squares = squares * rho + g * g * (1 - float(rho))
        speed = speed * momentum + lr * g / np.sqrt(squares + epsilon)
        return w - speed, squares, speed

    rows(rule, [var, ms, mom], grad, indices)


apply_centered_rms_prop_op = dense_op("ApplyCenteredRMSProp", "var, mg, ms, mom | lr, rho, momentum, epsilon, grad")


@apply_centered_rms_prop_op.kernel
def _apply_centered_rms_prop(var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any,
                             grad: Array) -> None:
    grad, value, means, squares, speed = arrays(grad, var, mg, ms, mom)
    rest = 1 - float(rho)
    squares += (grad * grad - squares) * rest
    means += (grad - means) * rest
    variance = squares - means * means
    variance += epsilon
    speed[...] = speed * momentum + grad * lr / np.sqrt(variance, out=variance)
    value -= speed


sparse_apply_centered_rms_prop_op = sparse_op(
    "SparseApplyCenteredRMSProp", f"var, mg, ms, mom | lr, rho, momentum, epsilon, grad, {_INDICES}")


@sparse_apply_centered_rms_prop_op.kernel
def _sparse_apply_centered_rms_prop(var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any,
                                    epsilon: Any, grad: Array, indices: Array) -> None:
    def rule(w: Array, means: Array, squares: Array, speed: Array, g: Array) -> tuple[Array, ...]:
        squares = squares * rho + g * g * (1 - float(rho))
        means = means * rho + g * (1 - float(rho))
        speed = speed * momentum + lr * g / np.sqrt(squares - means * means + epsilon)
        return w - speed, means, squares, speed

    rows(rule, [var, mg, ms, mom], grad, indices)


# ------------------------------------------------------------ Adam and its relatives

apply_adam_op = dense_op(
    "ApplyAdam", "var, m, v | beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad", _NESTEROV)


@apply_adam_op.kernel
def _apply_adam(var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
                epsilon: Any, grad: Array, *, use_nesterov: bool) -> None:
    value, mean, square = var.value, m.value, v.value
    if not grad.ndim or grad.shape != value.shape:
        grad, value, mean, square = arrays(grad, var, m, v)
    alpha = float(lr) * math.sqrt(1.0 - float(beta2_power)) / (1.0 - float(beta1_power))
    rest = 1.0 - float(beta1)
    step = grad - mean
    step *= rest
    mean += step
    root = grad * grad
    root -= square
    root *= 1.0 - float(beta2)
    square += root
    np.sqrt(square, root)
    root += float(epsilon)
    if use_nesterov:
        np.multiply(mean, beta1, step)
        step += grad * rest
        step *= alpha
    else:
        np.multiply(mean, alpha, step)
    step /= root
    value -= step


apply_ada_max_op = dense_op("ApplyAdaMax", "var, m, v | beta1_power, lr, beta1, beta2, epsilon, grad")


@apply_ada_max_op.kernel
def _apply_ada_max(var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
                   grad: Array) -> None:
    grad, value, mean, largest = arrays(grad, var, m, v)
    mean += (grad - mean) * (1 - float(beta1))
    np.maximum(largest * beta2, np.abs(grad), out=largest)
    value -= (float(lr) / (1 - float(beta1_power))) * (mean / (largest + epsilon))


def _sign_agreement(m: Array, grad: Array, beta: Any) -> Array:
    m[...] = m * beta + grad * (1 - float(beta))
    return np.sign(grad) * np.sign(m)


apply_add_sign_op = dense_op("ApplyAddSign", "var, m | lr, alpha, sign_decay, beta, grad")


@apply_add_sign_op.kernel
def _apply_add_sign(var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Array) -> None:
    grad, value, mean = arrays(grad, var, m)
    value -= lr * (alpha + sign_decay * _sign_agreement(mean, grad, beta)) * grad


apply_power_sign_op = dense_op("ApplyPowerSign", "var, m | lr, logbase, sign_decay, beta, grad")


@apply_power_sign_op.kernel
def _apply_power_sign(var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Array) -> None:
    grad, value, mean = arrays(grad, var, m)
    value -= lr * np.exp(logbase * sign_decay * _sign_agreement(mean, grad, beta)) * grad


# ------------------------------------------------------------ FTRL


def _ftrl(w: Array, squares: Array, linear: Array, g: Array, lr: float, l1: float, l2: float, shrinkage: float,
          power: float) -> tuple[Array, Array, Array]:
    """(new variable, new squares, new linear term), as in McMahan et al., "Ad Click Prediction", 2013."""
    new_squares = squares + g * g
    if power == -0.5:
        root, old_root = np.sqrt(new_squares), np.sqrt(squares)
    else:
        root, old_root = np.power(new_squares, -power), np.power(squares, -power)
    if shrinkage:
        g = g + 2 * shrinkage * w
    linear = linear + (g - (root - old_root) / lr * w)
    new = (l1 * np.sign(linear) - linear) / (root / lr + 2 * l2)
    return np.where(np.abs(linear) > l1, new, np.zeros((), new.dtype)), new_squares, linear


def _ftrl_dense(var: Any, accum: Any, linear: Any, grad: Array, lr: Any, l1: Any, l2: Any, shrinkage: Any,
                lr_power: Any) -> None:
    grad, value, squares, slope = arrays(grad, var, accum, linear)
    new, squares[...], slope[...] = _ftrl(value, squares, slope, grad, float(lr), float(l1), float(l2),
                                          float(shrinkage), float(lr_power))
    value[...] = new


def _ftrl_rows(var: Any, accum: Any, linear: Any, grad: Array, indices: Array, lr: Any, l1: Any, l2: Any,
               shrinkage: Any, lr_power: Any) -> None:
    rates = float(lr), float(l1), float(l2), float(shrinkage), float(lr_power)
    rows(lambda w, a, z, g: _ftrl(w, a, z, g, *rates), [var, accum, linear], grad, indices)


apply_ftrl_op = dense_op("ApplyFtrl", "var, accum, linear | grad, lr, l1, l2, lr_power")
apply_ftrl_v2_op = dense_op("ApplyFtrlV2", "var, accum, linear | grad, lr, l1, l2, l2_shrinkage, lr_power")
sparse_apply_ftrl_op = sparse_op("SparseApplyFtrl", f"var, accum, linear | grad, {_INDICES}, lr, l1, l2, lr_power")
sparse_apply_ftrl_v2_op = sparse_op(
    "SparseApplyFtrlV2", f"var, accum, linear | grad, {_INDICES}, lr, l1, l2, l2_shrinkage, lr_power")


@apply_ftrl_op.kernel
def _apply_ftrl(var: Any, accum: Any, linear: Any, grad: Array, lr: Any, l1: Any, l2: Any, lr_power: Any) -> None:
    _ftrl_dense(var, accum, linear, grad, lr, l1, l2, 0.0, lr_power)


apply_ftrl_v2_op.kernel(_ftrl_dense)


@sparse_apply_ftrl_op.kernel
def _sparse_apply_ftrl(var: Any, accum: Any, linear: Any, grad: Array, indices: Array, lr: Any, l1: Any, l2: Any,
                       lr_power: Any) -> None:
    _ftrl_rows(var, accum, linear, grad, indices, lr, l1, l2, 0.0, lr_power)


sparse_apply_ftrl_v2_op.kernel(_ftrl_rows)


def apply(op_type: str, **arguments: Any) -> Any:
    """Add a node that updates variables; `arguments` as in the op's schema."""
    return apply_op(op_type, **arguments)
