"""Adagrad."""

from __future__ import annotations

import functools
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, init_ops, math_ops, training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class AdagradOptimizer(optimizer.Optimizer):
    """accum += gradient ** 2; var -= learning_rate * gradient / sqrt(accum) (Duchi et al., 2011).

    Raises `ValueError` unless `initial_accumulator_value` is positive.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial_accumulator_value = learning_rate, initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            initializer: Any = init_ops.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            if not v.get_shape().is_fully_defined():
                initializer = functools.partial(self._filled_like, v, dtype)
            self._get_or_make_slot_with_initializer(v, initializer, v.get_shape(), dtype, "accumulator", self._name)

    def _filled_like(self, var: Any, dtype: Any) -> Tensor:
        return math_ops.cast(array_ops.fill(array_ops.shape(var), self._initial_accumulator_value), dtype)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = ops.convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyAdagrad", var=var, accum=self.get_slot(var, "accumulator"),
                                  lr=cast_to(self._learning_rate_tensor, var), grad=grad,
                                  use_locking=self._use_locking)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply("SparseApplyAdagrad", var=var, accum=self.get_slot(var, "accumulator"),
                                  lr=cast_to(self._learning_rate_tensor, var), grad=grad.values,
                                  indices=grad.indices, use_locking=self._use_locking)
