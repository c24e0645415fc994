"""Variable: a node that holds a value from run to run, and the functions over the variables of a graph.

There is one kind of variable, TensorFlow 1's reference variable. `use_resource=True` is accepted everywhere and gives
the same one: in a session that runs one step at a time the two kinds cannot be told apart by their values.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.conversion import register_tensor_conversion_function
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, control_flow_ops, initial_values, slicing, state_ops
from tfsandbox.ops.variable_collections import (  # noqa: F401
    _all_saveable_objects,
    all_variables,
    assert_variables_initialized,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)
from tfsandbox.ops.variable_creators import CreatedInScopes, variable_creator_scope

__all__ = [
    "Variable", "VariableAggregation", "VariableSynchronization", "all_variables", "assert_variables_initialized",
    "global_variables", "global_variables_initializer", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "is_variable_initialized", "local_variables", "local_variables_initializer",
    "model_variables", "moving_average_variables", "report_uninitialized_variables", "trainable_variables",
    "variable_creator_scope", "variables_initializer",
]


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several devices are brought together. Here there is one device."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How copies of a variable on several devices are brought together. Here there is one device."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


class SaveSliceInfo:
    """Which slice of a larger, partitioned variable a variable is: how a checkpoint stores it."""

    def __init__(self, full_name: str | None = None, full_shape: Sequence[int] | None = None,
                 var_offset: Sequence[int] | None = None, var_shape: Sequence[int] | None = None,
                 save_slice_info_def: Any = None, import_scope: str | None = None) -> None:
        if save_slice_info_def is not None:
            full_name = ops.prepend_name_scope(save_slice_info_def.full_name, import_scope)
            full_shape = list(save_slice_info_def.full_shape)
            var_offset = list(save_slice_info_def.var_offset)
            var_shape = list(save_slice_info_def.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """As a checkpoint names it: the full shape, then `offset,length` for every axis, joined by colons."""
        assert self.full_shape is not None and self.var_offset is not None and self.var_shape is not None
        full = " ".join(str(d) for d in self.full_shape) + " "
        return full + ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape))

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaveSliceInfoDef message; None for a variable outside `export_scope`."""
        from tfsandbox.proto import variable_pb2
        assert self.full_name is not None
        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        return variable_pb2.SaveSliceInfoDef(
            full_name=ops.strip_name_scope(self.full_name, export_scope), full_shape=list(self.full_shape or []),
            var_offset=list(self.var_offset or []), var_shape=list(self.var_shape or []))


