"""Adadelta."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class AdadeltaOptimizer(optimizer.Optimizer):
    """Steps as large as the recent steps, relative to the recent gradients (Zeiler, 2012)."""

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = "Adadelta") -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon
        self._lr_t: Any = None
        self._rho_t: Any = None
        self._epsilon_t: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = ops.convert_to_tensor(self._call_if_callable(self._lr), name="lr")
        self._rho_t = ops.convert_to_tensor(self._call_if_callable(self._rho), name="rho")
        self._epsilon_t = ops.convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _arguments(self, var: Any) -> dict[str, Any]:
        return dict(var=var, accum=self.get_slot(var, "accum"), accum_update=self.get_slot(var, "accum_update"),
                    lr=cast_to(self._lr_t, var), rho=cast_to(self._rho_t, var),
                    epsilon=cast_to(self._epsilon_t, var), use_locking=self._use_locking)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyAdadelta", grad=grad, **self._arguments(var))

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply("SparseApplyAdadelta", grad=grad.values, indices=grad.indices,
                                  **self._arguments(var))
