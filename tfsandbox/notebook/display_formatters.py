"""What the engine's objects look like as the result of a cell.

The engine imports nothing of IPython: formatters are registered for its types, and the objects with a bundle of their
own ask `framework.display`, where a renderer is put.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import display
from tfsandbox.notebook import engine_records
from tfsandbox.notebook.views import GraphView, View

Bundle = dict[str, Any]

LARGEST = 20_000
"""A graph of more nodes is told in text: reading it would hold up the notebook."""


def _graph(graph: Any) -> View | None:
    if not 0 < len(graph.get_operations()) <= LARGEST:
        return None
    return engine_records.graph_view(graph)


def _operation(operation: Any) -> View | None:
    if len(operation.graph.get_operations()) > LARGEST:
        return None
    return engine_records.graph_view(operation.graph, focus=[operation.name])


def _tensor(tensor: Any) -> View | None:
    return _operation(tensor.op)


def _graph_def(graph_def: Any) -> View | None:
    if not 0 < len(graph_def.node) <= LARGEST:
        return None
    return GraphView(engine_records.graph_def_model(graph_def))


def _gradients(gradients: Any) -> View | None:
    from tfsandbox.framework.stacks import default_session

    session = default_session()
    if session is not None and session.graph is not gradients.loss.graph:
        session = None
    return engine_records.view_of_gradients(gradients, session)


def _scope(scope: Any) -> View | None:
    from tfsandbox.framework.stacks import default_session

    session = default_session()
    return engine_records.scope_view(scope, session if session is not None and session.graph is scope.graph else None)


def _training_nodes(plan: Any) -> View | None:
    if plan.mode != "full" or not 0 < len(plan) <= LARGEST:
        return None
    return engine_records.view_of_plan(plan)


def makers() -> dict[type, Callable[[Any], View | None]]:
    """The view of each of the engine's types."""
    from tfsandbox.framework.graph import Graph
    from tfsandbox.framework.operation import Operation, Tensor
    from tfsandbox.framework.training_nodes import TrainingNodes
    from tfsandbox.proto import graph_pb2
    from tfsandbox.training.loss_gradients import Gradients
    from tfsandbox.training.training_scope import TrainingScope

    return {Graph: _graph, Operation: _operation, Tensor: _tensor, graph_pb2.GraphDef: _graph_def,
            Gradients: _gradients, TrainingScope: _scope, TrainingNodes: _training_nodes}


_OWN_TEXT = ("Operation", "Tensor")
"""Types whose text is TensorFlow's own, as programs and books print it; the picture comes beside it."""


def render(value: Any) -> Bundle | None:
    """The MIME bundle of an object of the engine; None where it has no picture, or drawing it fails."""
    for base in type(value).__mro__:
        maker = _table().get(base)
        if maker is None:
            continue
        try:
            view = maker(value)
            if view is None:
                return None
            bundle: Bundle = dict(view._repr_mimebundle_())
        except Exception:
            # Looking at an object must never fail: its text is still there.
            return None
        if base.__name__ in _OWN_TEXT:
            bundle["text/plain"] = repr(value)
        return bundle
    return None


_known: dict[type, Callable[[Any], View | None]] = {}


def _table() -> dict[type, Callable[[Any], View | None]]:
    if not _known:
        _known.update(makers())
    return _known


_FIGURE = "matplotlib.figure.Figure"  # a name: nothing is imported for it


def _figure_png(figure: Any) -> bytes:
    """A figure as PNG: the ones of `TrainingGraphManager.plot` are not pyplot's, so nobody else would show them."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def register(shell: Any) -> None:
    """Let the engine's objects display as pictures in this shell."""
    formatter = shell.display_formatter.mimebundle_formatter
    for kind in _table():
        formatter.for_type(kind, lambda value, include=None, exclude=None: render(value))
    display.renderer = render
    png = shell.display_formatter.formatters["image/png"]
    if _FIGURE not in png:  # `%matplotlib inline` has its own, and replaces this one
        png.for_type(_FIGURE, _figure_png)


def unregister(shell: Any) -> None:
    """Text again."""
    formatter = shell.display_formatter.mimebundle_formatter
    for kind in _table():
        formatter.pop(kind, None)
    if display.renderer is render:
        display.renderer = None
    png = shell.display_formatter.formatters["image/png"]
    if _FIGURE in png and png.lookup_by_type(_FIGURE) is _figure_png:
        png.pop(_FIGURE)
    _known.clear()
