"""The scope mask view as an instrument: what its page draws, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfsandbox.notebook import engine_records
from tfsandbox.notebook.interactive.live import Live
from tfsandbox.notebook.labels import language, page_labels
from tfsandbox.notebook.labels_scope import scope_labels
from tfsandbox.notebook.scope_trainer import ScopeTrainer
from tfsandbox.notebook.series import number
from tfsandbox.notebook.views.variables import VariableRecord

if TYPE_CHECKING:
    from tfsandbox.notebook.views.scope_mask import ScopeMaskView

CELLS = 48
"""A heat map has at most so many rows and columns."""


def payload(view: ScopeMaskView) -> dict[str, Any]:
    """What the page draws from: the tree, which stays, and the state, which changes."""
    return {"version": 1, "kind": "scope", "language": language(),
            "labels": page_labels("scope") | scope_labels(language()), "title": view.title,
            "rows": _rows(view), "now": now(view)}


def _rows(view: ScopeMaskView) -> list[dict[str, Any]]:
    """The tree, a row for a scope, a variable or a slot, each after the one that it belongs to."""
    found: list[dict[str, Any]] = []
    path: list[str] = []
    for depth, label, record, below in view.rows():
        if record is None:
            path = [*path[:depth], label]
            found.append({"kind": "scope", "depth": depth, "label": label, "id": "".join(path),
                          "members": [other.name for other in below if other.state() in ("trains", "frozen")],
                          "count": len(below)})
            continue
        kind = {"slot": "slot", "not trainable": "other"}.get(record.state(), "variable")
        row = {"kind": kind, "depth": depth, "label": label, "id": record.name, "dtype": record.dtype,
               "shape": None if record.shape is None else list(record.shape), "elements": record.elements,
               "bytes": record.nbytes}
        if kind == "slot":
            row["of"] = record.slot_of
        found.append(row)
    return found


def now(view: ScopeMaskView) -> dict[str, Any]:
    """The part that changes: `variables` has [trains, norm, moved] by name, None where there is none."""
    trainer = view.trainer
    record: dict[str, Any] = {
        "variables": {record.name: _variable(record) for record in view.records}, "code": view.code(),
        "modifiers": view.modifiers}
    if trainer is not None:
        record |= {"obstacle": trainer.obstacle(), "settings": trainer.settings(), "fixed": sorted(trainer.fixed()),
                   "loss": trainer._step()[1] is not None,
                   "runs": [run.to_json() for run in trainer.runs]}
    return record


def _variable(record: VariableRecord) -> list[Any]:
    # Four digits, as the text has: a stored payload is compared with that of another machine.
    return [record.state() == "trains", number(record.norm, 4), number(record.delta, 4)]


def cells(value: Any) -> np.ndarray:
    """A variable as rows and columns: the last axis goes across, all others down; a vector goes across, wrapped
    where it is long."""
    array = np.asarray(value)
    array = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    if not array.size:
        return np.zeros((1, 0))
    if max(array.shape, default=1) == array.size:
        flat = array.ravel()
        if flat.size <= CELLS:
            return flat.reshape(1, -1)
        padded = np.full(-(-flat.size // CELLS) * CELLS, np.nan)
        padded[:flat.size] = flat
        return padded.reshape(-1, CELLS)
    return array.reshape(-1, array.shape[-1])


def reduced(table: np.ndarray) -> tuple[np.ndarray, int]:
    """A table of at most `CELLS` rows and columns, each cell the mean of a block; and how many numbers a block has."""
    blocks = [max(1, -(-size // CELLS)) for size in table.shape]
    for axis, block in enumerate(blocks):
        if block > 1:
            starts = np.arange(0, table.shape[axis], block)
            sizes = np.diff([*starts, table.shape[axis]])
            table = np.add.reduceat(table, starts, axis) / np.expand_dims(sizes, 1 - axis)
    return table, blocks[0] * blocks[1]


def _plain(table: np.ndarray) -> list[list[Any]]:
    return [[number(value, 4) for value in row] for row in table.tolist()]


class ScopeLive(Live):
    """What the page may ask of a scope mask view. Whatever changes is told to all pages that show it."""

    view: ScopeMaskView

    @property
    def trainer(self) -> ScopeTrainer:
        """What acts. Raises RuntimeError for a view of records alone."""
        if self.view.trainer is None:
            raise RuntimeError("This view was made of records: there is no scope that it could change.")
        return self.view.trainer

    def refresh(self) -> None:
        """Read the scope and the session again, and tell the pages."""
        trainer = self.trainer
        session = trainer.session
        if session is not None and getattr(session, "_closed", False):
            session = None
        self.view.records = engine_records.scope_records(trainer.scope, session)
        self.send({"scope": now(self.view)})

    def request_now(self, content: dict[str, Any]) -> dict[str, Any]:
        """The present state."""
        self.refresh()
        return {}

    def request_switch(self, content: dict[str, Any]) -> dict[str, Any]:
        """Variables train, or are frozen."""
        self.trainer.switch([str(name) for name in content["names"]], bool(content["trains"]))
        self.refresh()
        return {}

    def request_set(self, content: dict[str, Any]) -> dict[str, Any]:
        """A modifier gets another value."""
        value = content["value"]
        self.trainer.set(str(content["name"]), None if value is None else float(value))
        self.refresh()
        return {}

    def request_penalty(self, content: dict[str, Any]) -> dict[str, Any]:
        """Another regularizer, or another strength of it."""
        self.trainer.set_penalty(str(content["kind"]), float(content["strength"]))
        self.refresh()
        return {}

    def request_train(self, content: dict[str, Any]) -> dict[str, Any]:
        """Some steps, as many as fit into a tenth of a second; the page asks again for the rest."""
        answer = self.trainer.train(max(1, int(content["steps"])))
        return {"done": answer["done"], "points": [[step, number(value)] for step, value in answer["points"]]}

    def request_rewind(self, content: dict[str, Any]) -> dict[str, Any]:
        """Every variable as at the start."""
        self.trainer.rewind()
        self.refresh()
        return {}

    def request_restart(self, content: dict[str, Any]) -> dict[str, Any]:
        """The present values are the start."""
        self.trainer.restart()
        self.refresh()
        return {}

    def request_value(self, content: dict[str, Any]) -> dict[str, Any]:
        """A variable before and after as tables for heat maps."""
        before, after = self.trainer.before_and_after(str(content["name"]))
        if np.asarray(after).dtype.kind not in "fiubc":
            raise TypeError(f"{content['name']} holds {np.asarray(after).dtype}, which has no heat map.")
        table, block = reduced(cells(after))
        answer: dict[str, Any] = {"after": _plain(table), "block": block}
        if before is not None and np.shape(before) == np.shape(after):
            old, change = cells(before), cells(after) - cells(before)
            answer |= {"before": _plain(reduced(old)[0]), "change": _plain(reduced(change)[0])}
        return answer
