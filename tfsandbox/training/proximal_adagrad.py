"""Proximal Adagrad."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import constant_op, ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class ProximalAdagradOptimizer(optimizer.Optimizer):
    """Adagrad followed by the proximal step of L1 and L2 regularization (Duchi and Singer, 2009).

    Raises `ValueError` unless `initial_accumulator_value` is positive.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial_accumulator_value = learning_rate, initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._tensors: dict[str, Any] = {}

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with ops.colocate_with(v):
                value = constant_op.constant(self._initial_accumulator_value, shape=v.get_shape(),
                                             dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, value, "accumulator", self._name)

    def _prepare(self) -> None:
        self._tensors = {
            "lr": ops.convert_to_tensor(self._learning_rate, name="learning_rate"),
            "l1": ops.convert_to_tensor(self._l1_regularization_strength, name="l1_regularization_strength"),
            "l2": ops.convert_to_tensor(self._l2_regularization_strength, name="l2_regularization_strength")}

    def _cast(self, var: Any) -> dict[str, Tensor]:
        return {name: cast_to(tensor, var) for name, tensor in self._tensors.items()}

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyProximalAdagrad", var=var, accum=self.get_slot(var, "accumulator"), grad=grad,
                                  **self._cast(var), use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply("SparseApplyProximalAdagrad", var=var, accum=self.get_slot(var, "accumulator"),
                                  grad=grad.values, indices=grad.indices, **self._cast(var),
                                  use_locking=self._use_locking)
