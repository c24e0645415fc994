"""Operation and Tensor: the nodes of a graph and the values on its edges."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfsandbox.framework import dtypes, errors, op_registry
from tfsandbox.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tfsandbox.framework.graph import Graph

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_frame() -> tuple[str, int, str]:
    """(file, line, function) of the nearest caller outside this package: where the program made a node."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


_uids = itertools.count()


def uid() -> int:
    """A number that nothing else in this process has: graphs and tensors take one each, as in TensorFlow."""
    return next(_uids)


class Tensor:
    """One output of an Operation: a symbolic value with a dtype and a (possibly partial) static shape."""

    __slots__ = ("_op", "_value_index", "_dtype", "_shape", "_consumers", "_id", "__weakref__", "__dict__")

    # numpy must leave `array * tensor` to Tensor.__rmul__.
    __array_priority__ = 100

    OVERLOADABLE_OPERATORS = {
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__div__", "__rdiv__", "__truediv__",
        "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__",
        "__ge__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__getitem__", "__pow__",
        "__rpow__", "__invert__", "__neg__", "__abs__", "__matmul__", "__rmatmul__",
    }

    def __init__(self, op: Operation, value_index: int, dtype: dtypes.DType) -> None:
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape = TensorShape(None)
        self._consumers: list[Operation] = []
        self._id = next(_uids)

    @property
    def op(self) -> Operation:
        """The Operation that produces this tensor."""
        return self._op

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements; a `_ref` type where this is a variable's storage."""
        return self._dtype

    @property
    def graph(self) -> Graph:
        return self._op.graph

    @property
    def name(self) -> str:
        """`op_name:output_index`."""
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        return self._op.device

    @property
    def value_index(self) -> int:
        return self._value_index

    @property
    def shape(self) -> TensorShape:
        """The static shape; what the graph alone knows."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Alias of `shape`."""
        return self._shape

    def _shape_as_list(self) -> list[int | None] | None:
        return self._shape.as_list() if self._shape.ndims is not None else None

    def set_shape(self, shape: Any) -> None:
        """Merge `shape` into the static shape; `ValueError` where they contradict each other."""
        self._shape = self._shape.merge_with(shape)

    def consumers(self) -> list[Operation]:
        """The Operations that take this tensor as an input, each once."""
        return list(dict.fromkeys(self._consumers))

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        """`session.run(self)` in the given or the default session."""
        from tfsandbox.framework import stacks
        return stacks.session_for(self.graph, session, "evaluate tensor",
                                  "`eval()`", "`eval(session=sess)`").run(self, feed_dict)

    def experimental_ref(self) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self._dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self._shape.ndims is None else f", shape={self._shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    # Equality and hash are those of object, identity, as in TensorFlow 1; tf.equal compares values.

    def __copy__(self) -> Tensor:
        return self

    def __iter__(self) -> Iterator[Any]:
        raise errors.OperatorNotAllowedInGraphError(
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager execution or decorate this "
            "function with @tf.function. (In the sandbox: take tf.unstack(tensor), or tf.map_fn over its rows.)")

    def __len__(self) -> int:
        raise TypeError(f"len is not well defined for symbolic Tensors. ({self.name}) "
                        f"Please call `x.shape` rather than `len(x)` for shape information.")

    def __bool__(self) -> bool:
        raise errors.OperatorNotAllowedInGraphError(
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager execution or decorate "
            "this function with @tf.function. (In the sandbox: `if t is not None:` tests whether a tensor is defined, "
            "tf.cond(t, ...) branches on its value.)")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array. "
                                  "Its values exist only in a run: use sess.run(tensor).")

    def _as_node_def_input(self) -> str:
        return self._op.name if self._value_index == 0 else f"{self._op.name}:{self._value_index}"

    @staticmethod
    def _override_operator(operator: str, function: Callable[..., Any]) -> None:
        setattr(Tensor, operator, function)

    if TYPE_CHECKING:
        # For type checkers: what ops/ gives to `_override_operator`.
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __div__(self, other: Any) -> Tensor: ...
        def __rdiv__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __getitem__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...


