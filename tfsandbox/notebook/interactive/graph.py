"""What answers the page of a graph view."""

from __future__ import annotations

from typing import Any

from tfsandbox.notebook.interactive import graph_payload
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.views.graph import GraphView


class GraphLive(Live):
    """A graph view's Python end."""

    view: GraphView

    def request_level(self, content: dict[str, Any]) -> dict[str, Any]:
        """A level of detail that the payload of a large graph left out."""
        level = str(content.get("level"))
        return graph_payload.drawing(self.view, [level])

    def request_page(self, content: dict[str, Any]) -> dict[str, Any]:
        """The view as a page that stands on its own."""
        return {"html": self.view.page()}
