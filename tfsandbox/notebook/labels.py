"""Every word that a picture writes by itself, in one table, so that a language is one more column."""

from __future__ import annotations

LABELS: dict[str, dict[str, str]] = {
    "en": {
        "role.input": "input",
        "role.variable": "variable",
        "role.forward": "op",
        "role.constant": "constant",
        "role.gradient": "gradient",
        "role.optimizer": "update",
        "role.slot": "optimizer state",
        "role.init": "initial value",
        "role.saver": "saver",
        "role.summary": "summary",
        "role.check": "check",
        "role.plumbing": "plumbing",
        "legend.scope": "name scope (closed)",
        "legend.data": "tensor",
        "legend.control": "runs after",
        "legend.gradient": "gradient",
        "legend.norm": "gradient, with its L2 norm",
        "legend.loss": "what is differentiated",
        "legend.blocked": "no gradient passes",
        "legend.removed": "removed",
        "legend.protected": "protected",
        "legend.trains": "trains",
        "legend.frozen": "frozen",
        "hidden.gradient": "backward pass",
        "hidden.optimizer": "updates",
        "hidden.slot": "optimizer state",
        "hidden.init": "initial values",
        "hidden.saver": "saver",
        "hidden.summary": "summaries",
        "hidden.check": "checks",
        "hidden.plumbing": "plumbing",
        "hidden.identity": "pass-through",
        "hidden.loop": "loop frames",
        "hidden.argument": "arguments",
        "caption.drawn": "{drawn} of {total} nodes",
        "caption.all": "{total} nodes",
        "caption.backward": "{drawn} nodes, {backward} of the backward pass beside them",
        "caption.hidden": "not drawn:",
        "scope.nodes": "{count} nodes",
        "scope.node": "1 node",
        "scope.variables": "{count} variables",
        "scope.variable": "1 variable",
    },
}

_language = "en"


def set_language(language: str) -> None:
    """Choose the column. Raises ValueError for a language that the table does not have."""
    global _language
    if language not in LABELS:
        raise ValueError(f"Labels are in {', '.join(sorted(LABELS))}, not in {language!r}.")
    _language = language


def label(key: str, **values: object) -> str:
    """The words for a key in the chosen language, English where it has none."""
    text = LABELS[_language].get(key) or LABELS["en"][key]
    return text.format(**values) if values else text


def node_count(count: int) -> str:
    """`1 node`, `16 nodes`."""
    return label("scope.node") if count == 1 else label("scope.nodes", count=f"{count:,}")


def variable_count(count: int) -> str:
    """`1 variable`, `3 variables`."""
    return label("scope.variable") if count == 1 else label("scope.variables", count=f"{count:,}")