class Operation:
    """A node of a Graph. Made by `Graph.create_op`, never directly."""

    def __init__(self, graph: Graph, op_def: op_registry.OpDef, name: str, inputs: Sequence[Tensor],
                 attrs: dict[str, Any], output_types: Sequence[dtypes.DType],
                 control_inputs: Sequence[Operation]) -> None:
        self._graph = graph
        self._op_def = op_def
        self._name = name
        self._attrs = attrs
        self._inputs: tuple[Tensor, ...] = tuple(inputs)
        self._control_inputs: list[Operation] = list(control_inputs)
        self._control_outputs: list[Operation] = []
        self._outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(output_types)]
        self._device = ""
        self._control_flow_context: Any = graph._control_flow_context
        self._id_value = 0
        self._original_op: Operation | None = None
        self._frame = user_frame()

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def name(self) -> str:
        return self._name

    @property
    def type(self) -> str:
        """The op type, such as `MatMul`."""
        return self._op_def.name

    @property
    def _id(self) -> int:
        return self._id_value

    @property
    def device(self) -> str:
        return self._device

    def _set_device(self, device: Any) -> None:
        from tfsandbox.framework.device import canonical_name
        self._device = canonical_name(device)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The data inputs, in order."""
        return self._inputs

    @property
    def outputs(self) -> list[Tensor]:
        return self._outputs

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self._outputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The Operations that must run before this one."""
        return list(self._control_inputs)

    @property
    def _control_outputs_list(self) -> list[Operation]:
        return list(self._control_outputs)

    @property
    def op_def(self) -> Any:
        """The schema as an OpDef protobuf."""
        from tfsandbox.framework import graph_def
        return graph_def.op_def_to_proto(self._op_def)

    @property
    def node_def(self) -> Any:
        """This node as a NodeDef protobuf."""
        from tfsandbox.framework import graph_def
        return graph_def.node_to_proto(self)

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """Where the program made this node: (file, line, function, source line)."""
        import linecache
        file, line, function = self._frame
        return [(file, line, function, linecache.getline(file, line).strip() or None)]

    def get_attr(self, name: str) -> Any:
        """The value of an attribute: DType, TensorShape proto, int, float, bool, bytes, or lists of them.

        Raises `ValueError` where the op has no such attribute.
        """
        if name not in self._attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        value = self._attrs[name]
        attr = self._op_def.attrs.get(name)
        kind = attr.type if attr else ""
        if isinstance(value, TensorShape):
            return value.as_proto()
        if kind == "tensor":
            from tfsandbox.framework import tensor_util
            return tensor_util.ndarray_to_proto(value, self._attrs.get("dtype"))
        if kind == "list(shape)":
            return [shape.as_proto() for shape in value]
        return list(value) if isinstance(value, (list, tuple)) else value

    def _set_attr(self, name: str, value: Any) -> None:
        """Set an attribute to a plain value (see `attr_value` for what stands for what)."""
        self._attrs[name] = value
        self._graph._mutations += 1

    def _add_control_inputs(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if op not in self._control_inputs:
                self._control_inputs.append(op)
                op._control_outputs.append(self)
        self._graph._mutations += 1

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        for op in self._control_inputs:
            op._control_outputs.remove(self)
        self._control_inputs.clear()
        self._graph._mutations += 1

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Replace one data input; used where loops are closed."""
        old = self._inputs[index]
        old._consumers.remove(self)
        self._inputs = self._inputs[:index] + (tensor,) + self._inputs[index + 1:]
        tensor._consumers.append(self)
        self._graph._mutations += 1

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@name` groups this node belongs to; its own where none was given."""
        own = [b"loc:@" + self._name.encode()]
        groups = [g for g in self._attrs.get("_class", []) if g.startswith(b"loc:@")]
        return groups or own

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def _control_flow_post_processing(self) -> None:
        if self._control_flow_context is not None:
            self._control_flow_context.AddOp(self)

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """`session.run(self)` in the given or the default session."""
        from tfsandbox.framework import stacks
        stacks.session_for(self.graph, session, "execute operation", "`run()`",
                           "`run(session=sess)`").run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)
