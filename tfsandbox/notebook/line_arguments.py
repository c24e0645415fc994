"""What a magic's line says: words split as Python sees them, and what each word means in the user's notebook.

A word is a name of the user's, a node or scope of the graph, or an expression, in this order. Only what the user
typed is evaluated; a node's name is looked up and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from IPython.core.error import UsageError

from tfsandbox.notebook.engine_records import graph_model
from tfsandbox.notebook.graph_model import GraphModel, closest, node_name

_OPENING, _CLOSING = "([{", ")]}"


def split_words(line: str) -> list[str]:
    """The words of a line; spaces inside brackets or quotes do not split. Raises UsageError where one is left open."""
    words: list[str] = []
    word = ""
    open_brackets: list[str] = []
    quote = ""
    skip = False
    for character in line:
        if skip:
            word, skip = word + character, False
            continue
        if quote:
            skip = character == "\\"
            if character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in _OPENING:
            open_brackets.append(_CLOSING[_OPENING.index(character)])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif character.isspace() and not open_brackets:
            if word:
                words.append(word)
            word = ""
            continue
        word += character
    if quote or open_brackets:
        raise UsageError(f"{line.strip()!r} ends too early: {quote or open_brackets[-1]} is missing.")
    return [*words, word] if word else words


@dataclass(frozen=True)
class GraphName:
    """A word that names a node (`scope` False) or a name scope of a graph."""

    name: str
    scope: bool


def graph_name(model: GraphModel, word: str) -> GraphName | None:
    """The node, tensor or scope of that name; None when there is none."""
    if node_name(word) in model.index:
        return GraphName(node_name(word), False)
    scope = word.strip("/") + "/"
    if scope != "/" and any(name.startswith(scope) for name in model.index):
        return GraphName(scope[:-1], True)
    return None


def meaning(shell: Any, word: str, graph: Any) -> Any:
    """The object that a word means: the user's, or a `GraphName`. Raises UsageError with the nearest names."""
    if word.isidentifier() and word in shell.user_ns:
        return shell.user_ns[word]
    model = graph_model(graph)
    found = graph_name(model, word)
    if found is not None:
        return found
    try:
        value = shell.ev(word)
    except (NameError, SyntaxError, AttributeError) as error:
        near = closest(word, [*user_names(shell), *model.names_and_scopes()])
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        why = f" ({error})" if isinstance(error, AttributeError) else ""
        raise UsageError(f"{word!r} is neither a name in this notebook nor a node of the graph{why}.{hint}") from None
    except Exception as error:
        raise UsageError(f"{word}: {type(error).__name__}: {error}") from None
    if isinstance(value, str):
        named = graph_name(model, value)
        if named is None:
            near = closest(value, model.names_and_scopes())
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UsageError(f"The graph has no node or name scope {value!r}.{hint}")
        return named
    return value


def user_names(shell: Any) -> list[str]:
    """The names in the notebook that mean tensors, operations, variables, graphs or sessions."""
    return [name for name, value in list(shell.user_ns.items())
            if not name.startswith("_") and is_graph_object(value)]


def is_graph_object(value: Any) -> bool:
    """Whether a value is of the engine: something that a magic can show."""
    return any(base.__module__.startswith("tfsandbox.") for base in type(value).__mro__) and \
        hasattr(type(value), "graph") or hasattr(value, "get_operations")


def evaluated(shell: Any, expression: str | None, what: str) -> Any:
    """The value of an option's expression. Raises UsageError when it cannot be evaluated."""
    if expression is None:
        return None
    try:
        return shell.ev(expression)
    except Exception as error:
        raise UsageError(f"{what} {expression}: {type(error).__name__}: {error}") from None


def operations(values: Iterable[Any]) -> list[Any]:
    """The values with lists, tuples and dicts taken apart."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            flat += operations(value.values())
        elif isinstance(value, (list, tuple)):
            flat += operations(value)
        else:
            flat.append(value)
    return flat
