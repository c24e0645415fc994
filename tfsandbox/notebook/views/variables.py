"""The variables view: a table of every variable there is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from tfsandbox.notebook import text
from tfsandbox.notebook.graph_model import Shape, element_count, shape_text
from tfsandbox.notebook.markup import escape
from tfsandbox.notebook.views.view import View, bar, byte_size, cell, chip, figure, fragment, table_html

_ITEM_SIZE = {"float64": 8, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2,
              "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1, "qint8": 1, "quint8": 1, "qint16": 2,
              "quint16": 2}


@dataclass(frozen=True)
class VariableRecord:
    """One variable: what the graph says of it and, where a session was asked, its value.

    `trains` is the mask of a training scope (None outside of one). `slot_of` names the variable whose optimizer state
    it is. `norm` is the L2 norm of the value, `delta` that of its change since some earlier moment.
    """

    name: str
    shape: Shape = None
    dtype: str = "float32"
    trainable: bool = True
    initialized: bool | None = None
    norm: float | None = None
    trains: bool | None = None
    slot_of: str = ""
    delta: float | None = None
    reason: str = ""

    @property
    def elements(self) -> int | None:
        """How many numbers it holds; None while a dimension is unknown."""
        return element_count(self.shape)

    @property
    def nbytes(self) -> int | None:
        """Its size in memory; None for strings and unknown shapes."""
        count = self.elements
        return None if count is None or self.dtype in ("string", "resource", "variant") else \
            count * _ITEM_SIZE.get(self.dtype, 4)

    def state(self) -> str:
        """`slot`, `frozen`, `trains`, or `not trainable`."""
        if self.slot_of:
            return "slot"
        if not self.trainable:
            return "not trainable"
        return "frozen" if self.trains is False else "trains"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        record = asdict(self)
        record["shape"] = None if self.shape is None else list(self.shape)
        record |= {"elements": self.elements, "bytes": self.nbytes, "state": self.state()}
        return record


STATE_CHIPS = {"trains": ("✓ trains", "input"), "frozen": ("❄ frozen", "forward"), "slot": ("slot", "slot"),
               "not trainable": ("not trainable", "plumbing")}


def state_chip(record: VariableRecord) -> str:
    """The state as a small label; a sign and a word, so that it is clear without colour."""
    words, role = STATE_CHIPS[record.state()]
    if record.slot_of:
        words = "slot ❄" if record.trains is False else "slot"
    return chip(words, role)


def yes_no(value: bool | None) -> str:
    """`yes`, `no`, or `?`."""
    return "?" if value is None else "yes" if value else "no"


class VariablesView(View):
    """A table of variables: name, shape, dtype, trainable, elements, bytes, initialised, norm."""

    kind = "variables"

    def __init__(self, records: Iterable[VariableRecord], title: str = "Variables") -> None:
        self.records = list(records)
        self.title = title

    def totals(self) -> tuple[int, int]:
        """(elements, bytes) of all variables whose size is known."""
        return (sum(record.elements or 0 for record in self.records),
                sum(record.nbytes or 0 for record in self.records))

    def summary(self) -> str:
        """One line: how many, how large, how many train."""
        elements, size = self.totals()
        trainable = [record for record in self.records if record.trainable and not record.slot_of]
        return (f"{len(self.records)} variables, {elements:,} elements, {byte_size(size)}; {len(trainable)} trainable "
                f"with {sum(record.elements or 0 for record in trainable):,} elements")

    def _has_values(self) -> bool:
        return any(record.initialized is not None or record.norm is not None for record in self.records)

    def text(self, limit: int | None = None) -> str:
        if not self.records:
            return f"{self.title}: none"
        rows = [("  name", "shape", "dtype", "trainable", "elements", "bytes", "init", "norm")]
        for record in self.records:
            rows.append((f"  {record.name}", shape_text(record.shape), record.dtype, yes_no(record.trainable),
                         f"{record.elements:,}" if record.elements is not None else "?", byte_size(record.nbytes),
                         yes_no(record.initialized), figure(record.norm)))
        if limit is not None and len(rows) > limit - 2:
            left = len(rows) - (limit - 3)
            rows = [*rows[:limit - 3], (f"  … {left} more", "", "", "", "", "", "", "")]
        if not self._has_values():
            rows = [row[:6] for row in rows]  # type: ignore[misc]
        return "\n".join([f"{self.title}: {self.summary()}", *text.columns(rows)])

    def html(self) -> str:
        values = self._has_values()
        largest = max((record.elements or 0 for record in self.records), default=0)
        head = [("name", ""), ("shape", ""), ("dtype", ""), ("", ""), ("elements", "tfs-num"), ("bytes", "tfs-num")]
        if values:
            head += [("initialised", ""), ("norm", "tfs-num")]
        rows = []
        for record in self.records:
            share = (record.elements or 0) / largest if largest else 0.0
            cells = [cell(record.name, "tfs-name"), cell(shape_text(record.shape)), cell(record.dtype),
                     cell(state_chip(record), raw=True),
                     cell(f"{record.elements:,}" if record.elements is not None else "?", "tfs-num"),
                     cell(escape(byte_size(record.nbytes)) + bar(share, "variable"), raw=True)]
            if values:
                cells += [cell(yes_no(record.initialized)), cell(figure(record.norm), "tfs-num")]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        return fragment(f"<p>{escape(self.summary())}</p>" + table_html(head, rows), self.title)

    def to_json(self) -> dict[str, Any]:
        elements, size = self.totals()
        return {"view": self.kind, "version": 1, "title": self.title, "elements": elements, "bytes": size,
                "variables": [record.to_json() for record in self.records]}

    def __repr__(self) -> str:
        return f"<VariablesView: {self.summary()}>"
