"""What each node of a graph is there for, found from the structure of the graph.

The order of the questions matters: variables first, then what applies updates and what only that needs, then
savers, initialisers, summaries and checks, and at last the plumbing among what is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tfsandbox.notebook.graph_model import GraphModel, Node, split_input

ROLES = ("input", "variable", "forward", "constant", "gradient", "optimizer", "slot", "init", "saver", "summary",
         "check", "plumbing")
"""Every role, in the order of a legend."""

VARIABLE_OPS = frozenset({"VariableV2", "Variable", "VarHandleOp", "AutoReloadVariable"})
INPUT_OPS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "IteratorGetNext", "QueueDequeueV2",
                       "QueueDequeueManyV2", "QueueDequeueUpToV2", "ReaderReadV2", "IteratorV2", "OneShotIterator"})
ASSIGN_OPS = frozenset({"Assign", "AssignVariableOp"})
UPDATE_OPS = frozenset({"Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp",
                        "AssignSubVariableOp"})
READ_OPS = frozenset({"Identity", "ReadVariableOp", "Enter", "RefIdentity"})
SAVER_OPS = frozenset({"SaveV2", "RestoreV2", "Save", "Restore", "SaveSlices", "RestoreSlice", "ShardedFilename",
                       "ShardedFilespec", "MergeV2Checkpoints"})
CHECK_OPS = frozenset({"Assert", "CheckNumerics", "CheckNumericsV2"})
GROUP_OPS = frozenset({"NoOp"})
PASSING_OPS = frozenset({"Identity", "ReadVariableOp", "PreventGradient", "CheckNumerics", "RefIdentity", "Snapshot"})
SHAPE_OPS = frozenset({"Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs", "BroadcastArgs", "VariableShape",
                       "ConcatOffset", "InvertPermutation"})

_GRAD_INPUT = {
    "GradientDescent": 2, "ProximalGradientDescent": 4, "Momentum": 3, "KerasMomentum": 3, "Adagrad": 3,
    "AdagradV2": 4, "AdagradDA": 3, "ProximalAdagrad": 5, "Adadelta": 6, "RMSProp": 7, "CenteredRMSProp": 8,
    "Adam": 9, "AdamWithAmsgrad": 10, "AdaMax": 8, "Ftrl": 3, "FtrlV2": 3, "AddSign": 6, "PowerSign": 6,
}
"""Which input of `Apply<key>` is the gradient. The sparse forms have theirs at the same place (but see below)."""

_SPARSE_GRAD_INPUT = {"Adadelta": 6, "ProximalGradientDescent": 4}

_SLOT_INPUTS = {
    "Momentum": 1, "KerasMomentum": 1, "Adagrad": 1, "AdagradV2": 1, "AdagradDA": 2, "ProximalAdagrad": 1,
    "Adadelta": 2, "RMSProp": 2, "CenteredRMSProp": 3, "Adam": 4, "AdamWithAmsgrad": 5, "AdaMax": 3, "Ftrl": 2,
    "FtrlV2": 2, "AddSign": 1, "PowerSign": 1,
}
"""How many inputs after the variable are the optimizer's own state (Adam: m, v and the two beta powers)."""

_APPLY = re.compile(r"^(Resource)?(Sparse)?Apply([A-Z]\w*)$")
_GRADIENT_SCOPE = re.compile(r"^gradients(_\d+)?$")
_GRADIENT_OF = re.compile(r"^(.*)_grad(_\d+)?$")

_SHAPE_ARGUMENTS: dict[str, tuple[int, ...]] = {
    "Reshape": (1,), "Fill": (0,), "Tile": (1,), "Transpose": (1,), "ExpandDims": (1,), "Squeeze": (), "Pad": (1,),
    "PadV2": (1,), "MirrorPad": (1,), "Slice": (1, 2), "StridedSlice": (1, 2, 3), "StridedSliceGrad": (0, 1, 2, 3),
    "Sum": (1,), "Mean": (1,), "Max": (1,), "Min": (1,), "Prod": (1,), "All": (1,), "Any": (1,), "ArgMax": (1,),
    "ArgMin": (1,), "GatherV2": (2,), "Split": (0,), "SplitV": (1, 2), "Cumsum": (1,), "Cumprod": (1,),
    "RandomUniform": (0,), "RandomStandardNormal": (0,), "TruncatedNormal": (0,), "RandomUniformInt": (0,),
    "Multinomial": (1,), "BroadcastTo": (1,), "OneHot": (1,), "TopKV2": (1,), "ReverseV2": (1,),
    "Conv2DBackpropInput": (0,), "Conv2DBackpropFilter": (1,), "ConcatV2": (-1,), "Range": (0, 1, 2),
    "SpaceToBatchND": (1, 2), "BatchToSpaceND": (1, 2),
}
"""Inputs that say how an op works (a shape, an axis, a permutation) rather than what it works on."""

