"""Variables as tf.contrib makes them, with `arg_scope` and collections, and where to find them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.device import DeviceSpec
from tfsandbox.framework.graph import Graph, GraphKeys
from tfsandbox.framework.operation import Operation
from tfsandbox.ops import variable_scope
from tfsandbox.ops.variables import VariableAggregation, VariableSynchronization
from tfsandbox.training import training_util
from tfsandbox.util.arg_scoping import add_arg_scope

assert_global_step = training_util.assert_global_step
create_global_step = training_util.create_global_step
get_global_step = training_util.get_global_step
get_or_create_global_step = training_util.get_or_create_global_step


def assert_or_get_global_step(graph: Graph | None = None, global_step_tensor: Any = None) -> Any:
    """The global step given, checked, or else that of the graph (None if it has none)."""
    if global_step_tensor is None:
        return training_util.get_global_step(graph)
    training_util.assert_global_step(global_step_tensor)
    return global_step_tensor


# ------------------------------------------------------------ making variables


def global_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                    use_resource: bool | None = None) -> Any:
    """A variable that is saved but not trained."""
    return variable_scope.variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                                   validate_shape=validate_shape, name=name, use_resource=use_resource)


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                   use_resource: bool | None = None) -> Any:
    """A variable that is neither trained nor saved."""
    return variable_scope.variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                                   validate_shape=validate_shape, name=name, use_resource=use_resource)


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
             trainable: bool = True, collections: Any = None, caching_device: Any = None, device: Any = None,
             partitioner: Any = None, custom_getter: Any = None, use_resource: bool | None = None,
             synchronization: VariableSynchronization = VariableSynchronization.AUTO,
             aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
    """`tf.get_variable` with a `device`; `custom_getter(name, ...)` is called in its place."""
    kept = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(dict.fromkeys(collections))
    getter: Any = variable_scope.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=variable_scope.get_variable_scope().reuse)
    with ops.device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      trainable=trainable, collections=kept, caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource, synchronization=synchronization, aggregation=aggregation)


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                   regularizer: Any = None, trainable: bool = True, collections: Any = None,
                   caching_device: Any = None, device: Any = None, partitioner: Any = None, custom_getter: Any = None,
                   use_resource: bool | None = None,
                   synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                   aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
    """`variable` that is also one of the graph's MODEL_VARIABLES: those that inference needs."""
    kept = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                    trainable=trainable, collections=kept, caching_device=caching_device, device=device,
                    partitioner=partitioner, custom_getter=custom_getter, use_resource=use_resource,
                    synchronization=synchronization, aggregation=aggregation)


def add_model_variable(var: Any) -> None:
    """Make a variable one of the graph's MODEL_VARIABLES."""
    if var not in ops.get_collection(GraphKeys.MODEL_VARIABLES):
        ops.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


class VariableDeviceChooser:
    """A device function that deals variables out over the tasks of a job, in turn."""

    def __init__(self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0,
                 replica: int | None = None) -> None:
        self._num_tasks, self._job_name, self._replica = num_tasks, job_name, replica
        self._device_type, self._device_index = device_type, device_index
        self._next_task = 0

    def __call__(self, op: Operation) -> str:
        """The device of the next variable."""
        spec = DeviceSpec(replica=self._replica, device_type=self._device_type, device_index=self._device_index)
        if self._num_tasks > 0:
            spec.job, spec.task = self._job_name, self._next_task
            self._next_task = (self._next_task + 1) % self._num_tasks
        return spec.to_string()


# ------------------------------------------------------------ finding variables


def get_variables(scope: Any = None, suffix: str | None = None, collection: Any = GraphKeys.GLOBAL_VARIABLES) -> list[
        Any]:
    """The variables of a collection whose names match `scope` from the start, and end in `suffix`.

    `scope` is a regular expression or a variable scope.
    """
    if isinstance(scope, variable_scope.VariableScope):
        scope = scope.name
    if suffix is not None:
        # Names end in their output's number.
        suffix = suffix if ":" in suffix else suffix + ":0"
        scope = f"{scope or ''}.*{suffix}"
    return ops.get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of MODEL_VARIABLES."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of LOCAL_VARIABLES."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """`get_variables` of TRAINABLE_VARIABLES."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables with that name, in any scope."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The global variables in the scopes of `include` (default: all), without those in the scopes of `exclude`.

    Raises `TypeError` where a scope is given alone, not in a list.
    """
    for argument, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{argument} is provided but is not a list or a tuple.")
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    left_out = {v for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if v not in left_out]


def get_unique_variable(var_op_name: str) -> Any:
    """The global variable of exactly that name; `ValueError` where there is none."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variable_full_name(var: Any) -> str:
    """The name that a checkpoint has the variable under: for a part, that of the whole."""
    part = var._get_save_slice_info() if hasattr(var, "_get_save_slice_info") else None
    return part.full_name if part else var.op.name


def filter_variables(var_list: Iterable[Any], include_patterns: Sequence[str] | None = None,
                     exclude_patterns: Sequence[str] | None = None, reg_search: bool = True) -> list[Any]:
    """The variables whose names match one of `include_patterns` (if any) and none of `exclude_patterns`.

    The patterns match anywhere in the name, or with `reg_search=False` from its start.
    """
    match = re.search if reg_search else re.match

    def matches(patterns: Iterable[str], var: Any) -> bool:
        return any(match(pattern, var.op.name) for pattern in patterns)

    return [v for v in var_list if (not include_patterns or matches(include_patterns, v))
            and not matches(exclude_patterns or (), v)]
