"""The updates of a GraphDef: what an optimizer does to the variables it trains, and the state it keeps for that."""

from __future__ import annotations

import re

from tfsandbox.framework.gradient_seeds import Seeds
from tfsandbox.framework.node_graph import INITIALISER_OPS, IS_INITIALIZED_OPS, NodeGraph
from tfsandbox.framework.saver_nodes import RESTORE_OPS, SAVE_OPS

_APPLY_OP = re.compile(r"(?:Resource)?(?:Sparse)?Apply([A-Z]\w*)")
_ACCUMULATOR_OP = re.compile(r"(Sparse)?Accumulator(ApplyGradient|TakeGradient|SetGlobalStep)|"
                             r"ResourceAccumulator(ApplyGradient|TakeGradient|SetGlobalStep)")
_MOVES_ON = frozenset({"Identity", "ReadVariableOp", "Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "Cast",
                       "VariableShape", *SAVE_OPS, *IS_INITIALIZED_OPS})

# How many state variables follow `var` among an Apply op's inputs, and at which inputs it takes powers of the betas.
_STATE = {"GradientDescent": 0, "ProximalGradientDescent": 0, "Momentum": 1, "KerasMomentum": 1, "Adagrad": 1,
          "AdagradV2": 1, "ProximalAdagrad": 1, "AddSign": 1, "PowerSign": 1, "Adadelta": 2, "Adam": 2, "AdaMax": 2,
          "AdagradDA": 2, "RMSProp": 2, "Ftrl": 2, "FtrlV2": 2, "CenteredRMSProp": 3, "AdamWithAmsgrad": 3}
_POWERS = {"Adam": (3, 4), "AdaMax": (3,), "AdamWithAmsgrad": (4, 5)}


def apply_ops(graph: NodeGraph) -> list[int]:
    """The nodes whose op is an optimizer's update of one variable."""
    return [i for i, op in enumerate(graph.ops) if _APPLY_OP.fullmatch(op) and graph.inputs[i]]


