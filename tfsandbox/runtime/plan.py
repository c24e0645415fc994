"""From a graph and what is asked of it to a short list of steps: prune, order, fold, elide.

`make_plan` takes the fetches, the fed tensors and (where known) the shapes fed. What comes out is a `Plan`: the
steps that must compute something, in order, each on `Value`s. `emit` turns a plan into Python source.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext, broadcast, infer
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime.rewrites import PlanRewrite

Condition = frozenset[tuple["Value", bool]]
"""A conjunction: these predicates have these values."""

Conditions = frozenset[Condition]
"""When a node runs: any of these conjunctions. `ALWAYS` is the empty conjunction alone."""

ALWAYS: Conditions = frozenset([frozenset()])

FOLD_BYTES = 1 << 16
"""A folded constant may be this large, or as large as what it is computed from."""


class Buffer:
    """Memory that one or several values share."""

    __slots__ = ("owned", "pinned", "last_use")

    def __init__(self, owned: bool) -> None:
        self.owned = owned      # made by a step of this plan: nobody else sees it
        self.pinned = False     # a view of it may be anywhere: never write into it
        self.last_use = -1


class Value:
    """A value in a plan: fed, constant, a variable's storage, or computed by a step."""

    __slots__ = ("kind", "dtype", "shape", "constant", "op", "index", "buffer", "conditions", "name", "last_use",
                 "reshaped_from")

    def __init__(self, kind: str, tensor: Tensor, shape: TensorShape, constant: Any = None, owned: bool = False,
                 conditions: Conditions = ALWAYS) -> None:
        self.kind = kind                # "feed" | "constant" | "ref" | "read" | "computed"
        self.dtype = tensor._dtype.base_dtype
        self.op, self.index = tensor._op, tensor._value_index
        self.shape = shape
        self.constant = constant
        self.buffer = Buffer(owned)
        self.conditions = conditions
        self.name = ""
        self.last_use = -1
        self.reshaped_from: Value | None = None  # the same elements in another shape

    @property
    def nbytes(self) -> int | None:
        """Bytes of the value, where its shape is known."""
        count = self.shape.num_elements()
        return None if count is None else count * self.dtype.size


@dataclass
class Step:
    """One node that computes: its inputs and outputs, and when it runs."""

    op: Operation
    inputs: list[Value]
    outputs: list[Value]
    conditions: Conditions = ALWAYS
    template: str | None = None  # the expression, where a simplification found a shorter one
    misfit: str = ""  # why the shapes of the inputs do not fit the op: all the step can do is raise


@dataclass
class Plan:
    """What a run does. `elided` says of every needed node without a step why it has none."""

    feeds: list[Value]
    steps: list[Step]
    fetches: list[Value]
    elided: dict[Operation, str] = field(default_factory=dict)


class PlanShapeContext(ShapeContext):
    """Answers a shape rule from the values of a plan."""

    def __init__(self, op: Operation, inputs: Sequence[Value]) -> None:
        super().__init__(op._op_def, op._attrs, len(inputs))
        self._values = inputs

    def shape(self, index: int) -> TensorShape:
        return self._values[index].shape

    def value(self, index: int) -> np.ndarray | None:
        constant = self._values[index].constant
        return None if constant is None else np.asarray(constant)


