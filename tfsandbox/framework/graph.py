"""Graph: the nodes, their unique names, and the scopes that new nodes are made under."""

from __future__ import annotations

import difflib
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tfsandbox.framework import device as device_lib
from tfsandbox.framework import dtypes, op_registry, shape_inference, stacks
from tfsandbox.framework.graph_keys import GraphKeys as GraphKeys
from tfsandbox.framework.graph_scopes import VALID_OP_NAME, ControlDependencies, Names, NameScope
from tfsandbox.framework.operation import Operation, Tensor, uid


class Graph:
    """A dataflow graph: Operations by name, in the order they were made.

    `as_default()` makes it the graph that new nodes go to. Not for use by several threads at once while it is built.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._id = uid()
        self._nodes_by_name: dict[str, Operation] = {}
        self._last_id = 0
        self._names_in_use: dict[str, int] = {}
        self._names = Names()
        self._control_dependencies_stack: list[ControlDependencies] = []
        self._control_flow_context: Any = None
        self._device_stack: list[Any] = []
        self._colocation_stack: list[tuple[Operation, int]] = []
        self._attr_scopes: dict[str, Any] = {}
        self._gradient_override_map: dict[str, str] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._seed: int | None = None
        self._finalized = False
        self._mutations = 0
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._container = ""
        self._default_original_op: Operation | None = None
        self._caches: dict[str, Any] = {}
        self._producer = 134  # TensorFlow 1.15's GraphDef version

    # ------------------------------------------------------------ default graph

    def as_default(self) -> AbstractContextManager[Graph]:
        """Context manager: new nodes of this thread go to this graph."""
        return stacks.graphs.pushed(self)

    @property
    def version(self) -> int:
        """Grows with every node."""
        return self._last_id

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Make the graph read-only: a node added afterwards raises `RuntimeError`."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def building_function(self) -> bool:
        return False

    # ------------------------------------------------------------ making nodes

    def create_op(self, op_type: str, inputs: Sequence[Tensor], dtypes: Sequence[dtypes.DType] | None = None,
                  input_types: Any = None, name: str | None = None, attrs: dict[str, Any] | None = None,
                  op_def: Any = None, compute_shapes: bool = True, compute_device: bool = True) -> Operation:
        """Add a node.

        `attrs` are plain values (see `attr_value`), defaults are filled in; `dtypes` are the output types where the
        schema leaves them open. Raises `ValueError` where the inputs' shapes contradict the op.
        """
        self._check_not_finalized()
        definition = op_registry.get(op_type)
        for value in inputs:
            if not isinstance(value, Tensor):
                raise TypeError(f"Input #{list(inputs).index(value)} is not a tensor: {value}")
            if value.graph is not self:
                raise ValueError(f"{value} is not from the passed-in graph.")
        name = name or op_type
        if name.endswith("/"):
            name = name[:-1]
        else:
            name = self.unique_name(name)
        if not VALID_OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid node name")
        full = self._fill_defaults(definition, attrs or {}, name)
        output_types = list(dtypes) if dtypes is not None else output_dtypes(definition, full)
        with self._lock:
            self._last_id += 1
            op_id = self._last_id
        control_inputs = self._control_dependencies_for(inputs)
        op = Operation(self, definition, name, inputs, full, output_types, control_inputs)
        op._id_value = op_id
        if compute_shapes:
            shape_inference.set_output_shapes(op)
        self._apply_scopes(op)
        self._attach(op)
        for level in self._control_dependencies_stack:
            level.seen.add(op)
        op._control_flow_post_processing()
        return op

    def _fill_defaults(self, definition: op_registry.OpDef, attrs: dict[str, Any], name: str) -> dict[str, Any]:
        full = {}
        for attr in definition.attrs.values():
            if attr.name in attrs:
                full[attr.name] = attrs[attr.name]
            elif attr.default is not op_registry.REQUIRED:
                full[attr.name] = attr.default
            else:
                raise ValueError(f"NodeDef missing attr '{attr.name}' from {definition!r}; NodeDef: {name}")
        for key, value in attrs.items():
            full.setdefault(key, value)
        return full

    def _attach(self, op: Operation) -> None:
        """Enter a finished node into the graph's tables."""
        self._nodes_by_name[op.name] = op
        for tensor in op._inputs:
            tensor._consumers.append(op)
        for control in op._control_inputs:
            control._control_outputs.append(op)

    def _apply_scopes(self, op: Operation) -> None:
        """Give a new node what the scopes around it say: attributes, gradient override, device, colocation."""
        for key, value in self._attr_scopes.items():
            if key not in op._attrs:
                value = value(op.node_def) if callable(value) else value
                if value is not None:
                    op._attrs[key] = value
        override = self._gradient_override_map.get(op.type)
        if override is not None and "_gradient_op_type" not in op._attrs:
            op._attrs["_gradient_op_type"] = override.encode()
        op._original_op = self._default_original_op
        for device in self._device_stack:
            if callable(device):
                op._device = device_lib.canonical_name(device(op))
            else:
                op._device = device_lib.merge(op._device, device)
        if self._colocation_stack:
            groups: list[bytes] = []
            for anchor, _ in self._colocation_stack:
                groups += anchor.colocation_groups()
                if anchor.device:
                    op._device = anchor.device
            op._attrs["_class"] = sorted(set(groups))
        if self._container and "container" in op._attrs and not op._attrs["container"]:
            op._attrs["container"] = self._container.encode()

    def _control_dependencies_for(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """Control inputs of a new node: those of every level that its data inputs do not already come after."""
        input_ops = {tensor.op for tensor in inputs}
        result: dict[Operation, None] = {}
        for level in self._control_dependencies_stack:
            if level.seen.isdisjoint(input_ops):
                result.update((c, None) for c in level.control_inputs if c not in input_ops)
        return list(result)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name under the current name scope that no node has; `name_1`, `name_2`, ... where it is taken."""
        if self._name_stack:
            name = self._name_stack + "/" + name
        # Names are kept apart without regard to case: they become file names on some systems.
        key = name.lower()
        count = self._names_in_use.get(key, 0)
        if mark_as_used:
            self._names_in_use[key] = count + 1
        if count == 0:
            return name
        base = key
        while key in self._names_in_use:
            key = f"{base}_{count}"
            count += 1
        if mark_as_used:
            self._names_in_use[key] = 1
        return f"{name}_{count - 1}"

    # ------------------------------------------------------------ scopes

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """Prefix the names of new nodes; yields the scope with a trailing slash. A trailing slash re-enters."""
        return NameScope(self, name)

    @property
    def _name_stack(self) -> str:
        return self._names.stack

    @_name_stack.setter
    def _name_stack(self, scope: str) -> None:
        self._names.stack = scope

    def get_name_scope(self) -> str:
        """The current name scope, without a trailing slash."""
        return self._name_stack

    def control_dependencies(self, control_inputs: Any) -> ControlDependencies:
        """Context manager: new nodes run after `control_inputs`; None clears all levels."""
        if control_inputs is None:
            return ControlDependencies(self, None)
        current: set[Operation] = set()
        for level in self._control_dependencies_stack:
            current.update(level.control_inputs)
        ops = []
        for item in control_inputs:
            if not isinstance(item, (Tensor, Operation)):
                item = getattr(item, "op", None) if type(item).__name__ == "IndexedSlices" else \
                    self.as_graph_element(item)
            if isinstance(item, Tensor):
                item = item.op
            elif not isinstance(item, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            if item not in current:
                ops.append(item)
                current.add(item)
        return ControlDependencies(self, ops)

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Context manager: the device of new nodes, as text or as a function of the node; None clears."""
        outer = self._device_stack
        if device_name_or_function is None:
            self._device_stack = []
        elif callable(device_name_or_function):
            self._device_stack = [*outer, device_name_or_function]
        else:
            self._device_stack = [*outer, device_lib.canonical_name(device_name_or_function)]
        try:
            yield
        finally:
            self._device_stack = outer

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Context manager: new nodes carry the colocation group of `op` (a node, tensor or variable)."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        outer, outer_devices = self._colocation_stack, self._device_stack
        if op is not None and not isinstance(op, Operation):
            from tfsandbox.framework import conversion
            op = conversion.convert_to_tensor_or_indexed_slices(op, as_ref=True).op
        self._device_stack = []
        if ignore_existing:
            self._colocation_stack = []
        if op is not None:
            self._colocation_stack = [*self._colocation_stack, (op, 0)]
        try:
            yield
        finally:
            self._colocation_stack, self._device_stack = outer, outer_devices

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Context manager: new nodes of these op types take their gradient from the registered names given."""
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        outer = self._gradient_override_map
        self._gradient_override_map = {**outer, **op_type_map}
        try:
            yield
        finally:
            self._gradient_override_map = outer

    @contextmanager
    def _attr_scope(self, attrs: dict[str, Any]) -> Iterator[None]:
        outer = self._attr_scopes
        self._attr_scopes = {**outer, **attrs}
        try:
            yield
        finally:
            self._attr_scopes = outer

    @contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        # There is one kernel an op here: a label picks nothing.
        yield

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Context manager: the `container` attribute of new stateful nodes."""
        outer = self._container
        self._container = container_name
        try:
            yield container_name
        finally:
            self._container = outer

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    # ------------------------------------------------------------ collections

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append to a named list of the graph."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Append to each of several collections, once each."""
        for name in dict.fromkeys([names] if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: changes to it are seen."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the collection; with `scope`, the items whose name matches that pattern from its start."""
        items = list(self._collections.get(name, []))
        if scope is None:
            return items
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name: Any) -> None:
        self._check_not_finalized()
        self._collections.pop(name, None)

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    # ------------------------------------------------------------ finding nodes

    def get_operations(self) -> list[Operation]:
        """All nodes, in the order they were made."""
        return list(self._nodes_by_name.values())

    def get_operation_by_name(self, name: str) -> Operation:
        """The node of that name; `KeyError` where there is none, `TypeError` if it is no string."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor `op_name:index`; `KeyError` where there is none, `ValueError` where it is not such a name."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation of this graph that a name, Tensor, Operation or variable stands for.

        Raises `KeyError` for a name the graph does not have, `ValueError` for an element of another graph or a
        malformed name, `TypeError` for anything else.
        """
        kinds = " or ".join(kind for kind, on in (("Tensor", allow_tensor), ("Operation", allow_operation)) if on)
        if hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation, kinds)
        if (isinstance(obj, Tensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                raise ValueError(f"{type(obj).__name__} {obj!s} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool, kinds: str) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, index = name.partition(":")
            if not op_name or not index.isdigit():
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names "
                                 f'must be of the form "<op_name>:<output_index>".')
            op = self._nodes_by_name.get(op_name)
            if op is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, does not exist in the graph.{self._nearest(op_name)}")
            if int(index) >= len(op.outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                               f"{op_name!r}, exists but only has {len(op.outputs)} outputs.")
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {kinds}.")
        if not allow_operation:
            if name in self._nodes_by_name:
                raise ValueError(f"The name {name!r} refers to an Operation, not a {kinds}. Tensor names must be of "
                                 f'the form "<op_name>:<output_index>", so this one is "{name}:0".')
            raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a {kinds}. Tensor names "
                             f'must be of the form "<op_name>:<output_index>".')
        if name not in self._nodes_by_name:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{self._nearest(name)}")
        return self._nodes_by_name[name]

    def _nearest(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._nodes_by_name, 3)
        return f" The nearest names it has: {', '.join(near)}." if near else ""

    def is_feedable(self, tensor: Any) -> bool:
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    # ------------------------------------------------------------ protobuf

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The graph as a GraphDef protobuf; `from_version` gives only the nodes made after it."""
        from tfsandbox.framework import graph_def
        return graph_def.graph_to_proto(self, from_version, add_shapes)

    @property
    def graph_def_versions(self) -> Any:
        from tfsandbox.framework import graph_def
        return graph_def.versions_proto(self)

    def __repr__(self) -> str:
        return f"<tf.Graph with {len(self._nodes_by_name)} operations>"


def output_dtypes(definition: op_registry.OpDef, attrs: dict[str, Any]) -> list[dtypes.DType]:
    """The types of a node's outputs, one a tensor."""
    types: list[dtypes.DType] = []
    for arg in definition.outputs:
        if arg.type_list_attr:
            found = [dtypes.as_dtype(t) for t in attrs[arg.type_list_attr]]
        else:
            one = arg.type if arg.type is not None else dtypes.as_dtype(attrs[arg.type_attr or ""])
            found = [one] * arg.count(attrs)
        types += [t._as_ref for t in found] if arg.is_ref else found
    return types


_GLOBAL: list[Graph] = []


def get_default_graph() -> Graph:
    """The innermost default graph of this thread, else the one global graph."""
    if stacks.graphs.items:
        return stacks.graphs.items[-1]
    if not _GLOBAL:
        _GLOBAL.append(Graph())
    return _GLOBAL[0]


def reset_default_graph() -> None:
    """Begin a new global default graph; `AssertionError` inside a nested graph."""
    if stacks.graphs.items:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _GLOBAL[:] = [Graph()]
