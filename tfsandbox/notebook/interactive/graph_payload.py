"""A graph as the page needs it: nodes, and for each level of detail its boxes with their places in the rows.

The page computes coordinates only, so that it can expand and collapse without a kernel. What repeats is written once:
graphs have thousands of scopes that are built alike, and names that begin alike. `static/src/scene.js` reads this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfsandbox.notebook.faces import Face
from tfsandbox.notebook.graph_model import GraphModel, Node, split_input
from tfsandbox.notebook.interactive.training_kinds import training_kinds
from tfsandbox.notebook.labels import language, page_labels
from tfsandbox.notebook.layout_plan import ScopePlan, plan_scopes
from tfsandbox.notebook.scope_tree import ROOT, Box, ScopeTree

if TYPE_CHECKING:
    from tfsandbox.notebook.views.graph import GraphView

VERSION = 1

LARGE = 3_000
"""A graph of more nodes travels as its ideas and the level that was asked for; the kernel has the others."""

FOLDED = 12
"""How many of the nodes that a box hides are named."""


def payload(view: GraphView) -> dict[str, Any]:
    """The payload of a graph view."""
    return {"version": VERSION, "kind": "graph", "language": language(), "labels": page_labels("graph"),
            **drawing(view)}


def drawing(view: GraphView, levels: Sequence[str] | None = None) -> dict[str, Any]:
    """The part of a payload that `scene.js` reads: title, level, nodes, levels.

    `levels` are all that make sense for the view, if not given: of a large graph the page has to ask for more.
    """
    if levels is None:
        levels = view.levels()
        if len(view.whole) > LARGE:
            levels = [level for level in levels if level in ("ideas", view.detail)]
    views = {level: view if level == view.detail else view.at(level) for level in levels}
    if "full" in views:
        model = view.whole
    else:
        kept = {node.name for other in views.values() for node in other.model.nodes}
        model = view.whole.restricted(kept)
    table = _NodeTable(model, view.source)
    scenes = {level: _scene(other, table) for level, other in views.items()}
    return {"title": view.title, "level": view.detail, "offered": view.levels(), "focus": view.focus,
            "asked": view.expand is not None, "nodes": table.to_json(), "levels": scenes}


class _Pool:
    """Values written once, and told by their number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._number: dict[Any, int] = {}

    def number(self, key: Any, value: Any) -> int:
        """The number of a value that is known by a hashable key."""
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.values)
            self.values.append(value)
        return found


class _NodeTable:
    """The columns of the nodes, the same for all levels."""

    def __init__(self, model: GraphModel, source: GraphModel) -> None:
        self.model = model
        self.kinds = training_kinds(source)

    def to_json(self) -> dict[str, Any]:
        """Columns, each with its pool of values; a column that is empty for all nodes is left out."""
        nodes = self.model.nodes
        index = self.model.index
        table: dict[str, Any] = {"names": front_coded(node.name for node in nodes)}
        for name, values in (
                ("op", [(node.op, node.op) for node in nodes]),
                ("role", [(node.role, node.role) for node in nodes]),
                ("kind", [(kind, kind) for kind in (self.kinds.get(node.name, "") for node in nodes)]),
                ("out", [_outputs(node) for node in nodes]),
                ("attrs", [(tuple(node.attrs.items()), node.attrs) for node in nodes]),
                ("device", [(node.device, node.device) for node in nodes]),
                ("source", [(node.source, node.source) for node in nodes])):
            pool = _Pool()
            column = [pool.number(key, value) for key, value in values]
            if any(pool.values):
                table[name] = {"values": pool.values, "of": column}
        owners = [index.get(node.of, -1) for node in nodes]
        if any(owner >= 0 for owner in owners):
            table["owner"] = owners
        return table


def _outputs(node: Node) -> tuple[Any, Any]:
    key = tuple((out.dtype, out.shape) for out in node.outputs)
    return key, [[dtype, None if shape is None else list(shape)] for dtype, shape in key]


def front_coded(names: Iterable[str]) -> list[Any]:
    """Names one after the other, each as the number of characters that it shares with the one before, and the rest."""
    coded: list[Any] = []
    before = ""
    for name in names:
        shared = 0
        for a, b in zip(before, name):
            if a != b:
                break
            shared += 1
        coded += [shared, name[shared:]]
        before = name
    return coded


# One level of detail


def _scene(view: GraphView, table: _NodeTable) -> dict[str, Any]:
    tree = view.tree
    boxes = _numbered(tree)
    number = {box.id: place for place, box in enumerate(boxes)}
    index = table.model.index
    scopes = [box for box in boxes if box.is_scope]
    scene: dict[str, Any] = {
        "caption": view.caption(),
        "children": [len(box.children) for box in boxes],
        "node": [index[box.node.name] for box in boxes if box.node is not None],
        "scopes": [_scope_name(tree, box) for box in scopes[1:]],
        "series": [place for place, box in enumerate(boxes) if box.series],
        "heading": [view.faces.heading(box) for box in scopes[1:]],
        "expanded": sorted(number[scope] for scope in view.expanded),
    }
    scene |= _faces(view, boxes)
    scene |= _plans(view, tree, [box.id for box in scopes], number)
    scene["inputs"] = [_inputs(box.node, index) for box in boxes if box.node is not None]
    folded = {index[node.name]: [len(node.folded), *(index[name] for name in node.folded[:FOLDED] if name in index)]
              for node in view.model.nodes if node.folded}
    if folded:
        scene["folded"] = folded
    if view.backward is not None:
        scene["flow"] = [index[name] for pair in view.backward.flow for name in pair]
        scene["backward"] = {number[name]: [index[inner] for inner in entry.nodes if inner in index]
                             for name, entry in view.backward.ops.items() if name in number}
    notes = [[number[box_id], lane, note.text, round(note.width, 2), note.tooltip]
             for (box_id, lane), note in view.edge_notes().items() if box_id in number]
    if notes:
        scene["edgeNotes"] = notes
    return scene


