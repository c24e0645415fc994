"""Moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import control_flow_ops, init_ops, math_ops, state_ops, variable_scope, variables
from tfsandbox.training import slot_creator

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


def assign_moving_average(variable: Any, value: Any, decay: Any, zero_debias: bool = True,
                          name: str | None = None) -> Any:
    """A node that moves `variable` towards `value`: variable -= (1 - decay) * (variable - value).

    `zero_debias`: the average began at zero; divide by 1 - decay^t, so that early values are not too small (Kingma and
    Ba, 2015, section 3). The undivided average and the count t are variables `biased` and `local_step` beside it.
    """
    with ops.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rest = ops.convert_to_tensor(1.0 - decay, name="decay")
        if rest.dtype != variable.dtype.base_dtype:
            rest = math_ops.cast(rest, variable.dtype.base_dtype)
        if zero_debias:
            return _zero_debias(variable, value, rest, scope)
        return state_ops.assign_sub(variable, (variable - value) * rest, name=scope)


def _zero_debias(unbiased: Any, value: Any, rest: Tensor, scope: str) -> Any:
    with variable_scope.variable_scope(unbiased.op.name, values=[unbiased, value, rest]), \
            ops.colocate_with(unbiased), ops.init_scope():
        biased = variable_scope.get_variable(
            _unused("biased"), shape=unbiased.get_shape(), initializer=init_ops.zeros_initializer(),
            dtype=unbiased.dtype.base_dtype, trainable=False)
        local_step = variable_scope.get_variable(
            _unused("local_step"), shape=[], dtype=unbiased.dtype.base_dtype,
            initializer=init_ops.zeros_initializer(), trainable=False)
    moved = state_ops.assign_sub(biased, (biased - value) * rest)
    steps = local_step.assign_add(1.0)
    share = 1 - math_ops.pow(1.0 - rest, steps)
    return state_ops.assign(unbiased, moved / share, name=scope)


def _unused(name: str) -> str:
    """The name, or with a number where the current variable scope has a variable of that name already."""
    scope = variable_scope.get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    full = f"{scope.name}/{name}" if scope.name else name
    if full not in taken:
        return name
    number = 1
    while f"{full}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def weighted_moving_average(value: Any, decay: Any, weight: Any, truediv: bool = True, collections: Any = None,
                            name: str | None = None) -> Tensor:
    """The moving average of value * weight, divided by that of weight."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope.variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        weighted = variable_scope.get_variable(
            "value_x_weight", shape=value.get_shape(), dtype=value.dtype, initializer=init_ops.zeros_initializer(),
            trainable=False, collections=collections)
        weights = variable_scope.get_variable(
            "weight", shape=weight.get_shape(), dtype=weight.dtype, initializer=init_ops.zeros_initializer(),
            trainable=False, collections=collections)
        numerator = assign_moving_average(weighted, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        divide = math_ops.truediv if truediv else math_ops.div
        return divide(numerator, denominator, name=scope.name)


class ExponentialMovingAverage:
    """Keeps moving averages of variables, in variables beside them: average -= (1 - decay) * (average - value).

    `num_updates`: a step count that lowers the decay at the start, to min(decay, (1 + n) / (10 + n)). `zero_debias`
    corrects averages of tensors for beginning at zero; those of variables begin at the variable.
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = "ExponentialMovingAverage") -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """An operation that updates the averages of `var_list` (default: all trainable variables); makes them if new.

        Raises `TypeError` for what is not floating point.
        """
        chosen = variables.trainable_variables() if var_list is None else list(var_list)
        from_zero = set()
        for var in chosen:
            if var.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if var in self._averages:
                continue
            with ops.init_scope():
                if isinstance(var, variables.Variable):
                    average = slot_creator.create_slot(var, var.initialized_value(), self.name,
                                                       colocate_with_primary=True)
                    ops.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                else:
                    average = slot_creator.create_zeros_slot(
                        var, self.name, colocate_with_primary=var.op.type in _VARIABLE_OPS)
                    if self._zero_debias:
                        from_zero.add(average)
            self._averages[var] = average
        with ops.name_scope(self.name) as scope:
            decay = ops.convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                count = math_ops.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = math_ops.minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [assign_moving_average(self._averages[var], var, decay,
                                             zero_debias=self._averages[var] in from_zero) for var in chosen]
            return control_flow_ops.group(*updates, name=scope)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of that variable, also before it exists: for restoring averages in place of variables."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """{name in the checkpoint: variable} for a Saver that restores averages, where there are any, to the variables.

        `moving_avg_variables`: whose averages; default: the trainable variables and those with averages.
        """
        if moving_avg_variables is None:
            averaged = set(variables.trainable_variables()) | set(variables.moving_average_variables())
        else:
            averaged = set(moving_avg_variables)
        name_map = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for v in variables.global_variables():
            if v.name not in names and v.op.name not in name_map:
                name_map[v.op.name] = v
        return name_map
