"""import_graph_def: from a GraphDef to nodes of the default graph. Nothing in the file is trusted."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import attr_value, conversion, dtypes, errors, op_registry, ops, shape_inference
from tfsandbox.framework.graph import Graph, get_default_graph, output_dtypes
from tfsandbox.framework.graph_scopes import VALID_OP_NAME
from tfsandbox.framework.operation import Operation, Tensor

MAX_UNUSED_OUTPUTS = 20_000
"""So many outputs may the nodes of a file have beside those that its nodes use."""

MAX_REPEATED_BYTES = 1 << 29
"""Bytes that a constant of repeated elements may declare."""


def import_graph_def(graph_def: Any, input_map: dict[str, Any] | None = None,
                     return_elements: Sequence[str] | None = None, name: str | None = None, op_dict: Any = None,
                     producer_op_list: Any = None) -> list[Any] | None:
    """Add the nodes of `graph_def` to the default graph, under the prefix `name` ("import" if None, none if "").

    `input_map` maps names of tensors in `graph_def` to tensors that stand in for them; `return_elements` names the
    operations and tensors to return. Colliding names get a number.

    Raises `TypeError` for arguments of another kind; `ValueError` for an invalid graph: an unknown input, a cycle, a
    name twice, types or shapes that do not fit, an attribute too many or missing, names in `input_map` and
    `return_elements` that are not there; `NotFoundError` for an op that is not registered.
    """
    nodes = _nodes_of(graph_def)
    mapping = _checked_map(input_map)
    wanted = _checked_elements(return_elements)
    with ops.name_scope(name, "import", list(mapping.values())) as scope:
        mapping = {key: conversion.convert_to_tensor(value) for key, value in mapping.items()}
        graph = get_default_graph()
        with graph._lock:
            importer = _Importer(graph, scope[:-1] if scope else "", nodes, mapping)
            importer.check_elements(wanted or [])
            importer.run()
        return None if wanted is None else [importer.element(text) for text in wanted]


def _nodes_of(graph_def: Any) -> Sequence[Any]:
    if not hasattr(graph_def, "node") or not hasattr(graph_def, "SerializeToString"):
        raise TypeError("graph_def must be a GraphDef proto.")
    return graph_def.node


def _checked_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {key.decode() if isinstance(key, bytes) else key: value for key, value in input_map.items()}


def _checked_elements(return_elements: Any) -> list[str] | None:
    if return_elements is None:
        return None
    texts = tuple(return_elements)
    if not all(isinstance(text, (str, bytes)) for text in texts):
        raise TypeError("return_elements must be a list of strings.")
    return [text.decode() if isinstance(text, bytes) else text for text in texts]


def _parsed(text: str) -> tuple[str, int]:
    """An input as (node, output); a control input has output -1."""
    if text.startswith("^"):
        return text[1:], -1
    node, _, index = text.rpartition(":")
    return (node, int(index)) if node and index.isdigit() else (text, 0)


class _Importer:
    """One import."""

    def __init__(self, graph: Graph, prefix: str, nodes: Sequence[Any], mapping: dict[str, Any]) -> None:
        self.graph, self.prefix, self.nodes = graph, prefix, nodes
        self.mapping: dict[tuple[str, int], Tensor] = {_parsed(key): value for key, value in mapping.items()}
        self.map_names = {_parsed(key): key for key in mapping}
        self.used: set[tuple[str, int]] = set()
        self.by_name: dict[str, Any] = {}
        self.made: dict[str, Operation] = {}
        self.final_names: dict[str, str] = {}
        self.late: list[tuple[Operation, int, str, int]] = []
        # A count in the file may stand for any number of outputs; most are there because another node uses them.
        self.outputs_left = MAX_UNUSED_OUTPUTS + sum(len(node.input) for node in nodes)

    def run(self) -> None:
        """Check, order and build the nodes."""
        graph = self.graph
        graph._check_not_finalized()
        for node in self.nodes:
            if not VALID_OP_NAME.match(node.name):
                raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
            if node.name in self.by_name:
                raise ValueError(f"Node '{node.name}' is not unique")
            self.by_name[node.name] = node
        order = self._order()
        outer_scope, outer_levels = graph._name_stack, graph._control_dependencies_stack
        context_deps = [op for level in outer_levels for op in level.control_inputs]
        # Names and order come from the file; only device and colocation scopes act on imported nodes.
        graph._name_stack, graph._control_dependencies_stack = "", []
        try:
            for node in order:
                full = f"{self.prefix}/{node.name}" if self.prefix else node.name
                self.final_names[node.name] = graph.unique_name(full)
            for node in order:
                self._build(node, context_deps)
            for op, index, source, output in self.late:
                op._update_input(index, self.made[source].outputs[output])
        except BaseException:
            self._undo()
            raise
        finally:
            graph._name_stack, graph._control_dependencies_stack = outer_scope, outer_levels
        for op in self.made.values():
            for level in outer_levels:
                level.seen.add(op)
            op._control_flow_post_processing()
        # As in TensorFlow the nodes are there by now: the error is that the map did less than was asked.
        self._check_names()

    def _undo(self) -> None:
        """A failed import leaves no node behind."""
        for op in reversed(list(self.made.values())):
            self.graph._nodes_by_name.pop(op.name, None)
            for tensor in op._inputs:
                if op in tensor._consumers:
                    tensor._consumers.remove(op)
            for control in op._control_inputs:
                if op in control._control_outputs:
                    control._control_outputs.remove(op)
        self.graph._mutations += 1

    def _check_names(self) -> None:
        missing = []
        inputs = {_parsed(text) for node in self.nodes for text in node.input}
        for key, text in self.map_names.items():
            known = key in inputs or (key[0] in self.by_name and self._has_output(key))
            if not known:
                missing.append(text)
        if missing:
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]")

    def _has_output(self, key: tuple[str, int]) -> bool:
        node = self.by_name[key[0]]
        definition = op_registry.find(node.op)
        if definition is None:
            return True
        try:
            return key[1] < len(output_dtypes(definition, self._attrs(node, definition)))
        except (ValueError, KeyError):
            return True

    def _order(self) -> list[Any]:
        """Nodes after what they depend on; loops are closed through NextIteration."""
        position = {node.name: i for i, node in enumerate(self.nodes)}
        waiting = [0] * len(self.nodes)
        users: list[list[int]] = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            for text in node.input:
                source, output = _parsed(text)
                if (source, output) in self.mapping:
                    continue
                if source not in position:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
                if node.op in ("Merge", "RefMerge") and self.by_name[source].op in ("NextIteration",
                                                                                    "RefNextIteration"):
                    continue
                users[position[source]].append(i)
                waiting[i] += 1
        ready = [i for i, count in enumerate(waiting) if count == 0]
        heapq.heapify(ready)
        order = []
        while ready:
            i = heapq.heappop(ready)
            order.append(self.nodes[i])
            for user in users[i]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    heapq.heappush(ready, user)
        if len(order) < len(self.nodes):
            stuck = [node.name for node, count in zip(self.nodes, waiting) if count]
            raise ValueError(f"{len(stuck)} nodes in a cycle: {', '.join(stuck[:5])}{', ...' if stuck[5:] else ''}")
        return order

    def _attrs(self, node: Any, definition: op_registry.OpDef) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        for name in node.attr:
            schema = definition.attrs.get(name)
            if schema is None and not name.startswith("_"):
                raise ValueError(f"NodeDef mentions attr '{name}' not in {definition!r}; NodeDef: {node.name}. (Check "
                                 f"whether your GraphDef-interpreting binary is up to date with your GraphDef-"
                                 f"generating binary.).")
            try:
                attrs[name] = attr_value.from_attr_value(node.attr[name], schema.type if schema else None)
            except (TypeError, ValueError) as error:
                raise ValueError(f"Node '{node.name}': attr '{name}': {error}") from None
            self._check_size(node, name, attrs[name])
        for name, schema in definition.attrs.items():
            if name not in attrs:
                if schema.default is op_registry.REQUIRED:
                    raise ValueError(f"NodeDef missing attr '{name}' from {definition!r}; NodeDef: {node.name}")
                attrs[name] = schema.default
            if schema.allowed is not None:
                for value in attrs[name] if isinstance(attrs[name], list) else [attrs[name]]:
                    if value not in schema.allowed:
                        raise ValueError(f"Value for attr '{name}' of {getattr(value, 'name', value)} is not in the "
                                         f"list of allowed values; NodeDef: {node.name}; {definition!r}")
        return attrs

    def _check_size(self, node: Any, name: str, value: Any) -> None:
        """One repeated element costs no memory in the file, but all of it in the first run."""
        if isinstance(value, np.ndarray) and value.nbytes > MAX_REPEATED_BYTES and 0 in value.strides:
            raise ValueError(f"Node '{node.name}': attr '{name}' declares a tensor of shape {list(value.shape)}, "
                             f"{value.nbytes} bytes, but holds next to nothing: a constant of more than "
                             f"{MAX_REPEATED_BYTES} bytes must carry its content.")

    def _build(self, node: Any, context_deps: list[Operation]) -> None:
        definition = op_registry.find(node.op)
        if definition is None:
            try:
                op_registry.get(node.op)
            except ValueError as error:
                raise errors.NotFoundError(None, None, f"{error} (node '{node.name}')") from None
        assert definition is not None
        attrs = self._attrs(node, definition)
        if node.op == "Const" and node.attr["value"].tensor.dtype != node.attr["dtype"].type:
            raise ValueError(f"Node '{node.name}': attr 'value' is not of the type that attr 'dtype' says")
        shapes = attrs.pop("_output_shapes", None)
        if "_class" in attrs:
            groups = attrs["_class"]
            if not isinstance(groups, list) or not all(isinstance(group, bytes) for group in groups):
                raise ValueError(f"Node '{node.name}': attr '_class' must be a list of strings")
            attrs["_class"] = [self._group(group) for group in groups]
        expected = _input_dtypes(definition, attrs, node.name)
        inputs: list[Tensor] = []
        controls: dict[Operation, None] = {}
        late: list[tuple[int, str, int]] = []
        for text in node.input:
            source, output = _parsed(text)
            if output < 0:
                op = self.made[source] if (source, -1) not in self.mapping else self.mapping[(source, -1)].op
                controls[op] = None
                continue
            if controls:
                raise ValueError(f"Node '{node.name}': Control dependencies must come after regular dependencies")
            mapped = self.mapping.get((source, output))
            if mapped is not None:
                inputs.append(mapped)
            elif source in self.made:
                outputs = self.made[source].outputs
                if output >= len(outputs):
                    raise ValueError(f"Node '{node.name}': Connecting to invalid output {output} of source node "
                                     f"{source} which has {len(outputs)} outputs.")
                inputs.append(outputs[output])
            else:
                # A loop's back edge: its first value stands in until the NextIteration is there.
                late.append((len(inputs), source, output))
                inputs.append(inputs[0])
        name = self.final_names[node.name]
        self._check_inputs(name, inputs, expected)
        self._check_outputs(node.name, definition, attrs)
        op = self._create(definition, name, inputs, attrs, list(controls), context_deps)
        if node.device:
            op._set_device(node.device)
        self.made[node.name] = op
        self.late += [(op, index, source, output) for index, source, output in late]
        if isinstance(shapes, list) and len(shapes) == len(op.outputs):
            for tensor, shape in zip(op.outputs, shapes):
                if tensor.shape.is_compatible_with(shape):
                    tensor.set_shape(shape)

    def _create(self, definition: op_registry.OpDef, name: str, inputs: list[Tensor], attrs: dict[str, Any],
                controls: list[Operation], context_deps: list[Operation]) -> Operation:
        graph = self.graph
        ordered = {**{key: attrs[key] for key in definition.attrs},
                   **{key: value for key, value in attrs.items() if key not in definition.attrs}}
        all_controls = list(dict.fromkeys([*controls, *context_deps]))
        op = Operation(graph, definition, name, inputs, ordered, output_dtypes(definition, ordered), all_controls)
        graph._last_id += 1
        op._id_value = graph._last_id
        shape_inference.set_output_shapes(op)
        given = op._attrs.get("_class")
        graph._apply_scopes(op)
        if given is not None:
            op._attrs["_class"] = given
        graph._attach(op)
        return op

    def _check_outputs(self, name: str, definition: op_registry.OpDef, attrs: dict[str, Any]) -> None:
        for arg in definition.outputs:
            if arg.number_attr:
                count = attrs[arg.number_attr]
                self.outputs_left -= count
                if count < 0 or self.outputs_left < 0:
                    raise ValueError(f"Node '{name}': attr '{arg.number_attr}' is {count}: so many outputs that "
                                     f"nothing uses are not taken from a file.")

    def _check_inputs(self, name: str, inputs: list[Tensor], expected: list[dtypes.DType]) -> None:
        if len(inputs) != len(expected):
            raise ValueError(f"Node '{name}': expected {len(expected)} inputs, but it has {len(inputs)}")
        for i, (tensor, dtype) in enumerate(zip(inputs, expected)):
            fits = tensor.dtype == dtype if dtype._is_ref_dtype else tensor.dtype.base_dtype == dtype
            if not fits:
                raise ValueError(f"Input {i} of node {name} was passed {_c_name(tensor.dtype)} from {tensor.name} "
                                 f"incompatible with expected {_c_name(dtype)}.")

    def _group(self, group: bytes) -> bytes:
        if not group.startswith(b"loc:@"):
            return group
        name = group[5:].decode("utf-8", "replace")
        return b"loc:@" + self.final_names.get(name, f"{self.prefix}/{name}" if self.prefix else name).encode()

    def check_elements(self, texts: list[str]) -> None:
        """`ValueError` for a requested element that is not there, before anything is built."""
        names = {node.name for node in self.nodes}
        for text in texts:
            node, _ = _parsed(text) if ":" in text else (text, 0)
            if node not in names and _parsed(text) not in self.mapping:
                kind = "tensor" if ":" in text else "node"
                raise ValueError(f"Requested return {kind} '{text}' not found in graph def")

    def element(self, text: str) -> Any:
        """A requested operation or tensor."""
        if ":" in text:
            node, output = _parsed(text)
            if (node, output) in self.mapping:
                return self.mapping[(node, output)]
            if node not in self.made:
                raise ValueError(f"Requested return tensor '{text}' not found in graph def")
            outputs = self.made[node].outputs
            if output >= len(outputs):
                raise ValueError(f"Invalid return output {output} of node '{node}', which has {len(outputs)} "
                                 f"output(s)")
            return outputs[output]
        if text not in self.made:
            raise ValueError(f"Requested return node '{text}' not found in graph def")
        return self.made[text]


def _input_dtypes(definition: op_registry.OpDef, attrs: dict[str, Any], name: str) -> list[dtypes.DType]:
    types: list[dtypes.DType] = []
    for arg in definition.inputs:
        if arg.type_list_attr:
            found = list(attrs[arg.type_list_attr])
        else:
            one = arg.type if arg.type is not None else attrs[arg.type_attr or ""]
            count = attrs[arg.number_attr] if arg.number_attr else 1
            if not 0 <= count <= 1_000_000:
                raise ValueError(f"Node '{name}': attr '{arg.number_attr}' is {count}")
            found = [one] * count
        types += [t._as_ref for t in found] if arg.is_ref else found
    return types


def _c_name(dtype: dtypes.DType) -> str:
    base = {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.base_dtype.name,
                                                                            dtype.base_dtype.name)
    return base + ("_ref" if dtype._is_ref_dtype else "")
