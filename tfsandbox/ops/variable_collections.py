"""The variables of a graph: lists of them, and the nodes that initialise them or report on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.framework import constant_op, dtypes, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, control_flow_ops, math_ops, state_ops


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables shared by all that runs; with `scope`, those whose name matches that pattern from its start."""
    return ops.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Variables that are counters and the like, not part of the model; `scope` as in `global_variables`."""
    return ops.get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that inference needs; `scope` as in `global_variables`."""
    return ops.get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change; `scope` as in `global_variables`."""
    return ops.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables whose moving averages are kept; `scope` as in `global_variables`."""
    return ops.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Deprecated name of `global_variables`."""
    return global_variables()


def _all_saveable_objects(scope: str | None = None) -> list[Any]:
    return (ops.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
            + ops.get_collection(GraphKeys.SAVEABLE_OBJECTS, scope))


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Operation:
    """An operation that initialises the variables, all at once."""
    var_list = list(var_list)
    if var_list:
        return control_flow_ops.group(*[v.initializer for v in var_list], name=name)
    return control_flow_ops.no_op(name=name)


def global_variables_initializer() -> Operation:
    """An operation that initialises all global variables there are now."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that initialises all local variables there are now."""
    return variables_initializer(local_variables())


def initialize_variables(var_list: Iterable[Any], name: str = "init") -> Operation:
    """Deprecated name of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


def initialize_all_variables() -> Operation:
    """Deprecated name of `global_variables_initializer`."""
    return global_variables_initializer()


def initialize_local_variables() -> Operation:
    """Deprecated name of `local_variables_initializer`."""
    return local_variables_initializer()


def is_variable_initialized(variable: Any) -> Tensor:
    """bool scalar: whether the variable holds a value in the session."""
    return state_ops.is_variable_initialized(variable)


def assert_variables_initialized(var_list: Iterable[Any] | None = None) -> Tensor | None:
    """A tensor whose evaluation fails where a variable is not initialised; None without variables."""
    chosen = global_variables() + local_variables() if var_list is None else list(var_list)
    if not chosen:
        chosen = [op.outputs[0] for op in get_default_graph().get_operations()
                  if op.type in ("Variable", "VariableV2", "AutoReloadVariable")]
    if not chosen:
        return None
    ranks = []
    for variable in chosen:
        with ops.colocate_with(variable.op):
            ranks.append(array_ops.rank_internal(variable, optimize=False))
    return ranks[0] if len(ranks) == 1 else array_ops.stack(ranks)


def report_uninitialized_variables(var_list: Iterable[Any] | None = None,
                                   name: str = "report_uninitialized_variables") -> Tensor:
    """string[n]: the names of the variables that hold no value yet."""
    chosen = global_variables() + local_variables() if var_list is None else list(var_list)
    if not chosen:
        chosen = [op.outputs[0] for op in get_default_graph().get_operations()
                  if op.type in ("Variable", "VariableV2", "AutoReloadVariable")]
    with ops.name_scope(name):
        states = [state_ops.is_variable_initialized(v) for v in chosen]
        with ops.device("/cpu:0"):
            if not chosen:
                return constant_op.constant([], dtype=dtypes.string)
            missing = math_ops.logical_not(array_ops.stack(states))
            names = constant_op.constant([v.op.name for v in chosen])
            return array_ops.boolean_mask(names, missing)
