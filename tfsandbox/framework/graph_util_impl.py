"""Cutting graphs: sub-graphs, and variables frozen to constants."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, tensor_util
from tfsandbox.framework.graph import Graph
from tfsandbox.framework.operation import Operation

_VARIABLE_OPS = {"Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate",
                 "TruncatedNormal", "Variable", "VariableV2"}
_HOST_OPS = {"Variable", "VariableV2", "Placeholder"}


def node_name(text: str) -> str:
    """The node an input text refers to: `^a` and `a:1` are node `a`."""
    name = text[1:] if text.startswith("^") else text
    head, _, index = name.rpartition(":")
    return head if head and index.isdigit() else name


def check_graph_def(graph_def: Any) -> None:
    """`TypeError` unless it is a GraphDef, ours or TensorFlow's."""
    if not hasattr(graph_def, "node") or not hasattr(graph_def, "SerializeToString"):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got {type(graph_def).__name__}. "
                        f"A tf.Graph gives one with graph.as_graph_def().")


def copy_of(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A new GraphDef of our own with these nodes, and the library and versions of `graph_def`."""
    from tfsandbox.proto import graph_pb2
    result = graph_pb2.GraphDef()
    for node in nodes:
        copied = result.node.add()
        if type(node) is type(copied):
            copied.CopyFrom(node)
        else:
            copied.ParseFromString(node.SerializeToString())
    result.library.ParseFromString(graph_def.library.SerializeToString())
    result.versions.ParseFromString(graph_def.versions.SerializeToString())
    return result


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """A new GraphDef of the nodes that `dest_nodes` depend on, in their order.

    Raises `TypeError` where `dest_nodes` is one string, `AssertionError` for a name that is not there.
    """
    check_graph_def(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    by_name = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, 3)
            hint = f" The nearest names it has: {', '.join(near)}." if near else ""
            raise AssertionError(f"{name} is not in graph.{hint}")
    kept: set[str] = set()
    stack = list(dest_nodes)
    while stack:
        name = stack.pop()
        if name in kept:
            continue
        kept.add(name)
        stack += [node_name(text) for text in by_name[name].input if node_name(text) in by_name]
    return copy_of(graph_def, [node for node in graph_def.node if node.name in kept])


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node (NodeDef or Operation) has to be placed on a CPU in a graph that uses other devices."""
    node_def = node.node_def if isinstance(node, Operation) else node
    if pin_variables_on_cpu and node_def.op in _VARIABLE_OPS:
        return True
    if node_def.op in ("Const", "Placeholder"):
        dtype = node_def.attr["dtype"].type
        return dtype == dtypes.string.as_datatype_enum or (
            node_def.op == "Const" and dtype == dtypes.int32.as_datatype_enum)
    if node_def.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node_def.attr["T"].type == dtypes.int32.as_datatype_enum
    if node_def.op == "Cast":
        return node_def.attr["SrcT"].type == dtypes.int32.as_datatype_enum
    return False


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> Any:
    """The static shape of a tensor named as a node's input (`a`, `a:1`)."""
    if ":" not in input_name:
        input_name += ":0"
    return graph.get_tensor_by_name(input_name).shape


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: Sequence[str],
                                   variable_names_whitelist: Sequence[str] | None = None,
                                   variable_names_blacklist: Sequence[str] | None = None) -> Any:
    """A new GraphDef of what the outputs need, with the variables' values in `sess` in place of the variables.

    A whitelist names the only variables to convert, a blacklist those to leave.
    """
    inference = extract_sub_graph(input_graph_def, output_node_names)
    names = []
    for node in inference.node:
        if node.op not in ("Variable", "VariableV2", "VarHandleOp"):
            continue
        if (variable_names_whitelist is not None and node.name not in variable_names_whitelist) or (
                variable_names_blacklist is not None and node.name in variable_names_blacklist):
            continue
        names.append(node.name)
    values = dict(zip(names, sess.run([name + ":0" for name in names]) if names else []))
    from tfsandbox.proto import node_def_pb2
    nodes = []
    for node in inference.node:
        if node.name in values:
            constant = node_def_pb2.NodeDef(name=node.name, op="Const")
            constant.attr["dtype"].CopyFrom(node.attr["dtype"])
            value = np.asarray(values[node.name])
            constant.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(
                value, dtype=dtypes.as_dtype(node.attr["dtype"].type).base_dtype, shape=value.shape))
            node = constant
        nodes.append(node)
    return copy_of(input_graph_def, nodes)


def remove_training_nodes(input_graph: Any, protected_nodes: Iterable[str] | None = None, **options: Any) -> Any:
    """A new GraphDef without what only training needs: `graph_util.remove_training_nodes`, which says more."""
    from tfsandbox.framework import training_nodes
    return training_nodes.remove_training_nodes(input_graph, protected_nodes, **options)
