"""RMSProp."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, init_ops, training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class RMSPropOptimizer(optimizer.Optimizer):
    """Steps divided by a moving root mean square of the gradient (Tieleman and Hinton, 2012).

    rms = decay * rms + (1 - decay) * gradient ** 2; mom = momentum * mom + learning_rate * gradient / sqrt(rms +
    epsilon); var -= mom. `centered`: divided by the deviation in place of the root mean square.
    """

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = "RMSProp") -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered
        self._tensors: dict[str, Any] = {}

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            if v.get_shape().is_fully_defined():
                ones = init_ops.ones_initializer(dtype=v.dtype.base_dtype)
                self._get_or_make_slot_with_initializer(v, ones, v.get_shape(), v.dtype.base_dtype, "rms",
                                                        self._name)
            else:
                self._get_or_make_slot(v, array_ops.ones_like(v), "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._tensors = {
            name: ops.convert_to_tensor(self._call_if_callable(value), name=name)
            for name, value in (("learning_rate", self._learning_rate), ("decay", self._decay),
                                ("momentum", self._momentum), ("epsilon", self._epsilon))}

    def _arguments(self, var: Any) -> dict[str, Any]:
        cast = {name: cast_to(tensor, var) for name, tensor in self._tensors.items()}
        arguments = dict(var=var, ms=self.get_slot(var, "rms"), mom=self.get_slot(var, "momentum"),
                         lr=cast["learning_rate"], rho=cast["decay"], momentum=cast["momentum"],
                         epsilon=cast["epsilon"], use_locking=self._use_locking)
        if self._centered:
            arguments["mg"] = self.get_slot(var, "mg")
        return arguments

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        op_type = "ApplyCenteredRMSProp" if self._centered else "ApplyRMSProp"
        return training_ops.apply(op_type, grad=grad, **self._arguments(var)).op

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        op_type = "SparseApplyCenteredRMSProp" if self._centered else "SparseApplyRMSProp"
        return training_ops.apply(op_type, grad=grad.values, indices=grad.indices, **self._arguments(var))
