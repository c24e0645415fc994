"""tf.sandbox: what the sandbox has beyond TensorFlow, for looking inside."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.stacks import default_session
from tfsandbox.runtime.emit import Program
from tfsandbox.runtime.session import Session
from tfsandbox.util import nest


def program(fetches: Any, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Program:
    """The program that `session.run(fetches, feed_dict)` would execute: source, plan, and which line is which node.

    Nothing runs. The feeds only say which tensors are fed and in which shapes. Without `session`, the default one is
    asked, else the graph of the fetches is planned by itself. Raises what the run would raise for such arguments.
    """
    if session is None:
        session = default_session()
        graph = _graph_of(fetches)
        if session is None or session.graph is not graph:
            session = Session(graph=graph)
    return session.program(fetches, feed_dict)


def source(fetches: Any, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> str:
    """The numpy source that `session.run(fetches, feed_dict)` executes, its constants listed first."""
    return program(fetches, feed_dict, session).text


def _graph_of(fetches: Any) -> Graph:
    for leaf in nest.flatten(fetches):
        if isinstance(leaf, (Tensor, Operation)) or hasattr(leaf, "_as_graph_element"):
            return leaf.graph
    return get_default_graph()
