"""Values for variables, from a checkpoint or from arrays: an operation with its feeds, or a function of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfsandbox.contrib.framework.variables import get_unique_variable, get_variable_full_name
from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, control_flow_ops
from tfsandbox.platform import tf_logging
from tfsandbox.training import checkpoint_utils
from tfsandbox.training import saver as saver_lib

Feeds = dict[Tensor, np.ndarray]


def _assigned(var: Any, value: np.ndarray, ops_made: list[Any], feeds: Feeds) -> None:
    """Add the node that assigns a fed value to a variable."""
    placeholder = array_ops.placeholder(dtype=var.dtype.base_dtype, shape=var.get_shape(),
                                        name="placeholder/" + var.op.name)
    ops_made.append(var.assign(placeholder))
    feeds[placeholder] = value


def assign_from_checkpoint(model_path: Any, var_list: Any, ignore_missing_vars: bool = False) -> tuple[
        Operation, Feeds]:
    """(operation, feed_dict): running it gives the variables their values in a checkpoint, as they are now.

    `var_list` is a list of variables, or {name in the checkpoint: variable, or the list of its parts}.

    Raises `ValueError` for what the checkpoint does not have (unless `ignore_missing_vars`) or has in another shape.
    """
    grouped: dict[str, list[Any]] = {}
    if isinstance(var_list, dict):
        grouped = {name: list(v) if isinstance(v, (list, tuple)) else [v] for name, v in var_list.items()}
    else:
        for var in var_list:
            grouped.setdefault(get_variable_full_name(var), []).append(var)
    reader = checkpoint_utils.load_checkpoint(model_path)
    ops_made: list[Any] = []
    feeds: Feeds = {}
    for name, parts in grouped.items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            tf_logging.warning(message)
            continue
        value = np.asarray(reader.get_tensor(name))
        for var in parts:
            _assigned(var, _part_of(var, value, name), ops_made, feeds)
    return control_flow_ops.group(*ops_made), feeds


def _part_of(var: Any, value: np.ndarray, name: str) -> np.ndarray:
    """What of a checkpoint's value belongs to the variable: all, or its slice."""
    part = var._get_save_slice_info()
    if part is not None:
        return value[tuple(slice(begin, begin + size) for begin, size in zip(part.var_offset, part.var_shape))]
    shape = tuple(var.get_shape().as_list())
    if shape != value.shape:
        raise ValueError(f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: "
                         f"[{shape}]")
    return value


def assign_from_checkpoint_fn(model_path: Any, var_list: Any, ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Callable[[Any], None] | None:
    """A function of a session that restores the variables from a checkpoint; None where there is nothing to restore.

    `var_list` is a list of variables or {name in the checkpoint: variable}. `reshape_variables`: shapes may differ.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        var_list = _available(model_path, var_list)
    if not var_list:
        tf_logging.warning("No Variables to restore")
        return None
    saver = saver_lib.Saver(var_list, reshape=reshape_variables)

    def callback(session: Any) -> None:
        saver.restore(session, model_path)

    return callback


def _available(model_path: Any, var_list: Any) -> dict[str, Any]:
    """What of `var_list` the checkpoint has."""
    reader = checkpoint_utils.load_checkpoint(model_path)
    named = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
    available = {}
    for name, var in named.items():
        if reader.has_tensor(name):
            available[name] = var
        else:
            tf_logging.warning("Variable %s missing in checkpoint %s", name, model_path)
    return available


def assign_from_values(var_names_to_values: Mapping[str, np.ndarray]) -> tuple[Operation, Feeds]:
    """(operation, feed_dict): running it gives the global variables of these names these values.

    Raises `ValueError` for a name that no variable has.
    """
    ops_made: list[Any] = []
    feeds: Feeds = {}
    for name, value in var_names_to_values.items():
        found = ops.get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise ValueError(f"Variable {name} wasn't found")
        # The name may begin others' names too.
        var = get_unique_variable(name) if len(found) > 1 else found[0]
        _assigned(var, np.reshape(value, var.get_shape().as_list()), ops_made, feeds)
    return control_flow_ops.group(*ops_made), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, np.ndarray]) -> Callable[[Any], None]:
    """A function of a session that gives the global variables of these names these values."""
    assign, feeds = assign_from_values(var_names_to_values)

    def callback(session: Any) -> None:
        session.run(assign, feeds)

    return callback
