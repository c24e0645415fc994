"""Adam."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import control_flow_ops, math_ops, state_ops, training_ops
from tfsandbox.training import optimizer
from tfsandbox.training.optimizer import cast_to


class AdamOptimizer(optimizer.Optimizer):
    """Steps along a moving mean of the gradient, divided by its moving root mean square (Kingma and Ba, 2015).

    At step t: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
    var -= learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = "Adam") -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._lr_t: Any = None
        self._beta1_t: Any = None
        self._beta2_t: Any = None
        self._epsilon_t: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        """The variables beta1^t and beta2^t."""
        return self._get_non_slot_variable("beta1_power"), self._get_non_slot_variable("beta2_power")

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
        self._create_non_slot_variable(self._beta2, name="beta2_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = ops.convert_to_tensor(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = ops.convert_to_tensor(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = ops.convert_to_tensor(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = ops.convert_to_tensor(self._call_if_callable(self._epsilon), name="epsilon")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        beta1_power, beta2_power = self._get_beta_accumulators()
        return training_ops.apply(
            "ApplyAdam", var=var, m=self.get_slot(var, "m"), v=self.get_slot(var, "v"),
            beta1_power=cast_to(beta1_power, var), beta2_power=cast_to(beta2_power, var),
            lr=cast_to(self._lr_t, var), beta1=cast_to(self._beta1_t, var), beta2=cast_to(self._beta2_t, var),
            epsilon=cast_to(self._epsilon_t, var), grad=grad, use_locking=self._use_locking).op

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        # Rows without a gradient still decay and move: as with a dense gradient of zeros there.
        beta1_power, beta2_power = self._get_beta_accumulators()
        beta1_power, beta2_power = cast_to(beta1_power, var), cast_to(beta2_power, var)
        rate = cast_to(self._lr_t, var)
        beta1, beta2 = cast_to(self._beta1_t, var), cast_to(self._beta2_t, var)
        epsilon = cast_to(self._epsilon_t, var)
        rate = rate * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        mean = self.get_slot(var, "m")
        scaled = grad.values * (1 - beta1)
        new_mean = state_ops.assign(mean, mean * beta1, use_locking=self._use_locking)
        with ops.control_dependencies([new_mean]):
            new_mean = self._scatter_add(mean, grad.indices, scaled)
        square = self.get_slot(var, "v")
        scaled_square = (grad.values * grad.values) * (1 - beta2)
        new_square = state_ops.assign(square, square * beta2, use_locking=self._use_locking)
        with ops.control_dependencies([new_square]):
            new_square = self._scatter_add(square, grad.indices, scaled_square)
        root = math_ops.sqrt(new_square)
        update = state_ops.assign_sub(var, rate * new_mean / (root + epsilon), use_locking=self._use_locking)
        return control_flow_ops.group(*[update, new_mean, new_square])

    def _scatter_add(self, variable: Any, indices: Tensor, values: Tensor) -> Tensor:
        return state_ops.scatter_add(variable, indices, values, use_locking=self._use_locking)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        with ops.control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with ops.colocate_with(beta1_power):
                powers = [power.assign(power * beta, use_locking=self._use_locking)
                          for power, beta in ((beta1_power, self._beta1_t), (beta2_power, self._beta2_t))]
        return control_flow_ops.group(*update_ops + powers, name=name_scope)
