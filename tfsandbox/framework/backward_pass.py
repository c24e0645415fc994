"""What gradients and optimizers leave in a GraphDef that feeds nothing: it looks like an end and is none."""

from __future__ import annotations

from functools import cached_property

from tfsandbox.framework.gradient_seeds import Seeds
from tfsandbox.framework.node_graph import SHAPE_OPS, NodeGraph
from tfsandbox.framework.training_updates import Updates

# What gradients make and then do not use.
_LEFT_OVER = SHAPE_OPS | {"Const", "NoOp", "Enter", "Exit"}


class BackwardPass:
    """The gradients of a graph, with the updates that they lead to."""

    def __init__(self, graph: NodeGraph, seeds: Seeds, updates: Updates) -> None:
        self.graph = graph
        self.seeds = seeds
        self.updates = updates
        self._spans = self._find_spans()

    def _find_spans(self) -> list[range]:
        """The numbers of the nodes from a gradient's start to the last update, where the file's order is known.

        Without an update, to the last node that is surely the gradient's.
        """
        spans = []
        for seed in self.seeds.seeds:
            last = seed.after.intersection(self.updates.roots) or seed.after & self.seeds.signs
            if last and seed.in_order and not seed.inner:
                spans.append(range(seed.first, max(last)))
        return spans

    def spans(self, i: int) -> bool:
        """Whether a node was made between a gradient's start and its last update."""
        return any(i in span for span in self._spans)

    def has_end(self, i: int) -> bool:
        """Whether a node that feeds nothing is part of a gradient, or of an optimizer, that nobody reads."""
        graph, seeds = self.graph, self.seeds
        if seeds.scope_of(i) is not None:
            return True
        if seeds.scopes:
            if self._gates_a_gradient(i):
                return True
            empty = graph.ops[i] == "Const" or (graph.ops[i] == "NoOp" and not graph.controls[i])
            return empty and self.spans(i)
        return self._has_nameless_end(i)

    def _gates_a_gradient(self, i: int) -> bool:
        """Whether a node hands on a gradient once all of them are there."""
        graph, seeds = self.graph, self.seeds
        return graph.ops[i] == "Identity" and i in seeds.signs and seeds.scope_of(graph.inputs[i][0][0]) is not None

    def _has_nameless_end(self, i: int) -> bool:
        graph, seeds = self.graph, self.seeds
        left_over = graph.ops[i] in _LEFT_OVER and not (graph.ops[i] == "NoOp" and graph.controls[i])
        if self.spans(i) and (left_over or i in seeds.signs or not (seeds.masks[i] or i in self._varying)):
            return True
        own = seeds.of_mask(seeds.masks[i])
        if not own or i in seeds.signs:
            return bool(own)
        # A user's own node takes gradients alone; a gradient takes forward values too.
        return all(seed.in_order and not seed.inner for seed in own) \
            and any(not seeds.masks[j] and graph.ops[j] != "Const" for j, _ in graph.inputs[i])

    @cached_property
    def _varying(self) -> set[int]:
        """The nodes that depend on more than constants."""
        graph = self.graph
        return graph.value_dependents(i for i, op in enumerate(graph.ops) if op != "Const" and not graph.inputs[i])

    def summaries(self) -> set[int]:
        """The summaries of gradients that train."""
        masks, training = self.seeds.masks, self.seeds.training_mask
        return {i for i in range(len(self.graph)) if masks[i] & training and self.graph.is_summary(i)}
