"""Regularizers: functions from a variable to a scalar penalty, and the sum of penalties."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import math_ops, nn_ops
from tfsandbox.platform import tf_logging

Regularizer = Callable[[Any], "Tensor | None"]


def _checked_scale(scale: Any, name: str = "scale") -> bool:
    """Whether there is anything to scale; `ValueError` for an integer, which is a mistake more often than not."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            tf_logging.info("Scale of 0 disables regularizer.")
            return False
    return True


def _no_penalty(_: Any) -> None:
    return None


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """weights -> scale * sum |w|; with a scale of 0.0 a function that gives None."""
    if not _checked_scale(scale):
        return _no_penalty

    def l1(weights: Any, name: str | None = None) -> Tensor:
        """The L1 penalty of `weights`."""
        with ops.name_scope(scope, "l1_regularizer", [weights]) as name:
            factor = ops.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, math_ops.reduce_sum(math_ops.abs(weights)), name=name)

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """weights -> scale * sum w^2 / 2; with a scale of 0.0 a function that gives None."""
    if not _checked_scale(scale):
        return _no_penalty

    def l2(weights: Any) -> Tensor:
        """The L2 penalty of `weights`."""
        with ops.name_scope(scope, "l2_regularizer", [weights]) as name:
            factor = ops.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, nn_ops.l2_loss(weights), name=name)

    return l2


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer:
    """The sum of the L1 and the L2 penalty."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list: Iterable[Regularizer | None], scope: str | None = None) -> Regularizer | Any:
    """The sum of several regularizers; None entries are skipped, and None is given where nothing is left."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def sum_reg(weights: Any) -> Tensor | None:
        """The sum of the penalties of `weights`."""
        with ops.name_scope(scope, "sum_regularizer", [weights]) as name:
            penalties = [regularizer(weights) for regularizer in regularizers]
            kept = [penalty for penalty in penalties if penalty is not None]
            return math_ops.add_n(kept, name=name) if kept else None

    return sum_reg


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Tensor:
    """The sum of the penalties of all weights (default: the graph's WEIGHTS), noted in REGULARIZATION_LOSSES.

    Raises `ValueError` without weights, and for a regularizer that gives no scalar.
    """
    weights_list = weights_list or ops.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with ops.name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        kept = [constant(0.0) if penalty is None else penalty for penalty in penalties]
        for penalty in kept:
            if penalty.get_shape().ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor instead of a Tensor with rank "
                                 f"{penalty.get_shape().ndims}.")
        total = math_ops.add_n(kept, name=scope)
        ops.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
