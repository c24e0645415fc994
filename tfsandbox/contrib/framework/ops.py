"""The graph that inputs lie in, the current name scope, and a graph's placeholders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.operation import Tensor


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: Graph | None = None) -> Graph:
    """The graph of the inputs (checked to be `graph`, if given), else the default one."""
    return ops._get_graph_from_inputs(op_input_list, graph)


def get_name_scope() -> str:
    """The current name scope of the default graph, without a trailing slash."""
    return get_default_graph().get_name_scope()


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The outputs of all placeholders in a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
