"""Gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class MomentumOptimizer(optimizer.Optimizer):
    """accum = momentum * accum + gradient; var -= learning_rate * accum.

    `use_nesterov`: var -= learning_rate * (gradient + momentum * accum) (Sutskever et al., 2013).
    """

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = ops.convert_to_tensor(rate, name="learning_rate")
        momentum = self._call_if_callable(self._momentum)
        self._momentum_tensor = ops.convert_to_tensor(momentum, name="momentum")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply(
            "ApplyMomentum", var=var, accum=self.get_slot(var, "momentum"),
            lr=cast_to(self._learning_rate_tensor, var), grad=grad, momentum=cast_to(self._momentum_tensor, var),
            use_locking=self._use_locking, use_nesterov=self._use_nesterov).op

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply(
            "SparseApplyMomentum", var=var, accum=self.get_slot(var, "momentum"),
            lr=cast_to(self._learning_rate_tensor, var), grad=grad.values, indices=grad.indices,
            momentum=cast_to(self._momentum_tensor, var), use_locking=self._use_locking,
            use_nesterov=self._use_nesterov).op
