"""The link between a view in a JupyterLab page and its Python end: a comm that the page opens.

A stored output has no widget, so it can be drawn without a kernel; while the kernel still has the view that it shows,
the page finds it by the digest of the payload. Views of the same picture share what is selected.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from tfsandbox.notebook.interactive.live import SHARED, Live

TARGET = "tfsandbox.view"

KEPT = 8
"""So many views stay reachable from their pages though the program has kept none of them."""

_offered: dict[str, weakref.WeakSet[Live]] = {}
_recent: deque[Live] = deque(maxlen=KEPT)
_registered: weakref.WeakSet[Any] = weakref.WeakSet()


def compact(payload: dict[str, Any]) -> str:
    """A payload as JSON text, the same for the same payload."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def offer(live: Live) -> dict[str, Any]:
    """What an output stores of a view: its payload as one text, since a notebook's file gives every number of a list
    a line of its own, and the digest under which the page finds this Live.
    """
    text = compact(live.payload)
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    for known in [known for known, lives in _offered.items() if not lives]:
        del _offered[known]
    _offered.setdefault(key, weakref.WeakSet()).add(live)
    _recent.append(live)
    _register()
    return {"version": live.payload["version"], "kind": live.payload["kind"], "link": key, "json": text}


def _register() -> None:
    """Let pages open the comm, where there is a kernel at all."""
    from IPython.core.getipython import get_ipython

    if getattr(get_ipython(), "kernel", None) is None:
        return
    from comm import get_comm_manager

    manager = get_comm_manager()
    if manager not in _registered:
        manager.register_target(TARGET, opened)
        _registered.add(manager)


def opened(comm: Any, message: dict[str, Any]) -> None:
    """A page has opened the comm: connect it to the views of its payload, or close it where there are none."""
    key = message["content"]["data"].get("link")
    lives = list(_offered.get(key, ())) if isinstance(key, str) else []
    if not lives:
        comm.close()
        return
    Page(comm, lives)


class Page:
    """One output of a page. `lives` share its values; the newest of them answers what it asks."""

    def __init__(self, comm: Any, lives: list[Live]) -> None:
        self.comm = comm
        # Weakly: a view may go while a page still shows it.
        self.lives = weakref.WeakSet(lives)
        newest = max(lives, key=lambda live: _recent.index(live) if live in _recent else -1)
        self.newest = weakref.ref(newest)
        self.known: dict[str, Any] = {name: getattr(newest, name) for name in SHARED}
        self.leave: list[Callable[[], None]] = []
        for live in lives:
            live.observe(self._changed, names=[*SHARED, "payload"])
            self.leave.append(live.join(self._send))
        comm.on_msg(self._take)
        comm.on_close(lambda _: self._close())
        comm.send({"set": self.known})

    def _send(self, message: dict[str, Any]) -> None:
        self.comm.send({"message": message})

    def _changed(self, change: Any) -> None:
        if change.name in SHARED:
            if self.known[change.name] == change.new:
                return
            self.known[change.name] = change.new
        self.comm.send({"set": {change.name: change.new}})

    def _take(self, message: dict[str, Any]) -> None:
        data = message["content"]["data"]
        values = {name: value for name, value in (data.get("set") or {}).items() if name in SHARED}
        self.known |= values
        for live in list(self.lives):
            live.take(values)
        newest = self.newest()
        if isinstance(data.get("message"), dict) and newest is not None:
            answer = newest.answer(data["message"])
            if answer is not None:
                self._send(answer)

    def _close(self) -> None:
        for leave in self.leave:
            leave()
        for live in list(self.lives):
            live.unobserve(self._changed, names=[*SHARED, "payload"])
