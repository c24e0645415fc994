"""Where the gradients of a GraphDef start: the ones that `tf.gradients` puts in for `dy/dy`, and what follows them.

The name `grad_ys_0` gives a seed away, and its scope is then that of the gradient. Where no name does, a seed is a
Fill of ones that ops follow which only gradients have, or else one that reaches an optimizer's update. Ones of the
forward pass are followed by them too, since a gradient reads forward values; but all of these follow a seed as well,
and the seed alone has some to itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tfsandbox.framework.node_graph import NodeGraph

_SEED_NAME = re.compile(r"(?:(.*)/)?grad_ys_\d+")
_GRADIENT_OP = re.compile(r"\w+(Grad|Backprop(Input|Filter)?)(V\d)?")
# Helpers of gradients: no forward pass has them.
_GRADIENT_HELPERS = frozenset({"BroadcastGradientArgs", "ConcatOffset"})
_SPARSE_UPDATE = re.compile(r"(Resource)?Scatter(Add|Sub)|AssignSub(VariableOp)?")
_GATHER_OPS = frozenset({"Gather", "GatherV2", "GatherNd", "ResourceGather", "ResourceGatherNd"})


@dataclass
class Seed:
    """One start of a gradient. `scope` ends with a slash; None where names tell nothing."""

    node: int
    parts: set[int] = field(default_factory=set)  # the nodes made for nothing but the seed, itself among them
    scope: str | None = None
    in_order: bool = False  # whether the file has the nodes in the order in which they were made
    after: set[int] = field(default_factory=set)  # the seed and all that depends on it by data
    trains: bool = False  # whether an update depends on it
    inner: bool = False  # whether the gradient is part of what another seed differentiates

    @property
    def first(self) -> int:
        """The number of the first of its nodes."""
        return min(self.parts)


class Seeds:
    """All starts of gradients in a graph, given the Apply ops there are."""

    def __init__(self, graph: NodeGraph, applies: Iterable[int]) -> None:
        self.graph = graph
        self._applies = set(applies)
        self.seeds: list[Seed] = self._named()
        self.scopes: dict[str, list[Seed]] = {}
        self._found_scopes: dict[int, str | None] = {}
        for seed in self.seeds:
            if seed.scope is not None:
                self.scopes.setdefault(seed.scope, []).append(seed)
        if not self.seeds:
            self.seeds = self._nameless()
        for seed in self.seeds:
            seed.inner = any(self._is_inner(seed, other) for other in self.seeds)
        self.masks = [0] * len(graph)  # a bit for each seed that a node depends on
        self.part_masks = [0] * len(graph)  # and for each that it is made for
        for bit, seed in enumerate(self.seeds):
            for i in seed.after:
                self.masks[i] |= 1 << bit
            for i in seed.parts:
                self.part_masks[i] |= 1 << bit

    def of_mask(self, mask: int) -> list[Seed]:
        """The seeds of a mask's bits."""
        return [seed for bit, seed in enumerate(self.seeds) if mask >> bit & 1]

    @property
    def outer_mask(self) -> int:
        """The bits of the seeds that no other gradient goes through."""
        return sum(1 << bit for bit, seed in enumerate(self.seeds) if not seed.inner)

    @property
    def training_mask(self) -> int:
        """The bits of those among them that updates depend on."""
        return sum(1 << bit for bit, seed in enumerate(self.seeds) if not seed.inner and seed.trains)

    def scope_of(self, i: int) -> str | None:
        """The gradient scope that a node lies in, None for nodes outside."""
        if not self.scopes:
            return None
        if i not in self._found_scopes:
            self._found_scopes[i] = self._find_scope(i)
        return self._found_scopes[i]

    def _find_scope(self, i: int) -> str | None:
        name = self.graph.names[i]
        end = name.rfind("/")
        while end > 0:
            scope = name[:end + 1]
            if scope in self.scopes and self._made_within(i, scope):
                return scope
            end = name.rfind("/", 0, end)
        return None

    def _made_within(self, i: int, scope: str) -> bool:
        """A node of that scope made before the gradient is the user's, who had used the scope's name already."""
        seeds = self.scopes[scope]
        return i >= min(seed.first for seed in seeds) or not all(seed.in_order for seed in seeds)

    # Finding them

    def _named(self) -> list[Seed]:
        graph = self.graph
        seeds = []
        for i, name in enumerate(graph.names):
            match = _SEED_NAME.fullmatch(name)
            if match is None or not graph.is_floating(i):
                continue
            scope = None if match[1] is None else match[1] + "/"
            node = i
            if graph.ops[i] == "Const":
                fills = [j for j in graph.users[i] if graph.ops[j] == "Fill"]
                if not self._is_one(i):
                    continue
                if len(graph.users[i]) == 1 and fills:
                    node = fills[0]
            elif graph.ops[i] == "Identity":  # the user's own grad_ys
                if scope is None or not any(graph.names[j].startswith(scope) for j in graph.users[i]):
                    continue
            elif not (graph.ops[i] == "OnesLike" or self._is_fill_of_ones(i)):
                continue
            seed = self._with_parts(node)
            seed.scope = scope
            seeds.append(seed)
        self._follow(seeds)
        return seeds

    def _nameless(self) -> list[Seed]:
        """The Fills of ones that a gradient starts from, where no name says so."""
        graph = self.graph
        candidates = [self._with_parts(i) for i in range(len(graph)) if self._is_fill_of_ones(i)]
        self._follow(candidates)
        candidates = [seed for seed in candidates
                      if seed.trains or seed.after & self._sure_signs or self._reaches_gathered(seed)]
        times = Counter(i for seed in candidates for i in seed.after & self.signs)
        sure = [seed for seed in candidates if any(times[i] == 1 for i in seed.after & self.signs)]
        explained = {i for seed in sure for i in seed.after}
        left = [seed for seed in candidates if explained.isdisjoint(seed.after & (self._applies | self.signs))]
        return sure + [seed for seed in left if not any(self._is_inner(seed, other) for other in left)]

    @cached_property
    def _sure_signs(self) -> set[int]:
        """The nodes that no forward pass has: *Grad ops, sums to the shape that was broadcast."""
        graph = self.graph
        return {i for i, op in enumerate(graph.ops) if _GRADIENT_OP.fullmatch(op)
                or any(graph.ops[j] in _GRADIENT_HELPERS for j, _ in graph.inputs[i])}

    @cached_property
    def signs(self) -> set[int]:
        """The nodes that point to a gradient, where one may be: the sure ones, and what follows here.

        Gradients that wait for each other, and products with what the forward pass multiplies.
        """
        graph = self.graph
        found = set(self._sure_signs)
        found.update(j for i in self._sure_signs if graph.ops[i] == "Sum" for j in graph.users[i]
                     if graph.ops[j] == "Reshape")
        for i, op in enumerate(graph.ops):
            if op == "Identity" and graph.controls[i] and graph.inputs[i] and graph.is_floating(i):
                source = graph.inputs[i][0][0]
                if any(graph.ops[j] == "NoOp" and source in graph.controls[j] for j in graph.controls[i]):
                    found.add(i)
            elif op == "MatMul" and (graph.nodes[i].attr["transpose_a"].b or graph.nodes[i].attr["transpose_b"].b):
                if any(graph.ops[j] == "MatMul" and j != i and source in graph.inputs[j]
                       for source in graph.inputs[i] for j in graph.users[source[0]]):
                    found.add(i)
        return found

    def _reaches_gathered(self, seed: Seed) -> bool:
        """Whether a variable is changed by it whose rows the forward pass gathers: a sparse update by hand."""
        graph = self.graph
        for i in seed.after:
            if _SPARSE_UPDATE.fullmatch(graph.ops[i]) and graph.inputs[i][0][0] not in seed.after:
                variable = graph.written_variable(i)
                if variable is not None and any(graph.ops[j] in _GATHER_OPS for j in graph.value_dependents([variable])
                                                if j not in seed.after):
                    return True
        return False

    def _is_one(self, i: int) -> bool:
        value = self.graph.constant(i)
        return value is not None and value.size > 0 and self.graph.is_floating(i) and bool((value == 1).all())

    def _is_fill_of_ones(self, i: int) -> bool:
        graph = self.graph
        return graph.ops[i] == "Fill" and len(graph.inputs[i]) == 2 and self._is_one(graph.inputs[i][1][0])

    def _with_parts(self, i: int) -> Seed:
        graph = self.graph
        parts = {i}
        if graph.ops[i] in ("Fill", "OnesLike"):
            parts.update(j for j, _ in graph.inputs[i] if graph.ops[j] in ("Const", "Shape")
                         and all(k == i or graph.ops[k] == "CheckNumerics" for k in graph.all_users(j)))
        in_order = graph.ops[i] == "Fill" and parts == {i - 2, i - 1, i}
        return Seed(i, parts, None, in_order)

    def _follow(self, seeds: list[Seed]) -> None:
        for seed in seeds:
            seed.after = self.graph.value_dependents([seed.node])
            seed.trains = not self._applies.isdisjoint(seed.after)

    def _is_inner(self, seed: Seed, other: Seed) -> bool:
        """Whether the gradient that starts at `other` reads forward values that depend on `seed`."""
        if seed is other or (seed.scope is not None and seed.scope == other.scope) or self._side_by_side(seed, other):
            return False
        for i in other.after - other.parts:
            if other.scope is not None and self.scope_of(i) != other.scope:
                continue
            for j, _ in self.graph.inputs[i]:
                if j not in seed.after or j in other.after:
                    continue
                if other.scope is not None:
                    if self.scope_of(j) != other.scope:
                        return True
                elif other.in_order:
                    if j < other.first:
                        return True
                else:
                    own, others = self._ends_of(seed) - other.after, self._ends_of(other) - seed.after
                    return bool(own) if bool(own) != bool(others) else len(seed.after) > len(other.after)
        return False

    def _ends_of(self, seed: Seed) -> set[int]:
        """What depends on a seed and feeds nothing, and is not a gradient."""
        return {i for i in seed.after - self.signs if not self.graph.users[i] and i not in self._applies}

    def _side_by_side(self, seed: Seed, other: Seed) -> bool:
        """Two seeds of one call, made one after the other."""
        if seed.scope is not None or other.scope is not None:
            return False
        return seed.in_order and other.in_order and abs(seed.node - other.node) == len(seed.parts)
