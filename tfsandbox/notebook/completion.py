"""Tab completion of the magics: options, the notebook's tensors and graphs, and names in the graph."""

from __future__ import annotations

from typing import Any

from tfsandbox.notebook.engine_records import graph_model
from tfsandbox.notebook.line_arguments import is_graph_object, user_names
from tfsandbox.notebook.magics import MAGIC_NAMES, OPTION_VALUES

LIMIT = 200
"""A list that nobody would read helps nobody."""


def complete(shell: Any, event: Any) -> list[str]:
    """The words that may stand at the cursor; `event` is IPython's, with `.line`, `.command` and `.symbol`."""
    magic = event.command.lstrip("%")
    symbol = event.symbol
    before = event.line[:len(event.line) - len(symbol)].split() if symbol else event.line.split()
    previous = before[-1] if before else ""
    if magic == "tensorflow_version":
        return [word for word in ("1.x", "2.x") if word.startswith(symbol)]
    if previous in OPTION_VALUES:
        return [word for word in OPTION_VALUES[previous] if word.startswith(symbol)]
    if symbol.startswith("-"):
        return [option for option in magic_options(shell, magic) if option.startswith(symbol)]
    if previous in ("--session", "-s"):
        return [name for name, value in shell.user_ns.items() if name.startswith(symbol) and hasattr(value, "run")
                and is_graph_object(value)]
    if previous in ("--feed", "-f"):
        return [name for name, value in shell.user_ns.items() if name.startswith(symbol) and isinstance(value, dict)
                and not name.startswith("_")]
    if previous == "--save":
        return []
    from tfsandbox.framework.graph import get_default_graph

    scopes_only = previous in ("--expand", "-e", "--collapse", "-c")
    names = [] if scopes_only else [name for name in user_names(shell) if name.startswith(symbol)]
    return [*names, *graph_words(graph_model(get_default_graph()).index, symbol, scopes_only)][:LIMIT]


def graph_words(names: Any, prefix: str, scopes_only: bool = False) -> list[str]:
    """Node names and scopes that begin with the prefix, one level of scopes at a time."""
    found: dict[str, None] = {}
    for name in names:
        if not name.startswith(prefix):
            continue
        cut = name.find("/", len(prefix))
        if cut >= 0:
            found[name[:cut + 1]] = None
        elif not scopes_only:
            found[name] = None
    words = list(found)
    if len(words) == 1 and words[0].endswith("/") and words[0] != prefix:
        # One scope only: go on into it.
        return [words[0], *graph_words(names, words[0], scopes_only)]
    return words


def magic_options(shell: Any, magic: str) -> list[str]:
    """The long options of a magic, as its parser has them."""
    function = shell.magics_manager.magics["line"].get(magic)
    parser = getattr(function, "parser", None)
    if magic not in MAGIC_NAMES or parser is None:
        return []
    return [option for action in parser._actions for option in action.option_strings if option.startswith("--")]
