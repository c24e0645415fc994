"""MetaGraphDef in and out: a graph with its collections and its saver's definition."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import graph_def as graph_def_lib
from tfsandbox.framework import importer, op_registry, ops
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor

UNBOUND_INPUT_PREFIX = "$unbound_inputs_"


def export_scoped_meta_graph(filename: str | None = None, graph_def: Any = None, graph: Graph | None = None,
                             export_scope: str | None = None, as_text: bool = False,
                             unbound_inputs_col_name: str = "unbound_inputs", clear_devices: bool = False,
                             saver_def: Any = None, clear_extraneous_savers: bool = False,
                             strip_default_attrs: bool = False, save_debug_info: bool = False,
                             meta_info_def: Any = None, collection_list: Any = None) -> tuple[Any, dict[str, Any]]:
    """(MetaGraphDef of the graph or of one name scope of it, {variable name in it: variable}).

    Written to `filename` where one is given. With `export_scope`, names lose the scope, and inputs from outside
    become unbound ones, listed in the collection `unbound_inputs_col_name`.
    """
    graph = graph or get_default_graph()
    scope = export_scope.rstrip("/") if export_scope else ""
    unbound: list[str] = []
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    if scope:
        graph_def = _scoped_graph_def(graph_def, scope, unbound)
    elif clear_devices:
        copied = type(graph_def)()
        copied.CopyFrom(graph_def)
        graph_def = copied
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    from tfsandbox.proto import meta_graph_pb2
    meta = meta_graph_pb2.MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(meta_info_def)
    meta.meta_info_def.tensorflow_version = "1.15.5"
    meta.meta_info_def.tensorflow_git_version = "tfsandbox"
    for name in ops_used_by_graph_def(graph_def):
        definition = op_registry.find(name)
        if definition is not None:
            meta.meta_info_def.stripped_op_list.op.add().CopyFrom(graph_def_lib.op_def_to_proto(definition))
    meta.graph_def.ParseFromString(graph_def.SerializeToString())
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    variables: dict[str, Any] = {}
    keys = collection_list if collection_list is not None else graph.get_all_collection_keys()
    for key in keys:
        items = graph.get_collection(key)
        if scope:
            items = [item for item in items if _in_scope(item, scope)]
            for item in items:
                if hasattr(item, "initializer") and hasattr(item, "op"):
                    variables[ops.strip_name_scope(item.op.name, scope)] = item
        if key == unbound_inputs_col_name or (clear_extraneous_savers and key == ops.GraphKeys.SAVERS):
            continue
        add_collection_def(meta, key, graph, scope, items)
    if unbound:
        meta.collection_def[unbound_inputs_col_name].bytes_list.value.extend(name.encode() for name in unbound)
    if not scope:
        variables = {v.op.name: v for v in graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)}
    if filename:
        write_message(filename, meta, as_text)
    return meta, variables


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The names of the ops in a GraphDef, those in its functions too; the functions themselves are none."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used = {node.op for node in graph_def.node}
    used.update(node.op for function in functions.values() for node in function.node_def)
    return sorted(used - functions.keys())


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The OpList message with the definitions of the ops in a GraphDef; `ValueError` for an unknown op."""
    from tfsandbox.proto import op_def_pb2
    message = op_def_pb2.OpList()
    for name in ops_used_by_graph_def(graph_def):
        definition = op_registry.find(name)
        if definition is None:
            raise ValueError(f"Op {name} is used by the graph, but is not registered")
        message.op.add().CopyFrom(graph_def_lib.op_def_to_proto(definition))
    return message


def write_message(filename: str, message: Any, as_text: bool) -> None:
    """Write a message, as text or binary, whole or not at all."""
    if as_text:
        from google.protobuf import text_format
        content = text_format.MessageToString(message).encode()
    else:
        content = message.SerializeToString(deterministic=True)
    folder = os.path.dirname(filename)
    if folder:
        os.makedirs(folder, exist_ok=True)
    temporary = f"{filename}.tmp{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        os.replace(temporary, filename)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _in_scope(item: Any, scope: str) -> bool:
    name = item.op.name if hasattr(item, "op") and not isinstance(item, Operation) else getattr(item, "name", None)
    return isinstance(name, str) and (name.startswith(scope + "/") or name == scope)


def _scoped_graph_def(graph_def: Any, scope: str, unbound: list[str]) -> Any:
    inside = {node.name for node in graph_def.node if node.name.startswith(scope + "/")}
    result = type(graph_def)()
    result.versions.CopyFrom(graph_def.versions)
    for node in graph_def.node:
        if node.name not in inside:
            continue
        copied = result.node.add()
        copied.CopyFrom(node)
        copied.name = ops.strip_name_scope(node.name, scope)
        for i, text in enumerate(node.input):
            bare = text.lstrip("^").split(":")[0]
            if bare in inside:
                copied.input[i] = ops.strip_name_scope(text, scope)
            else:
                copied.input[i] = UNBOUND_INPUT_PREFIX + text
                if text not in unbound:
                    unbound.append(text)
        groups = [group for group in node.attr["_class"].list.s] if "_class" in node.attr else []
        if groups:
            kept = [ops.strip_name_scope(g.decode(), scope).encode() for g in groups
                    if g.decode()[5:] in inside]
            del copied.attr["_class"].list.s[:]
            if kept:
                copied.attr["_class"].list.s.extend(kept)
            else:
                del copied.attr["_class"]
    return result