class Variable(metaclass=CreatedInScopes):
    """A value that lives in a session from run to run.

    `Variable(initial_value)` adds four nodes: the initial value, the variable, the assignment of one to the other
    (`initializer`), and the node that reads it (`value()`). It must be initialised in a session before it is read,
    usually by `tf.global_variables_initializer()`.

    Args: `initial_value`, anything convertible to a tensor, or a function of no arguments giving that; `trainable`:
    whether optimizers change it (default true); `collections`: default `[GraphKeys.GLOBAL_VARIABLES]`;
    `validate_shape=False`: later values may have other shapes; `constraint`: a function applied to the value after an
    optimizer's update. `expected_shape` is ignored, as in TensorFlow.

    Raises `ValueError` where the initial value is missing or has no fully defined shape.
    """

    __array_priority__ = 100

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, expected_shape: Any = None,
                 import_scope: str | None = None, constraint: Callable[[Any], Any] | None = None,
                 use_resource: bool | None = None,
                 synchronization: VariableSynchronization | None = VariableSynchronization.AUTO,
                 aggregation: VariableAggregation | None = VariableAggregation.NONE, shape: Any = None) -> None:
        self._save_slice_info: SaveSliceInfo | None = None
        self._initial_value: Any = None
        self._synchronization = synchronization or VariableSynchronization.AUTO
        self._aggregation = aggregation or VariableAggregation.NONE
        self._constraint = constraint
        self._caching_device = caching_device
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._take_from_graph(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(f"collections argument to Variable constructor must be a list, tuple, or set. Got "
                             f"{collections} of type {type(collections)}")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        if trainable is None:
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        elif trainable and self._synchronization is VariableSynchronization.ON_READ:
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for "
                             "non-trainable variables. You have specified trainable=True and "
                             "synchronization=VariableSynchronization.ON_READ.")
        self._trainable = trainable
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = [*collections, GraphKeys.TRAINABLE_VARIABLES]
        with ops.init_scope():
            self._build(initial_value, validate_shape, name, None if dtype is None else dtypes.as_dtype(dtype), shape)
        ops.add_to_collections(collections, self)

    def _build(self, initial_value: Any, validate_shape: bool, name: str | None, dtype: dtypes.DType | None,
               shape: Any) -> None:
        """Add the variable's nodes to the graph."""
        graph = get_default_graph()
        from_function = callable(initial_value)
        with ops.name_scope(name, "Variable", [] if from_function else [initial_value]) as scope:
            own_name = ops.name_from_scope_name(scope)
            if from_function:
                # The function's nodes belong beside the variable, which is not there yet: name it in advance.
                with graph._attr_scope({"_class": [b"loc:@" + own_name.encode()]}):
                    with ops.name_scope("Initializer"), graph.device(None):
                        value = ops.convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                    self._variable = self._variable_node(value, validate_shape, scope, shape)
            else:
                value = ops.convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
                if value.op._control_flow_context is not None:
                    raise ValueError(f"Initializer for variable {scope} is from inside a control-flow construct, such "
                                     "as a loop or conditional. When creating a variable inside a loop or conditional, "
                                     "use a lambda as the initializer.")
                self._variable = self._variable_node(value, validate_shape, scope, shape)
            if shape is None and validate_shape and not value.get_shape().is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {value}")
            self._initial_value = value
            guarded = initial_values.without_uninitialized_reads(value, own_name)
            self._initializer_op: Operation = state_ops.assign(
                self._variable, guarded, validate_shape=validate_shape).op
            if self._caching_device is not None:
                with graph.device(self._caching_device):
                    self._snapshot = array_ops.identity(self._variable, name="read")
            else:
                with graph.colocate_with(self._variable.op):
                    self._snapshot = array_ops.identity(self._variable, name="read")

    @staticmethod
    def _variable_node(value: Tensor, validate_shape: bool, name: str, shape: Any) -> Tensor:
        if shape is None:
            shape = value.get_shape() if validate_shape else TensorShape(None)
        return state_ops.variable_op_v2(TensorShape(shape), value.dtype.base_dtype, name=name)

    # ------------------------------------------------------------ value and nodes

    def value(self) -> Tensor:
        """The tensor that reads the variable; using the variable as a tensor means this."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """A new node that reads the variable: at its place among control dependencies."""
        return array_ops.identity(self._variable, name="read")

    def _ref(self) -> Tensor:
        """The reference: what ops that change the variable take."""
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    @property
    def initial_value(self) -> Tensor:
        """The tensor given as initial value."""
        return self._initial_value

    def initialized_value(self) -> Tensor:
        """The variable's value where it is initialised, else its initial value: for other initial values to use."""
        with ops.init_scope():
            return control_flow_ops.cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    @property
    def initializer(self) -> Operation:
        """The operation that assigns the initial value."""
        return self._initializer_op

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.name[:-2]

    @property
    def dtype(self) -> dtypes.DType:
        """The `_ref` type of the value."""
        return self._variable.dtype

    @property
    def op(self) -> Operation:
        """The variable's node."""
        return self._variable.op

    @property
    def graph(self) -> Graph:
        return self._variable.graph

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.get_shape()

    def get_shape(self) -> TensorShape:
        """Alias of `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the static shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function applied to the value after an optimizer's update, or None."""
        return self._constraint

    def eval(self, session: Any = None) -> Any:
        """The value in the given or the default session."""
        return self._variable.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value in a session, without adding a node."""
        session = session or ops.get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self._initializer_op, {self._initializer_op.inputs[1]: value})

    # ------------------------------------------------------------ changes

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Node that sets the value. `read_value=False` gives the operation in place of the new value."""
        result = state_ops.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Node that adds to the value."""
        result = state_ops.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Node that subtracts from the value."""
        result = state_ops.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def _scatter(self, function: Callable[..., Any], slices: Any, use_locking: bool, name: str | None) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise ValueError(f"sparse_delta is not IndexedSlices: {slices}")
        return function(self._variable, slices.indices, slices.values, use_locking=use_locking, name=name)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that adds IndexedSlices."""
        return self._scatter(state_ops.scatter_add, sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that subtracts IndexedSlices."""
        return self._scatter(state_ops.scatter_sub, sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that multiplies rows by IndexedSlices."""
        return self._scatter(state_ops.scatter_mul, sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that divides rows by IndexedSlices."""
        return self._scatter(state_ops.scatter_div, sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that takes the maximum of rows and IndexedSlices."""
        return self._scatter(state_ops.scatter_max, sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that takes the minimum of rows and IndexedSlices."""
        return self._scatter(state_ops.scatter_min, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Any:
        """Node that replaces rows by IndexedSlices."""
        return self._scatter(state_ops.scatter_update, sparse_delta, use_locking, name)

    def batch_scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False,
                             name: str | None = None) -> Any:
        """Node that replaces rows, batch entry by batch entry."""
        return self._scatter(state_ops.batch_scatter_update, sparse_delta, use_locking, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Node that adds to the slices named by the last axis of `indices`."""
        return state_ops.scatter_nd_add(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Node that subtracts from the slices named by the last axis of `indices`."""
        return state_ops.scatter_nd_sub(self._variable, indices, updates, use_locking=True, name=name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Node that replaces the slices named by the last axis of `indices`."""
        return state_ops.scatter_nd_update(self._variable, indices, updates, use_locking=True, name=name)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Rows of the variable."""
        return array_ops.gather(self, indices, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Slices of the variable."""
        return array_ops.gather_nd(self, indices, name=name)

    def count_up_to(self, limit: int) -> Tensor:
        """Node that increments an integer variable until it reaches `limit`; gives the value before."""
        return state_ops.count_up_to(self._variable, limit=limit)

    def _strided_slice_assign(self, begin: Any, end: Any, strides: Any, value: Any, name: str | None, begin_mask: int,
                              end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> Any:
        return slicing.strided_slice_assign(
            self._ref(), begin, end, strides, value, begin_mask=begin_mask, end_mask=end_mask,
            ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask, name=name)

    # ------------------------------------------------------------ checkpoints and protobuf

    def _set_save_slice_info(self, save_slice_info: SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The VariableDef message; None for a variable outside `export_scope`."""
        from tfsandbox.proto import variable_pb2
        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None
        message = variable_pb2.VariableDef(
            variable_name=ops.strip_name_scope(self._variable.name, export_scope),
            initializer_name=ops.strip_name_scope(self.initializer.name, export_scope),
            snapshot_name=ops.strip_name_scope(self._snapshot.name, export_scope),
            trainable=self.trainable)
        message.synchronization = self.synchronization.value  # type: ignore[assignment]
        message.aggregation = self.aggregation.value  # type: ignore[assignment]
        if self._initial_value is not None:
            message.initial_value_name = ops.strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info:
            message.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope))
        return message

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """The variable whose nodes are in the default graph already, by its VariableDef."""
        return Variable(variable_def=variable_def, import_scope=import_scope)

    def _take_from_graph(self, message: Any, scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(ops.prepend_name_scope(name, scope))

        self._variable = element(message.variable_name)
        self._initializer_op = element(message.initializer_name)
        self._initial_value = element(message.initial_value_name) if message.initial_value_name else None
        self._snapshot = element(message.snapshot_name)
        self._trainable = message.trainable
        self._synchronization = VariableSynchronization(message.synchronization)
        self._aggregation = VariableAggregation(message.aggregation)
        if message.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=message.save_slice_info_def, import_scope=scope)

    # ------------------------------------------------------------ Python

    def experimental_ref(self) -> Variable:
        return self

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    __str__ = __repr__

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __getitem__(self, spec: Any) -> Tensor:
        """A slice of the value, whose `assign` changes that part of the variable."""
        return slicing.slice_helper(self.value(), spec, self)

    @staticmethod
    def _TensorConversionFunction(v: Variable, dtype: Any = None, name: str | None = None,
                                  as_ref: bool = False) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(v.dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{dtypes.as_dtype(dtype).name}' for "
                             f"variable of type '{v.dtype.name}'")
        return v._ref() if as_ref else v.value()


def _operator(name: str) -> Callable[..., Any]:
    def operate(self: Any, *others: Any) -> Any:
        return getattr(Tensor, name)(self.value(), *others)

    operate.__name__ = name
    return operate


for _name in Tensor.OVERLOADABLE_OPERATORS - {"__getitem__"}:
    setattr(Variable, _name, _operator(_name))

VariableV1 = RefVariable = Variable
Variable.SaveSliceInfo = SaveSliceInfo  # type: ignore[attr-defined]

register_tensor_conversion_function(Variable, Variable._TensorConversionFunction)


def _message_type() -> Any:
    from tfsandbox.proto import variable_pb2
    return variable_pb2.VariableDef


for _key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES,
             GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.GLOBAL_STEP,
             GraphKeys.METRIC_VARIABLES):
    ops.register_proto_function(_key, proto_type=_message_type, to_proto=Variable.to_proto,
                                from_proto=Variable.from_proto)
