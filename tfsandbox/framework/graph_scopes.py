"""The scopes of a graph that is being built: name scopes and control dependencies.

None of them is a generator: one that an interrupt leaves open would close whenever it is collected.
"""

from __future__ import annotations

import re
import threading
from contextlib import AbstractContextManager, ContextDecorator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfsandbox.framework.graph import Graph
    from tfsandbox.framework.operation import Operation

VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*\Z")
VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*\Z")


class ControlDependencies:
    """One level of `graph.control_dependencies(...)`."""

    def __init__(self, graph: Graph, control_inputs: list[Operation] | None) -> None:
        self.graph = graph
        self.clears = control_inputs is None
        self.control_inputs = control_inputs or []
        self.seen: set[Operation] = set()

    def __enter__(self) -> ControlDependencies:
        graph = self.graph
        self._outer = graph._control_dependencies_stack
        self._outer_context = graph._control_flow_context
        if self.clears:
            graph._control_dependencies_stack = []
            graph._control_flow_context = None
        graph._control_dependencies_stack = [*graph._control_dependencies_stack, self]
        return self

    def __exit__(self, *_: Any) -> None:
        self.graph._control_dependencies_stack = self._outer
        if self.clears:
            self.graph._control_flow_context = self._outer_context


class Names(threading.local):
    """Each thread is in a name scope of its own."""

    stack = ""


class NameScope(ContextDecorator, AbstractContextManager[str]):
    """One level of `graph.name_scope(...)`.

    No generator: one that an interrupt leaves open would close whenever it is collected, and bring an old scope back.
    """

    def __init__(self, graph: Graph, name: str | bytes | None) -> None:
        self.graph = graph
        self.name = name.decode() if isinstance(name, bytes) else name

    def _recreate_cm(self) -> NameScope:
        return NameScope(self.graph, self.name)

    def __enter__(self) -> str:
        graph, name = self.graph, self.name
        self._outer = graph._name_stack
        if not name:
            graph._name_stack = ""
            return ""
        valid = VALID_SCOPE_NAME if self._outer else VALID_OP_NAME
        if not valid.match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        graph._name_stack = inner = name[:-1] if name.endswith("/") else graph.unique_name(name)
        return inner + "/" if inner else ""

    def __exit__(self, *_: Any) -> None:
        self.graph._name_stack = self._outer
