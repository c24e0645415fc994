"""The boxes beside the boxes: what stands to the right of a forward op or scope in the gradient picture."""

from __future__ import annotations

from tfsandbox.notebook.backward import Backward, BackwardOp
from tfsandbox.notebook.derivative_rules import update_rule
from tfsandbox.notebook.faces import Companion
from tfsandbox.notebook.graph_model import shape_text
from tfsandbox.notebook.labels import node_count
from tfsandbox.notebook.roles import apply_kind
from tfsandbox.notebook.scope_tree import ROOT, ScopeTree


def companions(tree: ScopeTree, backward: Backward) -> dict[str, Companion]:
    """The companion of every box that has a backward side, by box id; for closed scopes that of all their nodes."""
    table: dict[str, Companion] = {}
    totals: dict[str, list[int]] = {}
    for name, entry in backward.ops.items():
        if name not in tree.boxes:
            continue
        table[name] = node_companion(tree, entry)
        for box_id in tree.path(name)[1:-1]:
            counts = totals.setdefault(box_id, [0, 0])
            if entry.update:
                counts[1] += 1
            counts[0] += len(entry.nodes)
    for box_id, (nodes, updates) in totals.items():
        principal = tree[box_id].principal
        if principal in table and box_id != ROOT:
            own = table[principal]
            table[box_id] = Companion(own.label, own.sub, own.role, f"{own.tooltip}\n\n{box_id}: {node_count(nodes)}")
            continue
        sub = node_count(nodes)
        if updates:
            sub += f" · {updates} update{'s' if updates > 1 else ''}"
        table[box_id] = Companion("backward", sub, "gradient", f"the backward pass of {box_id}\n{node_count(nodes)}")
    return table


def node_companion(tree: ScopeTree, entry: BackwardOp) -> Companion:
    """The companion of one node: the backward op of an op, the update of a variable."""
    node = tree.model.node(entry.of)
    kind = apply_kind(entry.update) if entry.update else None
    lines: list[str] = []
    if kind:
        title, sub, role = kind, update_rule(kind), "optimizer"
        lines += [f"{entry.update} of {entry.of}", f"w becomes {sub}" if sub else ""]
    elif entry.nodes:
        title, role = f"{node.short_name}_grad", "gradient"
        sub = entry.rule or entry.summary()
        rule = f"gradient for each input: {entry.rule}" if entry.rule else ""
        lines += [f"the backward op of {entry.of} ({node.op})", rule, f"computed by {entry.summary()}"]
    else:
        title, sub, role = "gradient", shape_text(node.shape()), "gradient"
        lines.append(f"the gradient of {entry.of}")
    shown = entry.nodes[:10]
    lines += ["", *shown] if shown else []
    if len(entry.nodes) > len(shown):
        lines.append(f"and {len(entry.nodes) - len(shown)} more")
    return Companion(title, sub, role, "\n".join(line for line in lines if line or shown))
