"""Gradient descent."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class GradientDescentOptimizer(optimizer.Optimizer):
    """var -= learning_rate * gradient."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = ops.convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyGradientDescent", var=var, alpha=cast_to(self._learning_rate_tensor, var),
                                  delta=grad, use_locking=self._use_locking).op

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        # Repeated rows are simply subtracted one after the other.
        delta = IndexedSlices(grad.values * cast_to(self._learning_rate_tensor, var), grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)
