"""The store behind get_variable: a graph's variables by name, made where missing and shared where asked."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, init_ops, partitioned_variables
from tfsandbox.ops.variables import SaveSliceInfo, Variable, VariableAggregation, VariableSynchronization


class VariableStore:
    """The variables of one graph that get_variable made, by name."""

    def __init__(self) -> None:
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, Any] = {}

    def get_variable(self, name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                     regularizer: Any = None, reuse: Any = None, trainable: bool | None = None,
                     collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                     validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                     constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
                     aggregation: Any = VariableAggregation.NONE) -> Any:
        """The variable of that name, or a new one; see the module's `get_variable`."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        dtype = dtypes.as_dtype(dtype).base_dtype
        kwargs = dict(name=name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                      reuse=reuse, trainable=trainable, collections=collections, caching_device=caching_device,
                      partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
                      synchronization=synchronization, aggregation=aggregation)
        if custom_getter is None:
            return self._get(**kwargs, constraint=constraint)
        if _takes(custom_getter, "constraint"):
            kwargs["constraint"] = constraint
        return custom_getter(getter=self._get, **kwargs)

    def _get(self, name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
             regularizer: Any = None, reuse: Any = None, trainable: bool | None = None, collections: Any = None,
             caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
             use_resource: bool | None = None, constraint: Any = None,
             synchronization: Any = VariableSynchronization.AUTO, aggregation: Any = VariableAggregation.NONE) -> Any:
        """What a custom getter calls in the end."""
        common = dict(shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
                      trainable=trainable, collections=collections, caching_device=caching_device,
                      validate_shape=validate_shape, constraint=constraint, synchronization=synchronization,
                      aggregation=aggregation)
        scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with ops.name_scope(None):
                return self._get_partitioned(name, partitioner, **common)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self._get_partitioned(name, None, **common)
        if f"{name}/part_0" in self._vars:
            raise ValueError(f"No partitioner was provided, but a partitioned version of the variable was found: "
                             f"{name}/part_0. Perhaps a variable of the same name was already created with "
                             f"partitioning?")
        return self._get_single(name, **common)

    def _get_single(self, name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                    regularizer: Any = None, partition_info: Any = None, reuse: Any = None,
                    trainable: bool | None = None, collections: Any = None, caching_device: Any = None,
                    validate_shape: bool = True, constraint: Any = None,
                    synchronization: Any = VariableSynchronization.AUTO,
                    aggregation: Any = VariableAggregation.NONE) -> Any:
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype = dtypes.as_dtype(dtype)
        shape = TensorShape(shape)
        if name in self._vars:
            found = self._vars[name]
            if reuse is False or reuse is None:
                raise ValueError(
                    f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                    f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n"
                    f"{''.join(traceback.format_list([tuple(f) for f in found.op.traceback]))}")
            if not shape.is_compatible_with(found.get_shape()):
                raise ValueError(f"Trying to share variable {name}, but specified shape {shape} and found shape "
                                 f"{found.get_shape()}.")
            if not dtype.is_compatible_with(found.dtype):
                raise ValueError(f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                                 f"{found.dtype.name}.")
            return found
        if reuse is True:
            raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
                             f"mean to set reuse=tf.AUTO_REUSE in VarScope?")
        if initializer is None:
            initializer = self._default_initializer(name, dtype)
        with ops.init_scope():
            if not from_value:
                initial_value = _initial_value(initializer, shape, dtype, partition_info)
                variable_dtype = None
                if not _without_arguments(initializer, shape):
                    variable_dtype = dtype.base_dtype
            else:
                initial_value, variable_dtype = initializer, None
        made = Variable(initial_value=initial_value, name=name, trainable=trainable, collections=collections,
                        caching_device=caching_device, dtype=variable_dtype, validate_shape=validate_shape,
                        constraint=constraint, synchronization=synchronization, aggregation=aggregation)
        self._vars[name] = made
        if regularizer:
            with ops.colocate_with(made), ops.name_scope(name + "/Regularizer/"), ops.init_scope():
                loss = regularizer(made)
                if loss is not None:
                    ops.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return made

    def _default_initializer(self, name: str, dtype: dtypes.DType) -> Any:
        if dtype.is_floating:
            return init_ops.glorot_uniform_initializer()
        if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
            return init_ops.zeros_initializer()
        raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype!s} is required")

    def _get_partitioned(self, name: str, partitioner: Any, shape: Any = None, dtype: Any = dtypes.float32,
                         initializer: Any = None, regularizer: Any = None, reuse: Any = None, **options: Any) -> Any:
        shape = TensorShape(shape)
        if name in self._partitioned_vars:
            if not reuse:
                raise ValueError(f"Partitioned variable with name {name} already exists. Did you mean to set "
                                 f"reuse=True or reuse=tf.AUTO_REUSE in VarScope?")
            found = self._partitioned_vars[name]
            if not shape.is_compatible_with(found.get_shape()):
                raise ValueError(f"Trying to reuse partitioned variable {name}, but specified shape {shape} and "
                                 f"found shape {found.get_shape()}.")
            if not dtypes.as_dtype(dtype).is_compatible_with(found.dtype):
                raise ValueError(f"Trying to reuse partitioned variable {name}, but specified dtype "
                                 f"{dtypes.as_dtype(dtype).name} and found dtype {found.dtype.name}.")
            return found
        if reuse is True:
            raise ValueError(f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). "
                             f"Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?")
        from_value = initializer is not None and not callable(initializer)
        if from_value:
            initializer = ops.convert_to_tensor(initializer)
            shape = initializer.get_shape()
        if not shape.is_fully_defined():
            raise ValueError(f"Shape of a new partitioned variable ({name}) must be fully defined, but instead was "
                             f"{shape}.")
        if not shape.ndims:
            raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
        partitions = partitioned_variables.checked_partitions(partitioner, shape, dtypes.as_dtype(dtype))
        if initializer is None:
            initializer = self._default_initializer(name, dtypes.as_dtype(dtype))
        parts = []
        for i, (offset, part_shape) in enumerate(partitioned_variables.slices(shape.as_list(), partitions)):
            info = partitioned_variables.PartitionInfo(shape.as_list(), offset)
            part_name = f"{name}/part_{i}"
            if from_value:
                with ops.name_scope(f"{part_name}/PartitionedInitializer"):
                    part_value = array_ops.slice(initializer, offset, part_shape)
                part = self._get_single(part_name, dtype=dtype, initializer=part_value, regularizer=regularizer,
                                        reuse=reuse, **options)
            else:
                part = self._get_single(part_name, shape=part_shape, dtype=dtype, initializer=initializer,
                                        partition_info=info, regularizer=regularizer, reuse=reuse, **options)
            part._set_save_slice_info(SaveSliceInfo(name, shape.as_list(), offset, part_shape))
            parts.append(part)
        made = partitioned_variables.PartitionedVariable(name, shape, parts[0].dtype.base_dtype, parts, partitions)
        self._partitioned_vars[name] = made
        return made


def _takes(function: Any, argument: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return argument in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _without_arguments(initializer: Any, shape: TensorShape) -> bool:
    """Whether an initializer is a function that needs no shape, and none is known to give it."""
    if inspect.isclass(initializer) or shape.is_fully_defined():
        return False
    try:
        parameters = inspect.signature(initializer).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def _initial_value(initializer: Any, shape: TensorShape, dtype: dtypes.DType, partition_info: Any) -> Any:
    """The function of no arguments that gives a new variable's initial value."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        if _takes(initializer, "partition_info") or partition_info is not None:
            return lambda: initializer(shape.as_list(), dtype=dtype, partition_info=partition_info)
        return lambda: initializer(shape.as_list(), dtype=dtype)
    if _without_arguments(initializer, shape):
        return initializer
    raise ValueError("The initializer passed is not valid. It should be a callable with no arguments and the shape "
                     "should not be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully "
                     "defined.")
