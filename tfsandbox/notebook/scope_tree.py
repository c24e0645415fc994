"""Name scopes as a tree of boxes: what a picture can expand and collapse.

A box is a scope (its id ends in `/`) or a node. A node with the name of a scope lives inside it and speaks for it
while it is closed: the scope `w/` of a variable `w` looks like the variable. A scope with one child is not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tfsandbox.notebook.graph_model import GraphModel, Node, closest

ROOT = ""
SERIES_LIMIT = 48
"""A scope with more children than this gets its numbered series (`MatMul`, `MatMul_1`, ...) grouped."""

_NUMBERED = re.compile(r"^(.*?)(?:_\d+)?$")


@dataclass(slots=True)
class Box:
    """A scope or a node. `label` is its name inside its parent. `count` is the number of nodes in it."""

    id: str
    label: str
    parent: str
    node: Node | None = None
    children: list[str] = field(default_factory=list)
    count: int = 1
    principal: str = ""
    roles: dict[str, int] = field(default_factory=dict)
    series: bool = False

    @property
    def is_scope(self) -> bool:
        """Whether it can be expanded."""
        return self.node is None

    @property
    def role(self) -> str:
        """Its node's role; a scope with forward ops is of the forward pass, another is what most of its nodes are."""
        if self.node is not None:
            return self.node.role
        if "forward" in self.roles:
            return "forward"
        return max(self.roles, key=lambda role: self.roles[role]) if self.roles else "forward"


