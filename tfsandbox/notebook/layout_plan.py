"""The graph of each name scope by itself: its boxes, its ports, and the rows and orders of both.

An edge runs between the children of the lowest scope that holds both its ends; on the way down to an end it enters
each scope at a port on its border. None of this depends on which scopes are open, so a plan made with all of them open
serves every picture of the model, and opening a scope changes coordinates only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tfsandbox.notebook.graph_model import GraphModel, split_input
from tfsandbox.notebook.layered import MAX_ROW, Layers, layer
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree

FORWARD, BACKWARD = 0, 1
"""Lanes: edges of the graph, and gradients that flow against them."""

@dataclass(slots=True)
class Line:
    """One edge of a scope's own graph: ends are item numbers."""

    tail: int
    head: int
    lane: int
    far: tuple[str, str]
    data: int = 0
    control: int = 0
    tensor: str = ""


@dataclass(slots=True)
class ScopePlan:
    """A scope's own graph: its items are its children first, then its ports."""

    items: list[str]
    number: dict[Any, int]
    lines: list[Line] = field(default_factory=list)
    index: dict[tuple[int, int, int], int] = field(default_factory=dict)
    layers: Layers | None = None


PortKey = tuple[str, str, int]
"""("in" or "out", the box outside, the lane)."""


def model_edges(model: GraphModel) -> Iterable[tuple[str, str, int, bool, str]]:
    """(tail, head, lane, is control, tensor) of every edge of a model."""
    index = model.index
    for node in model.nodes:
        for text in node.inputs:
            name = split_input(text)[0]
            if name in index and name != node.name:
                yield name, node.name, FORWARD, False, text
        for name in node.control_inputs:
            if name in index and name != node.name:
                yield name, node.name, FORWARD, True, name


def plan_scopes(tree: ScopeTree, opened: Iterable[str], edges: Iterable[tuple[str, str, int, bool, str]],
                max_row: int = MAX_ROW) -> dict[str, ScopePlan]:
    """The plans of the root and of the open scopes, outer ones first. Ids that are no scope do not matter."""
    return _Planner(tree, opened, max_row).run(edges)


class _Planner:
    """The state of one `plan_scopes`."""

    def __init__(self, tree: ScopeTree, opened: Iterable[str], max_row: int) -> None:
        self.tree = tree
        self.max_row = max_row
        self.open = {ROOT} | {box_id for box_id in opened if box_id in tree.boxes and tree[box_id].is_scope}
        self.plans: dict[str, ScopePlan] = {}
        self.known: dict[Any, Layers] = {}
        self.paths: dict[str, tuple[str, ...]] = {}

    def run(self, edges: Iterable[tuple[str, str, int, bool, str]]) -> dict[str, ScopePlan]:
        order = self._visible_scopes()
        for scope in order:
            children = list(self.tree[scope].children)
            self.plans[scope] = ScopePlan(children, {child: place for place, child in enumerate(children)})
        for tail, head, lane, control, tensor in edges:
            self._add(tail, head, lane, control, tensor)
        sides: dict[str, tuple[list[int], list[int]]] = {ROOT: ([], [])}
        for scope in order:
            self._rank(scope, sides)
        return self.plans

    def _visible_scopes(self) -> list[str]:
        order = [ROOT]
        for scope in order:
            order += [child for child in self.tree[scope].children if child in self.open]
        return order

    # Edges into the scopes they cross

    def _path(self, name: str) -> tuple[str, ...]:
        """The visible boxes around a node, outermost first, down to the one that shows it."""
        known = self.paths.get(name)
        if known is None:
            path = self.tree.path(name)
            for place, box_id in enumerate(path):
                if box_id not in self.open:
                    path = path[:place + 1]
                    break
            known = self.paths[name] = tuple(path)
        return known

    def _add(self, tail: str, head: str, lane: int, control: bool, tensor: str) -> None:
        lower, upper = self._path(tail), self._path(head)
        split = 1
        shortest = min(len(lower), len(upper))
        while split < shortest and lower[split] == upper[split]:
            split += 1
        if split >= shortest:
            return  # both ends are in one closed box
        scope, a, b = lower[split - 1], lower[split], upper[split]
        plan = self.plans[scope]
        self._line(plan, plan.number[a], plan.number[b], lane, control, tensor, (a, b))
        for place in range(split, len(lower) - 1):
            plan = self.plans[lower[place]]
            port = self._port(plan, ("out", b, lane))
            self._line(plan, plan.number[lower[place + 1]], port, lane, control, tensor, (a, b))
        for place in range(split, len(upper) - 1):
            plan = self.plans[upper[place]]
            port = self._port(plan, ("in", a, lane))
            self._line(plan, port, plan.number[upper[place + 1]], lane, control, tensor, (a, b))

    @staticmethod
    def _port(plan: ScopePlan, key: PortKey) -> int:
        place = plan.number.get(key)
        if place is None:
            place = plan.number[key] = len(plan.items)
            plan.items.append("")
        return place

    @staticmethod
    def _line(plan: ScopePlan, tail: int, head: int, lane: int, control: bool, tensor: str,
              far: tuple[str, str]) -> None:
        place = plan.index.get((tail, head, lane))
        if place is None:
            place = plan.index[tail, head, lane] = len(plan.lines)
            plan.lines.append(Line(tail, head, lane, far))
        line = plan.lines[place]
        if control:
            line.control += 1
        else:
            line.data += 1
        if not line.tensor or (not control and line.data == 1):
            line.tensor = tensor

    # Rows and orders, from the outside in

    def _rank(self, scope: str, sides: dict[str, tuple[list[int], list[int]]]) -> None:
        plan = self.plans[scope]
        low, high = sides[scope]
        placed = set(low) | set(high)
        # Edges at ports run upwards whatever the data does: a port's side is decided outside.
        on_high = set(high)
        ends = []
        keys = []
        for number, line in enumerate(plan.lines):
            tail, head = line.tail, line.head
            if tail in on_high or (head in placed and head not in on_high):
                tail, head = head, tail
            ends.append((tail, head))
            # Gradients have widths of their own and share no trunk.
            keys.append(0 if line.lane == FORWARD and line.data else 1 if line.lane == FORWARD else 2 + number)
        plan.layers = layers = self._layers(len(plan.items), ends, keys, low, high)
        position = {item: place for row in layers.rows for place, item in enumerate(row)}
        ports: dict[str, list[tuple[bool, int, int, PortKey]]] = {}
        for number, line in enumerate(plan.lines):
            chain = layers.chains[number]
            for end, kind in ((line.tail, "out"), (line.head, "in")):
                child = plan.items[end]
                if child not in self.open or not child:
                    continue
                upward = chain[0] == end
                neighbour = chain[1] if upward else chain[-2]
                far = line.far[1] if kind == "out" else line.far[0]
                ports.setdefault(child, []).append((upward, position[neighbour], number, (kind, far, line.lane)))
        for child in plan.items:
            if child and child in self.open:
                inner = self.plans[child]
                found = sorted(ports.get(child, ()))
                sides[child] = ([inner.number[key] for up, _, _, key in found if not up],
                                [inner.number[key] for up, _, _, key in found if up])

    def _layers(self, count: int, ends: list[tuple[int, int]], keys: list[int], low: list[int],
                high: list[int]) -> Layers:
        """The rows of a scope's graph. A graph has hundreds of scopes that are built alike; they share the answer."""
        shape = (count, tuple(ends), tuple(keys), tuple(low), tuple(high))
        found = self.known.get(shape)
        if found is None:
            found = self.known[shape] = layer(count, ends, keys, low, high, self.max_row)
        return found
