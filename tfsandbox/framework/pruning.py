"""Which nodes of a GraphDef only training needs.

What remains is what the graph's ends need: the nodes that feed nothing, the variables, the protected nodes, and the
forward pass. Not ends are updates and what runs after them, the optimizer's state, checks, and gradients that nobody
reads. The forward pass takes care: where nothing but the gradient reads the loss, the loss is an end all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tfsandbox.framework.gradient_seeds import Seed, Seeds
from tfsandbox.framework.node_graph import IS_INITIALIZED_OPS, NodeGraph
from tfsandbox.framework.pass_through import Source, assertions, dropouts, idle_pivots
from tfsandbox.framework.saver_nodes import SAVE_OPS, can_be_restricted, first_saved
from tfsandbox.framework.training_updates import Updates, apply_ops

# What tells of a tensor's shape, not of its value.
_SHAPE_OPS = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "BroadcastGradientArgs",
                        "ConcatOffset", "InvertPermutation", "VariableShape"})
# What gradients and optimizers make and then not use.
_LEFT_OVER = _SHAPE_OPS | {"Const", "NoOp", "Enter", "Exit"}


class Pruning:
    """The decision about each node: `kept`, `handed_on` (readers take what it read), or gone.

    `protected` are numbers of nodes that stay with all they depend on.
    """

    def __init__(self, graph: NodeGraph, protected: Iterable[int], remove_dropout: bool) -> None:
        self.graph = graph
        self.protected = set(protected)
        self.sheltered = graph.ancestors(self.protected)
        self.seeds = Seeds(graph, apply_ops(graph))
        self.updates = Updates(graph, self.seeds)
        self.after_updates = graph.dependents(set(self.updates.roots) - self.sheltered)
        self.trains = bool(self.updates.roots)
        self.increments = self.updates.increments() if self.trains else {}
        self.checks = assertions(graph, self.protected)
        self.handed_on: dict[int, Source] = {
            i: graph.inputs[i][0] for i, op in enumerate(graph.ops)
            if op == "CheckNumerics" and i not in self.protected and graph.inputs[i]}
        self.dropouts = dropouts(graph, self.protected) if remove_dropout else {}
        self.handed_on.update(self.dropouts)
        self.idle = idle_pivots(graph)
        self.summaries = self._gradient_summaries()
        self.forced = self.after_updates | self.summaries
        self.ends: dict[int, str] = {}  # and why
        self.forward: dict[int, str] = {}  # the ends among them that the forward pass has
        self.families: dict[int, int] = {}  # node -> the state variable it belongs to
        self.state: dict[int, int] = dict(self.updates.state)
        self._restricted: dict[int, bool] = {}
        self._optimizing = self._optimizers_spans()
        self._decide()

    # What remains

    def _decide(self) -> None:
        while True:
            self.families = {i: v for v in self.state for i in self.updates.family(v)}
            self.ends = self._ends()
            self.ends.update(self.forward)
            self.kept = self._needed()
            needed = [v for v in self.state if v in self.kept]
            if needed:  # somebody still reads the state
                for v in needed:
                    del self.state[v]
                continue
            found = self._forward_ends() or self._orphaned() or self._living_pivots()
            if not found:
                break
            self.forward.update(found)
        self.handed_on = {i: source for i, source in self.handed_on.items() if i in self.kept}
        self.identities = [i for i in self.handed_on if i in self.ends]  # a named end stays, as an Identity
        self.kept -= set(self.handed_on) - set(self.identities)

    def _needed(self) -> set[int]:
        """The ends and all they need."""
        return self.graph.reach(self.ends, self.needs)

    def needs(self, i: int) -> list[int]:
        """The nodes that a kept node needs to be kept."""
        graph = self.graph
        if i in self.handed_on:
            checked = graph.ops[i] == "CheckNumerics"
            return [self.handed_on[i][0], *(self._hard_controls(i) if checked else ())]
        if self.becomes_true(i):
            return []
        sources = [j for place, (j, _) in enumerate(graph.inputs[i]) if not self.is_cut(i, place)]
        return sources + self._hard_controls(i)

    def _hard_controls(self, i: int) -> list[int]:
        return [j for j in self.graph.controls[i] if not self.is_soft(j)]

    def is_soft(self, j: int) -> bool:
        """Whether a control edge from a node is dropped where it goes, not a reason for it to stay."""
        if j in self.checks or j in self.families or self.saves_nothing(j):
            return True
        return self.graph.ops[j] == "CheckNumerics" and j in self.handed_on

    def is_cut(self, i: int, place: int) -> bool:
        """Whether a saver's input is a variable's that goes."""
        graph = self.graph
        if graph.ops[i] not in SAVE_OPS or place < first_saved(graph.ops[i]):
            return False
        if i not in self._restricted:
            self._restricted[i] = can_be_restricted(graph, i)
        if not self._restricted[i]:
            return False
        j = graph.inputs[i][place][0]
        return j in self.families or self.updates.read_variable(j) in self.state

    def saves_nothing(self, i: int) -> bool:
        """Whether all that a saver's node saves goes."""
        graph = self.graph
        if graph.ops[i] not in SAVE_OPS or i in self.protected:
            return False
        places = range(first_saved(graph.ops[i]), len(graph.inputs[i]))
        return bool(places) and all(self.is_cut(i, place) for place in places)

    def becomes_true(self, i: int) -> bool:
        """Whether a node asks if state that goes is initialised."""
        return self.graph.ops[i] in IS_INITIALIZED_OPS and i in self.families

    # The ends

    def _ends(self) -> dict[int, str]:
        graph = self.graph
        ends: dict[int, str] = {}
        changes = []
        for i in range(len(graph)):
            if i in self.protected:
                ends[i] = "protected"
            elif i in self.forced or i in self.families or i in self.checks or i in self.idle or self.saves_nothing(i):
                continue
            elif graph.is_variable(i):
                ends[i] = "a variable"
            elif self._is_variables_own_read(i):
                ends[i] = "the value of a variable"
            elif i in self.increments:
                continue
            elif self._changes_the_model(i):
                ends[i] = "changes a variable"
                changes.append(i)
            elif graph.is_summary(i) and all(j in self.summaries for j in graph.users[i]):
                ends[i] = "a summary"
            elif not graph.all_users(i) and not self._ends_a_gradient(i):
                ends[i] = "an end of the graph"
        for i in graph.reach(changes, self._groups) - ends.keys() - self.forced - self.checks:
            # The op that was made for a step to wait for: a group of changes, a `cond` with a change in it.
            if not graph.users[i] and not self._ends_a_gradient(i):
                ends[i] = "changes a variable"
        if graph.loops:
            ends.update(self._endless(ends))
        return ends

    def _groups(self, i: int) -> list[int]:
        graph = self.graph
        groups = [j for j in graph.control_users[i] if graph.ops[j] in ("NoOp", "Identity")]
        return [j for j in graph.users[i] + groups if j not in self.checks]

    def _changes_the_model(self, i: int) -> bool:
        """Whether a node changes a variable that is neither trained nor an optimizer's: a moving average, a counter."""
        variable = self.graph.written_variable(i)
        return variable is not None and variable not in self.updates.trained and variable not in self.state

    def _is_variables_own_read(self, i: int) -> bool:
        graph = self.graph
        if graph.ops[i] != "Identity" or not graph.inputs[i]:
            return False
        variable = graph.inputs[i][0][0]
        return graph.is_variable(variable) and graph.is_own_read(i, variable)

    def _endless(self, ends: dict[int, str]) -> dict[int, str]:
        """Loops that lead nowhere, outside of gradients."""
        graph = self.graph
        leading = graph.ancestors(i for i in range(len(graph)) if not graph.all_users(i))
        return {i: "a loop" for i in range(len(graph)) if i not in leading and i not in ends and i not in self.forced
                and self.seeds.scope_of(i) is None and not self.seeds.masks[i]}

    def _ends_a_gradient(self, i: int) -> bool:
        """Whether a node that feeds nothing is part of a gradient, or of an optimizer, that nobody reads."""
        graph, seeds = self.graph, self.seeds
        if seeds.scope_of(i) is not None:
            return True
        if any(i in span for span in self._optimizing):
            if graph.ops[i] in _LEFT_OVER or i in seeds.signs or not (seeds.masks[i] or i in self._varying):
                return True
        if graph.ops[i] == "Identity" and i in seeds.signs and seeds.masks[i]:  # a gradient that waits for others
            return True
        nameless = [seed for seed in seeds.of_mask(seeds.masks[i]) if seed.scope is None]
        if not nameless:
            return False
        if i in seeds.signs:
            return True
        return all(seed.in_order and not seed.inner for seed in nameless) \
            and any(not seeds.masks[j] and graph.ops[j] != "Const" for j, _ in graph.inputs[i])

    def _optimizers_spans(self) -> list[range]:
        """The numbers of the nodes from a gradient's start to the last update, where the order is known.

        Without an update, to the last node that is surely the gradient's.
        """
        spans = []
        for seed in self.seeds.seeds:
            roots = seed.after.intersection(self.updates.roots) or seed.after & self.seeds.signs
            if roots and seed.in_order and not seed.inner:
                spans.append(range(seed.first, max(roots)))
        return spans

    @cached_property
    def _varying(self) -> set[int]:
        """The nodes that depend on more than constants."""
        graph = self.graph
        return graph.value_dependents(i for i, op in enumerate(graph.ops) if op != "Const" and not graph.inputs[i])

    def _gradient_summaries(self) -> set[int]:
        """Summaries of gradients that train, and what merges them."""
        graph, training = self.graph, self.seeds.training_mask
        found = {i for i in range(len(graph)) if self.seeds.masks[i] & training and graph.is_summary(i)}
        return graph.dependents(found - self.sheltered) - self.sheltered

    # The forward pass

    def _depends(self, starts: Iterable[int]) -> set[int]:
        """The nodes whose values depend on those of the starts."""
        graph = self.graph
        return graph.reach(starts, lambda i: [j for j in graph.users[i] if graph.ops[j] not in _SHAPE_OPS])

    def _forward_ends(self) -> dict[int, str]:
        """Values of the forward pass that nothing but gradients, checks and steps read: the loss."""
        graph, seeds = self.graph, self.seeds
        gone = [i for i in range(len(graph)) if i not in self.kept and i not in self.forced and i not in self.families
                and i not in self.checks]
        if not gone or not (seeds.seeds or self.trains or self.checks or self.handed_on):
            return {}
        trained = self._depends(self.updates.trained)
        anything = self._depends(i for i, op in enumerate(graph.ops)
                                 if graph.is_variable(i) or op.startswith("Placeholder") or op == "Const")
        arriving = self._next_seeds(gone)
        dropping = graph.value_ancestors(self.dropouts)
        found = {}
        for i in gone:
            if graph.is_variable(i) or i in self.handed_on or i in dropping or self._ends_a_gradient(i):
                continue
            for j in graph.users[i]:
                if j in self.kept:
                    continue
                if self._is_checked_or_shown(i, j, trained if self.trains else anything):
                    found[i] = "the forward pass computes it"
            mask = arriving.get(i, 0)
            if mask and all(i in (trained if seed.trains else anything) for seed in seeds.of_mask(mask)) \
                    and self._is_made_before(i, seeds.of_mask(mask)):
                found[i] = "the forward pass computes it, for the gradient to start from"
        for i in self._differentiated():
            if seeds.scope_of(i) is None and i not in self.kept and i not in self.forced and i not in self.families:
                found[i] = "the gradient starts from it"
        return found

    def _living_pivots(self) -> dict[int, str]:
        """The unread branch markers of conditions that stay."""
        return {i: "an end of the graph" for i, switches in self.idle.items()
                if i not in self.kept and i not in self.forced and not switches.isdisjoint(self.kept)}

    def _is_checked_or_shown(self, i: int, user: int, depending: set[int]) -> bool:
        """Whether a value that depends on what is trained goes into CheckNumerics, or into what runs after a step."""
        if self.seeds.masks[i] or self.seeds.scope_of(i) is not None or i not in depending:
            return False
        if not self.seeds.scopes and any(i in span for span in self._optimizing):
            return False
        graph = self.graph
        if graph.ops[user] == "CheckNumerics":
            return True
        return user in self.after_updates and user not in self.updates.roots and not graph.is_write(user)

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
        """Whether a node that a gradient reads belongs to the forward pass: it lies outside, or was made before."""
        graph = self.graph
        own = self.seeds.scope_of(i)
        ordered = True
        for seed in seeds:
            if i in seed.parts:
                return False
            if seed.scope is not None:
                if own == seed.scope:
                    return False
                if any(self.seeds.scope_of(j) == seed.scope and j != seed.node for j in graph.users[i]):
                    return True
                ordered = False
            elif seed.in_order:
                ordered = ordered and i < seed.first
            else:
                ordered = ordered and any(j in seed.parts or self._takes(j, seed) for j in graph.users[i])
        return ordered and bool(seeds)

    def _takes(self, i: int, seed: Seed) -> bool:
        """Whether a node takes a seed together with other values: the first step of the gradient."""
        graph = self.graph
        if len(graph.inputs[i]) < 2 or graph.ops[i] in ("Reshape", "Tile"):
            return False
        for j, _ in graph.inputs[i]:
            for _ in range(8):
                if j != seed.node and graph.inputs[j] and graph.ops[j] in ("Reshape", "Tile", "Identity", "ExpandDims"):
                    j = graph.inputs[j][0][0]
            if j == seed.node:
                return True
        return False

    def _differentiated(self) -> list[int]:
        """What the named gradients are gradients of: the first thing each seed feeds says whose gradient it is."""
        graph, found = self.graph, []
        for seed in self.seeds.seeds:
            if seed.scope is None:
                continue
            for j in graph.users[seed.node]:
                name = graph.names[j]
                if not name.startswith(seed.scope):
                    continue
                parts = name[len(seed.scope):].split("_grad/")
                for end in range(1, len(parts)):
                    i = graph.number.get("_grad/".join(parts[:end]))
                    if i is not None and i not in seed.after:
                        found.append(i)
        return found

    def _orphaned(self) -> dict[int, str]:
        """Where no names and no order tell the forward pass from the gradient: no trained variable may end unused."""
        graph = self.graph
        for variable in sorted(self.updates.trained):
            if variable not in self.kept or self._has_reader(variable):
                continue
            gone = {i for i in self._depends([variable]) if i not in self.kept and i not in self.forced
                    and i not in self.families and i not in self.checks and not self.seeds.masks[i]
                    and not graph.is_write(i)}
            tops = [i for i in gone if not any(j in gone for j in graph.users[i])]
            if tops:
                largest = max(sorted(tops), key=lambda i: len(graph.ancestors([i])))
                return {largest: "what is trained would feed nothing without it"}
        return {}

    def _has_reader(self, variable: int) -> bool:
        """Whether something that is kept computes with a variable, or nothing that goes does."""
        graph = self.graph
        reads, waiting, goes = {variable}, [variable], False
        while waiting:
            for j in graph.users[waiting.pop()]:
                if j in reads or graph.is_write(j) or graph.ops[j] in SAVE_OPS or graph.ops[j] in IS_INITIALIZED_OPS:
                    continue
                if graph.ops[j] in ("Identity", "ReadVariableOp", "Enter", "Switch"):
                    reads.add(j)
                    waiting.append(j)
                elif j in self.kept:
                    return True
                elif j not in self.families and not self.seeds.masks[j]:
                    goes = True
        return not goes
