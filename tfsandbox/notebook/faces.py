"""What a closed box says and how large it must be to say it: labels, sizes and tooltips, before anything is drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tfsandbox.notebook.graph_model import Node, shape_text
from tfsandbox.notebook.labels import label, node_count, variable_count
from tfsandbox.notebook.layout import Size
from tfsandbox.notebook.palette import role_style
from tfsandbox.notebook.scope_tree import Box, ScopeTree
from tfsandbox.notebook.text_metrics import elided, text_width

LABEL_SIZE = 12.5
SUB_SIZE = 10.5
HEADING_SIZE = 11.5
NODE_HEIGHT = 40.0
VARIABLE_HEIGHT = 44.0
SMALL_HEIGHT = 32.0
MAX_LABEL = 190.0
MAX_SUB = 260.0
MAX_HEADING = 320.0
COMPANION_GAP = 8.0

_PLAIN_OPS = {"VariableV2": "Variable", "VarHandleOp": "Variable"}
_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True)
class Companion:
    """A second box drawn to the right of a box: the backward op of a forward op."""

    label: str
    sub: str
    role: str
    tooltip: str


@dataclass
class Remarks:
    """What a view has to say about nodes beyond the graph itself.

    `notes` are short numbers shown in a box, `marks` one of `svg.MARK_SIGNS`, `tips` are added to tooltips; all go by
    node name. `companions` go by box id.
    """

    notes: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    tips: Mapping[str, str] = field(default_factory=dict)
    companions: Mapping[str, Companion] = field(default_factory=dict)


@dataclass(frozen=True)
class Face:
    """The words and the look of one closed box, and of its companion if it has one."""

    label: str
    sub: str
    role: str
    shape: str
    dashed: bool
    width: float
    height: float
    stacked: bool
    mark: str
    companion: Companion | None = None
    companion_label: str = ""
    companion_sub: str = ""
    companion_width: float = 0.0

    @property
    def total_width(self) -> float:
        """The width with the companion."""
        return self.width + (self.companion_width + COMPANION_GAP if self.companion else 0.0)

    def size(self) -> Size:
        """What the layout needs to know."""
        total = self.total_width
        main = (self.width / 2 - total / 2, max(4.0, self.width / 2 - 16))
        if not self.companion:
            return Size(total, self.height, (main, main))
        other = (total / 2 - self.companion_width / 2, max(4.0, self.companion_width / 2 - 16))
        return Size(total, self.height, (main, other))


def plain_op(op: str) -> str:
    """The op as a reader calls it: `Variable` for VariableV2, all others by their own name."""
    return _PLAIN_OPS.get(op, op)


class Faces:
    """The faces of a tree's boxes, made once each."""

    def __init__(self, tree: ScopeTree, remarks: Remarks | None = None) -> None:
        self.tree = tree
        self.remarks = remarks or Remarks()
        self._faces: dict[str, Face] = {}

    def size(self, box: Box) -> Size:
        """The size of a closed box."""
        return self[box].size()

    def heading(self, box: Box) -> float:
        """The width that the frame of an open scope needs for its heading."""
        return round(min(MAX_HEADING, text_width(box.label, HEADING_SIZE, bold=True)) + 24.0, 1)

    def __getitem__(self, box: Box) -> Face:
        face = self._faces.get(box.id)
        if face is None:
            face = self._faces[box.id] = self._make(box)
        return face

    def _make(self, box: Box) -> Face:
        node = box.node or (self.tree[box.principal].node if box.principal else None)
        role = node.role if node else box.role
        style = role_style(role)
        sub = self._sub(box, node)
        small = role == "plumbing" and not sub
        text = elided(self._label(box, node), MAX_LABEL, LABEL_SIZE, bold=True)
        sub = elided(sub, MAX_SUB, SUB_SIZE)
        width = max(text_width(text, LABEL_SIZE, bold=True), text_width(sub, SUB_SIZE), 34.0) + 22.0
        if style.shape in ("pill", "hexagon"):
            width += 10.0
        width = round(width, 1)  # what the page is told, so that both place the box alike
        stacked = box.node is None
        height = SMALL_HEIGHT if small else NODE_HEIGHT
        if style.shape == "cylinder":
            height = VARIABLE_HEIGHT
        if stacked:
            height = max(height, NODE_HEIGHT) + 5.0
        companion = self.remarks.companions.get(box.id)
        mark = self._mark(box)
        if companion is None:
            return Face(text, sub, role, style.shape, style.dashed, width, height, stacked, mark)
        second = elided(companion.label, MAX_LABEL, LABEL_SIZE, bold=True)
        second_sub = elided(companion.sub, MAX_SUB, SUB_SIZE)
        second_width = max(text_width(second, LABEL_SIZE, bold=True), text_width(second_sub, SUB_SIZE), 34.0) + 32.0
        second_width = round(second_width, 1)
        return Face(text, sub, role, style.shape, style.dashed, width, height, stacked, mark, companion, second,
                    second_sub, second_width)

    @staticmethod
    def _label(box: Box, node: Node | None) -> str:
        """The name inside the parent; without a last part that only says the op or the scope again."""
        *outer, last = box.label.split("/")
        if outer and (last == outer[-1] or node is not None and _NUMBER.sub("", last) == node.op):
            return "/".join(outer)
        return box.label

    def _sub(self, box: Box, node: Node | None) -> str:
        """The second line: op and shape of a node, size and variables of a scope, and the number given for it."""
        parts = []
        if node is not None:
            op = plain_op(node.op)
            if _NUMBER.sub("", self._label(box, node)).lower() != op.lower():
                parts.append(op)
            if node.outputs:
                parts.append(shape_text(node.shape()) if node.shape() is not None else "?")
            note = self.remarks.notes.get(node.name)
            if note:
                parts.append(note)
        if node is None or (box.node is None and not box.principal):
            parts = [node_count(box.count)]
            variables = box.roles.get("variable", 0)
            if variables:
                parts.append(variable_count(variables))
        return " · ".join(parts)

    def _mark(self, box: Box) -> str:
        """The mark of a node; of a scope, when all its nodes have the same one."""
        marks = self.remarks.marks
        if not marks:
            return ""
        if box.node is not None:
            return marks.get(box.node.name, "")
        found = {marks.get(node.name, "") for node in self.tree.leaves(box.id)}
        return found.pop() if len(found) == 1 else ""

    def tooltip(self, box: Box) -> str:
        """The lines that appear over a box."""
        if box.node is not None:
            return node_tooltip(box.node, self.remarks)
        lines = [box.id, node_count(box.count)]
        lines += [f"{label('role.' + role)}: {number}" for role, number in sorted(box.roles.items())]
        if box.principal:
            principal = self.tree[box.principal].node
            if principal is not None:
                lines += ["", node_tooltip(principal, self.remarks)]
        return "\n".join(lines)


def node_tooltip(node: Node, remarks: Remarks | None = None) -> str:
    """Everything that is known of a node, a line each."""
    lines = [node.name, f"{node.op} ({label('role.' + node.role)})"]
    if node.of and node.of != node.name:
        lines.append(f"of {node.of}")
    for number, out in enumerate(node.outputs):
        lines.append(f"output{f' {number}' if len(node.outputs) > 1 else ''}: {out.text()}")
    if node.inputs:
        lines.append(f"inputs: {', '.join(node.inputs[:6])}{', …' if len(node.inputs) > 6 else ''}")
    lines += [f"{name} = {value}" for name, value in list(node.attrs.items())[:8]]
    if node.device:
        lines.append(f"device: {node.device}")
    if node.source:
        lines.append(f"made at {node.source}")
    if node.folded:
        more = f" and {len(node.folded) - 4} more" if len(node.folded) > 4 else ""
        lines.append(f"with {', '.join(node.folded[:4])}{more}")
    if remarks is not None:
        for table in (remarks.notes, remarks.tips):
            if table.get(node.name):
                lines.append(table[node.name])
    return "\n".join(lines)
