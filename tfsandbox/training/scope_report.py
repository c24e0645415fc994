"""What moved and what held still under a training scope, as plain records."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.framework.graph import Graph

APPLY = re.compile(r"(Resource)?(Sparse)?Apply\w+$")
"""Op types that update a variable by a gradient."""


@dataclass
class VariableChange:
    """What happened to one variable under a scope. Norms are L2 norms of float64 differences."""

    name: str
    trains: bool
    changed: bool
    delta_norm: float
    value_norm: float
    slots: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        return {"name": self.name, "trains": self.trains, "changed": self.changed, "delta_norm": self.delta_norm,
                "value_norm": self.value_norm, "slots": dict(self.slots)}


@dataclass
class ScopeReport:
    """What changed and what held still since the scope's first run in a session."""

    changes: list[VariableChange]

    @property
    def moved(self) -> list[str]:
        """Names of the variables that changed."""
        return [c.name for c in self.changes if c.changed]

    @property
    def held(self) -> list[str]:
        """Names of the variables that are bit for bit what they were."""
        return [c.name for c in self.changes if not c.changed]

    def to_json(self) -> list[dict[str, Any]]:
        """The records as plain data."""
        return [c.to_json() for c in self.changes]

    def __str__(self) -> str:
        width = max([len(c.name) for c in self.changes] + [8])
        lines = [f"{'variable':<{width}}  mask    moved   |change|    slots moved"]
        for c in self.changes:
            slots = ", ".join(f"{name} {delta:.3g}" for name, delta in c.slots.items() if delta) or (
                "none" if c.slots else "-")
            lines.append(f"{c.name:<{width}}  {'trains' if c.trains else 'frozen'}  {'yes' if c.changed else 'no':<5}  "
                         f"{c.delta_norm:9.3g}    {slots}")
        return "\n".join(lines)

    __repr__ = __str__


def slots_of(graph: Graph, mask: dict[str, bool]) -> dict[str, list[str]]:
    """{variable: the variables that its updates keep state in}."""
    found: dict[str, list[str]] = {}
    for op in graph.get_operations():
        if APPLY.match(op.type) and op.inputs and op.inputs[0].op.name in mask:
            names = found.setdefault(op.inputs[0].op.name, [])
            names += [t.op.name for t in op.inputs[1:] if t.dtype._is_ref_dtype and t.op.name not in names]
    for op, variable in graph._caches.get("optimizer_updates", {}).items():
        target = op.inputs[0].op.name if op.inputs else ""
        if variable.op.name in mask and target and target != variable.op.name:
            names = found.setdefault(variable.op.name, [])
            if target not in names:
                names.append(target)
    return found


def change_of(before: np.ndarray | None, after: np.ndarray) -> float:
    """The L2 norm of the change; 0.0 only where every bit is the same."""
    if before is None or before.shape != np.shape(after):
        return norm_of(after)
    if before.tobytes() == np.asarray(after).tobytes():
        return 0.0
    change = norm_of(np.asarray(after, np.float64) - np.asarray(before, np.float64))
    return change if change != 0 else float(np.nextafter(0, 1))  # NaN stays: that is a change too


def norm_of(value: Any) -> float:
    """The L2 norm."""
    return float(np.sqrt(np.sum(np.square(np.abs(np.asarray(value)).astype(np.float64)))))
