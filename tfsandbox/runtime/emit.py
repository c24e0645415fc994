"""From a plan to readable Python: one numpy call a line, named after the nodes.

The source is built from the registry (kernel names, templates) and from the names that `namespace` gives. What comes
with a graph - values, strings, shapes - is bound to such names, never written into the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.op_registry import OpDef
from tfsandbox.framework.operation import Operation
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime.namespace import Namespace
from tfsandbox.runtime.values import ALWAYS, Buffer, Conditions, Plan, Step, Value

REUSE_BYTES = 1 << 15
"""A dead input at least this large is written into; allocating less than that costs nothing."""

RELEASE_BYTES = 1 << 18
"""A value at least this large is deleted after its last use."""

_NEVER = 1 << 60

_NESTED = 50
"""So many blocks are nested in each other at most: Python allows 100 levels of indentation."""

_AUGMENTED = ("+", "-", "*", "/")


@dataclass
class Program:
    """The source of a plan and what its names stand for."""

    source: str
    plan: Plan
    constants: dict[str, Any]           # names bound to the same thing in every session
    refs: dict[str, Operation]          # names bound to a session's variables
    states: dict[str, Operation]        # names bound to what a session keeps for an op
    lines: dict[int, Operation]         # source line -> node
    required: list[str]                 # refs that must hold a value before the first line
    filename: str = ""
    code: Any = None
    notes: dict[str, str] = field(default_factory=dict)     # what the constants are, in words

    @property
    def text(self) -> str:
        """The source, with its constants listed above as comments."""
        width = max(map(len, self.notes), default=0)
        head = [f"# {name:<{width}} = {note}" for name, note in self.notes.items()]
        return "\n".join([*head, self.source])


class EmitNode:
    """What an `@op.emit` function may ask about its node."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def attr(self, name: str) -> Any:
        """An attribute's value."""
        return self._step.op._attrs[name]

    def shape(self, index: int) -> TensorShape:
        """The shape of an input, as far as the plan knows it."""
        return self._step.inputs[index].shape

    def value(self, index: int) -> Any:
        """The value of an input that is constant in the plan, else None."""
        return self._step.inputs[index].constant

    def output_shape(self, index: int = 0) -> TensorShape:
        """The shape of an output, as far as the plan knows it."""
        return self._step.outputs[index].shape

    def dtype(self, index: int) -> dtypes.DType:
        """The type of an input."""
        return self._step.inputs[index].dtype


