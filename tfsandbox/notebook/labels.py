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
        "page.panel": "details",
        "page.needs.kernel": "This needs the notebook's kernel: run the cell again.",
        "page.close": "close",
        "page.more": "{count} more",
        "page.loading": "loading …",
        "page.steps": "steps",
        "page.steps.at": "{step} of {count}",
        "page.steps.first": "to the first step",
        "page.steps.back": "one step back",
        "page.steps.play": "play",
        "page.steps.pause": "pause",
        "page.steps.on": "one step on",
        "page.steps.last": "to the last step",
        "page.canvas": "graph {title}: arrow keys go from box to box, Enter opens, question mark button lists all keys",
        "page.zoom.in": "larger",
        "page.zoom.out": "smaller",
        "page.zoom.fit": "all of it",
        "page.hint.wheel": "Ctrl + wheel zooms, dragging moves",
        "page.op": "op",
        "page.role": "role",
        "page.kind": "training",
        "page.output": "output",
        "page.nodes": "nodes",
        "page.device": "device",
        "page.folded": "folded into it",
        "page.folded.count": "{count} nodes",
        "page.made.at": "made at {place}",
        "page.edge.control": "runs before",
        "page.edge.gradient": "gradient",
        "page.attrs": "attributes",
        "page.inputs": "inputs",
        "page.outputs": "goes to",
        "page.backward": "backward pass",
        "page.belongs": "belongs to",
        "page.scope.of": "{count} nodes",
        "page.scope.open": "open",
        "page.scope.close": "close",
        "page.not.here": "{name} is not in this picture.",
        "page.kind.trains": "trains",
        "page.kind.frozen": "frozen",
        "page.kind.state": "state, not trained",
        "page.kind.slot": "optimizer slot",
        "page.kind.gradient": "gradient",
        "page.kind.training": "training only",
        "page.kind.none": "needed for inference, too",
        "page.mark.removed": "removed",
        "page.mark.protected": "protected",
        "page.mark.trains": "trains",
        "page.mark.frozen": "frozen",
        "page.mark.loss": "what is differentiated",
        "page.mark.blocked": "no gradient passes",
        "page.level": "detail",
        "page.level.ideas": "Ideas",
        "page.level.gradients": "Gradients",
        "page.level.full": "Everything",
        "page.level.ideas.tip": "the forward pass, plumbing folded away",
        "page.level.gradients.tip": "each op with its backward op beside it",
        "page.level.full.tip": "every node that TensorFlow has",
        "page.colour": "colour by",
        "page.colour.role": "role",
        "page.colour.op": "op",
        "page.colour.scope": "name scope",
        "page.colour.device": "device",
        "page.colour.kind": "training",
        "page.colour.other": "others",
        "page.colour.mixed": "several groups",
        "page.colour.memory": "memory",
        "page.colour.time": "time",
        "page.value.of": "value in watched run {run}",
        "page.value.shape": "value",
        "page.value.range": "range",
        "page.value.mean": "mean ± deviation",
        "page.value.bytes": "memory",
        "page.value.time": "time alone",
        "page.value.heat": "heat map",
        "page.value.histogram": "histogram from {low} to {high}",
        "page.value.starts": "NaN or Inf starts here",
        "page.value.starts.at": "NaN or Inf starts at {names}.",
        "page.value.broken": "has NaN or Inf",
        "page.search": "search nodes, ops",
        "page.search.matches": "matches",
        "page.search.count": "{count} found",
        "page.search.none": "none found",
        "page.search.at": "{at} of {count}",
        "page.search.elsewhere": "not at this level of detail:",
        "page.open.all": "expand all",
        "page.close.all": "collapse all",
        "page.text": "text",
        "page.keys": "keys",
        "page.save": "save",
        "page.save.svg": "SVG picture",
        "page.save.png": "PNG picture",
        "page.save.html": "HTML page",
        "page.fullscreen": "fill the screen",
        "page.trace": "trace",
        "page.trace.near": "neighbours",
        "page.trace.all": "all the way",
        "page.trace.said": "{name}: nodes it depends on {inputs}, nodes that depend on it {outputs}",
        "page.trace.said.near": "{name}: inputs {inputs}, outputs to {outputs}",
        "page.keys.list": (
            "↑ ↓\tprevious, next box\n"
            "→\topen a scope, go into it\n"
            "←\tclose it, go out of it\n"
            "Enter\topen or close a scope, choose a node\n"
            "Space\tchoose\n"
            "i o\tto an input, to an output\n"
            "+ -\tlarger, smaller\n"
            "0\tall of it\n"
            "Esc\tchoose nothing\n"
            "Double-click\topen or close a scope\n"
            "Ctrl wheel\tlarger, smaller"
        ),
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


def language() -> str:
    """The chosen language."""
    return _language


def page_labels(kind: str) -> dict[str, str]:
    """The words of a page that shows a view of a kind, by their keys without the prefix.

    Keys that begin with `page.` are for every page, those with `page-<kind>.` for that kind.
    """
    found: dict[str, str] = {}
    for key in LABELS["en"]:
        prefix, _, rest = key.partition(".")
        if prefix in ("page", f"page-{kind}"):
            found[rest] = label(key)
        elif prefix == "role":
            found[key] = label(key)
    return found


def node_count(count: int) -> str:
    """`1 node`, `16 nodes`."""
    return label("scope.node") if count == 1 else label("scope.nodes", count=f"{count:,}")


def variable_count(count: int) -> str:
    """`1 variable`, `3 variables`."""
    return label("scope.variable") if count == 1 else label("scope.variables", count=f"{count:,}")
