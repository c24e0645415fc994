"""The pruning view as an instrument: what its page draws, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfsandbox.notebook.interactive import graph_payload
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.labels import language, page_labels
from tfsandbox.notebook.labels_prune import prune_labels
from tfsandbox.notebook.side_by_side import SideBySide
from tfsandbox.notebook.views.graph import GraphView

if TYPE_CHECKING:
    from tfsandbox.notebook.views.prune import PruneView

SMALL = 3_000
"""Of a graph of more nodes the kernels are counted when somebody proves or measures, not before the first picture."""

OUTPUTS = 12
"""At most so many outputs are run."""

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_NO_VALUE = ("resource", "variant")
_NOT_FETCHED = ("Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "Exit", "NextIteration", "LoopCond")


def payload(view: PruneView) -> dict[str, Any]:
    """What the page draws from: the whole graph, and what becomes of each node."""
    expand = view.expand
    if expand is None:
        opened = view._expansion({step.name for step in view.removed()})
        expand = [box_id.rstrip("/") for box_id in sorted(opened) if not view.tree[box_id].series]
    picture = GraphView(view.model, "full", expand=expand)
    return {"version": 1, "kind": "prune", "language": language(),
            "labels": page_labels("prune") | prune_labels(language()),
            **graph_payload.drawing(picture, ["full"]), "offered": ["full"],
            "asked": view.expand is not None, "title": view.title, "prune": decisions(view)}


def decisions(view: PruneView) -> dict[str, Any]:
    """The part of the payload that changes when a node is protected. Nodes go by their number in the drawing.

    `rule` has for each node the number of its rule, -1 where it stays; `reason` the number of its reason.
    """
    rules = list(view.rules())
    number = {rule: place for place, rule in enumerate(rules)}
    index = view.model.index
    rule, reason = [-1] * len(index), [0] * len(index)
    reasons: dict[str, int] = {"": 0}
    for step in view.steps:
        place = index.get(step.name)
        if place is not None:
            rule[place] = -1 if step.keep else number[step.rule]
            reason[place] = reasons.setdefault(step.reason, len(reasons))
    record: dict[str, Any] = {
        "rules": rules, "rule": rule, "reason": reason, "reasons": list(reasons),
        "protected": [index[name] for name in view.protected if name in index],
        "outputs": outputs(view), "code": code(view)}
    if view.graph_def is not None:
        record["tensorflow"] = _tensorflow(view)
        record["sizes"] = _sizes(view)
        if len(index) <= SMALL:
            record["kernels"] = kernels(view)
    return record


def outputs(view: PruneView) -> list[str]:
    """The tensors that a run of both graphs computes: the ends of the forward pass, and what is protected."""
    remaining = view.remaining()
    forward = [node for node in remaining.nodes if node.role == "forward"]
    read = {name for node in forward for name, _ in node.input_nodes()}
    read |= {name for node in forward for name in node.control_inputs}
    found = [node for node in forward if node.name not in read]
    found += [remaining.node(name) for name in view.protected if name in remaining]
    names = dict.fromkeys(f"{node.name}:0" for node in found
                          if node.outputs and node.outputs[0].dtype not in _NO_VALUE and node.op not in _NOT_FETCHED
                          and node.op not in _VARIABLES)
    return list(names)[:OUTPUTS]


def code(view: PruneView) -> str:
    """The program that does what the view shows."""
    arguments = [view.subject]
    if view.protected:
        arguments.append(f"protected_nodes={list(view.protected)!r}")
    arguments += [f"{name}={value!r}" for name, value in view.settings.items()]
    inside = arguments[0] if len(arguments) == 1 else "\n    " + ",\n    ".join(arguments)
    return (f"graph_def = tf.graph_util.remove_training_nodes({inside})\n"
            "pruned = tf.Graph()\n"
            "with pruned.as_default():\n"
            "    tf.import_graph_def(graph_def, name='')\n")


# Figures


def _sizes(view: PruneView) -> dict[str, Any]:
    """Bytes before and after, by who removes; and for each node of what goes the bytes of its definition."""
    before, after = view.graph_def, view.pruned()
    own = {node.name: node.ByteSize() for node in before.node}
    by_rule = [sum(own.get(step.name, 0) for step in view.removed(rule)) for rule in view.rules()]
    gone = {step.name: step.rule for step in view.removed()}
    state = [0] * len(by_rule)
    rules = list(view.rules())
    for node in before.node:
        if node.name in gone:
            state[rules.index(gone[node.name])] += _variable_bytes(node)
    return {"bytes": [before.ByteSize(), after.ByteSize()], "bytesByRule": by_rule,
            "variables": [_all_variable_bytes(before), _all_variable_bytes(after)], "variablesByRule": state}


def _variable_bytes(node: Any) -> int:
    """What a variable holds, as far as its shape is known."""
    from tfsandbox.framework import dtypes

    if node.op not in _VARIABLES:
        return 0
    shape = node.attr["shape"].shape
    sizes = [dim.size for dim in shape.dim]
    if shape.unknown_rank or any(size < 0 for size in sizes):
        return 0
    try:
        return int(np.prod(sizes, dtype=np.int64)) * dtypes.as_dtype(node.attr["dtype"].type).size
    except TypeError:
        return 0


def _all_variable_bytes(graph_def: Any) -> int:
    return sum(_variable_bytes(node) for node in graph_def.node)


def _tensorflow(view: PruneView) -> dict[str, Any]:
    """What TensorFlow 1.15 does to the same graph."""
    from tfsandbox.framework.training_nodes import training_nodes

    plan = training_nodes(view.graph_def, list(view.protected) or None, mode="tensorflow")
    pruned = plan.graph_def()
    index = view.model.index
    return {"removed": [index[decision.name] for decision in plan.removed if decision.name in index],
            "bytes": pruned.ByteSize(), "variables": _all_variable_bytes(pruned)}


def kernels(view: PruneView) -> list[list[int]] | None:
    """[nodes, kernels] of a run before and after; None where the graph cannot be run."""
    try:
        pair = SideBySide(view.graph_def, view.pruned(), outputs(view))
        return [list(counts) for counts in pair.kernels()]
    except Exception:
        # A figure is missing then, no more: pressing the button says why.
        return None


# What the page may ask


class PruneLive(Live):
    """A pruning view's Python end."""

    view: PruneView

    def __init__(self, view: PruneView) -> None:
        super().__init__(view)
        self._pair: SideBySide | None = None
        self._values: dict[str, Any] = {}

    def request_protect(self, content: dict[str, Any]) -> dict[str, Any]:
        """Protect a node, or do so no longer; what becomes of all nodes then."""
        name, on = str(content["name"]), bool(content["on"])
        wanted = [other for other in self.view.protected if other != name] + ([name] if on else [])
        self.view.protect(wanted)
        self._pair = None
        fresh = decisions(self.view)
        self.payload = {**self.payload, "prune": fresh}
        return {}

    def request_prove(self, content: dict[str, Any]) -> dict[str, Any]:
        """Run both graphs on new data and compare every output, bit by bit."""
        seed = int(content["seed"]) if "seed" in content else int(np.random.default_rng().integers(1, 1_000_000))
        pair = self._side_by_side()
        rows = pair.compare(seed)
        return {"seed": seed, "rows": rows, "same": sum(row["same"] for row in rows),
                "values": "session" if self._values else "fresh",
                "kernels": [list(counts) for counts in pair.kernels()]}

    def request_measure(self, content: dict[str, Any]) -> dict[str, Any]:
        """Some more runs of both graphs; the medians so far. The page asks again until it has enough."""
        if content.get("begin") or self._pair is None:
            self._side_by_side()
        assert self._pair is not None
        before, after, runs = self._pair.time()
        return {"before": before, "after": after, "runs": runs}

    def request_page(self, content: dict[str, Any]) -> dict[str, Any]:
        """The view as a page that stands on its own."""
        return {"html": self.view.page()}

    def _side_by_side(self) -> SideBySide:
        """Both graphs with the values that the variables have now."""
        self._values = self.view.session_values()
        self._pair = SideBySide(self.view.graph_def, self.view.pruned(), outputs(self.view), self._values)
        return self._pair
