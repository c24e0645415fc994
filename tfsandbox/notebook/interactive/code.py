"""The code view as an instrument: the program, the graph that it computes, and what belongs to what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfsandbox.notebook.interactive import graph_payload
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.labels import language, page_labels
from tfsandbox.notebook.labels_code import code_labels
from tfsandbox.notebook.views.code import tokens_of
from tfsandbox.notebook.views.graph import GraphView

if TYPE_CHECKING:
    from tfsandbox.notebook.views.code import CodeView


def payload(view: CodeView) -> dict[str, Any]:
    """What the page draws from. Nodes go by their number in the drawing.

    `lines` has for each line its tokens, kind and text in turn, and the nodes that it computes; `folded` for each
    node without a line the number of its reason, -1 where it has one or the run does not need it.
    """
    assert view.model is not None
    picture = GraphView(view.model, "full", focus=view.focus)
    index = picture.whole.index
    reasons: dict[str, int] = {}
    folded = [-1] * len(index)
    for name, why in view.folded.items():
        if name in index:
            folded[index[name]] = reasons.setdefault(why, len(reasons))
    lines = []
    for line in view.lines:
        names = [*line.nodes, *(view.fed if line.code.startswith("def ") else ())]
        lines.append([[part for token in tokens_of(line.code) for part in token],
                      [index[name] for name in names if name in index]])
    return {"version": 1, "kind": "code", "language": language(),
            "labels": page_labels("code") | code_labels(language()),
            **graph_payload.drawing(picture, ["full"]), "offered": ["full"], "title": view.title,
            "code": {"lines": lines, "folded": folded, "reasons": list(reasons)}}


class CodeLive(Live):
    """A code view's Python end."""

    view: CodeView

    def request_page(self, content: dict[str, Any]) -> dict[str, Any]:
        """The view as a page that stands on its own."""
        return {"html": self.view.page()}
