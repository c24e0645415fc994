"""The gradient view: the forward pass with the backward pass beside it, and how much flows where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfsandbox.notebook import text
from tfsandbox.notebook.backward import Backward, find_backward
from tfsandbox.notebook.faces import Companion, Remarks
from tfsandbox.notebook.graph_model import GraphModel, node_name, shape_text
from tfsandbox.notebook.layout import BACKWARD
from tfsandbox.notebook.svg import EdgeNote
from tfsandbox.notebook.views.graph import GraphView
from tfsandbox.notebook.views.view import figure

VANISHING, EXPLODING = 1e-7, 1e3
"""Outside these norms a gradient is called vanishing or exploding."""


@dataclass(frozen=True)
class VariableGradient:
    """What is known of one variable's gradient: its tensor ("" when there is none) and its norm, if it was run."""

    variable: str
    gradient: str
    norm: float | None = None

    def state(self) -> str:
        """`unconnected`, `unknown`, `dead`, `vanishing`, `exploding`, `not finite` or `flows`."""
        if not self.gradient:
            return "unconnected"
        return norm_state(self.norm)


def norm_state(norm: float | None) -> str:
    """A word for the norm of a gradient."""
    if norm is None:
        return "unknown"
    if not math.isfinite(norm):
        return "not finite"
    if norm == 0:
        return "dead"
    return "vanishing" if norm < VANISHING else "exploding" if norm > EXPLODING else "flows"


class GradientView(GraphView):
    """A picture of a backward pass.

    `gradients` are (variable, gradient tensor or None) names in the order asked for; without them every update of an
    optimizer counts. `norms` are L2 norms of gradients by the name of the variable or op they belong to. `loss` is
    what is differentiated; the picture then shows what it depends on.
    """

    kind = "gradients"

    def __init__(self, model: GraphModel, gradients: Iterable[tuple[str, str | None]] = (),
                 norms: Mapping[str, float] | None = None, loss: str = "", expand: str | Iterable[str] | None = None,
                 collapse: str | Iterable[str] = (), hide: str | Iterable[str] = (), show: str | Iterable[str] = (),
                 focus: str | Iterable[str] = (), notes: Mapping[str, str] | None = None) -> None:
        self.norms = {node_name(name): float(norm) for name, norm in (norms or {}).items()}
        self.loss = node_name(loss) if loss else ""
        self.gradients = [(node_name(name), grad or "") for name, grad in gradients]
        wanted = [focus] if isinstance(focus, str) else list(focus)
        if self.loss:
            # A variable that no gradient reaches is shown too, since that is the answer to the question.
            wanted = [self.loss, *wanted, *(name for name, grad in self.gradients if not grad)]
        super().__init__(model, "gradients", expand, collapse, hide, show, wanted, notes)
        self.title = f"gradients of {self.loss}" if self.loss else f"gradients in {model.title}"

    def _find_backward(self) -> Backward:
        return find_backward(self.source, self.gradients, self.focus, self.hidden_rules, self.shown_rules)

    def variables(self) -> list[VariableGradient]:
        """The variables asked for, or those that an optimizer updates."""
        assert self.backward is not None
        if self.gradients:
            return [VariableGradient(name, grad, self.norms.get(name)) for name, grad in self.gradients]
        ends = {lower for _, lower in self.backward.flow}
        return [VariableGradient(node.name, node.name if node.name in ends else "", self.norms.get(node.name))
                for node in self.model.nodes if node.role == "variable" and node.name in self.backward.ops]

    def _remarks(self) -> Remarks:
        remarks = super()._remarks()
        table = dict(remarks.companions)
        for entry in self.variables():
            if entry.state() == "unconnected" and entry.variable in self.tree.boxes:
                why = f"No derivative leads from the loss back to {entry.variable}: its gradient is None."
                table[entry.variable] = Companion("None", "no gradient path", "plumbing", why)
        marks = dict(remarks.marks)
        if self.loss and self.loss in self.model:
            marks = {name: mark for name, mark in marks.items() if mark != "loss"} | {self.loss: "loss"}
        return Remarks(remarks.notes, marks, remarks.tips, table)

    def edge_notes(self) -> Mapping[tuple[str, int], EdgeNote]:
        """The norm of each gradient, where it arrives; thicker for more, on a logarithmic scale."""
        finite = [math.log10(norm) for norm in self.norms.values() if 0 < norm < math.inf]
        low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
        notes = {}
        for name, norm in self.norms.items():
            state = norm_state(norm)
            share = 0.5
            if state in ("vanishing", "dead"):
                share = 0.0
            elif 0 < norm < math.inf and high > low:
                share = (math.log10(norm) - low) / (high - low)
            warning = "" if state == "flows" else f" {state}"
            notes[name, BACKWARD] = EdgeNote(f"{figure(norm)}{warning}", 1.2 + 3.2 * share,
                                             f"L2 norm of the gradient of {name}: {figure(norm)}{warning}")
        for scope in self.tree.scopes():
            principal = self.tree[scope].principal
            if principal and (principal, BACKWARD) in notes:
                notes[scope, BACKWARD] = notes[principal, BACKWARD]
        return notes

    def levels(self) -> list[str]:
        """Only with the backward pass beside the forward one."""
        return ["gradients"]

    def _again(self, **changes: Any) -> GraphView:
        if changes.get("detail", "gradients") != "gradients":
            return super()._again(**changes)
        settings: dict[str, Any] = {
            "gradients": self.gradients, "norms": self.norms, "loss": self.loss, "expand": self.expand,
            "collapse": self.collapse, "hide": self.hidden_rules, "show": self.shown_rules, "notes": self.notes}
        changes.pop("detail", None)
        return GradientView(self.source, **{**settings, **changes})

    def text(self, limit: int | None = None) -> str:
        """The backward pass step by step, then the gradient of each variable."""
        assert self.backward is not None
        flow: dict[str, list[str]] = {}
        for upper, lower in self.backward.flow:
            flow.setdefault(upper, []).append(lower)
        steps = []
        variables = {entry.variable for entry in self.variables()}
        for name, entry in self.backward.ops.items():
            if name in variables or entry.update:
                continue
            norm = f"|g| = {figure(self.norms[name])}" if name in self.norms else ""
            onward = ", ".join(flow.get(name, ())) or "nothing"
            steps.append((f"  {name}", entry.rule or entry.summary(), norm, f"-> {onward}"))
        rows = []
        for found in self.variables():
            node = self.model.node(found.variable) if found.variable in self.model else None
            update = self.backward.ops[found.variable].update if found.variable in self.backward.ops else ""
            words = {"unconnected": "None: no derivative leads back to it", "unknown": "", "flows": ""}
            state = words.get(found.state(), found.state())
            norm = f"|g| = {figure(found.norm)}" if found.norm is not None else ""
            rows.append((f"  {found.variable}", shape_text(node.shape()) if node else "",
                         update, norm, state))
        if limit is not None and len(steps) + len(rows) + 3 > limit:
            keep = max(3, limit - len(rows) - 4)
            steps = [*steps[:keep], (f"  … {len(steps) - keep} more steps", "", "", "")]
        lines = [f"{self.title}: {len(steps)} backward ops, {len(rows)} variables", *text.columns(steps)]
        if rows:
            lines += ["variables:", *text.columns(rows)]
        for name in self.backward.blocked:
            lines.append(f"{name}: {self.model.node(name).op}, no gradient passes")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        record = super().to_json()
        record |= {"loss": self.loss, "norms": self.norms,
                   "variables": [{"name": found.variable, "gradient": found.gradient, "norm": found.norm,
                                  "state": found.state()} for found in self.variables()]}
        return record
