"""Where workers find the chief's session.

Sessions here share no variables by themselves. A session that waits for the chief's initialisation
(`MonitoredTrainingSession(is_chief=False)`, or in a training scope with `is_chief=False`) gets the variables of the
chief's session on the same graph, as workers of one cluster do.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from tfsandbox.framework.graph import Graph
from tfsandbox.runtime.session import Session
from tfsandbox.runtime.state import SessionState

_changed = threading.Condition()
_sessions: weakref.WeakKeyDictionary[Graph, Any] = weakref.WeakKeyDictionary()
_announced = 0


class _WorkerSession(Session):
    """A session on the variables of another; closing it leaves them alone."""

    def __init__(self, chief: Any, config: Any) -> None:
        super().__init__(graph=chief.graph, config=config)
        self._state = chief._state

    def close(self) -> None:
        self._state = SessionState()
        super().close()


def announce(session: Any) -> None:
    """The chief's session of a graph is initialised."""
    global _announced
    with _changed:
        _announced += 1
        _sessions[session.graph] = weakref.ref(session)
        _changed.notify_all()


def worker_session(graph: Graph, config: Any) -> Session | None:
    """A session on the variables of the graph's chief; None while there is no chief."""
    with _changed:
        found = _sessions.get(graph)
        chief = found() if found is not None else None
    if chief is None or chief._closed:
        return None
    return _WorkerSession(chief, config)


def announcements() -> int:
    """How many sessions were announced so far."""
    return _announced


def wait(seen: int, timeout: float) -> None:
    """Wait until more than `seen` sessions were announced, at most `timeout` seconds."""
    with _changed:
        _changed.wait_for(lambda: _announced > seen, timeout)
