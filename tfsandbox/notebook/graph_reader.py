"""From a Graph, Operations or a GraphDef to a `GraphModel`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.framework import op_registry
from tfsandbox.notebook import roles
from tfsandbox.notebook.attr_text import attr_text, dtype_name, shape_of
from tfsandbox.notebook.graph_model import GraphModel, Node, Output

_QUIET_ATTRS = frozenset({"_output_shapes", "_class", "container", "shared_name"})
"""Attributes that every node of a kind has and that tell a reader nothing."""


def read_operations(operations: Iterable[Any], title: str) -> GraphModel:
    """The model of Operations, in their order. Their roles are worked out from the structure of the graph."""
    nodes = [_read_operation(op) for op in operations]
    names = {node.name for node in nodes}
    for node in nodes:
        node.inputs = [text for text in node.inputs if text.partition(":")[0] in names]
        node.control_inputs = [name for name in node.control_inputs if name in names]
    model = GraphModel(nodes, title)
    roles.assign_roles(model)
    return model


def read_graph_def(graph_def: Any, title: str) -> GraphModel:
    """The model of a GraphDef, whoever wrote it; inputs that name no node of it are left out."""
    messages = list(graph_def.node)
    names = {message.name for message in messages}
    nodes = [_read_message(message, names) for message in messages]
    model = GraphModel(nodes, title)
    roles.assign_roles(model)
    return model


def _read_operation(op: Any) -> Node:
    inputs = []
    for tensor in op.inputs:
        name = tensor.name
        inputs.append(name[:-2] if name.endswith(":0") else name)
    outputs = [Output(dtype_name(tensor.dtype), shape_of(tensor.shape)) for tensor in op.outputs]
    return Node(op.name, op.type, inputs, [other.name for other in op.control_inputs], outputs,
                attrs=_operation_attrs(op), device=op.device or "", source=_source_line(op))


def _operation_attrs(op: Any) -> dict[str, str]:
    """The attributes as text: from the engine's own values where it keeps them, since its protobufs copy constants."""
    values = getattr(op, "_attrs", None)
    if not isinstance(values, dict):
        node_def = getattr(op, "node_def", None)
        values = dict(node_def.attr.items()) if node_def is not None else {}
    return {name: attr_text(value) for name, value in values.items() if name not in _QUIET_ATTRS}


def _source_line(op: Any) -> str:
    """Where the program made the node, as `file:line` and the line; "" when nobody knows."""
    try:
        file, line, _, text = tuple(op.traceback[-1])[:4]
    except (AttributeError, IndexError, TypeError, ValueError):
        return ""
    place = str(file).replace("\\", "/").rpartition("/")[2]
    if place.startswith("<") or place.partition(".")[0].isdigit():
        # A notebook's cell: ipykernel names its file by a hash, IPython `<ipython-input-...>`.
        place = "cell"
    return f"{place}:{line}  {text}" if text else f"{place}:{line}"


def _read_message(message: Any, names: set[str]) -> Node:
    inputs: list[str] = []
    control: list[str] = []
    for text in message.input:
        if text.startswith("^"):
            if text[1:] in names:
                control.append(text[1:])
        elif text.partition(":")[0] in names:
            inputs.append(text[:-2] if text.endswith(":0") else text)
    attrs = {name: attr_text(value) for name, value in sorted(message.attr.items()) if name not in _QUIET_ATTRS}
    return Node(message.name, message.op, inputs, control, _declared_outputs(message), attrs=attrs,
                device=getattr(message, "device", "") or "")


def _declared_outputs(message: Any) -> list[Output]:
    """The outputs as far as the node itself declares them: a GraphDef carries no shapes unless asked to."""
    attr = message.attr
    shapes = [shape_of(shape) for shape in attr["_output_shapes"].list.shape] if "_output_shapes" in attr else []
    types = _declared_types(message)
    if not shapes and types:
        if message.op in ("VariableV2", "Variable", "Placeholder") and "shape" in attr:
            shapes = [shape_of(attr["shape"].shape)]
        elif message.op == "Const" and "value" in attr:
            shapes = [shape_of(attr["value"].tensor.tensor_shape)]
    count = max(len(types), len(shapes))
    types += [""] * (count - len(types))
    return [Output(types[i], shapes[i] if i < len(shapes) else None) for i in range(count)]


def _declared_types(message: Any) -> list[str]:
    """The types of the outputs, from the op's schema where the registry has it, else from the usual attributes."""
    attr = message.attr
    schema = op_registry.find(message.op)
    if schema is None:
        for name in ("dtype", "DstT", "output_type", "out_type", "T"):
            if name in attr and attr[name].WhichOneof("value") == "type":
                return [dtype_name(attr[name].type)]
        return []
    types: list[str] = []
    for argument in schema.outputs:
        if argument.type_list_attr is not None:
            if argument.type_list_attr in attr:
                types += [dtype_name(item) for item in attr[argument.type_list_attr].list.type]
            continue
        if argument.type is not None:
            name = dtype_name(argument.type)
        else:
            name = _type_attr(attr, schema, argument.type_attr)
        repeat = attr[argument.number_attr].i if argument.number_attr and argument.number_attr in attr else 1
        # A file may declare any number; a picture needs no more than it could show.
        types += [name] * max(0, min(int(repeat), 1000))
    return types


def _type_attr(attr: Any, schema: Any, name: str | None) -> str:
    """The value of a type attribute, or its default; "" when the node has neither."""
    if name is not None and name in attr:
        return dtype_name(attr[name].type)
    default = getattr(schema.attrs.get(name), "default", None) if name else None
    return dtype_name(default) if hasattr(default, "as_datatype_enum") else ""