def add_collection_def(meta: Any, key: str, graph: Graph | None = None, export_scope: str | None = None,
                       items: list[Any] | None = None) -> None:
    """Write one collection into a MetaGraphDef: as nodes, bytes, numbers, or messages, whichever it holds.

    A collection of anything else is left out, as TensorFlow does, with a warning.
    """
    graph = graph or get_default_graph()
    items = graph.get_collection(key) if items is None else items
    to_proto: Callable[..., Any] | None = ops.get_to_proto_function(key)
    kind = _kind_of(items)
    try:
        if to_proto is not None:
            messages = [to_proto(item, export_scope=export_scope) for item in items]
            values = [m.SerializeToString(deterministic=True) for m in messages if m is not None]
            if values or not items:
                meta.collection_def[key].bytes_list.value.extend(values)
        elif kind == "node_list":
            meta.collection_def[key].node_list.value.extend(
                ops.strip_name_scope(item if isinstance(item, str) else item.name, export_scope) for item in items)
        elif kind == "bytes_list":
            meta.collection_def[key].bytes_list.value.extend(
                item if isinstance(item, bytes) else item.encode() if isinstance(item, str)
                else item.SerializeToString() for item in items)
        elif kind is not None:
            getattr(meta.collection_def[key], kind).value.extend(items)
        else:
            raise TypeError(f"items of types {sorted({type(item).__name__ for item in items})}")
    except (TypeError, ValueError, AttributeError) as error:
        if key in meta.collection_def:
            del meta.collection_def[key]
        import warnings
        warnings.warn(f"Issue encountered when serializing {key}. Type is unsupported, or the types of the items don't "
                      f"match field type in CollectionDef. Note this is a warning and probably safe to ignore. "
                      f"({error})", stacklevel=3)


def _kind_of(items: list[Any]) -> str | None:
    if not items:
        return "node_list"
    first = items[0]
    if isinstance(first, (Tensor, Operation)) or (hasattr(first, "name") and hasattr(first, "graph")):
        return "node_list"
    if isinstance(first, (str, bytes)) or hasattr(first, "SerializeToString"):
        return "bytes_list"
    if isinstance(first, bool):
        return "int64_list"
    if isinstance(first, int):
        return "int64_list"
    return "float_list" if isinstance(first, float) else None


def read_meta_graph_file(filename: str) -> Any:
    """The MetaGraphDef of a file, binary or text.

    Raises `IOError` where there is no such file or it is no MetaGraphDef.
    """
    from tfsandbox.proto import meta_graph_pb2
    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    meta = meta_graph_pb2.MetaGraphDef()
    with open(filename, "rb") as file:
        content = file.read()
    try:
        meta.ParseFromString(content)
        return meta
    except Exception:  # perhaps it is text
        pass
    from google.protobuf import text_format
    try:
        text_format.Merge(content.decode("utf-8"), meta)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None
    return meta


def import_scoped_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, graph: Graph | None = None,
                             import_scope: str | None = None, input_map: dict[str, Any] | None = None,
                             unbound_inputs_col_name: str = "unbound_inputs",
                             restore_collections_predicate: Callable[[str], bool] = lambda key: True) -> dict[str, Any]:
    """Add a MetaGraphDef's graph and collections to a graph; {name: variable} of the variables it brought.

    Raises `ValueError` where unbound inputs are not in `input_map`.
    """
    meta = meta_graph_or_file if hasattr(meta_graph_or_file, "collection_def") else \
        read_meta_graph_file(str(meta_graph_or_file))
    if unbound_inputs_col_name in meta.collection_def:
        names = [value.decode() for value in meta.collection_def[unbound_inputs_col_name].bytes_list.value]
        for name in names:
            if not input_map or (name not in input_map and UNBOUND_INPUT_PREFIX + name not in input_map):
                raise ValueError(f"Graph contains unbound inputs: {names}. Must provide these inputs through "
                                 f"input_map.")
        input_map = {k if k.startswith(UNBOUND_INPUT_PREFIX) else UNBOUND_INPUT_PREFIX + k: v
                     for k, v in (input_map or {}).items()}
    graph = graph or get_default_graph()
    graph_def = meta.graph_def
    if clear_devices:
        copied = type(graph_def)()
        copied.CopyFrom(graph_def)
        graph_def = copied
        for node in graph_def.node:
            node.device = ""
    with graph.as_default():
        scope = ""
        if import_scope:
            with ops.name_scope(import_scope) as opened:
                scope = opened.rstrip("/")
            graph._names_in_use.pop(scope.lower(), None)
        importer.import_graph_def(graph_def, name=scope, input_map=input_map)
        scope_name = scope
        for key in sorted(meta.collection_def):
            if key == unbound_inputs_col_name or not restore_collections_predicate(key):
                continue
            _restore_collection(graph, key, meta.collection_def[key], scope_name)
    variables: dict[str, Any] = {}
    pattern = re.compile(re.escape(scope_name) + "/") if scope_name else None
    for variable in graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES):
        if pattern is None or pattern.match(variable.op.name):
            variables[ops.strip_name_scope(variable.op.name, scope_name)] = variable
    return variables


def _restore_collection(graph: Graph, key: str, definition: Any, scope: str) -> None:
    from_proto = ops.get_from_proto_function(key)
    proto_type = ops.get_collection_proto_type(key)
    kind = definition.WhichOneof("kind")
    if kind is None:
        graph.get_collection_ref(key)
        return
    values = getattr(definition, kind).value
    if kind == "bytes_list" and from_proto is not None:
        message_type = proto_type() if not hasattr(proto_type, "FromString") else proto_type
        for value in values:
            message = message_type()
            message.ParseFromString(value)
            graph.add_to_collection(key, from_proto(message, import_scope=scope or None))
    elif kind == "node_list":
        for value in values:
            name = ops.prepend_name_scope(value, scope)
            graph.add_to_collection(key, graph.as_graph_element(name))
    else:
        for value in values:
            graph.add_to_collection(key, value)