class Emitter:
    """Writes the source of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names = Namespace()
        self.lines: list[str] = []
        self.line_ops: dict[int, Operation] = {}
        self.assigned: set[Operation] = set()
        self.required: list[str] = []
        self.last_uses: dict[tuple[Operation, int], int] = {}  # of a tensor, under whatever conditions
        self.comment = 44
        self.blocks: list[tuple[str, bool]] = []  # the tests of the open blocks, and whether each is an else

    def emit(self) -> Program:
        """The finished program."""
        plan = self.plan
        parameters = []
        for value in plan.feeds:
            value.name = self.names.identifier(value.op, value.index)
            parameters.append(value.name)
        self._find_last_uses()
        self.lines.append(f"def run({', '.join(parameters)}):")
        for index, step in enumerate(plan.steps):
            self._emit_step(index, self._enter(step.conditions))
        self._emit_return()
        source = "\n".join(self.lines) + "\n"
        words = set(re.findall(r"\w+", source))
        names = self.names
        return Program(source, plan, names.constants, names.refs, names.states, self.line_ops, self.required,
                       notes={name: note for name, note in names.notes.items() if name in words})

    # ------------------------------------------------------------ liveness

    def _find_last_uses(self) -> None:
        for i, step in enumerate(self.plan.steps):
            for value in step.inputs:
                self.last_uses[value.op, value.index] = i
                value.buffer.last_use = max(value.buffer.last_use, i)
            for conjunction in step.conditions:
                for predicate, _ in conjunction:
                    self.last_uses[predicate.op, predicate.index] = predicate.buffer.last_use = _NEVER
        for value in self.plan.fetches:
            self.last_uses[value.op, value.index] = value.buffer.last_use = _NEVER

    # ------------------------------------------------------------ steps

    def _enter(self, conditions: Conditions) -> str:
        """Open and close `if` blocks until the lines that follow run under these conditions; their indentation."""
        path = self._path(conditions)
        common = 0
        while common < min(len(path), len(self.blocks)) and path[common] == self.blocks[common][0]:
            common += 1
        ended = self.blocks[common] if common < len(self.blocks) else None
        self.blocks = self.blocks[:common]
        for text in path[common:]:
            # The other branch of the `if` that has just ended is its else.
            is_else = ended is not None and not ended[1] and text != ended[0] \
                and text in (f"not {ended[0]}", ended[0].removeprefix("not ")) \
                and " " not in text.removeprefix("not ")
            self.lines.append(f"{_indent(len(self.blocks))}{'else' if is_else else 'if ' + text}:")
            self.blocks.append((text, is_else))
            ended = None
        return _indent(len(self.blocks))

    def _path(self, conditions: Conditions) -> list[str]:
        """The tests, from the outermost in, under which something runs."""
        if conditions == ALWAYS:
            return []
        if len(conditions) > 1:
            return [self._condition(conditions)]
        conjunction, = conditions
        tests = [self._literal(p, outcome) for p, outcome in _outermost_first(conjunction)]
        return tests[:_NESTED] + ([" and ".join(tests[_NESTED:])] if len(tests) > _NESTED else [])

    def _condition(self, conditions: Conditions, given: frozenset[tuple[Value, bool]] = frozenset()) -> str:
        """The test for conditions, where `given` is known to hold; `True` where that is enough."""
        alternatives = []
        for conjunction in conditions:
            literals = [self._literal(p, outcome) for p, outcome in _outermost_first(conjunction - given)]
            alternatives.append(" and ".join(literals) or "True")
        alternatives.sort()
        return alternatives[0] if len(alternatives) == 1 else " or ".join(f"({a})" for a in alternatives)

    def _literal(self, predicate: Value, outcome: bool) -> str:
        name = f"{self.names.ref_name(predicate.op)}.read()" if predicate.kind == "ref" else self.expression(predicate)
        return name if outcome else f"not {name}"

    def _emit_step(self, index: int, indent: str) -> None:
        step = self.plan.steps[index]
        op = step.op
        if op.type in ("Merge", "RefMerge"):
            self._emit_merge(step, indent)
            return
        text = self._in_place(step, index)
        if text is not None:
            self._line(indent + text, op)
            return
        self._note_initialized(step)
        text = self._call(step, index)
        if step.copies:
            text = f"own({text})"
        targets = []
        for value in step.outputs:
            value.name = self.names.identifier(value.op, value.index)
            targets.append(value.name)
        if targets:
            star = "," if len(targets) == 1 and self._gives_tuple(op._op_def) else ""
            text = f"{', '.join(targets)}{star} = {text}"
        self._line(indent + text, op)
        self._release(index, indent)

    def _note_initialized(self, step: Step) -> None:
        """Whether a variable that the run itself initialises holds a value is asked where it is read, not before."""
        if step.op._op_def.allows_uninitialized_input:
            name = self.names.ref_names.get(step.inputs[0].op)
            if name not in self.required:
                self.assigned.update(v.op for v in step.inputs if v.kind == "ref")

    def _in_place(self, step: Step, index: int) -> str | None:
        """`a += b` where `a` is not needed afterwards and has the shape and type of the sum."""
        definition = step.op._op_def
        if definition.infix not in _AUGMENTED or len(step.inputs) != 2 or step.template is not None:
            return None
        left, right = step.inputs
        target = self._dead_input(step, index, 1)
        if target is None or not target.shape.ndims or (target is right and definition.infix not in "+*"):
            return None
        other = right if target is left else left
        if other is target:
            return None
        step.outputs[0].name = self.expression(target)
        return f"{self.expression(target)} {definition.infix}= {self.expression(other)}"

    def _gives_tuple(self, definition: OpDef) -> bool:
        return bool(definition.outputs) and definition.outputs[0].is_list

    def _emit_merge(self, step: Step, indent: str) -> None:
        value, which = step.outputs
        value.name = self.names.identifier(value.op, 0)
        which.name = self.names.identifier(which.op, 1)
        given: frozenset[tuple[Value, bool]] = frozenset()
        if len(step.conditions) == 1:
            given, = step.conditions
        alive = [(i, v) for i, v in enumerate(step.inputs) if v.conditions]
        for _, v in alive:
            # Which of them it is is known only in the run.
            v.buffer.pinned = True
        value.buffer.pinned = True
        if (which.op, 1) not in self.last_uses and len(alive) == 2:
            (_, other), (_, chosen) = alive
            self._line(f"{indent}{value.name} = {self.expression(chosen)} if "
                       f"{self._condition(chosen.conditions, given)} else {self.expression(other)}", step.op)
            return
        for k, (i, v) in enumerate(alive):
            test = self._condition(v.conditions, given)
            # The last one is there if no other is.
            head = "else:" if k and k == len(alive) - 1 else f"{'elif' if k else 'if'} {test}:"
            self._line(indent + head, step.op)
            number = self.names.literal(np.int32(i))
            self._line(f"{indent}    {value.name}, {which.name} = {self.expression(v)}, {number}", step.op)

    def _call(self, step: Step, index: int) -> str:
        op, definition = step.op, step.op._op_def
        arguments = self._arguments(step)
        if step.template is not None:
            return step.template.format(*arguments)
        if definition.emit_fn is not None and not step.misfit:
            template = definition.emit_fn(EmitNode(step))
            if template is not None:
                return template.format(*arguments)
        if definition.kernel_fn is None:
            from tfsandbox.framework import errors
            raise errors.UnimplementedError(None, op, f"op {op.type} (node {op.name}) has no kernel: the sandbox can "
                                                      "build this node but not run it")
        if definition.is_ufunc and not step.misfit:
            target = self._dead_input(step, index, REUSE_BYTES)
            if target is not None:
                kernel = self.names.kernel_name(definition)
                return f"{kernel}({', '.join(arguments)}, out={self.expression(target)})"
            if definition.infix is not None:
                if len(arguments) == 1:
                    return f"{definition.infix}{arguments[0]}"
                return f"{arguments[0]} {definition.infix} {arguments[1]}"
            return f"{self.names.kernel_name(definition)}({', '.join(arguments)})"
        grouped = self._grouped(definition, arguments, op)
        for name in definition.kernel_attrs:
            grouped.append(f"{name}={self.names.literal(op._attrs[name])}")
        if definition.kernel_wants_state:
            grouped.append(f"state={self.names.state_name(op)}")
        kernel = self.names.kernel_name(definition)
        if step.misfit:
            return f"unfit({self.names.literal(step.misfit)}, {kernel}, {', '.join(grouped)})"
        return f"{kernel}({', '.join(grouped)})"

    def _arguments(self, step: Step) -> list[str]:
        refs = [arg.is_ref for arg in step.op._op_def.inputs for _ in range(arg.count(step.op._attrs))]
        return [self._reference(v, step) if is_ref and v.kind == "ref" else self.expression(v)
                for v, is_ref in zip(step.inputs, refs)]

    def _reference(self, value: Value, step: Step) -> str:
        """A variable's storage as an argument; unless the op may take it without, it must hold a value."""
        name = self.names.ref_name(value.op)
        if not step.op._op_def.allows_uninitialized_input:
            if value.conditions != ALWAYS or step.conditions != ALWAYS or value.op in self.assigned:
                return f"{name}.initialized()"
            if name not in self.required:
                self.required.append(name)
        return name

    def _grouped(self, definition: OpDef, arguments: list[str], op: Operation) -> list[str]:
        grouped: list[str] = []
        at = 0
        for arg in definition.inputs:
            count = arg.count(op._attrs)
            if arg.is_list:
                grouped.append("[" + ", ".join(arguments[at:at + count]) + "]")
            else:
                grouped.append(arguments[at])
            at += count
        return grouped

    def _dead_input(self, step: Step, index: int, least: int) -> Value | None:
        """An input whose memory nobody needs after this step and which has the output's shape and type.

        The output keeps the buffer that it has in the plan: its views share that one, and it knows their last uses.
        """
        output = step.outputs[0]
        size = output.nbytes
        if size is None or size < least or step.conditions != ALWAYS:
            return None
        for value in step.inputs:
            buffer: Buffer = value.buffer
            if (value.kind == "computed" and buffer.owned and not buffer.pinned and buffer.last_use == index
                    and value.conditions == ALWAYS and value.dtype == output.dtype
                    and value.shape.is_fully_defined() and value.shape.as_list() == output.shape.as_list()):
                return value
        return None

    def _release(self, index: int, indent: str) -> None:
        step = self.plan.steps[index]
        dead = []
        for value in dict.fromkeys(step.inputs):
            if (value.kind == "computed" and self.last_uses[value.op, value.index] == index
                    and value.conditions == ALWAYS and step.conditions == ALWAYS
                    and (value.nbytes or 0) >= RELEASE_BYTES):
                dead.append(self.expression(value))
        if dead:
            self.lines.append(f"{indent}del {', '.join(dict.fromkeys(dead))}")

    def _emit_return(self) -> None:
        results = []
        given: dict[Buffer, tuple[Operation, int]] = {}
        for value in self.plan.fetches:
            if value.kind == "ref" or value.kind == "read":
                text = f"{self.expression(value)}.copy()"
            else:
                text = self.expression(value)
                # Of two results that share memory each must be the caller's own.
                shared = given.setdefault(value.buffer, (value.op, value.index)) != (value.op, value.index)
                if not value.buffer.owned or value.buffer.pinned or shared:
                    # A string of rank 0 is bytes, of which numpy alone would make a fixed width.
                    text = f"np.array({text}, object)" if value.dtype == dtypes.string else f"np.array({text})"
            if value.conditions != ALWAYS:
                dead = f"dead({self.names.literal(value.op.name)})"
                # Without any conditions no branch leads here.
                text = f"{text} if {self._condition(value.conditions)} else {dead}" if value.conditions else dead
            results.append(text)
        self.lines.append(f"    return ({', '.join(results)}{',' if results else ''})")

    def _line(self, text: str, op: Operation) -> None:
        safe = re.sub(r"[^A-Za-z0-9_.\-/]", "", op.name)
        self.line_ops[len(self.lines) + 1] = op
        self.lines.append(f"{text:<{self.comment}}  # {safe}")

    # ------------------------------------------------------------ values

    def expression(self, value: Value) -> str:
        """How a value is written where it is used."""
        if value.kind == "constant":
            return self.names.constant_name(value)
        if value.kind in ("ref", "read"):
            name = self.names.ref_name(value.op)
            if value.conditions != ALWAYS or value.op in self.assigned:
                return f"{name}.read()"
            if name not in self.required:
                self.required.append(name)
            return f"{name}.value"
        if not value.name:
            value.name = self._name_of(value)
        return value.name

    def _name_of(self, value: Value) -> str:
        """The name of a value that is another one under conditions: that of its step's output."""
        # (A node may run although one of its outputs is fed: it was waited for, or has others.)
        made = self.plan.feeds if value.kind == "feed" else [out for step in self.plan.steps for out in step.outputs]
        for output in made:
            if output.op is value.op and output.index == value.index and output.name:
                return output.name
        raise AssertionError(f"{value.op.name} is used before it is computed")


def _indent(depth: int) -> str:
    return "    " * (depth + 1)


def _outermost_first(conjunction: frozenset[tuple[Value, bool]]) -> list[tuple[Value, bool]]:
    """The literals in an order in which each predicate is there once those before it hold."""
    def depth(value: Value) -> int:
        return max((len(c) for c in value.conditions), default=0)
    return sorted(conjunction, key=lambda literal: (depth(literal[0]), literal[0].op._id, literal[0].index))
