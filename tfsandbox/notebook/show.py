"""`tfsandbox.show_graph`: what `%tf_graph` shows, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.notebook import engine_records
from tfsandbox.notebook.graph_model import GraphModel, unknown_name_message
from tfsandbox.notebook.line_arguments import GraphName, graph_name, operations
from tfsandbox.notebook.views.graph import GraphView


def show_graph(*what: Any, **settings: Any) -> GraphView:
    """The picture of a graph, or of what some tensors depend on: the last thing of a cell, or `.show()` it.

    `what` are graphs, sessions, GraphDefs, tensors, operations, variables, or names of nodes and name scopes; nothing
    means the default graph. `settings` are those of `GraphView`: `detail`, `expand`, `collapse`, `hide`, `show`,
    `notes`.

    Raises TypeError for what is none of these, ValueError for things of different graphs and for an empty graph, and
    KeyError for unknown names.
    """
    from tfsandbox.framework.graph import get_default_graph

    things = operations(what)
    owner = next((thing for thing in things if not isinstance(thing, str)), None)
    graph = getattr(owner, "graph", None) or (owner if hasattr(owner, "get_operations") else get_default_graph())
    model, focus = scene_of([_named(graph, thing) for thing in things], get_default_graph())
    return GraphView(model, focus=[*focus, *_listed(settings.pop("focus", ()))], **settings)


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _named(graph: Any, thing: Any) -> Any:
    """A thing, or the node or scope that a string names."""
    if not isinstance(thing, str):
        return thing
    model = engine_records.graph_model(graph)
    found = graph_name(model, thing)
    if found is None:
        raise KeyError(unknown_name_message("node or name scope", thing, model.names_and_scopes()))
    return found


def scene_of(things: Iterable[Any], default_graph: Any) -> tuple[GraphModel, list[str]]:
    """The model to draw for some things, and the nodes to reduce it to. Raises TypeError and ValueError."""
    graph = None
    focus: list[str] = []
    scopes: list[str] = []
    for thing in things:
        if isinstance(thing, GraphModel):
            return thing, []
        if hasattr(thing, "SerializeToString") and hasattr(thing, "node"):
            return engine_records.graph_def_model(thing), []
        if isinstance(thing, GraphName):
            (scopes if thing.scope else focus).append(thing.name)
            continue
        owner = thing if hasattr(thing, "get_operations") else getattr(thing, "graph", None)
        if owner is None or not hasattr(owner, "get_operations"):
            raise TypeError("The graph view shows graphs, tensors, operations and variables, "
                            f"not a {type(thing).__name__}.")
        if graph is not None and owner is not graph:
            raise ValueError("These belong to different graphs.")
        graph = owner
        name = getattr(getattr(thing, "op", thing), "name", None)
        if owner is not thing and isinstance(name, str) and name in engine_records.graph_model(owner):
            focus.append(name)
    model = engine_records.graph_model(graph or default_graph)
    if not model.nodes:
        raise ValueError("The graph is empty: nothing has been built in it yet.")
    if scopes:
        names = {node.name for scope in scopes for node in model.under(scope).nodes}
        model = model.restricted(names, ", ".join(f"{scope}/" for scope in scopes))
        focus = [name for name in focus if name in model]
    return model, focus
