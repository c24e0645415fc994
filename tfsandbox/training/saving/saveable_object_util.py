"""From variables to what a Saver writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import state_ops, variables
from tfsandbox.training.saving import saveable_object

_VARIABLE_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", "ReadVariableOp")


class ReferenceVariableSaveable(saveable_object.SaveableObject):
    """A variable, or a slice of a larger one."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [saveable_object.SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: list[Any], restored_shapes: list[Any] | None) -> Any:
        restored = restored_tensors[0]
        if restored_shapes is not None:
            from tfsandbox.ops import array_ops
            restored = array_ops.reshape(restored, restored_shapes[0])
        return state_ops.assign(self.op, restored, validate_shape=restored_shapes is None and
                                self.op.get_shape().is_fully_defined())


def saveable_objects_for_op(op: Any, name: str) -> Iterator[saveable_object.SaveableObject]:
    """The saveable objects of one entry of a Saver's dictionary."""
    if not isinstance(name, str):
        raise TypeError(f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not "
                        f"a string: {name}")
    if isinstance(op, saveable_object.SaveableObject):
        yield op
    elif isinstance(op, (list, tuple)) or hasattr(op, "_get_variable_list"):
        yield from _slices(list(op), name)
    else:
        tensor = ops.convert_to_tensor(op, as_ref=True)
        if not is_variable_tensor(tensor):
            raise TypeError(f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
                            f"variable: {tensor}")
        yield ReferenceVariableSaveable(tensor, "", name)


def _slices(parts: list[Any], name: str) -> Iterator[saveable_object.SaveableObject]:
    whole = None
    for variable in parts:
        if not isinstance(variable, variables.Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if whole is None:
            whole = info.full_name
        elif whole != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {whole} != {info.full_name}")
        yield ReferenceVariableSaveable(variable, info.spec, name)


def is_variable_tensor(tensor: Tensor) -> bool:
    """Whether a tensor is a variable's storage."""
    return tensor.op.type in _VARIABLE_OPS


def op_list_to_dict(op_list: Iterable[Any]) -> dict[str, Any]:
    """{name in the checkpoint: variable, list of slices or saveable object}."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    result: dict[str, Any] = {}

    def add(name: str, value: Any) -> None:
        if name in result:
            raise ValueError(f"At least two variables have the same name: {name}")
        result[name] = value

    for var in sorted(op_list, key=lambda item: item.name):
        if isinstance(var, saveable_object.SaveableObject):
            add(var.name, var)
        elif hasattr(var, "_get_variable_list"):
            add(var.name, list(var))
        elif isinstance(var, variables.Variable) and (info := var._get_save_slice_info()):
            name = str(info.full_name)
            if name not in result:
                result[name] = [var]
            elif isinstance(result[name], list):
                result[name].append(var)
            else:
                raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
        else:
            tensor = ops.convert_to_tensor(var, as_ref=True)
            if not is_variable_tensor(tensor):
                raise TypeError(f"Variable to save is not a Variable: {tensor}")
            add(tensor.op.name, tensor)
    return result


def validate_and_slice_inputs(names_to_saveables: Any) -> list[saveable_object.SaveableObject]:
    """The saveable objects of a Saver's variables, by name."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    found: list[saveable_object.SaveableObject] = []
    seen: set[Any] = set()
    for name, op in sorted(names_to_saveables.items()):
        for saveable in saveable_objects_for_op(op, name):
            if saveable.op in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(saveable.op)
            found.append(saveable)
    return found
