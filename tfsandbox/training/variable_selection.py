"""Variables named by a caller: as objects, lists, dicts or patterns."""

from __future__ import annotations

import difflib
import re
from typing import Any

from tfsandbox.framework.graph import Graph, GraphKeys
from tfsandbox.ops import variables


def is_variable(value: Any) -> bool:
    """Whether `value` is a variable of the sandbox."""
    return isinstance(value, variables.Variable)


def select_variables(selection: Any, argument: str, graph: Graph) -> list[Any] | None:
    """The variables that a `trainable_variables` argument names, each once; None for all.

    A list, a dict of variables or lists of them, a variable, or a regular expression for the start of the name.

    Raises `TypeError` for what is no variable, `ValueError` for a selection that is empty or of another graph.
    """
    if selection is None:
        return None
    there = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
    names = ", ".join(v.op.name for v in there) or "none: no variable has been made yet"
    if isinstance(selection, str):
        chosen = [v for v in there if re.match(selection, v.op.name)]
        if not chosen:
            near = difflib.get_close_matches(selection, [v.op.name for v in there], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{argument}={selection!r} matches the name of no trainable variable.{hint} "
                             f"There are: {names}.")
        return chosen
    if is_variable(selection):
        chosen = [selection]
    elif isinstance(selection, dict):
        chosen = []
        for key, value in selection.items():
            members = [value] if is_variable(value) else value
            if not isinstance(members, (list, tuple)):
                raise TypeError(f"{argument}[{key!r}] must be a tf.Variable or a list of them, but is "
                                f"{type(value).__name__}: {value!r}")
            chosen += members
    elif isinstance(selection, (list, tuple, set, frozenset)):
        chosen = list(selection)
    else:
        raise TypeError(f"{argument} must be a list or dict of variables, a variable, a pattern or None, but is "
                        f"{type(selection).__name__}: {selection!r}")
    for variable in chosen:
        if not is_variable(variable):
            raise TypeError(f"{argument} must hold tf.Variable objects, but holds {type(variable).__name__}: "
                            f"{variable!r}")
        if variable.graph is not graph:
            raise ValueError(f"{argument}: variable {variable.op.name} belongs to another graph than the default one.")
    if not chosen:
        raise ValueError(f"{argument} selects no variable, so nothing would train. There are: {names}.")
    return list(dict.fromkeys(chosen))
