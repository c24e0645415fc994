"""Slots: variables that an optimizer or a moving average keeps beside a variable, named after it."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, init_ops, variable_scope, variables


def _create_slot_var(primary: Any, val: Any, scope: str, validate_shape: bool, shape: Any, dtype: Any) -> Any:
    """The slot variable, made in the current variable scope, as the variable `scope` in it ("": the scope itself)."""
    # The slot is never cut into parts or regularised, whatever the scopes around it say.
    current = variable_scope.get_variable_scope()
    partitioner, regularizer = current.partitioner, current.regularizer
    current.set_partitioner(None)
    current.set_regularizer(None)
    try:
        slot = variable_scope.get_variable(scope, initializer=val, trainable=False, shape=shape, dtype=dtype,
                                           validate_shape=validate_shape)
    finally:
        current.set_partitioner(partitioner)
        current.set_regularizer(regularizer)
    info = primary._get_save_slice_info() if isinstance(primary, variables.Variable) else None
    if info is not None:
        # A slot of a part of a variable is the same part of the slot of the whole.
        slot_name = slot.name[len(primary.op.name + "/"):-2]
        slot._set_save_slice_info(variables.SaveSliceInfo(
            f"{info.full_name}/{slot_name}", info.full_shape, info.var_offset, info.var_shape))
    return slot


def _scope_name(primary: Any, name: str) -> str:
    return f"{primary.op.name}/{name}"


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot called `name` of the variable or tensor `primary`, with the initial value `val`."""
    validate_shape = val.get_shape().is_fully_defined() if hasattr(val, "get_shape") else True
    with variable_scope.variable_scope(None, _scope_name(primary, name)):
        if colocate_with_primary:
            with ops.colocate_with(primary):
                return _create_slot_var(primary, val, "", validate_shape, None, None)
        return _create_slot_var(primary, val, "", validate_shape, None, None)


def create_slot_with_initializer(primary: Any, initializer: Any, shape: Any, dtype: Any, name: str,
                                 colocate_with_primary: bool = True) -> Any:
    """A slot whose initial value an initializer makes."""
    validate_shape = TensorShape(shape).is_fully_defined()
    with variable_scope.variable_scope(None, _scope_name(primary, name)):
        if colocate_with_primary:
            with ops.colocate_with(primary):
                return _create_slot_var(primary, initializer, "", validate_shape, shape, dtype)
        return _create_slot_var(primary, initializer, "", validate_shape, shape, dtype)


def create_zeros_slot(primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True) -> Any:
    """A slot of zeros, of the shape of `primary`."""
    dtype = (primary.dtype if dtype is None else dtypes.as_dtype(dtype)).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, init_ops.zeros_initializer(), shape, dtype, name,
                                            colocate_with_primary=colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, variables.Variable) else primary
    zeros = array_ops.zeros(array_ops.shape(value), dtype=dtype)
    return create_slot(primary, zeros, name, colocate_with_primary=colocate_with_primary)
