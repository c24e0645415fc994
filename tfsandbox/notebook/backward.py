"""The backward pass as data: which gradient nodes belong to which op, and how gradients flow between the ops.

Everything is read off the graph. A gradient node belongs to the op named by its scope (`gradients/MatMul_grad/...`);
a gradient flows from op Y to op X where a node of X's reads what a node of Y's made, directly or through the nodes
that only add up, clip or hand on gradients.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tfsandbox.notebook.derivative_rules import derivative
from tfsandbox.notebook.detail import simplify
from tfsandbox.notebook.graph_model import GraphModel, Node, node_name, split_input
from tfsandbox.notebook.roles import SHAPE_OPS, apply_kind, gradient_input

_CHORES = SHAPE_OPS | {"Const", "NoOp", "Identity", "Reshape", "Sum", "Cast", "Prod", "Maximum", "FloorDiv", "FloorMod",
                       "Fill", "Pack"}


@dataclass
class BackwardOp:
    """The backward side of one forward node.

    `nodes` are the gradient nodes of an op, or the update of a variable; `rule` is the local derivative. `update` is
    the optimizer's op type for a variable (`ApplyAdam`).
    """

    of: str
    nodes: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    rule: str = ""
    update: str = ""

    def summary(self) -> str:
        """The ops that do the work, counted: `MatMul ×2`."""
        counts: dict[str, int] = {}
        quiet = SHAPE_OPS | {"Const", "NoOp", "Identity"}
        work = [op for op in self.ops if op not in _CHORES] or [op for op in self.ops if op not in quiet] or self.ops
        for op in work:
            counts[op] = counts.get(op, 0) + 1
        return ", ".join(op if number == 1 else f"{op} ×{number}" for op, number in counts.items())


@dataclass
class Backward:
    """The forward model, the backward op of each of its nodes, and the flow as (from consumer, to producer) pairs.

    `losses` are the nodes where the backward pass begins, `blocked` the StopGradients. `arriving` has for each node the
    tensor that is the gradient of its output, where the graph has it in one piece.
    """

    forward: GraphModel
    ops: dict[str, BackwardOp]
    flow: list[tuple[str, str]]
    losses: list[str]
    blocked: list[str]
    arriving: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data, without the forward model."""
        return {"ops": [{"of": op.of, "nodes": op.nodes, "rule": op.rule, "update": op.update, "summary": op.summary()}
                        for op in self.ops.values()],
                "flow": [list(pair) for pair in self.flow], "losses": self.losses, "blocked": self.blocked,
                "arriving": self.arriving}


def find_backward(model: GraphModel, gradients: Iterable[tuple[str, str | None]] = (), focus: Iterable[str] = (),
                  hide: Iterable[str] = (), show: Iterable[str] = ()) -> Backward:
    """Read the backward pass off a model with roles.

    `gradients` are (variable or tensor, gradient tensor or None) names of gradients asked for; they end at that
    variable, and only what computes them counts. Without any, every gradient in the model counts. `focus` reduces the
    forward side to what these nodes depend on; `hide` and `show` are rules of `detail.simplify`. Raises KeyError for an
    unknown focus.
    """
    wanted = [node_name(name) for name in focus]
    scene = model
    if wanted:
        inside = model.ancestors(wanted)
        scene = model.restricted([node.name for node in model.nodes if node.name in inside], model.title)
    forward = simplify(scene, "ideas", hide, show, keep=wanted)
    shown = {node.name: node.name for node in forward.nodes}
    for node in forward.nodes:
        for name in node.folded:
            shown[name] = node.name
    ops: dict[str, BackwardOp] = {}
    group: dict[str, str] = {}
    asked = list(gradients)
    # Another loss may have been differentiated in the same graph.
    inside_asked = model.ancestors(node_name(gradient) for _, gradient in asked if gradient)
    for node in model.nodes:
        if asked and node.name not in inside_asked:
            continue
        if node.role == "gradient" and node.of in shown:
            owner = shown[node.of]
            group[node.name] = owner
            entry = ops.setdefault(owner, BackwardOp(owner, rule=derivative(model.node(owner).op)))
            entry.nodes.append(node.name)
            entry.ops.append(node.op)
    finder = _Flow(model, group)
    readers = forward.consumers()

    def arrive(sources: list[str], owner: str) -> None:
        """Gradients come from the ops that read the owner. Clipping by a global norm mixes all; that is no flow."""
        near = [source for source in sources if source in readers[owner]]
        for source in near or sources:
            if source != owner:
                flow[source, owner] = None

    flow: dict[tuple[str, str], None] = {}
    losses: list[str] = []
    arriving: dict[str, str] = {}
    for owner, entry in ops.items():
        tensor = finder.arriving(entry.nodes)
        if tensor:
            arriving[owner] = tensor
        sources = finder.sources_of([model.node(name) for name in entry.nodes], owner)
        arrive(sources, owner)
        if not sources:
            losses.append(owner)
    for node in model.nodes:
        if apply_kind(node.op) and node.of in shown and (inside_asked or not asked):
            place = gradient_input(node.op)
            entry = ops.setdefault(shown[node.of], BackwardOp(shown[node.of]))
            entry.nodes.append(node.name)
            entry.update = node.op
            if place is not None and place < len(node.inputs):
                arriving[shown[node.of]] = node.inputs[place]
                arrive(finder.behind([node.inputs[place]]), shown[node.of])
    for variable, gradient in asked:
        owner = shown.get(node_name(variable), "")
        if owner and gradient and gradient in model:
            ops.setdefault(owner, BackwardOp(owner))
            arriving[owner] = gradient
            arrive(finder.behind([gradient]), owner)
    blocked = [node.name for node in forward.nodes if node.op in ("StopGradient", "PreventGradient")]
    return Backward(forward, ops, list(flow), losses, blocked, arriving)


class _Flow:
    """Looks for the groups from which gradients come."""

    def __init__(self, model: GraphModel, group: dict[str, str]) -> None:
        self.model, self.group = model, group

    def sources_of(self, nodes: list[Node], owner: str) -> list[str]:
        """The other groups whose results the nodes read."""
        texts = [text for node in nodes for text in node.inputs]
        return [source for source in self.behind(texts) if source != owner]

    def arriving(self, names: list[str]) -> str:
        """The one gradient tensor that a group takes from outside; "" when it takes several or none."""
        inside = set(names)
        found: dict[str, None] = {}
        for name in names:
            for text in self.model.node(name).inputs:
                source = split_input(text)[0]
                if source in inside or source not in self.model.index:
                    continue
                if self.model.nodes[self.model.index[source]].role == "gradient":
                    found[text] = None
        return next(iter(found)) if len(found) == 1 else ""

    def behind(self, texts: Iterable[str]) -> list[str]:
        """The groups that make these tensors, through gradient nodes that belong to no group."""
        found: dict[str, None] = {}
        waiting = [split_input(text)[0] for text in texts]
        seen = set(waiting)
        while waiting:
            name = waiting.pop(0)
            owner = self.group.get(name)
            if owner is not None:
                found[owner] = None
                continue
            node = self.model.nodes[self.model.index[name]] if name in self.model.index else None
            if node is None or node.role != "gradient":
                continue
            for source, _ in node.input_nodes():
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return list(found)
