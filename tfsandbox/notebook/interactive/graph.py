"""What answers the page of a graph view."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from tfsandbox.notebook.interactive import graph_payload
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.views.graph import GraphView
from tfsandbox.notebook.watching import Watched, watching

PUSHED = 2_000
"""So many nodes' values go to the page while a watched cell runs; of more only those of the last run."""

EVERY = 0.3
"""Seconds between two pushes."""


class GraphLive(Live):
    """A graph view's Python end."""

    view: GraphView

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self.watched = Watched()
        self._pushed = 0.0

    @contextlib.contextmanager
    def watch(self, session: Any) -> Iterator[Watched]:
        """Keep the values of the session's runs, and show them on the nodes."""
        with watching(session, self.watched, self._ran):
            try:
                yield self.watched
            finally:
                self._push()

    def _ran(self) -> None:
        if len(self.watched.values) <= PUSHED and time.monotonic() - self._pushed > EVERY:
            self._push()

    def _push(self) -> None:
        if self._pages and self.watched.runs:
            self.send({"watched": self.request_values({})})
        self._pushed = time.monotonic()

    def request_values(self, content: dict[str, Any]) -> dict[str, Any]:
        """The summaries of the last watched run, by node."""
        return {"runs": self.watched.runs, "values": self.watched.summaries()}

    def request_value(self, content: dict[str, Any]) -> dict[str, Any]:
        """One node's value in detail."""
        return self.watched.detail(str(content.get("name")))

    def request_times(self, content: dict[str, Any]) -> dict[str, float]:
        """How long each kernel takes, in seconds."""
        return self.watched.seconds()

    def request_level(self, content: dict[str, Any]) -> dict[str, Any]:
        """A level of detail that the payload of a large graph left out."""
        level = str(content.get("level"))
        return graph_payload.drawing(self.view, [level])

    def request_page(self, content: dict[str, Any]) -> dict[str, Any]:
        """The view as a page that stands on its own."""
        return {"html": self.view.page()}
