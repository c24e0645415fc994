"""A graph as plain text that still teaches: the scopes as an indented tree, with ops, shapes, inputs and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tfsandbox.notebook.faces import plain_op
from tfsandbox.notebook.graph_model import Node, split_input
from tfsandbox.notebook.labels import label, node_count, variable_count
from tfsandbox.notebook.scope_tree import ROOT, Box, ScopeTree

MAX_NAME = 56


def caption(drawn: int, hidden: Mapping[str, int], backward: int = 0) -> str:
    """`9 of 86 nodes · not drawn: backward pass 47, updates 4`; with `backward` nodes drawn beside the others."""
    total = drawn + sum(hidden.values())
    if backward:
        beside = ("gradient", "optimizer", "slot")
        hidden = {rule: number for rule, number in hidden.items() if rule not in beside}
        head = label("caption.backward", drawn=f"{drawn:,}", backward=f"{backward:,}")
    elif hidden:
        head = label("caption.drawn", drawn=f"{drawn:,}", total=f"{total:,}")
    else:
        head = label("caption.all", total=f"{total:,}")
    parts = ", ".join(f"{label('hidden.' + rule)} {number:,}" for rule, number in hidden.items())
    return f"{head} · {label('caption.hidden')} {parts}" if parts else head


def tree_text(tree: ScopeTree, notes: Mapping[str, str] | None = None, heading: str = "",
              expanded: Iterable[str] | None = None, limit: int | None = None) -> str:
    """The tree, a line a box. Without `expanded` all scopes are open, or as many as `limit` lines have room for."""
    if expanded is None:
        everything = len(tree.boxes) - 1
        if limit is None or everything <= limit:
            opened = frozenset(tree.scopes())
        else:
            opened = tree.sensible_expansion(budget=limit, closed=())
    else:
        opened = frozenset(expanded)
    rows = list(_rows(tree, opened, notes or {}))
    if limit is not None and len(rows) > limit:
        left_out = len(rows) - limit
        rows = [*rows[:limit], (f"… {left_out:,} more", "", "")]
    lines = [heading] if heading else []
    return "\n".join([*lines, *columns(rows)])


def columns(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """The rows with their cells aligned; a cell wider than `MAX_NAME` does not push the others out."""
    if not rows:
        return []
    count = max(len(row) for row in rows)
    widths = [max((min(len(row[i]), MAX_NAME) for row in rows if i < len(row)), default=0) for i in range(count)]
    lines = []
    for row in rows:
        cells = [cell.ljust(widths[i]) for i, cell in enumerate(row)]
        lines.append(gap.join(cells).rstrip())
    return lines


def _rows(tree: ScopeTree, opened: frozenset[str], notes: Mapping[str, str]) -> Iterable[tuple[str, str, str]]:
    """(indented name, op, shape and inputs and number) of each visible box."""
    waiting = [(child, 1) for child in reversed(tree[ROOT].children)]
    while waiting:
        box_id, depth = waiting.pop()
        box = tree[box_id]
        indent = "  " * depth
        if box.node is not None:
            yield f"{indent}{box.label}", plain_op(box.node.op), _details(box.node, box, notes)
            continue
        yield f"{indent}{box.label}/", _scope_details(box, box_id in opened), ""
        if box_id in opened:
            waiting += [(child, depth + 1) for child in reversed(box.children)]


def _details(node: Node, box: Box, notes: Mapping[str, str]) -> str:
    parts = [node.outputs[0].text() if node.outputs else ""]
    inputs = []
    for text in node.inputs[:4]:
        name, index, _ = split_input(text)
        near = name[len(box.parent):] if box.parent and name.startswith(box.parent) else name
        inputs.append(near if index == 0 else f"{near}:{index}")
    inputs += [f"^{name}" for name in node.control_inputs[:max(0, 4 - len(inputs))]]
    if len(node.inputs) + len(node.control_inputs) > len(inputs):
        inputs.append("…")
    if inputs:
        parts.append(f"<- {', '.join(inputs)}")
    note = notes.get(node.name)
    if note:
        parts.append(f"[{note}]")
    return "  ".join(part for part in parts if part)


def _scope_details(box: Box, is_open: bool) -> str:
    variables = box.roles.get("variable", 0)
    parts = [node_count(box.count)]
    if variables:
        parts.append(variable_count(variables))
    text = ", ".join(parts)
    return text if is_open else f"({text})"
