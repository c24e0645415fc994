"""Follow the regularized leader."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import constant_op, ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class FtrlOptimizer(optimizer.Optimizer):
    """FTRL-Proximal, with L1 and L2 regularization (McMahan et al., 2013).

    `l2_shrinkage_regularization_strength` adds 2 * strength * var to the gradient of the linear term only.
    Raises `ValueError` for hyperparameters of the wrong sign.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: Any = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0) -> None:
        super().__init__(use_locking, name)
        self._strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength}
        for argument, value in {"initial_accumulator_value": initial_accumulator_value, **self._strengths}.items():
            if value < 0.0:
                raise ValueError(f"{argument} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name, self._linear_name = accum_name, linear_name
        self._tensors: dict[str, Any] = {}

    @property
    def _shrinks(self) -> bool:
        return self._strengths["l2_shrinkage_regularization_strength"] > 0.0

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with ops.colocate_with(v):
                value = constant_op.constant(self._initial_accumulator_value, dtype=v.dtype.base_dtype,
                                             shape=v.get_shape())
            self._get_or_make_slot(v, value, "accum", self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        values = {"learning_rate": self._learning_rate, **self._strengths,
                  "learning_rate_power": self._learning_rate_power}
        self._tensors = {name: ops.convert_to_tensor(self._call_if_callable(value), name=name)
                         for name, value in values.items()}

    def _arguments(self, var: Any) -> dict[str, Any]:
        def cast(name: str) -> Tensor:
            return cast_to(self._tensors[name], var)

        arguments = dict(var=var, accum=self.get_slot(var, "accum"), linear=self.get_slot(var, "linear"),
                         lr=cast("learning_rate"), l1=cast("l1_regularization_strength"),
                         l2=cast("l2_regularization_strength"))
        if self._shrinks:
            arguments["l2_shrinkage"] = cast("l2_shrinkage_regularization_strength")
        return {**arguments, "lr_power": cast("learning_rate_power"), "use_locking": self._use_locking}

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return training_ops.apply("ApplyFtrlV2" if self._shrinks else "ApplyFtrl", grad=grad, **self._arguments(var))

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return training_ops.apply("SparseApplyFtrlV2" if self._shrinks else "SparseApplyFtrl", grad=grad.values,
                                  indices=grad.indices, **self._arguments(var))