class Updates:
    """Which nodes update (`roots`), which variables are trained, and which hold an optimizer's `state`."""

    def __init__(self, graph: NodeGraph, seeds: Seeds) -> None:
        self.graph = graph
        self.seeds = seeds
        self.roots: dict[int, int | None] = {}  # and the variable each updates
        self.trained: set[int] = set()
        self.state: dict[int, int] = {}  # variable -> a root that uses it
        for i in apply_ops(graph):
            self._add_apply(i)
        for i, op in enumerate(graph.ops):
            if _ACCUMULATOR_OP.fullmatch(op):
                self.roots[i] = None
        self._add_writes()
        self.after = graph.dependents(self.roots)
        for seed in seeds.seeds:
            seed.trains = seed.trains or not seed.after.isdisjoint(self.roots)
        self._add_powers()
        self.state = {v: root for v, root in self.state.items() if v not in self.trained}
        self.counters = self._counters()

    def _made_after(self, variable: int, mask: int) -> bool | None:
        """Whether a variable was made after a gradient started; None where the file's order tells nothing."""
        seeds = self.seeds.of_mask(mask)
        if not seeds or not all(seed.in_order for seed in seeds):
            return None
        return variable > min(seed.first for seed in seeds)

    def _add_apply(self, i: int) -> None:
        graph = self.graph
        match = _APPLY_OP.fullmatch(graph.ops[i])
        assert match is not None
        variable = graph.variable_behind(graph.inputs[i][0][0])
        self.roots[i] = variable
        if variable is not None:
            self.trained.add(variable)
        count = _STATE.get(match[1])
        for j, _ in graph.inputs[i][1:None if count is None else count + 1]:
            state = graph.variable_behind(j) if graph.ops[j] != "Identity" else None
            if state is not None:
                self.state.setdefault(state, i)
        for place in _POWERS.get(match[1], ()):
            if place < len(graph.inputs[i]):
                j = graph.inputs[i][place][0]
                power = self.read_variable(j)
                if power is not None:
                    self.state.setdefault(power, i)

    def read_variable(self, i: int) -> int | None:
        """The variable whose plain value a node gives."""
        graph = self.graph
        if graph.ops[i] in ("Identity", "ReadVariableOp") and graph.inputs[i]:
            return graph.variable_behind(graph.inputs[i][0][0])
        return i if graph.is_variable(i) else None

    def _add_writes(self) -> None:
        """Updates that are no Apply op: writes of a trained variable, or of state, whose value is a gradient's."""
        graph, outer = self.graph, self.seeds.outer_mask
        waiting: dict[int, int] = {}
        arriving: dict[int, int] = {}  # the seeds that a write's value depends on
        for i in range(len(graph)):
            if i in self.roots or not graph.is_write(i):
                continue
            for j, _ in graph.inputs[i][1:]:
                arriving[i] = arriving.get(i, 0) | self.seeds.masks[j] & outer
            if arriving.get(i):
                variable = graph.written_variable(i)
                if variable is not None and graph.is_floating(variable):
                    waiting[i] = variable
        for i, variable in list(waiting.items()):
            if variable in self.trained or (not self._made_after(variable, arriving[i])
                                            and self._is_used_forward(variable)):
                self.roots[i] = variable
                self.trained.add(variable)
                del waiting[i]
        found = True
        while found and waiting:
            found = False
            feeding = graph.value_ancestors(self.roots)
            for i, variable in list(waiting.items()):
                if i in feeding or variable in feeding:
                    self.roots[i] = variable
                    del waiting[i]
                    found = True
                    if self._made_after(variable, arriving[i]) is not False:
                        self.state.setdefault(variable, i)

    def _is_used_forward(self, variable: int) -> bool:
        """Whether computations that do not come after a gradient use a variable's value for more than writing it."""
        graph, masks, outer = self.graph, self.seeds.masks, self.seeds.outer_mask

        def step(i: int) -> list[int]:
            return [] if graph.is_write(i) or masks[i] & outer else graph.users[i]

        forward = graph.reach([variable], step)
        computed = {i for i in forward - {variable} if not graph.is_write(i) and not graph.is_summary(i)
                    and not masks[i] & outer and graph.ops[i] not in _MOVES_ON}
        for i in computed:
            if not graph.all_users(i):
                return True
            if any(masks[j] & outer and not graph.is_write(j) and self._is_in_gradient(j) for j in graph.users[i]):
                return True
            if any(not graph.is_write(j) and j not in forward for j in graph.all_users(i)):
                return True
        return False

    def _is_in_gradient(self, i: int) -> bool:
        """Whether a node is part of a gradient rather than of what is made of gradients, as far as names tell."""
        return not self.seeds.scopes or self.seeds.scope_of(i) is not None

    def _add_powers(self) -> None:
        """Variables that nothing but updates reads and that run along with them: powers of the betas, step counts."""
        graph = self.graph
        everyone = (1 << len(self.seeds.seeds)) - 1
        written = set()
        for i in self.after:
            if graph.is_write(i) and i not in self.roots:
                variable = graph.written_variable(i)
                if variable is None or not graph.is_floating(variable):
                    continue
                late = self._made_after(variable, everyone)
                if late or (late is None and self._is_taken_from_one(variable)):
                    written.add(variable)
        for variable in sorted(written):
            if variable in self.trained or variable in self.state:
                continue
            values = graph.reach([variable], lambda j: [] if graph.is_write(j) else graph.users[j])
            roots = [j for j in values if j in self.roots]
            if roots:
                self.state[variable] = min(roots)

    def _is_taken_from_one(self, variable: int) -> bool:
        """Whether `1 - variable` is computed, as with a power of beta."""
        graph = self.graph
        for i in graph.users[variable]:
            for j in graph.users[i] if self.read_variable(i) == variable else ():
                if graph.ops[j] == "Sub" and len(graph.inputs[j]) == 2 and graph.inputs[j][1][0] == i:
                    one = graph.constant(graph.inputs[j][0][0])
                    if one is not None and one.size == 1 and float(one.reshape(())) == 1.0:
                        return True
        return False

    def _counters(self) -> set[int]:
        """The whole-number variables that count training steps."""
        graph = self.graph
        found = set()
        for i, op in enumerate(graph.ops):
            if op in ("AssignAdd", "AssignAddVariableOp"):
                variable = graph.written_variable(i)
                if variable is None or graph.is_floating(variable):
                    continue
                if i in self.after or graph.names[variable].rpartition("/")[2] == "global_step":
                    found.add(variable)
        return found

    def increments(self) -> dict[int, int]:
        """The nodes that count a step in one of the counters, and the counter."""
        graph = self.graph
        found = {}
        for i, op in enumerate(graph.ops):
            if op in ("AssignAdd", "AssignAddVariableOp") and len(graph.inputs[i]) > 1:
                variable = graph.written_variable(i)
                if variable in self.counters and graph.ops[graph.inputs[i][1][0]] == "Const":
                    found[i] = variable
        return found

    def family(self, variable: int) -> set[int]:
        """What belongs to a state variable: itself, its first Assign, restoring it, asking for it, reading it."""
        graph = self.graph
        found = {variable}
        initialisers = []
        for i in graph.users[variable]:
            if i in self.after:
                continue
            op = graph.ops[i]
            if op in INITIALISER_OPS and graph.inputs[i][0][0] == variable and len(graph.inputs[i]) > 1:
                if self.is_restored(graph.inputs[i][1][0]):
                    found.add(i)
                elif variable not in graph.value_ancestors([graph.inputs[i][1][0]]):
                    initialisers.append(i)
            elif op in IS_INITIALIZED_OPS or self._is_plain_read(i, variable):
                found.add(i)
        name = graph.names[variable] + "/Assign"
        initialisers.sort(key=lambda i: (graph.names[i] != name, i))
        return found | set(initialisers[:1])

    def is_restored(self, i: int) -> bool:
        """Whether a value comes from a checkpoint."""
        graph = self.graph
        for _ in range(4):
            if graph.ops[i] in RESTORE_OPS:
                return True
            if graph.ops[i] not in ("Identity", "Reshape") or not graph.inputs[i]:
                return False
            i = graph.inputs[i][0][0]
        return False

    def _is_plain_read(self, i: int, variable: int) -> bool:
        """The read that a variable is made with, and a resource's reads that nobody uses."""
        graph = self.graph
        if graph.ops[i] == "ReadVariableOp" and all(graph.ops[j] in SAVE_OPS for j in graph.all_users(i)):
            return True
        return graph.is_own_read(i, variable)