def needed_ops(targets: Iterable[Operation], feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """The nodes that the targets depend on, up to what is fed."""
    seen: set[Operation] = set()
    stack = list(targets)
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        for source in sources(op, feeds, rewrites):
            if source not in seen:
                stack.append(source)
    return list(seen)


def input_of(op: Operation, index: int, rewrites: Sequence[PlanRewrite]) -> Tensor:
    """An input of a node, after rewrites; an inner scope's answer builds on those around it."""
    for rewrite in reversed(rewrites):
        tensor = rewrite.input(op, index)
        if tensor is not None:
            return tensor
    return op._inputs[index]


def sources(op: Operation, feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """The nodes one node waits for. A skipped node needs only the storage it gives on, and its control inputs."""
    found = []
    skipped = any(rewrite.skips(op) for rewrite in rewrites)
    for i in range(len(op._inputs)):
        tensor = input_of(op, i, rewrites)
        if tensor not in feeds and not (skipped and not tensor._dtype._is_ref_dtype):
            found.append(tensor._op)
    return found + op._control_inputs


def mutates(op: Operation) -> bool:
    """Whether the node changes a variable."""
    return any(arg.is_ref for arg in op._op_def.inputs) and op.type not in _REF_READERS


_REF_READERS = {"RefSwitch", "RefIdentity", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefSelect",
                "IsVariableInitialized"}


def ordered_ops(ops: list[Operation], feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """Topological order; among nodes that are ready those that change variables come last.

    So a value read from a variable is the one before this run's update, unless the graph says otherwise.
    """
    waiting: dict[Operation, int] = {}
    users: dict[Operation, list[Operation]] = {op: [] for op in ops}
    for op in ops:
        before = set(sources(op, feeds, rewrites))
        waiting[op] = len(before)
        for source in before:
            users[source].append(op)
    ready = [(mutates(op), op._id, op) for op in ops if not waiting[op]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, _, op = heapq.heappop(ready)
        order.append(op)
        for user in users[op]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (mutates(user), user._id, user))
    if len(order) < len(ops):
        stuck = next(op for op in ops if waiting[op])
        if any(op.type in ("NextIteration", "RefNextIteration") for op in ops):
            raise errors.UnimplementedError(None, stuck, "while loops cannot be run yet: this engine has no loop block. Node: " +
                                            stuck.name)
        raise errors.InvalidArgumentError(None, stuck, f"the graph has a cycle through node {stuck.name}")
    return order


class Planner:
    """Builds one plan."""

    def __init__(self, feeds: Sequence[Tensor], feed_shapes: Sequence[TensorShape | None] | None,
                 rewrites: Sequence[PlanRewrite]) -> None:
        self.rewrites = rewrites
        self.values: dict[Tensor, Value] = {}
        self.conditions: dict[Operation, Conditions] = {}
        self.misfits: dict[Operation, str] = {}
        self.plan = Plan([], [], [])
        self.feeds = set(feeds)
        for i, tensor in enumerate(feeds):
            shape = tensor._shape
            if feed_shapes is not None and feed_shapes[i] is not None:
                shape = shape.merge_with(feed_shapes[i])
            value = Value("feed", tensor, shape)
            self.values[tensor] = value
            self.plan.feeds.append(value)

    def build(self, targets: Sequence[Operation], fetches: Sequence[Tensor]) -> Plan:
        """Plan a run of the target nodes that returns the fetched tensors."""
        wanted = [*targets, *(t._op for t in fetches if t not in self.feeds)]
        ops = needed_ops(wanted, self.feeds, ())
        for rewrite in self.rewrites:
            rewrite.prepare(ops)
        if self.rewrites:
            ops = needed_ops(wanted, self.feeds, self.rewrites)
        for op in ordered_ops(ops, self.feeds, self.rewrites):
            self.add(op)
        self.plan.fetches = [self.values[t] for t in fetches]
        waited_for = {control for op in ops for control in op._control_inputs
                      if not _cannot_fail(control, self.values)}
        self._drop_unused(waited_for.union(targets))
        return self.plan

    def _drop_unused(self, kept: set[Operation]) -> None:
        """Steps whose results no step uses any more, once simplifications went around them.

        What somebody waits for, or asked for, still runs: it may be there for its error.
        """
        used = {(v.op, v.index) for v in self.plan.fetches}
        used.update((p.op, p.index) for v in self.plan.fetches for c in v.conditions for p, _ in c)
        steps = []
        for step in reversed(self.plan.steps):
            op = step.op
            if (not step.outputs or op in kept or op._op_def.is_stateful or mutates(op)
                    or any((v.op, v.index) in used for v in step.outputs)):
                steps.append(step)
                used.update((v.op, v.index) for v in step.inputs)
                for conjunction in step.conditions:
                    used.update((predicate.op, predicate.index) for predicate, _ in conjunction)
                if op.type in ("Merge", "RefMerge"):
                    for value in step.inputs:
                        used.update((p.op, p.index) for c in value.conditions for p, _ in c)
            else:
                self.plan.elided[op] = "its result is not needed: what used it was simplified"
        self.plan.steps = steps[::-1]

    # ------------------------------------------------------------ one node

    def add(self, op: Operation) -> None:
        """Give the outputs of a node their values: by a step, or without one."""
        inputs = [self.values.get(input_of(op, i, self.rewrites)) for i in range(len(op._inputs))]
        conditions = self._conditions_of(op, inputs)
        self.conditions[op] = conditions
        if not conditions:
            self._give_dead(op, "never runs: the condition above it is constant")
            return
        if any(rewrite.skips(op) for rewrite in self.rewrites):
            self._alias(op, self._skipped_value(op), "held still by the training scope")
            return
        handler = _HANDLERS.get(op.type)
        if handler is not None and handler(self, op, inputs, conditions):
            return
        values = [v for v in inputs if v is not None]
        if op.type == "Placeholder":
            raise self._unfed(op)
        shapes = self._shapes(op, values)
        if op in self.misfits:
            self._step(op, values, shapes, conditions)
            return
        if self._fold(op, values, shapes, conditions):
            return
        for rule in SIMPLIFICATIONS:
            replacement = rule(op, values, shapes)
            if isinstance(replacement, Value):
                self._alias(op, replacement, rule.__doc__ or rule.__name__)
                return
            if replacement is not None:
                self._step(op, values, shapes, conditions, replacement)
                return
        self._step(op, values, shapes, conditions)

    def _unfed(self, op: Operation) -> Exception:
        dtype = {"float32": "float", "float64": "double"}.get(op._attrs["dtype"].name, op._attrs["dtype"].name)
        shape = op.outputs[0]._shape
        text = f" and shape {_shape_text(shape)}" if shape.ndims is not None else ""
        return errors.InvalidArgumentError(
            None, op, f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype}{text}\n\t "
                      f"[[node {op.name} (defined at {op._frame[0]}:{op._frame[1]}) ]]")

    def _conditions_of(self, op: Operation, inputs: Sequence[Value | None]) -> Conditions:
        if op.type in ("Merge", "RefMerge"):
            return _any_of([v.conditions for v in inputs if v is not None])
        result = ALWAYS
        for value in inputs:
            if value is not None and value.conditions is not ALWAYS:
                result = _both(result, value.conditions)
        for control in op._control_inputs:
            if self.conditions[control] is not ALWAYS:
                result = _both(result, self.conditions[control])
        return result

    def _give_dead(self, op: Operation, reason: str) -> None:
        self.plan.elided[op] = reason
        for tensor in op._outputs:
            if tensor not in self.feeds:
                self.values[tensor] = Value("computed", tensor, tensor._shape, conditions=frozenset())

    def _skipped_value(self, op: Operation) -> Value:
        for i in range(len(op._inputs)):
            tensor = input_of(op, i, self.rewrites)
            if tensor._dtype._is_ref_dtype:
                return self.values[tensor]
        raise AssertionError(f"a rewrite skips {op.name}, which changes no variable")

    def _alias(self, op: Operation, value: Value, reason: str) -> None:
        self.plan.elided[op] = " ".join(reason.split())
        for tensor in op._outputs:
            if tensor not in self.feeds:
                self.values[tensor] = value if value.conditions == self.conditions[op] else \
                    _under(value, self.conditions[op])

    def _shapes(self, op: Operation, values: list[Value]) -> list[TensorShape]:
        try:
            found = infer(PlanShapeContext(op, values), len(op._outputs))
        except ValueError as error:
            # An error of the run, not of the plan: the node may lie in a branch that is not taken, and its kernel has
            # TensorFlow's words for it.
            texts = [_shape_text(v.shape) for v in values]
            self.misfits[op] = f"Incompatible shapes: {' vs. '.join(texts)}" if op._op_def.shape_fn is broadcast else \
                f"{error} with input shapes {', '.join(texts)}"
            return [t._shape for t in op._outputs]
        return [t._shape.merge_with(s) if _agree(t._shape, s) else s for t, s in zip(op._outputs, found)]

    def _fold(self, op: Operation, values: list[Value], shapes: list[TensorShape], conditions: Conditions) -> bool:
        """Compute the node now, if it depends on nothing that a run could change."""
        if op.type in ("Shape", "ShapeN", "Size", "Rank"):
            results = _from_shapes(op, values)
            if results is None:
                return False
        else:
            definition = op._op_def
            if (not definition.foldable or definition.kernel_fn is None or definition.state_fn is not None
                    or any(v.constant is None for v in values) or any(t._dtype._is_ref_dtype for t in op._outputs)):
                return False
            limit = max([FOLD_BYTES, *(np.asarray(v.constant).nbytes for v in values)])
            for tensor, shape in zip(op._outputs, shapes):
                count = shape.num_elements()
                if count is not None and count * tensor.dtype.size > limit:
                    return False
            try:
                with np.errstate(all="ignore"):
                    results = definition.evaluate([v.constant for v in values], op._attrs)
            except Exception:  # let the run raise it, with the node named
                return False
            if any(np.asarray(r).nbytes > limit for r in results):
                return False
        for tensor, result in zip(op._outputs, results):
            if tensor not in self.feeds:
                self.values[tensor] = Value("constant", tensor, TensorShape(np.shape(result)), constant=result,
                                            conditions=conditions)
        self.plan.elided[op] = "constant" if op.type == "Const" else "computed once, while the plan was made"
        return True

    def _step(self, op: Operation, values: list[Value], shapes: list[TensorShape], conditions: Conditions,
              template: str | None = None) -> None:
        definition = op._op_def
        if definition.is_ufunc and len(values) == 2:
            values = _with_scalars(values, shapes[0])
        outputs = []
        for tensor, shape, arg in zip(op._outputs, shapes, _output_args(op)):
            if arg.is_ref:
                # What an update gives on is the variable's storage itself.
                source = values[0]
                value = _under(source, conditions) if source.conditions != conditions else source
                if tensor not in self.feeds:
                    self.values[tensor] = value
                continue
            # A template only reshapes: the result is a view.
            is_view = definition.is_view or template is not None
            value = Value("computed", tensor, shape, owned=not is_view, conditions=conditions)
            if is_view:
                _share(value, values)
            if op.type in _RESHAPES or template is not None:
                value.reshaped_from = values[0].reshaped_from or values[0]
            outputs.append(value)
            if tensor not in self.feeds:
                self.values[tensor] = value
        self.plan.steps.append(Step(op, values, outputs, conditions, template, self.misfits.get(op, "")))


def _with_scalars(values: list[Value], shape: TensorShape) -> list[Value]:
    """A constant whose elements are all equal is as good as one element, where the other input has the full shape."""
    result = list(values)
    for i in (0, 1):
        constant = values[i].constant
        if constant is None or np.ndim(constant) == 0 or not _same_shape(values[1 - i], shape):
            continue
        flat = np.asarray(constant).ravel()
        # Compared bit by bit: -0.0 is not 0.0, and a nan must stay the nan it is.
        if flat.size and flat.dtype != object and np.all(flat.view(f"V{flat.itemsize}") == flat[:1].view(
                f"V{flat.itemsize}")):
            other = Value("constant", values[i].op.outputs[values[i].index], TensorShape([]), flat[0])
            other.conditions = values[i].conditions
            result[i] = other
    return result


def _output_args(op: Operation) -> list[Any]:
    args: list[Any] = []
    for arg in op._op_def.outputs:
        count = 1
        if arg.number_attr:
            count = op._attrs[arg.number_attr]
        elif arg.type_list_attr:
            count = len(op._attrs[arg.type_list_attr])
        args += [arg] * count
    return args


_TOTAL = frozenset(["AddN", "BatchMatMul", "BatchMatMulV2", "BiasAddGrad", "Conv2DBackpropFilter",
                    "Conv2DBackpropInput", "MatMul", "Max", "Mean", "Min", "Prod", "ReluGrad", "Reshape", "Sum",
                    "Transpose"])
"""Ops besides elementwise ones that cannot fail where the shapes fit."""


def _cannot_fail(op: Operation, values: dict[Tensor, Value]) -> bool:
    """Whether waiting for the node means nothing: it changes nothing, and with these shapes raises nothing."""
    if op.type not in _TOTAL and not op._op_def.is_ufunc:
        return False
    return all(t.dtype.is_floating and t in values and values[t].shape.is_fully_defined() for t in op._outputs)


def _share(value: Value, sources_: Sequence[Value]) -> None:
    """A view shares its input's memory; with several inputs nobody knows which, so none is written into."""
    arrays = [v for v in sources_ if v.constant is None]
    if len(arrays) == 1 and arrays[0].kind not in ("ref", "read"):
        value.buffer = arrays[0].buffer
        return
    for source in arrays:
        source.buffer.pinned = True
    value.buffer.pinned = True


def _under(value: Value, conditions: Conditions) -> Value:
    """The same value where it is only there under conditions."""
    other = Value(value.kind, value.op.outputs[value.index], value.shape, value.constant, conditions=conditions)
    other.buffer = value.buffer
    other.name = value.name
    other.op, other.index, other.dtype = value.op, value.index, value.dtype
    return other


def _agree(a: TensorShape, b: TensorShape) -> bool:
    return a.is_compatible_with(b)


def _shape_text(shape: TensorShape) -> str:
    if shape.ndims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"


def _from_shapes(op: Operation, values: list[Value]) -> tuple[Any, ...] | None:
    shapes = [v.shape for v in values]
    if op.type == "Rank":
        return None if shapes[0].ndims is None else (np.int32(shapes[0].ndims),)
    if not all(s.is_fully_defined() for s in shapes):
        return None
    dtype = op._attrs["out_type"].as_numpy_dtype
    if op.type == "Size":
        return (dtype(shapes[0].num_elements()),)
    return tuple(np.array(s.as_list(), dtype) for s in shapes)


# ------------------------------------------------------------ conditions


def _both(a: Conditions, b: Conditions) -> Conditions:
    if a is ALWAYS or a == ALWAYS:
        return b
    if b is ALWAYS or b == ALWAYS or a == b:
        return a
    result = set()
    for left in a:
        for right in b:
            joined = left | right
            if not any((predicate, not outcome) in joined for predicate, outcome in joined):
                result.add(joined)
    return _simplified(result)


def _any_of(parts: Sequence[Conditions]) -> Conditions:
    return _simplified({conjunction for part in parts for conjunction in part})


def _simplified(conjunctions: set[Condition]) -> Conditions:
    """`p and q or p and not q` is `p`; a conjunction that another one implies goes."""
    changed = True
    while changed:
        changed = False
        for a in list(conjunctions):
            for literal in a:
                flipped = (a - {literal}) | {(literal[0], not literal[1])}
                if flipped in conjunctions:
                    conjunctions -= {a, flipped}
                    conjunctions.add(a - {literal})
                    changed = True
                    break
            if changed:
                break
    kept = {a for a in conjunctions if not any(b < a for b in conjunctions)}
    return ALWAYS if frozenset() in kept else frozenset(kept)


# ------------------------------------------------------------ nodes that need no step


def _handle_variable(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    if op.outputs[0] not in planner.feeds:
        planner.values[op.outputs[0]] = Value("ref", op.outputs[0], op.outputs[0]._shape, conditions=conditions)
    planner.plan.elided[op] = "the variable itself"
    return True


def _handle_identity(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    value = inputs[0]
    if value.kind == "ref":
        read = Value("read", value.op.outputs[value.index], value.shape, conditions=conditions)
        read.buffer = value.buffer
        planner._alias(op, read, "reads the variable where it is used")
    else:
        planner._alias(op, value, "gives its input on")
    return True


def _handle_const(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    tensor = op.outputs[0]
    if tensor not in planner.feeds:
        constant = op._attrs["value"]
        planner.values[tensor] = Value("constant", tensor, TensorShape(constant.shape), constant, conditions=conditions)
    planner.plan.elided[op] = "constant"
    return True


def _handle_no_op(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    planner.plan.elided[op] = "computes nothing: it only orders other nodes"
    return True


def _handle_switch(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    data, predicate = inputs
    planner.plan.elided[op] = "became an if"
    for outcome, tensor in enumerate(op._outputs):
        if predicate.constant is not None:
            when = conditions if bool(predicate.constant) == bool(outcome) else frozenset()
        else:
            when = _both(conditions, frozenset([frozenset([(predicate, bool(outcome))])]))
        planner.values[tensor] = _under(data, when)
    return True


def _handle_ref_identity(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    planner._alias(op, inputs[0], "gives its input on")
    return True


def _handle_merge(planner: Planner, op: Operation, inputs: Sequence[Any], conditions: Conditions) -> bool:
    alive = [(i, v) for i, v in enumerate(inputs) if v is not None and v.conditions]
    if len(alive) != 1:
        return False
    index, value = alive[0]
    planner.plan.elided[op] = "only one branch can run"
    planner.values[op.outputs[0]] = _under(value, conditions)
    planner.values[op.outputs[1]] = Value("constant", op.outputs[1], TensorShape([]), np.int32(index),
                                          conditions=conditions)
    return True


_HANDLERS = {
    "VariableV2": _handle_variable, "Variable": _handle_variable, "TemporaryVariable": _handle_variable,
    "Identity": _handle_identity, "StopGradient": _handle_identity, "PreventGradient": _handle_identity,
    "Snapshot": _handle_identity, "PlaceholderWithDefault": _handle_identity,
    "Const": _handle_const, "NoOp": _handle_no_op, "ControlTrigger": _handle_no_op,
    "Switch": _handle_switch, "RefSwitch": _handle_switch, "RefIdentity": _handle_ref_identity,
    "Merge": _handle_merge, "RefMerge": _handle_merge,
}


# ------------------------------------------------------------ simplifications
#
# Each rule looks at one node and gives the value that equals its first output bit for bit, or the template of a
# shorter expression (a reshape of its first input), or None.
# Its docstring is what the code view says of the node.


def _same_shape(value: Value, shape: TensorShape) -> bool:
    return value.shape.is_fully_defined() and shape.is_fully_defined() and value.shape.as_list() == shape.as_list()


_RESHAPES = ("Reshape", "ExpandDims", "Squeeze")
_REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any")


def reshape_to_same(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would give its input the shape it has, or had before"""
    if op.type not in (*_RESHAPES, "BroadcastTo", "Tile"):
        return None
    return _in_shape(values[0], shapes[0], op.type in _RESHAPES)


def _in_shape(value: Value, shape: TensorShape, reshapes: bool) -> Value | None:
    """`value`, or what it was reshaped from, if that has the shape."""
    if value.kind == "ref":
        return None
    if _same_shape(value, shape):
        return value
    before = value.reshaped_from
    if reshapes and before is not None and _same_shape(before, shape) and before.kind == "computed" \
            and before.conditions == value.conditions:
        return before
    return None


def reduce_over_nothing(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would reduce over no axis, or over axes of size one"""
    if op.type not in _REDUCTIONS or values[1].constant is None or values[0].kind == "ref":
        return None
    axes = np.asarray(values[1].constant).ravel()
    if axes.size == 0:
        return values[0]
    if not values[0].shape.is_fully_defined() or not shapes[0].is_fully_defined():
        return None
    sizes = values[0].shape.as_list()
    if any(sizes[axis] != 1 for axis in axes):
        return None
    found = _in_shape(values[0], shapes[0], True)
    if found is not None:
        return found
    # Sizes are numbers of the plan's own: nothing from outside gets into the source here.
    return f"{{0}}.reshape({tuple(int(d or 0) for d in shapes[0].as_list())})" if values[0].kind == "computed" else None


def cast_to_same(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """its input already has the type"""
    if op.type == "Cast" and op._attrs["SrcT"] == op._attrs["DstT"] and values[0].kind != "ref":
        return values[0]
    return None


def times_one(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would multiply or divide by one"""
    if op.type not in ("Mul", "RealDiv", "Div"):
        return None
    for one, other in ((1, 0), (0, 1)) if op.type == "Mul" else ((1, 0),):
        constant = values[one].constant
        if constant is not None and np.size(constant) and _same_shape(values[other], shapes[0]) \
                and values[other].kind != "ref" and np.all(np.asarray(constant) == 1):
            return values[other]
    return None


def add_of_one(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would add up a single value"""
    if op.type in ("AddN", "AccumulateNV2") and len(values) == 1 and values[0].kind != "ref":
        return values[0]
    return None


SIMPLIFICATIONS = [reshape_to_same, reduce_over_nothing, cast_to_same, times_one, add_of_one]


def make_plan(targets: Sequence[Operation], fetches: Sequence[Tensor], feeds: Sequence[Tensor],
              feed_shapes: Sequence[TensorShape | None] | None, rewrites: Sequence[PlanRewrite]) -> Plan:
    """Plan a run: the target nodes run, the fetched tensors are returned, the fed ones are given."""
    return Planner(feeds, feed_shapes, rewrites).build(targets, fetches)
