"""Proximal gradient descent."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class ProximalGradientDescentOptimizer(optimizer.Optimizer):
    """Gradient descent followed by the proximal step of L1 and L2 regularization (Duchi and Singer, 2009)."""

    def __init__(self, learning_rate: Any, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False,
                 name: str = "ProximalGradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._tensors: dict[str, Any] = {}

    def _prepare(self) -> None:
        self._tensors = {
            "alpha": ops.convert_to_tensor(self._learning_rate, name="learning_rate"),
            "l1": ops.convert_to_tensor(self._l1_regularization_strength, name="l1_regularization_strength"),
            "l2": ops.convert_to_tensor(self._l2_regularization_strength, name="l2_regularization_strength")}

    def _cast(self, var: Any) -> dict[str, Tensor]:
        return {name: cast_to(tensor, var) for name, tensor in self._tensors.items()}

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyProximalGradientDescent", var=var, delta=grad, **self._cast(var),
                                  use_locking=self._use_locking).op

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply("SparseApplyProximalGradientDescent", var=var, grad=grad.values,
                                  indices=grad.indices, **self._cast(var), use_locking=self._use_locking).op
