"""A model as Graphviz source. The `graphviz` package writes it; the `dot` program is needed for rendering only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfsandbox.notebook import palette
from tfsandbox.notebook.faces import node_tooltip, plain_op
from tfsandbox.notebook.graph_model import GraphModel, Node, shape_text
from tfsandbox.notebook.layout import model_edges
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree

if TYPE_CHECKING:
    import graphviz

_SHAPES = {"box": "box", "pill": "oval", "cylinder": "cylinder", "hexagon": "hexagon", "octagon": "octagon",
           "note": "note"}


def to_digraph(model: GraphModel, clusters: bool = True) -> graphviz.Digraph:
    """The model as a `graphviz.Digraph`: a box a node, name scopes as clusters, inputs below.

    Names and attributes are escaped; nodes are called `n0`, `n1`, ... since a name may hold anything.
    """
    import graphviz
    graph = graphviz.Digraph(
        name="graph", comment=_comment(model.title),
        graph_attr={"rankdir": "BT", "fontname": "Helvetica", "fontsize": "11", "ranksep": "0.35", "nodesep": "0.25"},
        node_attr={"fontname": "Helvetica", "fontsize": "11", "height": "0.4", "margin": "0.12,0.05"},
        edge_attr={"color": palette.LINE[0], "arrowsize": "0.7"})
    number = {node.name: f"n{place}" for place, node in enumerate(model.nodes)}
    if clusters:
        _add_scope(graph, ScopeTree(model, group_series=False), ROOT, number)
    else:
        for node in model.nodes:
            _add_node(graph, number[node.name], node, node.name)
    drawn: dict[tuple[str, str], bool] = {}
    for tail, head, _, control, _ in model_edges(model):
        drawn[tail, head] = drawn.get((tail, head), True) and control
    for (tail, head), control in drawn.items():
        graph.edge(number[tail], number[head], **({"style": "dashed", "arrowhead": "open"} if control else {}))
    return graph


def _comment(title: str) -> str:
    """A title on one line: a comment ends with its line."""
    return " ".join(str(title).split())


def _add_scope(graph: Any, tree: ScopeTree, root: str, number: dict[str, str]) -> None:
    import graphviz
    for child in tree[root].children:
        box = tree[child]
        if box.node is not None:
            _add_node(graph, number[box.node.name], box.node, box.label)
            continue
        with graph.subgraph(name=f"cluster_{number[next(tree.leaves(child)).name]}_{len(child)}") as inner:
            inner.attr(label=graphviz.escape(box.label), style="rounded", color=palette.FRAME[0],
                       fontcolor=palette.MUTED[0], labeljust="l")
            _add_scope(inner, tree, child, number)


def _add_node(graph: Any, name: str, node: Node, title: str) -> None:
    import graphviz
    style = palette.role_style(node.role)
    second = plain_op(node.op)
    if node.outputs:
        second += f"  {shape_text(node.shape())}"
    graph.node(name, label=graphviz.escape(title) + "\\n" + graphviz.escape(second), shape=_SHAPES[style.shape],
               color=style.light, fontcolor=palette.INK[0], style="dashed" if style.dashed else "solid",
               tooltip=graphviz.escape(node_tooltip(node)))