_SHAPE_ARITHMETIC = frozenset({
    "StridedSlice", "Slice", "Pack", "ConcatV2", "Mul", "Add", "AddV2", "Sub", "FloorDiv", "FloorMod", "Maximum",
    "Minimum", "Prod", "Range", "Cast", "Reshape", "Fill", "GatherV2", "Neg", "Tile", "Squeeze", "ExpandDims",
    "Identity", "DynamicStitch", "Mod", "Sum", "Transpose", "Unpack", "Split",
})


def apply_kind(op: str) -> str | None:
    """`Adam` for ApplyAdam, ResourceApplyAdam and SparseApplyAdam; None for what is no optimizer's update."""
    match = _APPLY.match(op)
    return match.group(3) if match else None


def gradient_input(op: str) -> int | None:
    """Which input of an optimizer's update op is the gradient; None where unknown."""
    match = _APPLY.match(op)
    if match is None:
        return None
    kind = match.group(3)
    if match.group(2) and kind in _SPARSE_GRAD_INPUT:
        return _SPARSE_GRAD_INPUT[kind]
    return _GRAD_INPUT.get(kind)


def assign_roles(model: GraphModel) -> None:
    """Set `role` and `of` of every node of the model, in place. A few passes over nodes and edges."""
    _RoleFinder(model).run()