def _numbered(tree: ScopeTree) -> list[Box]:
    """The boxes, the root first and the children of each box together, in their order."""
    boxes = [tree[ROOT]]
    for box in boxes:
        boxes += [tree[child] for child in box.children]
    return boxes


def _scope_name(tree: ScopeTree, box: Box) -> str:
    """The id of a scope without its parent's; whole, after a slash, where it does not begin like that."""
    base = box.parent
    while tree[base].series:
        base = tree[base].parent
    return box.id[len(base):-1] if box.id.startswith(base) else f"/{box.id[:-1]}"


def _faces(view: GraphView, boxes: list[Box]) -> dict[str, Any]:
    pool = _Pool()
    column = []
    marks: dict[int, str] = {}
    companions: dict[int, list[Any]] = {}
    for place, box in enumerate(boxes):
        if not place:
            column.append(pool.number(None, None))
            continue
        face = view.faces[box]
        record = _face_record(face, box)
        column.append(pool.number(tuple(record), record))
        if face.mark:
            marks[place] = face.mark
        if face.companion is not None:
            other = face.companion
            companions[place] = [face.companion_label, face.companion_sub, other.role,
                                 face.companion_width, other.tooltip]
    found: dict[str, Any] = {"faces": pool.values, "face": column}
    if marks:
        found["marks"] = marks
    if companions:
        found["companions"] = companions
    return found


def _face_record(face: Face, box: Box) -> list[Any]:
    """Words, role and size of a box; the words are 0 where they are the box's own label."""
    return [0 if face.label == box.label else face.label, face.sub, face.role, face.width, face.height]


def _inputs(node: Node, index: dict[str, int]) -> list[Any]:
    """What a node takes: numbers of nodes, `"5:1"` for an output other than the first, `-1 - number` for control."""
    found: list[Any] = []
    for text in node.inputs:
        name, output, _ = split_input(text)
        if name in index:
            found.append(f"{index[name]}:{output}" if output else index[name])
    found += [-1 - index[name] for name in node.control_inputs if name in index]
    return found


def _plans(view: GraphView, tree: ScopeTree, scopes: list[str], number: dict[str, int]) -> dict[str, Any]:
    """Rows, lines and ports of every scope, in the order of the scopes."""
    planned = plan_scopes(tree, tree.scopes(), view.edges(), view.max_row)
    pool = _Pool()
    plans = []
    for scope in scopes:
        plan = planned[scope]
        entered = _entered(plan, planned, tree)
        key = (id(plan.layers), tuple((line.tail, line.head, line.lane) for line in plan.lines), tuple(entered.items()))
        known = pool.number(key, None)
        if pool.values[known] is None:
            pool.values[known] = _rows(plan, entered)
        ports: list[int] = []
        for port in plan.number:
            if not isinstance(port, str):
                ports += [1 if port[0] == "out" else 0, number[port[1]], port[2]]
        weights: list[int] = []
        for place, line in enumerate(plan.lines):
            if (line.data, line.control) != (1, 0):
                weights += [place, line.data, line.control]
        entry: list[Any] = [known]
        if ports or weights:
            entry.append(ports)
        if weights:
            entry.append(weights)
        plans.append(entry)
    return {"rows": pool.values, "plans": plans}


def _entered(plan: ScopePlan, planned: dict[str, ScopePlan], tree: ScopeTree) -> dict[int, int]:
    """At which of its ports a line leaves the scope at its tail (under twice its number) and enters the one at its
    head (under the number after that).
    """
    found: dict[int, int] = {}
    for place, line in enumerate(plan.lines):
        for side, item, key in ((0, line.tail, ("out", line.far[1], line.lane)),
                                (1, line.head, ("in", line.far[0], line.lane))):
            name = plan.items[item]
            if name and name in planned:
                found[2 * place + side] = planned[name].number[key] - len(tree[name].children)
    return found


def _rows(plan: ScopePlan, entered: dict[int, int]) -> dict[str, Any]:
    """What scopes that are built alike share. Chains are listed for lines that pass rows: line, how many, dummies."""
    layers = plan.layers
    assert layers is not None
    lines: list[int] = []
    chains: list[int] = []
    for place, line in enumerate(plan.lines):
        lines += [line.tail, line.head, line.lane]
        passed = layers.chains[place][1:-1]
        if passed:
            chains += [place, len(passed), *passed]
    record: dict[str, Any] = {"count": layers.count, "rows": layers.rows}
    if lines:
        record["lines"] = lines
    if chains:
        record["chains"] = chains
    if entered:
        record["ports"] = entered
    return record

