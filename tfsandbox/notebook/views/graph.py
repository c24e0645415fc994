"""The graph view: name scopes, nodes and edges at a level of detail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook import text
from tfsandbox.notebook.backward import Backward, find_backward
from tfsandbox.notebook.companions import companions
from tfsandbox.notebook.detail import LEVELS, level_rules, simplify
from tfsandbox.notebook.faces import Faces, Remarks
from tfsandbox.notebook.graph_model import GraphModel
from tfsandbox.notebook.layered import MAX_ROW
from tfsandbox.notebook.layout import BACKWARD, Layout, lay_out, model_edges
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree
from tfsandbox.notebook.svg import EdgeNote, draw
from tfsandbox.notebook.views.view import View

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tfsandbox.notebook.interactive.live import Live
    from tfsandbox.notebook.watching import Watched

NOTEBOOK_WIDTH = 880.0
"""The width of an output beside JupyterLab's file browser on a laptop."""

COMFORTABLE_HEIGHT = 1250.0
BUDGETS = (24, 18, 12, 6, 0)
ROW_LIMITS = (MAX_ROW, 6, 4)


def _names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class GraphView(View):
    """A picture of a graph.

    `detail` is "ideas" (the forward pass), "gradients" (each op with its backward op beside it) or "full" (every node).
    `expand` names the scopes to open ("*" for all; None for what fits a notebook), `collapse` those to keep shut.
    `hide` and `show` name rules of `detail.RULES`. `focus` reduces the graph to what these nodes depend on. `notes`
    are short texts by node name, shown in the boxes.

    Raises KeyError for unknown names and ValueError for an unknown level or rule, both naming the nearest.
    """

    kind = "graph"

    def __init__(self, model: GraphModel, detail: str = "ideas", expand: str | Iterable[str] | None = None,
                 collapse: str | Iterable[str] = (), hide: str | Iterable[str] = (), show: str | Iterable[str] = (),
                 focus: str | Iterable[str] = (), notes: Mapping[str, str] | None = None,
                 group_series: bool = True) -> None:
        level_rules(detail)
        self.source, self.detail = model, detail
        self.focus, self.hidden_rules, self.shown_rules = _names(focus), _names(hide), _names(show)
        self.expand = None if expand is None else _names(expand)
        self.collapse = _names(collapse)
        self.notes = dict(notes or {})
        self.group_series = group_series
        self.whole = model.reduced_to(self.focus) if self.focus else model
        self.title = self.whole.title
        self.backward: Backward | None = None
        self.model = self._drawn_model()
        self.tree = ScopeTree(self.model, group_series)
        self.faces = Faces(self.tree, self._remarks())
        self.max_row = self._row_limit()
        self.expanded = self._expansion()

    def _drawn_model(self) -> GraphModel:
        """The nodes to draw."""
        if self.detail != "gradients":
            return simplify(self.whole, self.detail, self.hidden_rules, self.shown_rules, keep=self.focus)
        self.backward = self._find_backward()
        return self.backward.forward

    def _find_backward(self) -> Backward:
        return find_backward(self.source, focus=self.focus, hide=self.hidden_rules, show=self.shown_rules)

    def _remarks(self) -> Remarks:
        """What is said in and beside the boxes."""
        if self.backward is None:
            return Remarks(notes=self.notes)
        marks = {name: "blocked" for name in self.backward.blocked} | {name: "loss" for name in self.backward.losses}
        tips = {name: "no gradient passes here" for name in self.backward.blocked}
        return Remarks(notes=self.notes, marks=marks, tips=tips, companions=companions(self.tree, self.backward))

    def edges(self) -> Iterable[tuple[str, str, int, bool, str]]:
        """(tail, head, lane, is control, tensor) of every edge of the picture."""
        yield from model_edges(self.model)
        if self.backward is not None:
            for upper, lower in self.backward.flow:
                yield lower, upper, BACKWARD, False, ""

    def edge_notes(self) -> Mapping[tuple[str, int], EdgeNote]:
        """Remarks on edges, by the box where they arrive and the lane."""
        return {}

    def _expansion(self) -> frozenset[str]:
        """The open scopes: those asked for, or as many as leave the picture readable."""
        if self.expand is not None:
            chosen = frozenset(self.tree.scopes()) if "*" in self.expand else self.tree.expansion(self.expand)
        else:
            chosen = self._fitting()
        shut = [f"{name.strip('/')}/" for name in self.collapse]
        return frozenset(scope for scope in chosen if not any(scope.startswith(name) for name in shut))

    def _fitting(self) -> frozenset[str]:
        chosen: frozenset[str] = frozenset()
        for budget in BUDGETS:
            chosen = self.tree.sensible_expansion(budget)
            if not chosen:
                break
            placed = self._placed(chosen)
            if placed.width <= NOTEBOOK_WIDTH and placed.height <= COMFORTABLE_HEIGHT:
                break
        return chosen

    def _row_limit(self) -> int:
        """How many boxes may stand side by side so that the closed picture fits a notebook."""
        for self.max_row in ROW_LIMITS:
            if self._placed(frozenset()).width <= NOTEBOOK_WIDTH:
                break
        return self.max_row

    def _placed(self, expanded: frozenset[str]) -> Layout:
        return lay_out(self.tree, expanded, self.faces.size, self.faces.heading, self.edges(), self.max_row)

    @cached_property
    def layout(self) -> Layout:
        """Where everything is."""
        return self._placed(self.expanded)

    def caption(self) -> str:
        """What the picture leaves out, in one line."""
        beside = sum(len(op.nodes) for op in self.backward.ops.values()) if self.backward else 0
        return text.caption(len(self.model), self.model.hidden, beside)

    def opened(self, *scopes: str) -> GraphView:
        """The same view with more scopes open."""
        names = [scope.rstrip("/") for scope in self.expanded]
        return self._again(expand=[*names, *scopes])

    def _again(self, **changes: Any) -> GraphView:
        settings: dict[str, Any] = {
            "model": self.source, "detail": self.detail, "expand": self.expand, "collapse": self.collapse,
            "hide": self.hidden_rules, "show": self.shown_rules, "focus": self.focus, "notes": self.notes,
            "group_series": self.group_series}
        return GraphView(**{**settings, **changes})

    def at(self, detail: str) -> GraphView:
        """The same graph at another level of detail."""
        return self._again(detail=detail, expand=None, collapse=())

    def levels(self) -> list[str]:
        """The levels of detail at which this view can be seen."""
        return list(LEVELS)

    def payload(self) -> dict[str, Any] | None:
        """What the page draws from, at every level of detail."""
        from tfsandbox.notebook.interactive import graph_payload
        return graph_payload.payload(self)

    def watch(self, session: Any) -> AbstractContextManager[Watched]:
        """`with view.watch(sess):` keeps the values of the session's runs and shows them on the nodes.

        Gives a `Watched`: `.values` are the arrays of the last run by node, `.summaries()` what the page shows. The
        runs fetch every node that they compute, so they are slower and keep all arrays until the next one.
        """
        from tfsandbox.notebook.interactive.graph import GraphLive
        live = self.live
        assert isinstance(live, GraphLive)
        return live.watch(session)

    def _make_live(self) -> Live:
        from tfsandbox.notebook.interactive.graph import GraphLive
        return GraphLive(self)

    def svg(self, theme: str = "auto") -> str:
        """The picture. `theme` is "auto", "light" or "dark"."""
        return draw(self.tree, self.layout, self.faces, title=f"TensorFlow graph: {self.title}", caption=self.caption(),
                    description=self.text(limit=25), edge_notes=self.edge_notes(), theme=theme)

    def text(self, limit: int | None = None) -> str:
        return text.tree_text(self.tree, self.notes, f"{self.title}: {self.caption()}", limit=limit)

    def digraph(self) -> Any:
        """The drawn nodes as a `graphviz.Digraph`."""
        from tfsandbox.notebook.dot import to_digraph
        return to_digraph(self.model)

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "view": self.kind, "version": 1, "title": self.title, "detail": self.detail, "focus": self.focus,
            "expanded": sorted(self.expanded), "notes": self.notes, "graph": self.model.to_json(),
            "layout": self.layout.to_json()}
        if self.backward is not None:
            record["backward"] = self.backward.to_json()
        return record

    def __repr__(self) -> str:
        top = len(self.tree[ROOT].children)
        return f"<{type(self).__name__} {self.title!r}: {self.caption()}, {top} boxes at the top>"