class _RoleFinder:
    """The state of one `assign_roles`."""

    def __init__(self, model: GraphModel) -> None:
        self.model = model
        self.nodes = model.nodes
        self.node = {node.name: node for node in model.nodes}
        self.users: dict[str, list[str]] = model.consumers()
        self.role: dict[str, str] = {}

    def run(self) -> None:
        self._variables()
        self._named_gradients()
        self._optimizers()
        self._savers()
        self._initialisers()
        self._close_over("summary", [n.name for n in self.nodes if "Summary" in n.op], near=True)
        self._close_over("check", [n.name for n in self.nodes if n.op in CHECK_OPS], near=True)
        self._plumbing()
        for node in self.nodes:
            node.role = self.role.get(node.name) or ("constant" if node.op == "Const" else "forward")

    # Variables and inputs

    def _variables(self) -> None:
        for node in self.nodes:
            if node.op in VARIABLE_OPS:
                self.role[node.name] = "variable"
            elif node.op in INPUT_OPS:
                self.role[node.name] = "input"
        for node in self.nodes:
            if node.op in READ_OPS and node.inputs:
                source = split_input(node.inputs[0])[0]
                if node.name.startswith(source + "/") and self._op(source) in VARIABLE_OPS:
                    self.role[node.name], node.of = "plumbing", source

    def _variable_behind(self, name: str) -> str | None:
        """The variable that a tensor is: itself, or through reads and Enters."""
        for _ in range(8):
            node = self.node.get(name)
            if node is None:
                return None
            if node.op in VARIABLE_OPS:
                return name
            if node.op not in READ_OPS or not node.inputs:
                return None
            name = split_input(node.inputs[0])[0]
        return None

    # Training

    def _named_gradients(self) -> None:
        for node in self.nodes:
            if node.name in self.role or "gradients" not in node.name:
                continue
            parts = node.name.split("/")
            for i, part in enumerate(parts[:-1]):
                if _GRADIENT_SCOPE.match(part):
                    self.role[node.name] = "gradient"
                    node.of = self._differentiated(parts, i)
                    break

    def _differentiated(self, parts: list[str], scope: int) -> str:
        """The forward op of `gradients/layer/MatMul_grad/Reshape`: `layer/MatMul`, if the graph has it."""
        outer = parts[:scope]
        for end in range(scope + 1, len(parts)):
            match = _GRADIENT_OF.match(parts[end])
            if match:
                for start in ([], outer):
                    name = "/".join([*start, *parts[scope + 1:end], match.group(1)])
                    if name in self.node:
                        return name
        return ""

    def _optimizers(self) -> None:
        updates = [node for node in self.nodes if apply_kind(node.op)]
        if not updates and not any(role == "gradient" for role in self.role.values()):
            return
        gradient_roots: list[str] = []
        slots: set[str] = set()
        training: set[str] = {name for name, role in self.role.items() if role == "gradient"}
        for node in updates:
            self.role[node.name] = "optimizer"
            training.add(node.name)
            sources = [name for name, _ in node.input_nodes()]
            node.of = (self._variable_behind(sources[0]) or "") if sources else ""
            kind = apply_kind(node.op) or ""
            for name in sources[1:1 + _SLOT_INPUTS.get(kind, 0)]:
                slot = self._variable_behind(name)
                if slot is not None and slot != node.of:
                    slots.add(slot)
                    if not self.node[slot].of and not slot.endswith("_power"):
                        self.node[slot].of = node.of
            position = gradient_input(node.op)
            if position is not None and position < len(sources):
                gradient_roots.append(sources[position])
        for name in slots:
            self.role[name] = "slot"
            training.add(name)
        self._state_updates(training, slots)
        self._grow(training)
        behind = self._behind(gradient_roots, training)
        for node in self.nodes:
            if node.name in training and node.name not in self.role:
                self.role[node.name] = "gradient" if node.name in behind else "optimizer"

    def _state_updates(self, training: set[str], slots: set[str]) -> None:
        """Updates of slots and of the step counter that the optimizer itself makes (Adam's beta powers)."""
        for node in self.nodes:
            if node.op not in UPDATE_OPS or not node.inputs:
                continue
            target = self._variable_behind(split_input(node.inputs[0])[0])
            if target is None:
                continue
            value = split_input(node.inputs[1])[0] if len(node.inputs) > 1 else ""
            # TensorFlow drops a control input that a data input already waits for.
            earlier = [*node.control_inputs, *(self.node[value].control_inputs if value in self.node else ())]
            follows = any(self._is_training(name, training) for name in earlier if name in self.node)
            recomputes = target in slots and value and not node.name.endswith("/Assign") and \
                self._reads(value, target)
            if follows and (target in slots or node.op != "Assign") or recomputes:
                self.role[node.name], node.of = "optimizer", target
                training.add(node.name)

    def _is_training(self, name: str, training: set[str]) -> bool:
        """Whether a node is an update, or the group of some (minimize puts a NoOp before the step counter)."""
        if name in training:
            return self.role.get(name) == "optimizer"
        node = self.node[name]
        return node.op in GROUP_OPS and any(
            inner in training and self.role.get(inner) == "optimizer" for inner in node.control_inputs)

    def _reads(self, name: str, variable: str) -> bool:
        """Whether a small expression reads the variable."""
        waiting, seen = [name], {name}
        while waiting and len(seen) < 50:
            node = self.node[waiting.pop()]
            for source, _ in node.input_nodes():
                if self._variable_behind(source) == variable:
                    return True
                if source in self.node and source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return False

    def _grow(self, training: set[str]) -> None:
        """Add what only training nodes use, and the groups made of nothing but training nodes."""
        keep = {"variable", "input"}
        # The gradient of an input that nobody asked for ends in an Identity that nobody reads.
        loose = {node.name for node in self.nodes if node.op == "Identity" and not self.users[node.name] and
                 node.control_inputs and all(self._op(name) in GROUP_OPS for name in node.control_inputs)}
        waiting = [name for name in training]
        while waiting:
            node = self.node[waiting.pop()]
            grown: list[str] = []
            for name, _ in self.model.sources(node):
                if name not in training and self.role.get(name) not in keep and \
                        all(user in training or user in loose for user in self.users[name]):
                    grown.append(name)
            for user in self.users[node.name]:
                other = self.node[user]
                if user not in training and other.op in GROUP_OPS and \
                        all(name in training for name in other.control_inputs):
                    grown.append(user)
                elif user in loose and user not in training and all(name in training for name in other.control_inputs):
                    grown.append(user)
            for name in dict.fromkeys(grown):
                training.add(name)
                waiting.append(name)

    def _behind(self, roots: Iterable[str], inside: set[str]) -> set[str]:
        """The nodes of `inside` that the roots depend on, roots included."""
        waiting = [name for name in roots if name in inside]
        seen = set(waiting)
        while waiting:
            for name, _ in self.model.sources(self.node[waiting.pop()]):
                if name in inside and name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return seen

    # Everything else that is not the model itself

    def _savers(self) -> None:
        roots = [node.name for node in self.nodes if node.op in SAVER_OPS]
        if not roots:
            return
        restored = set()
        for node in self.nodes:
            if node.op in ASSIGN_OPS and len(node.inputs) > 1:
                source = self.node.get(split_input(node.inputs[1])[0])
                while source is not None and source.op in ("Identity", "Reshape") and source.inputs:
                    source = self.node.get(split_input(source.inputs[0])[0])
                if source is not None and source.op in SAVER_OPS:
                    restored.add(node.name)
        saving = {*roots, *restored}
        for node in self.nodes:
            if node.op == "Identity" and any(name in saving for name in node.control_inputs):
                saving.add(node.name)
        self._close_over("saver", [node.name for node in self.nodes if node.name in saving], may_take=("input",))
        self._close_groups("saver")

    def _initialisers(self) -> None:
        roots = []
        for node in self.nodes:
            if node.op not in ASSIGN_OPS or node.name in self.role or not node.inputs:
                continue
            target = self._variable_behind(split_input(node.inputs[0])[0])
            if target is None:
                continue
            value = split_input(node.inputs[1])[0] if len(node.inputs) > 1 else ""
            if node.name == f"{target}/Assign" or (value and not self._reads(value, target) and
                                                    self._feeds_only_groups(node.name)):
                node.of = target
                roots.append(node.name)
        for node in self.nodes:
            if node.op in ("IsVariableInitialized", "VarIsInitializedOp"):
                roots.append(node.name)
        self._close_over("init", roots)
        self._close_groups("init")

    def _feeds_only_groups(self, name: str) -> bool:
        return all(self.node[user].op in GROUP_OPS and user.rpartition("/")[2].startswith("init")
                   for user in self.users[name]) and bool(self.users[name])

    def _close_over(self, role: str, roots: Iterable[str], may_take: tuple[str, ...] = (),
                    near: bool = False) -> None:
        """Give `role` to the roots and to what only they use; with `near` only to constants and the same scope.

        A loss that nobody but a summary reads is still the loss.
        """
        waiting = []
        for name in roots:
            if name not in self.role:
                self.role[name] = role
                waiting.append(name)
        while waiting:
            user_node = self.node[waiting.pop()]
            for name, _ in self.model.sources(user_node):
                current = self.role.get(name)
                if current is not None and current not in may_take:
                    continue
                if near and self._op(name) != "Const" and not (
                        user_node.scope and name.startswith(user_node.scope + "/")):
                    continue
                if all(self.role.get(user) == role for user in self.users[name]):
                    self.role[name] = role
                    waiting.append(name)

    def _close_groups(self, role: str) -> None:
        """Give `role` to the NoOps that wait for nothing but nodes of this role, in order of making."""
        for node in self.nodes:
            if node.op in GROUP_OPS and node.name not in self.role and node.control_inputs and \
                    all(self.role.get(name) == role for name in node.control_inputs):
                self.role[node.name] = role

    def _plumbing(self) -> None:
        """Shapes, axes, groups and reads: what the graph needs and the idea does not."""
        is_shape: dict[str, bool] = {}
        for node in self.nodes:
            if node.op in SHAPE_OPS:
                is_shape[node.name] = True
            elif node.op in _SHAPE_ARITHMETIC and node.name not in self.role and node.inputs and self._is_integer(node):
                sources = [name for name, _ in node.input_nodes()]
                is_shape[node.name] = any(is_shape.get(name, False) for name in sources) and \
                    all(is_shape.get(name, False) or self._op(name) == "Const" for name in sources)
        for node in self.nodes:
            if node.name in self.role:
                continue
            if is_shape.get(node.name) or node.op in GROUP_OPS:
                self.role[node.name] = "plumbing"
            elif node.op == "Const" and (self._is_argument(node, is_shape) or (
                    node.scope and not self.users[node.name] and self._is_integer(node))):
                self.role[node.name] = "plumbing"
        self._close_over_arguments()

    def _close_over_arguments(self) -> None:
        """Arithmetic on constants that ends as a shape argument (`range`, `concat` of an axis list)."""
        for node in reversed(self.nodes):
            if node.name not in self.role and node.op in _SHAPE_ARITHMETIC | {"Const"} and \
                    self._only_arguments(node.name) and self._is_integer(node):
                self.role[node.name] = "plumbing"

    def _only_arguments(self, name: str, accept: Callable[[str], bool] | None = None) -> bool:
        """Whether every use of a node is as a shape argument or by plumbing."""
        users = self.users[name]
        for user in users:
            if self.role.get(user) in ("plumbing", "init", "saver") or (accept is not None and accept(user)):
                continue
            other = self.node[user]
            places = _SHAPE_ARGUMENTS.get(other.op)
            if places is None:
                return False
            last = len(other.inputs)
            allowed = {place % last for place in places if last}
            for position, (source, _) in enumerate(other.input_nodes()):
                if source == name and position not in allowed:
                    return False
        return bool(users)

    def _is_argument(self, node: Node, is_shape: dict[str, bool]) -> bool:
        return self._only_arguments(node.name, lambda user: is_shape.get(user, False))

    def _op(self, name: str) -> str:
        node = self.node.get(name)
        return node.op if node else ""

    @staticmethod
    def _is_integer(node: Node) -> bool:
        return bool(node.outputs) and all(out.dtype in ("int32", "int64") for out in node.outputs)
