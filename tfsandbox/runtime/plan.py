"""From a graph and what is asked of it to a short list of steps: prune, order, fold, elide.

`make_plan` takes the fetches, the fed tensors and (where known) the shapes fed. What comes out is a `Plan`: the
steps that must compute something, in order, each on `Value`s. `emit` turns a plan into Python source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_registry import ArgDef
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext, broadcast, infer, shape_text
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime.old_values import FORWARDS, mark_copies, mutated_storages
from tfsandbox.runtime.order import input_of, mutates, needed_ops, ordered_ops
from tfsandbox.runtime.rewrites import PlanRewrite
from tfsandbox.runtime.simplifications import RESHAPES, SIMPLIFICATIONS, with_scalars
from tfsandbox.runtime.values import ALWAYS, Conditions, Plan, Step, Value, any_of, both

FOLD_BYTES = 1 << 16
"""A folded constant may be this large, or as large as what it is computed from."""


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


class Planner:
    """Builds one plan."""

    def __init__(self, feeds: Sequence[Tensor], feed_shapes: Sequence[TensorShape | None] | None,
                 rewrites: Sequence[PlanRewrite]) -> None:
        self.rewrites = rewrites
        self.values: dict[Tensor, Value] = {}
        self.conditions: dict[Operation, Conditions] = {}
        self.misfits: dict[Operation, str] = {}
        self.mutated: set[str] = set()
        self.held: dict[Tensor, Value] = {}
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
        self.mutated = mutated_storages(ops)
        for op in ordered_ops(ops, self.feeds, self.rewrites):
            self.add(op)
        self.plan.fetches = [self.values[t] for t in fetches]
        self._drop_unused(self._waited_for(ops, targets))
        if self.mutated:
            mark_copies(self.plan)
        return self.plan

    def _waited_for(self, ops: Sequence[Operation], targets: Sequence[Operation]) -> set[Operation]:
        """The targets, and the nodes whose errors a control dependency may wait for.

        Waiting for a node that has no step, or cannot fail, is waiting for what it is computed from.
        """
        planned = {step.op for step in self.plan.steps}
        kept, seen = set(targets), set[Operation]()
        stack = [*targets, *(control for op in ops for control in op._control_inputs)]
        while stack:
            op = stack.pop()
            if op in seen:
                continue
            seen.add(op)
            if op in planned and not _cannot_fail(op, self.values):
                kept.add(op)
                continue
            inputs = (input_of(op, i, self.rewrites) for i in range(len(op._inputs)))
            stack += [tensor._op for tensor in inputs if tensor not in self.feeds]
        return kept

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
        if mutates(op):
            self._check_refs(op, values)
        shapes = self._shapes(op, values)
        if op in self.misfits:
            self._step(op, values, shapes, conditions)
            return
        if self._fold(op, values, shapes, conditions):
            return
        for rule in SIMPLIFICATIONS:
            replacement = rule(op, values, shapes)
            if isinstance(replacement, Value):
                if replacement.storages & self.mutated and op.type not in FORWARDS:
                    # The result is a value of its own, which stays when the variable changes.
                    self._step(op, [replacement], shapes, conditions, "{0}")
                    return
                self._alias(op, replacement, rule.__doc__ or rule.__name__)
                return
            if replacement is not None:
                self._step(op, values, shapes, conditions, replacement)
                return
        self._step(op, values, shapes, conditions)

    def give(self, tensor: Tensor, value: Value) -> None:
        """A tensor has this value, unless it is fed."""
        if tensor not in self.feeds:
            self.values[tensor] = value

    def hold(self, op: Operation, predicate: Value) -> Value:
        """The predicate of a Switch; one in a variable that the run changes is read once, for all that it decides."""
        if not predicate.storages & self.mutated:
            return predicate
        tensor = input_of(op, 1, self.rewrites)
        if tensor not in self.held:
            source = predicate
            if source.kind == "ref":
                source = Value("read", source.op.outputs[source.index], source.shape, conditions=source.conditions)
            value = Value("computed", tensor, source.shape, owned=True, conditions=source.conditions)
            value.op, value.index = op, len(op._outputs)  # an output of its own beside those that the node has
            self.plan.steps.append(Step(op, [source], [value], source.conditions, "{0}.copy()"))
            self.held[tensor] = value
        return self.held[tensor]

    def _check_refs(self, op: Operation, values: list[Value]) -> None:
        for i, (arg, value) in enumerate(zip(op._op_def.inputs, values)):
            if arg.is_ref and value.kind == "feed":
                kind = value.dtype.name
                raise errors.InvalidArgumentError(
                    None, op, f"Input {i} of node {op.name} was passed {kind} from a fed value incompatible with "
                              f"expected {kind}_ref: a variable that is fed cannot be changed in the same run.")

    def _unfed(self, op: Operation) -> Exception:
        dtype = {"float32": "float", "float64": "double"}.get(op._attrs["dtype"].name, op._attrs["dtype"].name)
        shape = op.outputs[0]._shape
        text = f" and shape {shape_text(shape)}" if shape.ndims is not None else ""
        return errors.InvalidArgumentError(
            None, op, f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype}{text}\n\t "
                      f"[[node {op.name} (defined at {op._frame[0]}:{op._frame[1]}) ]]")

    def _conditions_of(self, op: Operation, inputs: Sequence[Value | None]) -> Conditions:
        if op.type in ("Merge", "RefMerge"):
            return any_of([v.conditions for v in inputs if v is not None])
        result = ALWAYS
        for value in inputs:
            if value is not None and value.conditions is not ALWAYS:
                result = both(result, value.conditions)
        for control in op._control_inputs:
            if self.conditions[control] is not ALWAYS:
                result = both(result, self.conditions[control])
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
            texts = [shape_text(v.shape) for v in values]
            self.misfits[op] = f"Incompatible shapes: {' vs. '.join(texts)}" if op._op_def.shape_fn is broadcast else \
                f"{error} with input shapes {', '.join(texts)}"
            return [t._shape for t in op._outputs]
        return [t._shape.merge_with(s) if t._shape.is_compatible_with(s) else s for t, s in zip(op._outputs, found)]

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
            values = with_scalars(values, shapes[0])
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
            if is_view or op.type in ("Merge", "RefMerge"):
                value.storages = frozenset().union(*(v.storages for v in values))
            if is_view:
                _share(value, values)
            if op.type in RESHAPES or template is not None:
                value.reshaped_from = values[0].reshaped_from or values[0]
            outputs.append(value)
            if tensor not in self.feeds:
                self.values[tensor] = value
        self.plan.steps.append(Step(op, values, outputs, conditions, template, self.misfits.get(op, "")))


def _output_args(op: Operation) -> list[ArgDef]:
    """The argument that each output of a node belongs to."""
    return [arg for arg in op._op_def.outputs for _ in range(arg.count(op._attrs))]


_TOTAL = frozenset(["AddN", "BatchMatMul", "BatchMatMulV2", "BiasAddGrad", "Conv2DBackpropFilter",
                    "Conv2DBackpropInput", "MatMul", "Max", "Mean", "Min", "Prod", "ReluGrad", "Reshape", "Sum",
                    "Transpose"])
"""Ops besides elementwise ones that cannot fail where the shapes fit."""


def _cannot_fail(op: Operation, values: dict[Tensor, Value]) -> bool:
    """Whether waiting for the node means nothing: it changes nothing, and with these shapes raises nothing."""
    if op.type not in _TOTAL and not op._op_def.is_ufunc:
        return False
    return all(t.dtype.is_floating and t in values and values[t].shape.is_fully_defined() for t in op._outputs)


def _share(value: Value, inputs: Sequence[Value]) -> None:
    """A view shares its input's memory; with several inputs nobody knows which, so none is written into."""
    arrays = [v for v in inputs if v.constant is None]
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
    other.op, other.index, other.dtype, other.storages = value.op, value.index, value.dtype, value.storages
    return other


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
    data, predicate = inputs[0], planner.hold(op, inputs[1])
    planner.plan.elided[op] = "became an if"
    for outcome, tensor in enumerate(op._outputs):
        if predicate.constant is not None:
            when = conditions if bool(predicate.constant) == bool(outcome) else frozenset()
        else:
            when = both(conditions, frozenset([frozenset([(predicate, bool(outcome))])]))
        planner.give(tensor, _under(data, when))
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
    planner.give(op.outputs[0], _under(value, conditions))
    planner.give(op.outputs[1], Value("constant", op.outputs[1], TensorShape([]), np.int32(index),
                                      conditions=conditions))
    return True


_HANDLERS = {
    "VariableV2": _handle_variable, "Variable": _handle_variable, "TemporaryVariable": _handle_variable,
    "Identity": _handle_identity, "StopGradient": _handle_identity, "PreventGradient": _handle_identity,
    "Snapshot": _handle_identity, "PlaceholderWithDefault": _handle_identity,
    "Const": _handle_const, "NoOp": _handle_no_op, "ControlTrigger": _handle_no_op,
    "Switch": _handle_switch, "RefSwitch": _handle_switch, "RefIdentity": _handle_ref_identity,
    "Merge": _handle_merge, "RefMerge": _handle_merge,
}


def make_plan(targets: Sequence[Operation], fetches: Sequence[Tensor], feeds: Sequence[Tensor],
              feed_shapes: Sequence[TensorShape | None] | None, rewrites: Sequence[PlanRewrite]) -> Plan:
    """Plan a run: the target nodes run, the fetched tensors are returned, the fed ones are given."""
    return Planner(feeds, feed_shapes, rewrites).build(targets, fetches)
