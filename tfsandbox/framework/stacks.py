"""The stacks of default graphs and sessions, one pair a thread."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, ContextDecorator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfsandbox.framework.graph import Graph


class DefaultStack(threading.local):
    """What `with thing.as_default():` pushes to, in this thread."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.enforce_nesting = True

    def pushed(self, item: Any) -> AbstractContextManager[Any]:
        """Context manager: `item` is the innermost one."""
        return _Pushed(self, item)


class _Pushed(ContextDecorator, AbstractContextManager[Any]):
    """One level of a stack. No generator: one that an interrupt leaves open would close whenever it is collected."""

    def __init__(self, stack: DefaultStack, item: Any) -> None:
        self.stack, self.item = stack, item

    def __enter__(self) -> Any:
        self.stack.items.append(self.item)
        return self.item

    def __exit__(self, *_: Any) -> None:
        items, item = self.stack.items, self.item
        # An InteractiveSession may have been closed out of order; then it is taken out where it stands.
        if items and items[-1] is item:
            items.pop()
        elif item in items:
            items.remove(item)
            if self.stack.enforce_nesting:
                raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")


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
