"""Which nodes of a GraphDef only training needs.

What remains is what the graph's ends need: the nodes that feed nothing, the variables, the protected nodes, and the
forward pass. Not ends are updates and what runs after them, the optimizer's state, checks, and gradients that nobody
reads. The forward pass takes care: where nothing but the gradient reads the loss, the loss is an end all the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfsandbox.framework.backward_pass import BackwardPass
from tfsandbox.framework.forward_pass import ForwardPass
from tfsandbox.framework.gradient_seeds import Seeds
from tfsandbox.framework.node_graph import IS_INITIALIZED_OPS, NodeGraph
from tfsandbox.framework.pass_through import Source, assertions, dropouts, idle_pivots
from tfsandbox.framework.saver_nodes import SAVE_OPS, can_be_restricted, first_saved
from tfsandbox.framework.training_updates import Updates, apply_ops


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
        self.increments = self.updates.increments() if self.updates.roots else {}
        self.backward = BackwardPass(graph, self.seeds, self.updates)
        self.forward = ForwardPass(graph, self.backward, self.after_updates)
        self.checks = assertions(graph, self.protected)
        self.handed_on: dict[int, Source] = {
            i: graph.inputs[i][0] for i, op in enumerate(graph.ops)
            if op == "CheckNumerics" and i not in self.protected and graph.inputs[i]}
        self.dropouts = dropouts(graph, self.protected) if remove_dropout else {}
        self.handed_on.update(self.dropouts)
        self.idle = idle_pivots(graph)
        self.summaries = graph.dependents(self.backward.summaries() - self.sheltered) - self.sheltered
        self.forced = self.after_updates | self.summaries
        self.ends: dict[int, str] = {}  # and why
        self.found: dict[int, str] = {}  # the ends among them that only a second look finds
        self.families: dict[int, int] = {}  # node -> the state variable it belongs to
        self.state: dict[int, int] = dict(self.updates.state)
        self._restricted: dict[int, bool] = {}
        self._decide()

    # What remains

    def _decide(self) -> None:
        while True:
            self.families = {i: v for v in self.state for i in self.updates.family(v)}
            self.ends = self._ends()
            self.ends.update(self.found)
            self.kept = self._needed()
            needed = [v for v in self.state if v in self.kept]
            if needed:  # somebody still reads the state
                for v in needed:
                    del self.state[v]
                continue
            found = self._second_look()
            if not found:
                break
            self.found.update(found)
        self.handed_on = {i: source for i, source in self.handed_on.items() if i in self.kept}
        self.identities = [i for i in self.handed_on if i in self.ends]  # a named end stays, as an Identity
        self.kept -= set(self.handed_on) - set(self.identities)

    def _second_look(self) -> dict[int, str]:
        """Ends among what would go: values of the forward pass, else the marks of conditions that stay."""
        settled = self.kept | self.forced | self.families.keys() | self.checks
        gone = [i for i in range(len(self.graph)) if i not in settled]
        skipped = self.graph.value_ancestors(self.dropouts)
        found = self.forward.read_by_gradients(gone, skipped) | self.forward.read_by_checks(gone, skipped)
        if found:  # what the last of them need stays with them
            graph = self.graph
            needed = graph.value_ancestors(j for i in found for j, _ in graph.inputs[i])
            return {i: why for i, why in found.items() if i not in needed} or found
        found = self.forward.orphans(set(gone), self.kept - self.sheltered)
        return found or {i: "an end of the graph" for i, switches in self.idle.items()
                         if i not in settled and not switches.isdisjoint(self.kept)}

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
            elif not graph.all_users(i) and not self.backward.has_end(i):
                ends[i] = "an end of the graph"
        for i in self._groups(changes) - ends.keys() - self.forced - self.handed_on.keys():
            if not graph.users[i] and not self.backward.has_end(i):
                ends[i] = "changes a variable"
        if graph.loops:
            ends.update(self._endless(ends))
        return ends

    def _groups(self, changes: list[int]) -> set[int]:
        """What was made for a step to wait for: a `cond` with a change in it, a group of changes."""
        graph = self.graph

        def step(i: int) -> list[int]:
            return [j for j in graph.users[i] + graph.reads_after[i] if j not in self.checks]

        found = graph.reach(changes, step)
        waiting = list(found)
        while waiting:
            for j in graph.control_users[waiting.pop()]:
                if j not in found and graph.ops[j] == "NoOp" and found.issuperset(graph.controls[j]):
                    found.add(j)
                    waiting.append(j)
        return found

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
