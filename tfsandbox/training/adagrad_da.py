"""Adagrad with dual averaging."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import constant_op, ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class AdagradDAOptimizer(optimizer.Optimizer):
    """Adagrad on the sums of all gradients and of their squares: weights stay sparse under L1 (Duchi et al., 2011).

    Raises `ValueError` unless `initial_gradient_squared_accumulator_value` is positive.
    """

    def __init__(self, learning_rate: Any, global_step: Any,
                 initial_gradient_squared_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "AdagradDA") -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive: "
                             f"{initial_gradient_squared_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._learning_rate_tensor: Any = None
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with ops.colocate_with(v):
                sums = constant_op.constant(0.0, shape=v.get_shape(), dtype=v.dtype.base_dtype)
                squares = constant_op.constant(self._initial_gradient_squared_accumulator_value, shape=v.get_shape(),
                                               dtype=v.dtype.base_dtype)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = ops.convert_to_tensor(self._learning_rate, name="learning_rate")
        with ops.colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = array_ops.identity(self._global_step) + 1

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        step = self._step_beside(var)
        return training_ops.apply(
            "ApplyAdagradDA", var=var, gradient_accumulator=self.get_slot(var, "gradient_accumulator"),
            gradient_squared_accumulator=self.get_slot(var, "gradient_squared_accumulator"), grad=grad,
            lr=cast_to(self._learning_rate_tensor, var), l1=cast_to(self._l1_regularization_strength, var),
            l2=cast_to(self._l2_regularization_strength, var), global_step=step, use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        step = self._step_beside(var)
        return training_ops.apply(
            "SparseApplyAdagradDA", var=var, gradient_accumulator=self.get_slot(var, "gradient_accumulator"),
            gradient_squared_accumulator=self.get_slot(var, "gradient_squared_accumulator"), grad=grad.values,
            indices=grad.indices, lr=cast_to(self._learning_rate_tensor, var),
            l1=cast_to(self._l1_regularization_strength, var), l2=cast_to(self._l2_regularization_strength, var),
            global_step=step, use_locking=self._use_locking)

    def _step_beside(self, var: Any) -> Tensor:
        with ops.device(var.device):
            return array_ops.identity(self._global_step_on_worker)
