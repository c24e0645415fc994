"""The end of the forward pass in a GraphDef: the loss, where nothing that stays reads it.

A loss is often read by its own gradient alone (the gradient of a square root or a maximum), by checks, or by what
hands it out after a step. Taken for a part of the gradient it would go, and the network with it. On the other hand
a gradient computes helpers from forward values (`2 * x` for the gradient of `x * x`), which do go.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cached_property

from tfsandbox.framework.backward_pass import BackwardPass
from tfsandbox.framework.gradient_seeds import Seed
from tfsandbox.framework.node_graph import IS_INITIALIZED_OPS, SHAPE_OPS, NodeGraph
from tfsandbox.framework.saver_nodes import SAVE_OPS

_READS = frozenset({"Identity", "ReadVariableOp", "Enter", "Switch"})
_RESHAPES = frozenset({"Reshape", "Tile", "Identity", "ExpandDims"})


class ForwardPass:
    """Finds values of the forward pass among nodes that would go. `after_updates` run after a training step."""

    def __init__(self, graph: NodeGraph, backward: BackwardPass, after_updates: set[int]) -> None:
        self.graph = graph
        self.backward = backward
        self.seeds = backward.seeds
        self.updates = backward.updates
        self.after_updates = after_updates

    def _depends(self, starts: Iterable[int]) -> set[int]:
        """The nodes whose values, not only their shapes, depend on those of the starts."""
        graph = self.graph
        return graph.reach(starts, lambda i: [j for j in graph.users[i] if graph.ops[j] not in SHAPE_OPS])

    @cached_property
    def _trained(self) -> set[int]:
        return self._depends(self.updates.trained)

    @cached_property
    def _anything(self) -> set[int]:
        graph = self.graph
        return self._depends(i for i, op in enumerate(graph.ops)
                             if graph.is_variable(i) or op.startswith("Placeholder") or op == "Const")

    # What gradients read

    def read_by_gradients(self, gone: list[int], skipped: Container[int]) -> dict[int, str]:
        """The nodes, of those that would go, that gradients start from or read, and that are not their own."""
        if not self.seeds.seeds:
            return {}
        found = {}
        arriving = self._next_seeds(gone)
        for i in gone:
            if not arriving.get(i) or i in skipped or self.graph.is_variable(i) or self.backward.has_end(i):
                continue
            seeds = self.seeds.of_mask(arriving[i])
            if all(i in (self._trained if seed.trains else self._anything) for seed in seeds) \
                    and self._is_made_before(i, seeds):
                found[i] = "the forward pass computes it, for the gradient to start from"
        for i in set(gone).intersection(self._differentiated()):
            if self.seeds.scope_of(i) is None:
                found[i] = "the gradient starts from it"
        return found

    def _next_seeds(self, gone: list[int]) -> dict[int, int]:
        """For each node the seeds that it does not depend on but the next such nodes it feeds do."""
        graph, seeds = self.graph, self.seeds
        inside = set(gone)
        region = [mask | part for mask, part in zip(seeds.masks, seeds.part_masks)]
        found: dict[int, int] = {}
        waiting = list(gone)
        while waiting:
            i = waiting.pop()
            mask = 0
            for j in graph.users[i]:
                mask |= region[j] & ~seeds.masks[i] or (found.get(j, 0) if j in inside else 0)
            if mask & ~found.get(i, 0):
                found[i] = found.get(i, 0) | mask
                waiting += [j for j, _ in graph.inputs[i] if j in inside]
        return found

    def _is_made_before(self, i: int, seeds: list[Seed]) -> bool:
        """Whether a node that gradients read belongs to the forward pass: it lies outside, or was made before."""
        graph = self.graph
        ordered = True
        for seed in seeds:
            if i in seed.parts:
                return False
            if seed.scope is not None:
                if self.seeds.scope_of(i) == seed.scope:
                    return False
                if any(self.seeds.scope_of(j) == seed.scope and j != seed.node for j in graph.users[i]):
                    return True
                ordered = False
            elif seed.in_order:
                ordered = ordered and i < seed.first
            else:
                ordered = ordered and any(j in seed.parts or self._takes(j, seed) for j in graph.users[i])
        return ordered

    def _takes(self, i: int, seed: Seed) -> bool:
        """Whether a node takes a seed together with other values: the first step of the gradient."""
        graph = self.graph
        if len(graph.inputs[i]) < 2 or graph.ops[i] in _RESHAPES:
            return False
        for j, _ in graph.inputs[i]:
            for _ in range(8):
                if j != seed.node and graph.inputs[j] and graph.ops[j] in _RESHAPES:
                    j = graph.inputs[j][0][0]
            if j == seed.node:
                return True
        return False

    def _differentiated(self) -> list[int]:
        """What the named gradients are gradients of: the first node that a seed feeds is named after it."""
        graph, found = self.graph, []
        for seed in self.seeds.seeds:
            if seed.scope is None:
                continue
            for j in graph.users[seed.node]:
                if self.seeds.scope_of(j) != seed.scope:
                    continue
                parts = graph.names[j][len(seed.scope):].split("_grad/")
                for end in range(1, len(parts)):
                    i = graph.number.get("_grad/".join(parts[:end]))
                    if i is not None and i not in seed.after:
                        found.append(i)
        return found

    # What checks and steps read

    def read_by_checks(self, gone: list[int], skipped: Container[int]) -> dict[int, str]:
        """The nodes, of those that would go, whose value a CheckNumerics checks or a training step hands out."""
        values = self._trained if self.updates.roots else self._anything
        found = {}
        for i in gone:
            if i not in values or i in skipped or self.seeds.masks[i] or self.seeds.scope_of(i) is not None:
                continue
            if self.graph.is_variable(i) or self.graph.ops[i] == "CheckNumerics" or self.backward.has_end(i):
                continue
            if not self.seeds.scopes and self.backward.spans(i):
                continue
            if any(self._shows(j) for j in self.graph.users[i]):
                found[i] = "the forward pass computes it"
        return found

    def _shows(self, i: int) -> bool:
        if self.graph.ops[i] == "CheckNumerics":
            return True
        return i in self.after_updates and i not in self.updates.roots and not self.graph.is_write(i)

    # What is left where neither names nor order tell

    def orphans(self, gone: set[int], kept: set[int]) -> dict[int, str]:
        """No trained variable may end unused: the largest of the computations with it that would go."""
        graph = self.graph
        for variable in sorted(self.updates.trained & kept):
            if self._has_reader(variable, gone, kept):
                continue
            computed = {i for i in self._depends([variable]) & gone
                        if not self.seeds.masks[i] and not graph.is_write(i)}
            tops = sorted(i for i in computed if computed.isdisjoint(graph.users[i]))
            if tops:
                largest = max(tops, key=lambda i: len(graph.ancestors([i])))
                return {largest: "what is trained would feed nothing without it"}
        return {}

    def _has_reader(self, variable: int, gone: set[int], kept: set[int]) -> bool:
        """Whether something that is kept computes with a variable, or nothing that goes does."""
        graph = self.graph
        reads, waiting, goes = {variable}, [variable], False
        while waiting:
            for j in graph.users[waiting.pop()]:
                if j in reads or graph.is_write(j) or graph.ops[j] in SAVE_OPS or graph.ops[j] in IS_INITIALIZED_OPS:
                    continue
                if graph.ops[j] in _READS:
                    reads.add(j)
                    waiting.append(j)
                elif j in kept:
                    return True
                elif j in gone and not self.seeds.masks[j]:
                    goes = True
        return not goes
