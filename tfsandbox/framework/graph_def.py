"""From a graph to protobuf: NodeDef, GraphDef and OpDef messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfsandbox.framework import attr_value, dtypes, op_registry
from tfsandbox.framework.tensor_proto import ndarray_to_proto

if TYPE_CHECKING:
    from tfsandbox.framework.graph import Graph
    from tfsandbox.framework.operation import Operation


def node_to_proto(op: Operation) -> Any:
    """A node as a NodeDef."""
    from tfsandbox.proto import node_def_pb2
    node = node_def_pb2.NodeDef()
    fill_node(node, op)
    return node


def fill_node(node: Any, op: Operation) -> None:
    """Write a node into an empty NodeDef."""
    node.name, node.op, node.device = op.name, op.type, op.device
    node.input.extend(tensor._as_node_def_input() for tensor in op._inputs)
    node.input.extend("^" + control.name for control in op._control_inputs)
    schema = op._op_def.attrs
    for name, value in op._attrs.items():
        kind = schema[name].type if name in schema else None
        if kind == "tensor":
            # The array alone does not say which type it stands for: bfloat16 has none in numpy.
            node.attr[name].tensor.CopyFrom(ndarray_to_proto(value, op._attrs.get("dtype")))
        else:
            attr_value.fill_attr_value(node.attr[name], value, kind)


def graph_to_proto(graph: Graph, from_version: int | None, add_shapes: bool) -> Any:
    """A graph as a GraphDef; with `add_shapes` each node says its static output shapes."""
    from tfsandbox.proto import graph_pb2
    proto = graph_pb2.GraphDef()
    proto.versions.CopyFrom(versions_proto(graph))
    for op in graph.get_operations():
        if from_version is not None and op._id <= from_version:
            continue
        node = proto.node.add()
        fill_node(node, op)
        if add_shapes and op.outputs:
            attr_value.fill_attr_value(node.attr["_output_shapes"], [t.shape for t in op.outputs], "list(shape)")
    return proto


def versions_proto(graph: Graph) -> Any:
    """The version numbers a graph is written with: those of TensorFlow 1.15."""
    from tfsandbox.proto import versions_pb2
    return versions_pb2.VersionDef(producer=graph._producer)


def op_def_to_proto(definition: op_registry.OpDef) -> Any:
    """A schema as an OpDef."""
    from tfsandbox.proto import op_def_pb2
    proto = op_def_pb2.OpDef(name=definition.name, is_stateful=definition.is_stateful,
                             is_commutative=definition.is_commutative, is_aggregate=definition.is_aggregate,
                             allows_uninitialized_input=definition.allows_uninitialized_input)
    message: Any
    for args, target in ((definition.inputs, proto.input_arg), (definition.outputs, proto.output_arg)):
        for arg in args:
            message = target.add(name=arg.name, is_ref=arg.is_ref, type_attr=arg.type_attr or "",
                                 number_attr=arg.number_attr or "", type_list_attr=arg.type_list_attr or "")
            if arg.type is not None:
                message.type = arg.type.as_datatype_enum
    attr: op_registry.AttrDef
    for attr in definition.attrs.values():
        message = proto.attr.add(name=attr.name, type=attr.type)
        if attr.default is not op_registry.REQUIRED:
            attr_value.fill_attr_value(message.default_value, attr.default, attr.type)
        if attr.allowed is not None:
            kind = "list(type)" if isinstance(attr.allowed[0], dtypes.DType) else "list(string)"
            attr_value.fill_attr_value(message.allowed_values, list(attr.allowed), kind)
        if attr.minimum is not None:
            message.has_minimum, message.minimum = True, attr.minimum
    return proto
