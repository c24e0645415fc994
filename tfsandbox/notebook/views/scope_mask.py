"""The scope mask view: which variables train, which hold still, and what has moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook import text
from tfsandbox.notebook.graph_model import shape_text
from tfsandbox.notebook.labels import variable_count
from tfsandbox.notebook.markup import escape
from tfsandbox.notebook.views.scope_code import scope_code
from tfsandbox.notebook.views.variables import VariableRecord, state_chip
from tfsandbox.notebook.views.view import View, bar, cell, figure, fragment, table_html

if TYPE_CHECKING:
    from tfsandbox.notebook.interactive.live import Live
    from tfsandbox.notebook.scope_trainer import ScopeTrainer


@dataclass
class _Branch:
    """A name scope of variables."""

    name: str
    branches: dict[str, _Branch] = field(default_factory=dict)
    records: list[VariableRecord] = field(default_factory=list)

    def all(self) -> Iterator[VariableRecord]:
        """Every variable below."""
        yield from self.records
        for branch in self.branches.values():
            yield from branch.all()


class ScopeMaskView(View):
    """The variables as a tree: what trains, what is frozen, the optimizer's slots under their variables.

    `modifiers` are the scope's own settings as short text (`{"regularizer": "l2_regularizer"}`). With a `trainer` the
    page can change the mask and train.
    """

    kind = "scope"

    def __init__(self, records: Iterable[VariableRecord], title: str = "training_scope",
                 modifiers: dict[str, str] | None = None, trainer: ScopeTrainer | None = None) -> None:
        self.records = list(records)
        self.title = title
        self.trainer = trainer
        self.modifiers = dict(modifiers or {})

    def counts(self) -> dict[str, int]:
        """How many variables are in each state."""
        found = {"trains": 0, "frozen": 0, "slot": 0, "not trainable": 0}
        for record in self.records:
            found[record.state()] += 1
        return found

    def summary(self) -> str:
        """One line: `2 of 6 trainable variables train, 4 are frozen; 12 slots`."""
        count = self.counts()
        trainable = count["trains"] + count["frozen"]
        parts = [f"{count['trains']} of {trainable} trainable variables train"]
        if count["frozen"]:
            parts.append(f"{count['frozen']} frozen")
        if count["slot"]:
            parts.append(f"{count['slot']} slots")
        if count["not trainable"]:
            parts.append(f"{count['not trainable']} not trainable")
        return ", ".join(parts)

    def code(self) -> str:
        """The call that makes this mask."""
        mask = {record.name: record.state() == "trains" for record in self.records
                if record.state() in ("trains", "frozen")}
        settings = self.modifiers if self.trainer is None else self.trainer.expressions()
        return scope_code(mask, settings)

    def payload(self) -> dict[str, Any] | None:
        """What the page draws from: the tree, the mask, settings and what moved."""
        from tfsandbox.notebook.interactive import scope
        return scope.payload(self)

    def _make_live(self) -> Live:
        from tfsandbox.notebook.interactive.scope import ScopeLive
        return ScopeLive(self)

    def _tree(self) -> _Branch:
        root = _Branch("")
        for record in self.records:
            if record.slot_of:
                continue
            branch = root
            for part in record.name.split("/")[:-1]:
                branch = branch.branches.setdefault(part, _Branch(part))
            branch.records.append(record)
        return root

    def _slots(self) -> dict[str, list[VariableRecord]]:
        owners = {record.name for record in self.records if not record.slot_of}
        table: dict[str, list[VariableRecord]] = {}
        for record in self.records:
            if record.slot_of:
                table.setdefault(record.slot_of if record.slot_of in owners else "", []).append(record)
        return table

    def rows(self) -> Iterator[tuple[int, str, VariableRecord | None, list[VariableRecord]]]:
        """(depth, label, the variable or None for a scope, the variables below) in the order of a tree."""
        slots = self._slots()

        def walk(branch: _Branch, depth: int) -> Iterator[tuple[int, str, VariableRecord | None, list[VariableRecord]]]:
            for record in branch.records:
                yield depth, record.name.rpartition("/")[2], record, []
                for slot in slots.get(record.name, ()):
                    label = slot.name[len(record.name) + 1:] if slot.name.startswith(record.name + "/") else slot.name
                    yield depth + 1, label, slot, []
            for inner in branch.branches.values():
                label = inner.name
                while not inner.records and len(inner.branches) == 1:
                    inner = next(iter(inner.branches.values()))
                    label += f"/{inner.name}"
                yield depth, f"{label}/", None, list(inner.all())
                yield from walk(inner, depth + 1)

        yield from walk(self._tree(), 0)
        for slot in slots.get("", ()):
            yield 0, slot.name, slot, []

    def _moved(self) -> bool:
        return any(record.delta is not None for record in self.records)

    @staticmethod
    def _movement(record: VariableRecord) -> str:
        if record.delta is None:
            return ""
        return "held still" if record.delta == 0 else figure(record.delta)

    def text(self, limit: int | None = None) -> str:
        rows = []
        for depth, label, record, below in self.rows():
            name = f"{'  ' * (depth + 1)}{label}"
            if record is None:
                training = sum(other.state() == "trains" for other in below)
                rows.append((name, f"{variable_count(len(below))}, {training} train", "", "", ""))
                continue
            moved = self._movement(record)
            norm = f"norm {figure(record.norm)}" if record.norm is not None else ""
            state = f"{record.state()}{' (frozen)' if record.slot_of and record.trains is False else ''}"
            rows.append((name, state, shape_text(record.shape), norm,
                         f"moved {moved}" if moved and moved != "held still" else moved))
        if limit is not None and len(rows) > limit - 2:
            left = len(rows) - (limit - 3)
            rows = [*rows[:limit - 3], (f"  … {left} more", "", "", "", "")]
        lines = [f"{self.title}: {self.summary()}"]
        lines += [f"  {name}: {value}" for name, value in self.modifiers.items()]
        return "\n".join([*lines, *text.columns(rows)])

    def html(self) -> str:
        moved = self._moved()
        head = [("variable", ""), ("", ""), ("shape", ""), ("elements", "tfs-num"), ("norm", "tfs-num")]
        if moved:
            head.append(("moved", ""))
        finite = [record.delta for record in self.records if record.delta is not None and record.delta < float("inf")]
        largest = max(finite, default=0.0)
        rows = []
        for depth, label, record, below in self.rows():
            indent = f'<span style="display:inline-block;width:{18 * depth}px"></span>'
            if record is None:
                training = sum(other.state() == "trains" for other in below)
                words = f"{training} of {len(below)} train"
                rows.append(f'<tr class="tfs-sum">{cell(indent + escape(label), "tfs-name", raw=True)}'
                            f'<td colspan="{len(head) - 1}">{escape(words)}</td></tr>')
                continue
            off = ' class="tfs-off"' if record.state() == "frozen" or record.slot_of else ""
            cells = [cell(indent + escape(label), "tfs-name", raw=True), cell(state_chip(record), raw=True),
                     cell(shape_text(record.shape)),
                     cell(f"{record.elements:,}" if record.elements is not None else "?", "tfs-num"),
                     cell(figure(record.norm), "tfs-num")]
            if moved:
                share = (record.delta or 0.0) / largest if largest else 0.0
                words = escape(self._movement(record))
                cells.append(cell(words + (bar(share, "optimizer") if record.delta else ""), raw=True))
            tip = f' title="{escape(record.reason)}"' if record.reason else ""
            rows.append(f"<tr{off}{tip}>{''.join(cells)}</tr>")
        settings = "".join(f"<p>{escape(name)}: {escape(value)}</p>" for name, value in self.modifiers.items())
        return fragment(f"<p>{escape(self.summary())}</p>{settings}" + table_html(head, rows), self.title)

    def to_json(self) -> dict[str, Any]:
        return {"view": self.kind, "version": 1, "title": self.title, "counts": self.counts(),
                "modifiers": self.modifiers, "code": self.code(),
                "variables": [record.to_json() for record in self.records]}

    def __repr__(self) -> str:
        return f"<ScopeMaskView {self.title}: {self.summary()}>"
