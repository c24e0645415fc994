"""Branches and loops in a MetaGraphDef: the messages of their contexts, out and in."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.ops.control_flow_context import CondContext, ControlFlowContext
from tfsandbox.ops.while_context import WhileContext

__all__: list[str] = []


def _inner_contexts(context: ControlFlowContext, graph: Graph) -> list[Any]:
    """The contexts right inside of one, in the order in which they were made."""
    found: dict[Any, None] = {}
    for op in graph.get_operations():
        inner = op._get_control_flow_context()
        while inner is not None and inner._outer_context is not context:
            inner = inner._outer_context
        if inner is not None:
            found[inner] = None
    return list(found)


def _write(context: Any, message: Any, graph: Graph, scope: str | None) -> None:
    """The part that both kinds of context share."""
    message.context_name = ops.strip_name_scope(context.name, scope)
    message.values_def.values.extend(sorted(ops.strip_name_scope(v, scope) for v in context._values))
    for name, tensor in context._external_values.items():
        message.values_def.external_values[ops.strip_name_scope(name, scope)] = ops.strip_name_scope(tensor.name, scope)
    for inner in _inner_contexts(context, graph):
        nested = message.nested_contexts.add()
        target = nested.while_ctxt if inner.is_while() else nested.cond_ctxt
        target.CopyFrom(to_proto(inner, export_scope=scope))


def to_proto(context: Any, export_scope: str | None = None) -> Any:
    """The CondContextDef or WhileContextDef of a context; None for one outside of `export_scope`."""
    from tfsandbox.proto import control_flow_pb2
    if export_scope is not None and not context.name.startswith(export_scope):
        return None

    def name(tensor: Any) -> str:
        return ops.strip_name_scope(tensor.name, export_scope)

    if not context.is_while():
        branch = control_flow_pb2.CondContextDef(pred_name=name(context.pred), pivot_name=name(context.pivot),
                                                 branch=context.branch)
        _write(context, branch, context.pred.graph, export_scope)
        return branch
    loop = control_flow_pb2.WhileContextDef(
        parallel_iterations=context.parallel_iterations, back_prop=context.back_prop, swap_memory=context.swap_memory,
        pivot_for_pred_name=name(context.pivot_for_pred), pivot_for_body_name=name(context.pivot_for_body),
        pivot_name=name(context.pivot), loop_exit_names=[name(t) for t in context.loop_exits],
        loop_enter_names=[name(t) for t in context.loop_enters])
    if context.maximum_iterations is not None and hasattr(context.maximum_iterations, "name"):
        loop.maximum_iterations_name = name(context.maximum_iterations)
    _write(context, loop, context.pivot.graph, export_scope)
    return loop


def _read(context: Any, message: Any, scope: str | None, outer: Any) -> Any:
    """The part that both kinds of context share; the nodes are in the default graph already."""
    graph = get_default_graph()

    def full(name: str) -> str:
        return ops.prepend_name_scope(name, scope)

    context.name = full(message.context_name)
    context._outer_context, context._stack = outer, []
    context._values = {full(name) for name in message.values_def.values}
    context._external_values = {full(name): graph.as_graph_element(full(value))
                                for name, value in message.values_def.external_values.items()}
    for name in {value.split(":")[0] for value in context._values - set(context._external_values)}:
        graph.as_graph_element(name)._set_control_flow_context(context)
    for nested in message.nested_contexts:
        inner = nested.while_ctxt if nested.HasField("while_ctxt") else nested.cond_ctxt
        (_loop if nested.HasField("while_ctxt") else _branch)(inner, scope, context)
    return context


def _branch(message: Any, scope: str | None, outer: Any) -> CondContext:
    graph = get_default_graph()
    context = CondContext.__new__(CondContext)
    context.pred = graph.as_graph_element(ops.prepend_name_scope(message.pred_name, scope))
    context.pivot = graph.as_graph_element(ops.prepend_name_scope(message.pivot_name, scope))
    context.branch = message.branch
    return _read(context, message, scope, outer)


def _loop(message: Any, scope: str | None, outer: Any) -> WhileContext:
    graph = get_default_graph()

    def element(name: str) -> Any:
        return graph.as_graph_element(ops.prepend_name_scope(name, scope)) if name else None

    context = WhileContext.__new__(WhileContext)
    context.maximum_iterations = element(message.maximum_iterations_name)
    context.parallel_iterations = message.parallel_iterations
    context.back_prop, context.swap_memory = message.back_prop, message.swap_memory
    context.pivot_for_pred = element(message.pivot_for_pred_name)
    context.pivot_for_body = element(message.pivot_for_body_name)
    context.pivot = element(message.pivot_name)
    context.loop_exits = [element(name) for name in message.loop_exit_names]
    context.loop_enters = [element(name) for name in message.loop_enter_names]
    return _read(context, message, scope, outer)


def cond_from_proto(message: Any, import_scope: str | None = None) -> CondContext:
    """The branch that a CondContextDef describes, of nodes that are in the default graph already."""
    return _branch(message, import_scope, None)


def while_from_proto(message: Any, import_scope: str | None = None) -> WhileContext:
    """The loop that a WhileContextDef describes, of nodes that are in the default graph already."""
    return _loop(message, import_scope, None)


def _cond_type() -> Any:
    from tfsandbox.proto import control_flow_pb2
    return control_flow_pb2.CondContextDef


def _while_type() -> Any:
    from tfsandbox.proto import control_flow_pb2
    return control_flow_pb2.WhileContextDef


ops.register_proto_function(GraphKeys.COND_CONTEXT, proto_type=_cond_type, to_proto=to_proto,
                            from_proto=cond_from_proto)
ops.register_proto_function(GraphKeys.WHILE_CONTEXT, proto_type=_while_type, to_proto=to_proto,
                            from_proto=while_from_proto)
