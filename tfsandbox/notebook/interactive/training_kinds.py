"""What training does to each node: which variables train, and by which optimizer, and what serves training only."""

from __future__ import annotations

from tfsandbox.notebook.graph_model import GraphModel, Node, split_input
from tfsandbox.notebook.roles import UPDATE_OPS, apply_kind

KINDS = ("trains", "frozen", "state", "slot", "gradient", "training")
"""`state` is a variable that no optimizer is meant to change (a step counter, a moving average); `training` is what
else only training needs. With several optimizers `trains` is followed by their names: `trains Adam, Adam_1`."""

_TRAINING_ROLES = {"slot": "slot", "gradient": "gradient", "optimizer": "training"}


def training_kinds(model: GraphModel) -> dict[str, str]:
    """The kind of each node that has one; what also serves inference has none.

    Without an optimizer in the graph, the variables that are meant to train count as trained.
    """
    updates: dict[str, dict[str, None]] = {}
    optimizers: dict[str, None] = {}
    assigned: set[str] = set()
    kinds: dict[str, str] = {}
    for node in model.nodes:
        if node.op in UPDATE_OPS and node.role not in ("init", "saver", "optimizer") and node.inputs:
            assigned.add(split_input(node.inputs[0])[0])
        if node.role in _TRAINING_ROLES:
            kinds[node.name] = _TRAINING_ROLES[node.role]
            if node.role == "optimizer" and node.of and apply_kind(node.op):
                name = _optimizer(node)
                optimizers[name] = None
                updates.setdefault(node.of, {})[name] = None
    for node in model.nodes:
        if node.role == "variable":
            kinds[node.name] = _variable(model, node, list(updates.get(node.name, ())), len(optimizers), assigned)
    return kinds


def _optimizer(node: Node) -> str:
    """The name of the optimizer that made an update: `train/Adam` of `train/Adam/update_w/ApplyAdam`."""
    return node.name.partition("/update")[0] if "/update" in node.name else node.scope


def _variable(model: GraphModel, node: Node, updated_by: list[str], optimizers: int, assigned: set[str]) -> str:
    if updated_by:
        if node.name in model.masked:
            return "frozen"
        return f"trains {', '.join(updated_by)}" if optimizers > 1 else "trains"
    if model.trainable is not None:
        meant = node.name in model.trainable
    else:
        # A file tells not which variables are meant to train; counters are integers, averages are assigned.
        meant = node.name not in assigned and (
            not node.outputs or node.outputs[0].dtype.startswith(("float", "bfloat", "complex")))
    if not meant:
        return "state"
    return "frozen" if optimizers or node.name in model.masked else "trains"
