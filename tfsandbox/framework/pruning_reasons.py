"""The rule by which each node goes, or that it stays, and the reason in one line."""

from __future__ import annotations

from tfsandbox.framework.node_graph import IS_INITIALIZED_OPS
from tfsandbox.framework.pruned_graph import PrunedGraph
from tfsandbox.framework.pruning import Pruning

RULES = ("optimizer", "slot", "gradient", "check", "identity", "dropout")


class Reasons:
    """Rules and reasons for a pruning and the graph it leaves."""

    def __init__(self, pruning: Pruning, pruned: PrunedGraph) -> None:
        self.pruning = pruning
        self.pruned = pruned
        self.graph = pruning.graph
        self.names = pruning.graph.names
        self._rules = self._first_rules()
        self._spread()

    def of(self, i: int) -> tuple[str, str]:
        """The rule that removes a node ("" if it stays) and why."""
        if i in self.pruned.kept:
            return "", self._why_kept(i)
        return self._rules[i], self._why_removed(i)

    # Rules

    def _first_rules(self) -> dict[int, str]:
        pruning, rules = self.pruning, {}
        for i in range(len(self.graph)):
            if i in self.pruned.kept:
                continue
            if i in self.pruned.spliced:
                rules[i] = "identity"
            elif i in pruning.after_updates or i in pruning.increments:
                rules[i] = "optimizer"
            elif i in pruning.families or pruning.saves_nothing(i):
                rules[i] = "slot"
            elif i in pruning.dropouts and i in pruning.handed_on:
                rules[i] = "dropout"
            elif i in pruning.checks or (self.graph.ops[i] == "CheckNumerics" and i not in pruning.forced):
                rules[i] = "check"
            elif i in pruning.summaries:
                rules[i] = "gradient"
        return rules

    def _spread(self) -> None:
        """What feeds only nodes of one rule goes by it, but what feeds updates is of the gradient."""
        graph, rules = self.graph, self._rules
        left = [i for i in range(len(graph) - 1, -1, -1) if i not in self.pruned.kept and i not in rules]
        changed = True
        while left and changed:
            changed, waiting = False, []
            for i in left:
                readers = self.pruning.idle.get(i) or graph.all_users(i)
                users = {rules.get(j, "") if j not in self.pruned.kept else "kept" for j in readers}
                users.discard("kept")
                if "" in users:
                    waiting.append(i)
                    continue
                alone = len(users) == 1 and users <= {"slot", "check"}
                rules[i] = "dropout" if "dropout" in users else users.pop() if alone else "gradient"
                changed = True
            left = waiting
        checking = graph.ancestors(i for i, rule in rules.items() if rule == "check") if left else set()
        for i in left:  # loops, and conditions with a marker that nothing reads
            of_gradient = self.pruning.seeds.masks[i] or self.pruning.seeds.scope_of(i) is not None
            rules[i] = "check" if i in checking and not of_gradient else "gradient"

    # Reasons

    def _why_removed(self, i: int) -> str:
        pruning, graph = self.pruning, self.graph
        if i in self.pruned.spliced:
            return f"hands on {self._source(graph.inputs[i][0])}"
        if i in pruning.updates.roots and i in pruning.after_updates:
            variable = pruning.updates.roots[i]
            return "takes part in an update" if variable is None else f"updates {self.names[variable]}"
        if i in pruning.after_updates:
            first = next(j for j in graph.sources(i) if j in pruning.after_updates)
            return f"runs after {self.names[first]}"
        if i in pruning.increments:
            return f"counts a step in {self.names[pruning.increments[i]]}"
        if i in pruning.families:
            return self._why_state(i)
        if i in pruning.dropouts and i in pruning.handed_on:
            return f"hands on {self._source(pruning.handed_on[i])} without dropping"
        if i in pruning.summaries:
            return "a summary of gradients"
        if graph.ops[i] == "CheckNumerics" and self._rules[i] == "check":
            return f"only checks {self._source(graph.inputs[i][0])}" if graph.inputs[i] else "only checks"
        if graph.ops[i] == "Assert":
            return "only checks a condition"
        if pruning.saves_nothing(i):
            return "saves only optimizer state"
        return self._feeds_only(i)

    def _why_state(self, i: int) -> str:
        pruning, graph = self.pruning, self.graph
        variable = pruning.families[i]
        if i == variable:
            return f"optimizer state, used by {self.names[pruning.state[i]]}"
        name = self.names[variable]
        if graph.ops[i] in IS_INITIALIZED_OPS:
            return f"asks for {name}, which goes"
        if graph.is_write(i):
            verb = "restores" if pruning.updates.is_restored(graph.inputs[i][1][0]) else "initialises"
            return f"{verb} {name}, which goes"
        return f"reads {name}, which goes"

    def _feeds_only(self, i: int) -> str:
        if i in self.pruning.idle:
            return "marks a branch that goes"
        users = list(dict.fromkeys(j for j in self.graph.all_users(i) if j not in self.pruned.kept))
        if not users:
            return "part of a gradient that nothing reads" if self._rules[i] == "gradient" else "feeds nothing"
        shown = ", ".join(self.names[j] for j in users[:2])
        return f"feeds only {shown}" + (f" and {len(users) - 2} more" if len(users) > 2 else "")

    def _source(self, source: tuple[int, int]) -> str:
        return self.names[source[0]] + (f":{source[1]}" if source[1] else "")

    def _why_kept(self, i: int) -> str:
        pruning, graph = self.pruning, self.graph
        if pruning.becomes_true(i):
            return f"becomes true: {self.names[pruning.families[i]]} goes"
        if i in pruning.handed_on:
            return "an end of the graph; becomes an Identity"
        if i in pruning.ends:
            return pruning.ends[i]
        user = next((j for j in graph.all_users(i) if j in self.pruned.kept), None)
        if user is None:
            user = next((j for j in graph.all_users(i) if j in pruning.kept), None)
        return "feeds what stays" if user is None else f"feeds {self.names[user]}"
