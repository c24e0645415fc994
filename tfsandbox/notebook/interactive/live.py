"""The Python end of a view that is shown in pages: shared values, and answers to what a page asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import traitlets

if TYPE_CHECKING:
    from tfsandbox.notebook.views.view import View

SHARED = ("selected", "expanded", "state")
"""The traits that a page may set."""

Message = dict[str, Any]


class Live(traitlets.HasTraits):
    """What a view shares with every page that shows it.

    `selected` are names of nodes, `expanded` ids of open scopes (empty while no page has said so), `state` how the view
    is set: its level of detail, its colours. A subclass answers `ask(host, "name", content)` of a page with a method
    `request_name(content)` that returns plain data; the text of an exception is shown to the reader.
    """

    payload = traitlets.Dict()
    selected = traitlets.List(traitlets.Unicode())
    expanded = traitlets.List(traitlets.Unicode())
    state = traitlets.Dict()

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view
        self._pages: list[Callable[[Message], None]] = []

    def join(self, page: Callable[[Message], None]) -> Callable[[], None]:
        """Let a page hear what is sent; returns what ends that."""
        self._pages.append(page)

        def leave() -> None:
            if page in self._pages:
                self._pages.remove(page)

        return leave

    def send(self, message: Message) -> None:
        """Send plain data to every page that shows the view."""
        for page in list(self._pages):
            page(message)

    def answer(self, message: Message) -> Message | None:
        """The answer to a page's message; None for one that asks nothing."""
        name = message.get("ask")
        if not isinstance(name, str):
            self.heard(message)
            return None
        request = getattr(self, f"request_{name}", None) if name.isidentifier() else None
        if request is None:
            return {"answer": message.get("id"), "error": f"This view does not answer {name!r}."}
        try:
            return {"answer": message.get("id"), "content": request(message.get("content") or {})}
        except Exception as error:
            words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            return {"answer": message.get("id"), "error": words or type(error).__name__}

    def heard(self, message: Message) -> None:
        """A message of a page that is no request: `host.send(message)`."""

    def take(self, values: Message) -> None:
        """Values that a page has set. What is not shared, or not of the right kind, is left alone."""
        for name, value in values.items():
            if name in SHARED:
                try:
                    setattr(self, name, value)
                except traitlets.TraitError:
                    continue
