"""Where every box of a model stands: each name scope is laid out by itself, as a small layered drawing.

An edge runs between the children of the lowest scope that holds both its ends. Where such a child is an open scope,
the edge enters it at a port on its border and goes on inside. Rows and orders depend on the model alone; opening a
scope changes sizes, and so only coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tfsandbox.notebook.layered import MAX_ROW, Layers, Link, centres
from tfsandbox.notebook.layout_plan import BACKWARD, FORWARD, Line, PortKey, ScopePlan, model_edges, plan_scopes
from tfsandbox.notebook.scope_tree import ROOT, Box, ScopeTree

__all__ = ["BACKWARD", "FORWARD", "Layout", "PlacedBox", "PlacedEdge", "Size", "lay_out", "model_edges", "spread"]

PADDING = 16.0
HEADER = 26.0
GAP = 24.0
DUMMY_GAP = 13.0
ROW_GAP = 30.0
PORT_GAP = 12.0
DOCK_GAP = 16.0
SNAP = 14.0


@dataclass(frozen=True, slots=True)
class Size:
    """What a closed box needs. `lanes` are the (centre offset, half width) in which edges of each lane may dock."""

    width: float
    height: float
    lanes: tuple[tuple[float, float], ...] = ((0.0, 0.0),)


@dataclass(slots=True)
class PlacedBox:
    """A box with its top left corner. `open` scopes contain other boxes."""

    id: str
    x: float
    y: float
    width: float
    height: float
    parent: str
    open: bool
    depth: int
    count: int
    label: str


@dataclass(slots=True)
class PlacedEdge:
    """A line inside one scope, from the lower end up. `tail` and `head` are boxes of that scope, or the scope itself
    where the line comes in or goes out through its border. Data flows from tail to head; `points` follow the flow.
    """

    scope: str
    tail: str
    head: str
    lane: int
    points: list[tuple[float, float]]
    data: int
    control: int
    tensor: str
    far_tail: str
    far_head: str
    direct: bool = False


@dataclass
class Layout:
    """Boxes from the outside in, and edges. Coordinates start at (0, 0); y grows downwards."""

    width: float
    height: float
    boxes: list[PlacedBox]
    edges: list[PlacedEdge]
    expanded: frozenset[str]

    def box(self, box_id: str) -> PlacedBox:
        """The box of that id. Raises KeyError when it is not visible."""
        for box in self.boxes:
            if box.id == box_id:
                return box
        raise KeyError(box_id)

    def to_json(self) -> dict[str, Any]:
        """Plain data, coordinates to a tenth."""
        return {
            "width": round(self.width, 1), "height": round(self.height, 1), "expanded": sorted(self.expanded),
            "boxes": [{"id": b.id, "x": round(b.x, 1), "y": round(b.y, 1), "width": round(b.width, 1),
                       "height": round(b.height, 1), "parent": b.parent, "open": b.open, "count": b.count,
                       "label": b.label} for b in self.boxes],
            "edges": [{"scope": e.scope, "tail": e.tail, "head": e.head, "lane": e.lane, "data": e.data,
                       "control": e.control, "tensor": e.tensor,
                       "points": [[round(x, 1), round(y, 1)] for x, y in e.points]} for e in self.edges],
        }


def default_size(box: Box) -> Size:
    """A size by the length of the label, for those who only want positions."""
    width = max(56.0, 16.0 + 7.0 * len(box.label))
    return Size(width, 34.0, ((0.0, width / 2 - 8), (0.0, width / 2 - 8)))


def default_heading(box: Box) -> float:
    """The width of an open scope's heading, for those who only want positions."""
    return 24.0 + 6.5 * len(box.label)


def lay_out(tree: ScopeTree, expanded: Iterable[str] = (), size: Callable[[Box], Size] = default_size,
            heading: Callable[[Box], float] = default_heading,
            edges: Iterable[tuple[str, str, int, bool, str]] | None = None, max_row: int = MAX_ROW) -> Layout:
    """Place the boxes of a tree, with the scopes of these ids open.

    `size` and `heading` measure a closed box and the heading of an open one. `edges` are the model's own when not
    given. An edge of the lane `BACKWARD` is listed like the forward edge it goes against, and drawn the other way.
    A rank with more than `max_row` boxes takes several rows.
    """
    placer = _Placer(tree, frozenset(expanded), size, heading, max_row)
    return placer.run(model_edges(tree.model) if edges is None else edges)


