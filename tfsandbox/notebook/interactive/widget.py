"""A view as an anywidget, for every front end that shows widgets."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import anywidget
import traitlets

from tfsandbox.notebook.interactive import module
from tfsandbox.notebook.interactive.live import SHARED, Live


class ViewWidget(anywidget.AnyWidget):
    """The widget of a view; `widget_of` makes it. Its traits are those of the view's Live, both ways."""

    payload = traitlets.Dict().tag(sync=True)
    selected = traitlets.List(traitlets.Unicode()).tag(sync=True)
    expanded = traitlets.List(traitlets.Unicode()).tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, live: Live, **values: Any) -> None:
        shared = {name: getattr(live, name) for name in ("payload", *SHARED)}
        super().__init__(**shared, **values)
        self.live = live
        self._links = [traitlets.link((live, name), (self, name)) for name in ("payload", *SHARED)]
        self._leave = live.join(self.send)
        self.on_msg(self._take)

    def _take(self, _: Any, message: Any, buffers: Any) -> None:
        answer = self.live.answer(message) if isinstance(message, dict) else None
        if answer is not None:
            self.send(answer)

    def close(self) -> None:
        """End the widget; the view stays."""
        # ipywidgets closes again what goes away.
        links, self._links = self._links, []
        for link in links:
            link.unlink()
        self._leave()
        super().close()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and for readers without widgets what the view itself shows."""
        made = super()._repr_mimebundle_(**kwargs)
        bundle, metadata = made if isinstance(made, tuple) else (made or {}, {})
        return {**bundle, **self.live.view.bundle()}, metadata

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.live.view!r}>"


@lru_cache(maxsize=32)
def _widget_class(kind: str) -> type[ViewWidget]:
    return type(f"{kind.capitalize()}Widget", (ViewWidget,), {"_esm": module.packed(kind)})


def widget_of(live: Live) -> ViewWidget:
    """A widget that shows a view."""
    return _widget_class(live.payload["kind"])(live)
