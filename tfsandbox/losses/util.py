"""The collections that losses are kept in, and their sums."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import math_ops


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Put a loss into a collection; None: into none."""
    if loss_collection:
        ops.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection, of those whose name matches `scope` from its start."""
    return ops.get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses, of those whose name matches `scope` from its start."""
    return ops.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses; 0 where there are none."""
    losses = get_regularization_losses(scope)
    return math_ops.add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss",
                   scope: str | None = None) -> Tensor:
    """The sum of all losses, with those of regularization. Raises `ValueError` where there are none."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return math_ops.add_n(losses, name=name)
