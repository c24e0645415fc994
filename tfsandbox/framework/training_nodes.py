"""Taking out of a GraphDef what only training needs: the plan, node by node, and its application."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from tfsandbox.framework import tensorflow_pruning
from tfsandbox.framework.graph_util_impl import node_name
from tfsandbox.framework.node_graph import NodeGraph, nearest
from tfsandbox.framework.pruned_graph import PrunedGraph
from tfsandbox.framework.pruning import Pruning
from tfsandbox.framework.pruning_reasons import RULES, Reasons

MODES = ("full", "tensorflow")

_default_mode = "full"


def set_default_pruning(mode: str) -> None:
    """Set what `remove_training_nodes` does where no mode is given: "full" or "tensorflow"."""
    global _default_mode
    _default_mode = _checked_mode(mode)


def _checked_mode(mode: str) -> str:
    if mode not in MODES:
        raise ValueError(f"The mode of pruning must be 'full' or 'tensorflow', but got {mode!r}.")
    return mode


@dataclass(frozen=True)
class NodeDecision:
    """What becomes of one node: kept, or removed by a rule, and the reason in one line."""

    name: str
    op: str
    keep: bool
    rule: str  # "" where the node is kept
    reason: str

    @property
    def fate(self) -> str:
        """"keep", or the rule that removes the node."""
        return "keep" if self.keep else self.rule


class TrainingNodes:
    """A plan of pruning: a `NodeDecision` for every node, in the graph's order, before anything is changed.

    Iterating gives the decisions, indexing by a node's name one of them.
    """

    def __init__(self, mode: str, decisions: list[NodeDecision], make_graph_def: Callable[[], Any], source: Any = None,
                 protected: Iterable[str] = (), remove_dropout: bool = False) -> None:
        self.mode = mode
        self.decisions = decisions
        self.source = source  # the GraphDef that the plan is for
        self.protected = tuple(protected)
        self.remove_dropout = remove_dropout
        self._make_graph_def = make_graph_def

    def __iter__(self) -> Iterator[NodeDecision]:
        return iter(self.decisions)

    def __len__(self) -> int:
        return len(self.decisions)

    @cached_property
    def _by_name(self) -> dict[str, NodeDecision]:
        return {decision.name: decision for decision in self.decisions}

    def __getitem__(self, name: str) -> NodeDecision:
        return self._by_name[node_name(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and node_name(name) in self._by_name

    @property
    def removed(self) -> list[NodeDecision]:
        """The decisions about the nodes that go."""
        return [decision for decision in self.decisions if not decision.keep]

    @property
    def kept(self) -> list[NodeDecision]:
        """The decisions about the nodes that stay."""
        return [decision for decision in self.decisions if decision.keep]

    def counts(self) -> dict[str, int]:
        """How many nodes each rule removes, in the order of the rules, without those that remove none."""
        rules = [decision.rule for decision in self.removed]
        return {rule: rules.count(rule) for rule in RULES if rule in rules}

    def summary(self) -> str:
        """`86 nodes, 35 stay; removed: 20 optimizer, 31 gradient`."""
        counts = ", ".join(f"{count} {rule}" for rule, count in self.counts().items())
        return f"{len(self)} nodes, {len(self.kept)} stay; removed: {counts or 'none'}"

    def text(self, only_removed: bool = False) -> str:
        """The plan as a table: what becomes of each node, its name, op and the reason; the summary below."""
        rows = [(d.fate, d.name, d.op, d.reason) for d in self.decisions if not (only_removed and d.keep)]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]).rstrip() for row in rows]
        return "\n".join([*lines, self.summary()])

    table = text

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data: mode, counts, and a record for each node."""
        return {"mode": self.mode, "counts": self.counts(), "nodes": [asdict(decision) for decision in self.decisions]}

    def graph_def(self) -> Any:
        """A new GraphDef with the plan carried out."""
        return self._make_graph_def()

    def __repr__(self) -> str:
        return f"<TrainingNodes: {self.summary()}>"


def training_nodes(input_graph: Any, protected_nodes: Iterable[str] | None = None, *, remove_dropout: bool = False,
                   mode: str = "full") -> TrainingNodes:
    """What `remove_training_nodes` does to a GraphDef, node by node and with reasons, without doing it.

    Raises `TypeError` for something that is not a GraphDef, `ValueError` for a protected node that is not there, and
    for a graph whose nodes have inputs that are not.
    """
    if _checked_mode(mode) == "tensorflow":
        return _as_tensorflow(input_graph, protected_nodes)
    graph = NodeGraph(input_graph)
    pruning = Pruning(graph, _protected(graph, protected_nodes), remove_dropout)
    pruned = PrunedGraph(pruning)
    reasons = Reasons(pruning, pruned)
    decisions = []
    for i, (name, op) in enumerate(zip(graph.names, graph.ops)):
        rule, reason = reasons.of(i)
        decisions.append(NodeDecision(name, op, not rule, rule, reason))
    protected = [graph.names[i] for i in sorted(pruning.protected)]
    return TrainingNodes(mode, decisions, pruned.graph_def, graph.graph_def, protected, remove_dropout)


def remove_training_nodes(input_graph: Any, protected_nodes: Iterable[str] | None = None, *,
                          remove_dropout: bool = False, mode: str | None = None) -> Any:
    """A new GraphDef without what only training needs: gradients, optimizers and their state, checks, Identities.

    The forward pass with its loss stays, and the variables, their initialisers, and savers of what remains: the same
    `Saver` restores the same checkpoint into a session of the pruned graph. Any tensor that remains has the same
    value. `protected_nodes` are names of nodes to keep with all they depend on. `remove_dropout` makes dropout hand
    its input on. `mode="tensorflow"` does only what TensorFlow does: CheckNumerics and Identity nodes go.

    Raises as `training_nodes` does, which tells what becomes of each node and why.
    """
    return training_nodes(input_graph, protected_nodes, remove_dropout=remove_dropout,
                          mode=_default_mode if mode is None else mode).graph_def()


def _protected(graph: NodeGraph, names: Iterable[str] | None) -> list[int]:
    found = []
    for name in [names] if isinstance(names, str) else names or ():
        i = graph.number.get(node_name(name)) if isinstance(name, str) else None
        if i is None:
            close = nearest(name, graph.names) if isinstance(name, str) else " A protected node is given by its name."
            raise ValueError(f"protected_nodes has {name!r}, but the GraphDef has no node of that name.{close}")
        found.append(i)
    return found


def _as_tensorflow(input_graph: Any, protected_nodes: Iterable[str] | None) -> TrainingNodes:
    protected = protected_nodes if isinstance(protected_nodes, Container) else list(protected_nodes or ())
    result = tensorflow_pruning.pruned(input_graph, protected)
    left = {node.name for node in result.node}
    decisions = []
    for node in input_graph.node:
        if node.name in left:
            decisions.append(NodeDecision(node.name, node.op, True, "", ""))
        elif node.op == "CheckNumerics":
            decisions.append(NodeDecision(node.name, node.op, False, "check", "only checks its input"))
        else:
            decisions.append(NodeDecision(node.name, node.op, False, "identity", f"hands on {node.input[0]}"))
    return TrainingNodes("tensorflow", decisions, lambda: result, input_graph)