class _Placer:
    """The state of one `lay_out`."""

    def __init__(self, tree: ScopeTree, expanded: frozenset[str], size: Callable[[Box], Size],
                 heading: Callable[[Box], float], max_row: int) -> None:
        self.tree = tree
        self.size = size
        self.heading = heading
        self.max_row = max_row
        self.open = {ROOT} | {box_id for box_id in expanded if box_id in tree.boxes and tree[box_id].is_scope}
        self.plans: dict[str, ScopePlan] = {}
        self.sizes: dict[str, Size] = {}
        self.offsets: dict[str, dict[PortKey, float]] = {}
        self.inner: dict[str, tuple[list[float], list[float], list[float], list[float]]] = {}

    def run(self, edges: Iterable[tuple[str, str, int, bool, str]]) -> Layout:
        self.plans = plan_scopes(self.tree, self.open, edges, self.max_row)
        for scope in reversed(self.plans):
            self._measure(scope)
        root = self.sizes[ROOT]
        boxes: list[PlacedBox] = []
        lines: list[PlacedEdge] = []
        self._emit(boxes, lines)
        return Layout(root.width, root.height, boxes, lines, frozenset(self.open - {ROOT}))

    # Sizes and coordinates, from the inside out

    def _measure(self, scope: str) -> None:
        plan, layers = self.plans[scope], self.plans[scope].layers
        assert layers is not None
        box = self.tree[scope]
        total = len(layers.rank)
        width, height = [0.0] * total, [0.0] * total
        for place, child in enumerate(plan.items):
            if child:
                size = self.sizes.get(child)
                if size is None:
                    size = self.sizes[child] = self.size(self.tree[child])
                width[place], height[place] = size.width, size.height
        above: list[list[Link]] = [[] for _ in range(total)]
        below: list[list[Link]] = [[] for _ in range(total)]
        linked: set[tuple[int, int, int]] = set()
        for number, line in enumerate(plan.lines):
            chain = layers.chains[number]
            for a, b in zip(chain, chain[1:]):
                if (a, b, line.lane) in linked:
                    continue
                linked.add((a, b, line.lane))
                out, into = self._dock(plan, line, a), self._dock(plan, line, b)
                above[a].append((b, out, into))
                below[b].append((a, into, out))
        x = centres(layers, width, above, below, GAP, DUMMY_GAP)
        right = max((x[item] + width[item] / 2 for row in layers.rows for item in row), default=0.0)
        low = 1 if plan.items and any(not plan.items[i] for i in layers.rows[0] if i < layers.count) else 0
        tops: list[float] = []
        bottoms: list[float] = []
        y = 0.0
        rows = layers.rows
        for level in range(len(rows) - 1, -1, -1):
            tall = max((height[item] for item in rows[level]), default=0.0)
            tops.append(y)
            bottoms.append(y + tall)
            y += tall
            if level:
                y += self._row_gap(layers, x, level, at_ports=tall == 0.0 or (level == 1 and low > 0))
        tops.reverse()
        bottoms.reverse()
        label = 0.0 if scope == ROOT else self.heading(box)
        margin = 0.0 if scope == ROOT else PADDING
        header = 0.0 if scope == ROOT else HEADER
        inner_width = max(right, label - 2 * margin)
        shift = margin + (inner_width - right) / 2
        x = [value + shift for value in x]
        full_width, full_height = inner_width + 2 * margin, y + header + margin
        offset = {key: x[place] - full_width / 2 for key, place in plan.number.items() if not isinstance(key, str)}
        self.offsets[scope] = offset
        lanes = ((0.0, full_width / 2 - PADDING),) * 2
        self.sizes[scope] = Size(full_width, full_height, lanes)
        self.inner[scope] = (x, [top + header for top in tops], [bottom + header for bottom in bottoms],
                             [height[item] for item in range(total)])

    @staticmethod
    def _row_gap(layers: Layers, x: list[float], level: int, at_ports: bool) -> float:
        """The space between a row and the one below: more where edges go far sideways."""
        far = 0.0
        for item in layers.rows[level]:
            for other in layers.below[item]:
                far = max(far, abs(x[item] - x[other]))
        return (PORT_GAP if at_ports else ROW_GAP) + min(26.0, far * 0.07)

    def _dock(self, plan: ScopePlan, line: Line, item: int) -> float:
        """Where an edge meets an item, as an offset from its centre."""
        if item >= len(plan.items):
            return 0.0
        child = plan.items[item]
        if not child:
            return 0.0
        if child in self.open:
            key: PortKey = ("out", line.far[1], line.lane) if item == line.tail else ("in", line.far[0], line.lane)
            return self.offsets[child].get(key, 0.0)
        lanes = self.sizes[child].lanes
        return lanes[min(line.lane, len(lanes) - 1)][0]

    # Absolute positions

    def _emit(self, boxes: list[PlacedBox], lines: list[PlacedEdge]) -> None:
        waiting = [(ROOT, 0.0, 0.0, 0)]
        while waiting:
            scope, left, top, depth = waiting.pop()
            plan, layers = self.plans[scope], self.plans[scope].layers
            assert layers is not None
            x, tops, bottoms, heights = self.inner[scope]
            y: dict[int, float] = {}
            inner = []
            for place, child in enumerate(plan.items):
                if not child:
                    continue
                size = self.sizes[child]
                level = layers.rank[place]
                spare = bottoms[level] - tops[level] - size.height
                # In a tall row what only gives stands close to its readers, what only takes close to its inputs.
                share = 0.0 if not layers.below[place] else 1.0 if not layers.above[place] else 0.5
                y[place] = tops[level] + spare * (share if layers.below[place] or layers.above[place] else 0.5)
                box = self.tree[child]
                is_open = child in self.open
                boxes.append(PlacedBox(child, left + x[place] - size.width / 2, top + y[place], size.width, size.height,
                                       scope, is_open, depth, box.count, box.label))
                if is_open:
                    inner.append((child, left + x[place] - size.width / 2, top + y[place], depth + 1))
            self._emit_lines(scope, left, top, y, lines)
            waiting.extend(reversed(inner))

    def _emit_lines(self, scope: str, left: float, top: float, y: dict[int, float], lines: list[PlacedEdge]) -> None:
        plan, layers = self.plans[scope], self.plans[scope].layers
        assert layers is not None
        x, tops, bottoms, heights = self.inner[scope]
        border_top, border_bottom = 0.0, self.sizes[scope].height
        docks = self._spread_docks(plan, layers, x)

        def end(item: int, at: float, upper: bool) -> list[tuple[float, float]]:
            """Points from the middle of the gap to the item's border; `upper` is the edge's upper end."""
            level = layers.rank[item]
            if not plan.items[item]:
                return [(left + at, top + (border_top if upper else border_bottom))]
            edge = y[item] + heights[item] if upper else y[item]
            reach = bottoms[level] if upper else tops[level]
            points = [(left + at, top + reach)]
            if abs(edge - reach) > 0.5:
                points.append((left + at, top + edge))
            return points

        for number, line in enumerate(plan.lines):
            chain = layers.chains[number]
            lower, upper = chain[0], chain[-1]
            points = end(lower, docks[number, 0], upper=False)[::-1]
            for item in chain[1:-1]:
                level = layers.rank[item]
                points.append((left + x[item], top + bottoms[level]))
                if bottoms[level] - tops[level] > 0.5:
                    points.append((left + x[item], top + tops[level]))
            points += end(upper, docks[number, 1], upper=True)
            ends_tail = lower == line.tail
            if ends_tail != (line.lane == FORWARD):
                points.reverse()
            tail, head = plan.items[line.tail] or scope, plan.items[line.head] or scope
            if line.lane == BACKWARD:
                tail, head = head, tail
            lines.append(PlacedEdge(scope, tail, head, line.lane, points, line.data, line.control, line.tensor,
                                    line.far[0], line.far[1],
                                    len(chain) == 2 and layers.rank[upper] - layers.rank[lower] > 1))

    def _spread_docks(self, plan: ScopePlan, layers: Layers, x: list[float]) -> dict[tuple[int, int], float]:
        """The x at which each line meets its lower (0) and upper (1) end: spread over the box, in order."""
        docks: dict[tuple[int, int], float] = {}
        arriving: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
        for number, line in enumerate(plan.lines):
            chain = layers.chains[number]
            for side, item, neighbour in ((0, chain[0], chain[1]), (1, chain[-1], chain[-2])):
                child = plan.items[item]
                at = x[item] + self._dock(plan, line, item)
                docks[number, side] = at
                if not child or child in self.open:
                    continue
                aim = x[neighbour] + (self._dock(plan, line, neighbour) if len(chain) == 2 else 0.0)
                if side == 1:
                    arriving.setdefault((item, line.lane), []).append((aim, neighbour, number))
                elif len(layers.above[item]) == 1:
                    lanes = self.sizes[child].lanes
                    if abs(aim - at) <= min(SNAP, lanes[min(line.lane, len(lanes) - 1)][1]):
                        docks[number, side] = aim
        for (item, lane), found in arriving.items():
            lanes = self.sizes[plan.items[item]].lanes
            offset, half = lanes[min(lane, len(lanes) - 1)]
            found.sort()
            aims: dict[int, float] = {}
            for aim, neighbour, _ in found:
                aims.setdefault(neighbour, aim)
            places = spread(list(aims.values()), x[item] + offset - half, x[item] + offset + half, DOCK_GAP)
            place = dict(zip(aims, places))
            for _, neighbour, number in found:
                docks[number, 1] = place[neighbour]
        return docks


def spread(aims: list[float], low: float, high: float, apart: float) -> list[float]:
    """Places between `low` and `high` near the aims, in their order and `apart` where there is room for that.

    An edge whose other end is straight below stays straight.
    """
    count = len(aims)
    if count > 1:
        apart = min(apart, (high - low) / (count - 1))
    places: list[float] = []
    for number, aim in enumerate(aims):
        place = min(max(aim, low + number * apart), high - (count - 1 - number) * apart)
        places.append(max(place, places[-1] + apart) if places else place)
    for number in range(count - 2, -1, -1):
        places[number] = min(places[number], places[number + 1] - apart)
    return places
