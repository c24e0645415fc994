"""Functions that stand between `Variable(...)` and the variable that is made: `variable_creator_scope`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfsandbox.framework.graph import Graph, get_default_graph


class _Creators(threading.local):
    def __init__(self) -> None:
        self.stack: list[tuple[Graph, Callable[..., Any]]] = []


_creators = _Creators()


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Context manager: `variable_creator(next_creator, **kwargs)` makes the variables of the default graph."""
    _creators.stack.append((get_default_graph(), variable_creator))
    try:
        yield
    finally:
        _creators.stack.pop()


class CreatedInScopes(type):
    """Metaclass: making a Variable goes through the creator scopes that are open."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        def make(**given: Any) -> Any:
            return type.__call__(cls, **given)

        if not _creators.stack:
            return type.__call__(cls, *args, **kwargs)
        names = ("initial_value", "trainable", "collections", "validate_shape", "caching_device", "name",
                 "variable_def", "dtype", "expected_shape", "import_scope", "constraint", "use_resource",
                 "synchronization", "aggregation", "shape")
        kwargs.update(zip(names, args))
        creator: Callable[..., Any] = make
        graph = get_default_graph()
        for scope_graph, function in _creators.stack:
            if scope_graph is graph:
                creator = _following(function, creator)
        return creator(**kwargs)


def _following(creator: Callable[..., Any], following: Callable[..., Any]) -> Callable[..., Any]:
    """`creator`, with what it may hand over to as its first argument."""
    return lambda **kwargs: creator(following, **kwargs)
