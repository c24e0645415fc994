"""The stacks of default graphs and sessions, one pair a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfsandbox.framework.graph import Graph


class DefaultStack(threading.local):
    """What `with thing.as_default():` pushes to, in this thread."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.enforce_nesting = True

    @contextmanager
    def pushed(self, item: Any) -> Iterator[Any]:
        self.items.append(item)
        try:
            yield item
        finally:
            # An InteractiveSession may have been closed out of order; then it is taken out where it stands.
            if self.items and self.items[-1] is item:
                self.items.pop()
            elif item in self.items:
                if self.enforce_nesting:
                    self.items.remove(item)
                    raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
                self.items.remove(item)


graphs = DefaultStack()
sessions = DefaultStack()


def default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return sessions.items[-1] if sessions.items else None


def session_for(graph: Graph, session: Any, action: str, method: str, argument: str) -> Any:
    """The session to run in: the given or the default one, which must belong to `graph`."""
    if session is None:
        session = default_session()
        if session is None:
            raise ValueError(f"Cannot {action} using {method}: No default session is registered. Use "
                             f"`with sess.as_default()` or pass an explicit session to {argument}")
        if session.graph is not graph:
            raise ValueError(f"Cannot use the default session to {action}: the tensor's graph is different from "
                             f"the session's graph. Pass an explicit session to {argument}.")
    elif session.graph is not graph:
        raise ValueError(f"Cannot use the given session to {action}: the tensor's graph is different from the "
                         f"session's graph.")
    return session
