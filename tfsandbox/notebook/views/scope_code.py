"""The call of `training_scope` that makes a mask."""

from __future__ import annotations

import re
from collections.abc import Mapping

CALL = "tf.contrib.framework.training_scope"


def scope_code(mask: Mapping[str, bool], settings: Mapping[str, str] | None = None) -> str:
    """Python for a mask {variable: whether it trains}; `settings` are further arguments as they are written."""
    trains = [name for name, on in mask.items() if on]
    lines: list[str] = []
    arguments: list[str] = []
    if trains and len(trains) < len(mask):
        pattern = _pattern(trains, [name for name, on in mask.items() if not on])
        if pattern:
            arguments.append(f"{pattern!r}")
        else:
            lines += _names(trains)
            arguments.append("variables")
    arguments += [f"{name}={value}" for name, value in (settings or {}).items()]
    call = f"with {CALL}({', '.join(arguments)}) as scope:"
    if len(call) > 110:
        call = f"with {CALL}(\n        " + ",\n        ".join(arguments) + ") as scope:"
    lines.append(call)
    if mask and not trains:
        lines.append("    scope.change(trainable_variables=[])")
    return "\n".join([*lines, "    sess.run(train_op)"])


def _pattern(trains: list[str], frozen: list[str]) -> str:
    """A regular expression for the start of the names that train and of no other; empty where none is short."""
    scopes: dict[str, None] = {}
    for name in trains:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            scope = "/".join(parts[:depth]) + "/"
            if not any(other.startswith(scope) for other in frozen):
                scopes[scope] = None
                break
        else:
            return ""
    if len(scopes) > 4:
        return ""
    escaped = [re.sub(r"([^\w/\-])", r"\\\1", scope) for scope in scopes]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(scope[:-1] for scope in escaped)})/"


def _names(trains: list[str]) -> list[str]:
    one = "names = [" + ", ".join(repr(name) for name in trains) + "]"
    if len(one) > 110:
        one = "names = [\n" + "".join(f"    {name!r},\n" for name in trains) + "]"
    return [one, "variables = [v for v in tf.trainable_variables() if v.op.name in names]"]