class ScopeTree:
    """The boxes of a model by id, the root under `""`."""

    def __init__(self, model: GraphModel, group_series: bool = True) -> None:
        self.model = model
        self.boxes: dict[str, Box] = {ROOT: Box(ROOT, model.title, ROOT)}
        self._build()
        if group_series:
            for box in list(self.boxes.values()):
                if box.is_scope and len(box.children) > SERIES_LIMIT:
                    self._group_series(box)
        self._count(ROOT)

    def __getitem__(self, box_id: str) -> Box:
        return self.boxes[box_id]

    def _build(self) -> None:
        """Insert every node under its scopes, then leave out scopes that hold one box only."""
        scopes: dict[str, dict[str, None]] = {ROOT: {}}
        scope_names = set()
        for node in self.model.nodes:
            cut = node.name.find("/")
            while cut > 0:
                scope_names.add(node.name[:cut])
                cut = node.name.find("/", cut + 1)
        for node in self.model.nodes:
            inside = f"{node.name}/" if node.name in scope_names else self._scope_id(node.name)
            self._open(inside, scopes)
            scopes[inside][node.name] = None
        nodes = {node.name: node for node in self.model.nodes}
        self._place(ROOT, ROOT, scopes, nodes)

    @staticmethod
    def _scope_id(name: str) -> str:
        scope = name.rpartition("/")[0]
        return f"{scope}/" if scope else ROOT

    def _open(self, scope: str, scopes: dict[str, dict[str, None]]) -> None:
        """Make the entry of a scope and of those around it, outermost first."""
        missing = []
        while scope not in scopes:
            missing.append(scope)
            scope = self._scope_id(scope[:-1])
        for inner in reversed(missing):
            scopes[inner] = {}
            scopes[scope][inner] = None
            scope = inner

    def _place(self, scope: str, parent: str, scopes: dict[str, dict[str, None]], nodes: dict[str, Node]) -> None:
        """Make the boxes of a scope's children, depth first, without recursion into deep names."""
        waiting = [(scope, parent)]
        while waiting:
            scope, parent = waiting.pop()
            home = self.boxes[parent]
            for child in scopes[scope]:
                while child.endswith("/") and child in scopes and len(scopes[child]) == 1:
                    child = next(iter(scopes[child]))
                label = child[len(parent):] if child.startswith(parent) else child.rpartition("/")[2]
                if child in scopes:
                    box = Box(child, label.rstrip("/"), parent)
                    if child[:-1] in nodes and child[:-1] in scopes[child]:
                        box.principal = child[:-1]
                    self.boxes[child] = box
                    waiting.append((child, child))
                else:
                    self.boxes[child] = Box(child, label or child.rpartition("/")[2], parent, nodes[child])
                home.children.append(child)

    def _group_series(self, box: Box) -> None:
        """Put children that differ only in their number, and are of one op, into a box of their own."""
        groups: dict[tuple[str, str], list[str]] = {}
        for child in box.children:
            other = self.boxes[child]
            match = _NUMBERED.match(other.label)
            stem = match.group(1) if match else other.label
            groups.setdefault((stem, other.node.op if other.node else "/"), []).append(child)
        children: dict[str, None] = {}
        for (stem, op), members in groups.items():
            if len(members) < 4 or len(members) == len(box.children):
                children.update(dict.fromkeys(members))
                continue
            # No node or scope is called so: `*` is no character of a name.
            group = Box(f"{box.id}{stem}_*{'' if op == '/' else ' ' + op}/", f"{stem}_*", box.id, series=True)
            group.children = members
            self.boxes[group.id] = group
            for child in members:
                self.boxes[child].parent = group.id
            children[group.id] = None
        box.children = list(children)

    def _count(self, root: str) -> None:
        order: list[str] = [root]
        for box_id in order:
            order.extend(child for child in self.boxes[box_id].children if self.boxes[child].is_scope)
        for box_id in reversed(order):
            box = self.boxes[box_id]
            box.count, box.roles = 0, {}
            for child in box.children:
                other = self.boxes[child]
                box.count += other.count
                counts = other.roles if other.node is None else {other.node.role: 1}
                for role, number in counts.items():
                    box.roles[role] = box.roles.get(role, 0) + number

    def path(self, box_id: str) -> list[str]:
        """The boxes from the root to this one, both included."""
        path = [box_id]
        while path[-1] != ROOT:
            path.append(self.boxes[path[-1]].parent)
        return path[::-1]

    def scopes(self) -> list[str]:
        """The ids of all scopes but the root, outer ones first."""
        return [box.id for box in self.walk() if box.is_scope and box.id != ROOT]

    def walk(self, box_id: str = ROOT) -> Iterator[Box]:
        """The box and everything in it, depth first."""
        waiting = [box_id]
        while waiting:
            box = self.boxes[waiting.pop()]
            yield box
            waiting.extend(reversed(box.children))

    def leaves(self, box_id: str) -> Iterator[Node]:
        """The nodes in a box."""
        for box in self.walk(box_id):
            if box.node is not None:
                yield box.node

    def expansion(self, names: Iterable[str]) -> frozenset[str]:
        """The ids of the scopes to open so that each named scope is open and each named node can be seen.

        Raises KeyError for a name that is neither, with the nearest ones.
        """
        opened: set[str] = set()
        for name in names:
            plain = name.strip("/")
            found = f"{plain}/"
            if not plain or plain == "*":
                continue
            if found not in self.boxes:
                found = plain if plain in self.boxes else self._merged(found)
            if not found:
                near = closest(plain, [*self.model.index, *(scope[:-1] for scope in self.scopes())])
                hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
                raise KeyError(f"There is no name scope or node {plain!r} in this picture.{hint}")
            opened.update(box_id for box_id in self.path(found) if self.boxes[box_id].is_scope)
        opened.discard(ROOT)
        return frozenset(opened)

    def _merged(self, scope: str) -> str:
        """The box that a scope without a box of its own has become part of; "" when there is none."""
        for box_id in self.boxes:
            if box_id.startswith(scope):
                return box_id
        return ""

    def sensible_expansion(self, budget: int = 22, closed: Iterable[str] = ("init", "saver", "summary", "check",
                                                                              "slot", "variable")) -> frozenset[str]:
        """The scopes to open at first: outer and small ones, as long as the picture stays within `budget` boxes."""
        shut = set(closed)
        opened: set[str] = set()
        visible = len(self.boxes[ROOT].children)
        level = [ROOT]
        while level:
            inner: list[str] = []
            for parent in level:
                inner += [child for child in self.boxes[parent].children if self.boxes[child].is_scope]
            inner.sort(key=lambda box_id: len(self.boxes[box_id].children))
            level = []
            for box_id in inner:
                box = self.boxes[box_id]
                if box.principal and self.boxes[box.principal].role in shut or box.role in shut:
                    continue
                if visible + len(box.children) <= budget:
                    opened.add(box_id)
                    visible += len(box.children)
                    level.append(box_id)
        return frozenset(opened)
