"""From a plan to readable Python: one numpy call a line, named after the nodes.

The source is built from the registry (kernel names, templates) and from slot names. Node names only choose
identifiers, after everything but letters, digits and underscores is gone; values, strings and shapes that come with
a graph are bound to names in the namespace, never written into the source.
"""

from __future__ import annotations

import keyword
import math
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.op_registry import OpDef
from tfsandbox.framework.operation import Operation
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime import called
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
        self.lines: list[str] = []
        self.line_ops: dict[int, Operation] = {}
        self.used_names: set[str] = {"np", "run", "kernels", "dead", "unfit", "own"}
        self.constants: dict[str, Any] = {"np": np, "dead": called.dead, "unfit": called.unfit, "own": called.own}
        self.constant_names: dict[int, str] = {}
        self.kernel_names: dict[int, str] = {}
        self.refs: dict[str, Operation] = {}
        self.ref_names: dict[Operation, str] = {}
        self.states: dict[str, Operation] = {}
        self.notes: dict[str, str] = {}
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
            value.name = self.identifier(value.op, value.index)
            parameters.append(value.name)
        self._find_last_uses()
        self.lines.append(f"def run({', '.join(parameters)}):")
        for index, step in enumerate(plan.steps):
            self._emit_step(index, self._enter(step.conditions))
        self._emit_return()
        source = "\n".join(self.lines) + "\n"
        words = set(re.findall(r"\w+", source))
        self.notes = {name: note for name, note in self.notes.items() if name in words}
        return Program(source, plan, self.constants, self.refs, self.states, self.line_ops,
                       self.required, notes=self.notes)

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
        name = f"{self.ref_name(predicate.op)}.read()" if predicate.kind == "ref" else self.expression(predicate)
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
            value.name = self.identifier(value.op, value.index)
            targets.append(value.name)
        if targets:
            star = "," if len(targets) == 1 and self._gives_tuple(op._op_def) else ""
            text = f"{', '.join(targets)}{star} = {text}"
        self._line(indent + text, op)
        self._release(index, indent)

    def _note_initialized(self, step: Step) -> None:
        """Whether a variable that the run itself initialises holds a value is asked where it is read, not before."""
        if step.op._op_def.allows_uninitialized_input:
            name = self.ref_names.get(step.inputs[0].op)
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
        value.name = self.identifier(value.op, 0)
        which.name = self.identifier(which.op, 1)
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
            self._line(f"{indent}    {value.name}, {which.name} = {self.expression(v)}, {self.literal(np.int32(i))}",
                       step.op)

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
                name = self.kernel_name(definition)
                return f"{name}({', '.join(arguments)}, out={self.expression(target)})"
            if definition.infix is not None:
                if len(arguments) == 1:
                    return f"{definition.infix}{arguments[0]}"
                return f"{arguments[0]} {definition.infix} {arguments[1]}"
            return f"{self.kernel_name(definition)}({', '.join(arguments)})"
        grouped = self._grouped(definition, arguments, op)
        for name in definition.kernel_attrs:
            grouped.append(f"{name}={self.literal(op._attrs[name])}")
        if definition.kernel_wants_state:
            grouped.append(f"state={self.state_name(op)}")
        if step.misfit:
            return f"unfit({self.literal(step.misfit)}, {self.kernel_name(definition)}, {', '.join(grouped)})"
        return f"{self.kernel_name(definition)}({', '.join(grouped)})"

    def _arguments(self, step: Step) -> list[str]:
        refs = [arg.is_ref for arg, count in _counted(step.op) for _ in range(count)]
        return [self._reference(v, step) if is_ref and v.kind == "ref" else self.expression(v)
                for v, is_ref in zip(step.inputs, refs)]

    def _reference(self, value: Value, step: Step) -> str:
        """A variable's storage as an argument; unless the op may take it without, it must hold a value."""
        name = self.ref_name(value.op)
        if not step.op._op_def.allows_uninitialized_input:
            if value.conditions != ALWAYS or step.conditions != ALWAYS or value.op in self.assigned:
                return f"{name}.initialized()"
            if name not in self.required:
                self.required.append(name)
        return name

    def _grouped(self, definition: OpDef, arguments: list[str], op: Operation) -> list[str]:
        grouped: list[str] = []
        at = 0
        for arg, count in _counted(op):
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
                condition = self._condition(value.conditions) if value.conditions else "False"
                text = f"{text} if {condition} else dead({self.literal(value.op.name)})" if value.conditions else \
                    f"dead({self.literal(value.op.name)})"
            results.append(text)
        self.lines.append(f"    return ({', '.join(results)}{',' if results else ''})")

    def _line(self, text: str, op: Operation) -> None:
        safe = re.sub(r"[^A-Za-z0-9_.\-/]", "", op.name)
        self.line_ops[len(self.lines) + 1] = op
        self.lines.append(f"{text:<{self.comment}}  # {safe}")

    # ------------------------------------------------------------ names

    def identifier(self, op: Operation, index: int) -> str:
        """A new local name for an output of a node."""
        parts = [re.sub(r"\W", "_", part, flags=re.A) for part in op.name.split("/")]
        base = parts[-1].lower().strip("_") or "value"
        if base[0].isdigit() or keyword.iskeyword(base) or keyword.issoftkeyword(base):
            base = "v_" + base
        if index:
            base += f"_out{index}"
        if base in self.used_names and len(parts) > 1:
            longer = parts[-2].lower().strip("_")
            if longer and not longer[0].isdigit():
                base = f"{longer}_{base}"
        return self._unused(base)

    def _unused(self, base: str) -> str:
        name, count = base, 1
        while name in self.used_names:
            count += 1
            name = f"{base}_{count}"
        self.used_names.add(name)
        return name

    def expression(self, value: Value) -> str:
        """How a value is written where it is used."""
        if value.kind == "constant":
            return self.constant_name(value)
        if value.kind in ("ref", "read"):
            name = self.ref_name(value.op)
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
        for step in self.plan.steps:
            for output in step.outputs:
                if output.op is value.op and output.index == value.index and output.name:
                    return output.name
        for feed in self.plan.feeds:
            if feed.op is value.op and feed.index == value.index:
                return feed.name
        raise AssertionError(f"{value.op.name} is used before it is computed")

    def constant_name(self, value: Value) -> str:
        constant = value.constant
        found = self.constant_names.get(id(constant))
        if found is not None:
            return found
        name = self.identifier(value.op, value.index)
        if isinstance(constant, np.ndarray) and constant.ndim == 0 and constant.dtype != object:
            constant = constant[()]
        self.constants[name] = constant
        self.constant_names[id(value.constant)] = name
        self.notes[name] = _described(constant)
        return name

    def ref_name(self, op: Operation) -> str:
        if op not in self.ref_names:
            name = self._unused(re.sub(r"\W", "_", op.name, flags=re.A).strip("_").lower() + "_var")
            self.ref_names[op] = name if not name[0].isdigit() else self._unused("v_" + name)
            self.refs[self.ref_names[op]] = op
        return self.ref_names[op]

    def state_name(self, op: Operation) -> str:
        name = self.identifier(op, 0) + "_state"
        name = self._unused(name)
        self.states[name] = op
        return name

    def kernel_name(self, definition: OpDef) -> str:
        function = definition.kernel_fn
        own = str(getattr(function, "__name__", definition.name))
        if isinstance(function, np.ufunc) and getattr(np, own, None) is function:
            return f"np.{own}"
        if id(function) not in self.kernel_names:
            base = own.strip("_") or definition.name
            if not base.isidentifier() or keyword.iskeyword(base):
                base = definition.name.lower() + "_kernel"
            name = self._unused(base)
            self.kernel_names[id(function)] = name
            self.constants[name] = function
        return self.kernel_names[id(function)]

    def literal(self, value: Any) -> str:
        """An attribute as source text, or the name it is bound to."""
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if isinstance(value, float) and math.isfinite(value):
            return repr(value)
        if isinstance(value, (list, tuple)) and all(isinstance(v, (bool, int)) for v in value):
            return repr(list(value))
        if isinstance(value, dtypes.DType):
            name = value.name
            if name in self.used_names and self.constants.get(name) is not value:
                name = self._unused(name + "_dtype")
            self.used_names.add(name)
            self.constants[name] = value
            return name
        for name, bound in self.constants.items():
            if bound is value:
                return name
        name = self._unused("attr")
        self.constants[name] = value
        return name


def _indent(depth: int) -> str:
    return "    " * (depth + 1)


def _outermost_first(conjunction: frozenset[tuple[Value, bool]]) -> list[tuple[Value, bool]]:
    """The literals in an order in which each predicate is there once those before it hold."""
    def depth(value: Value) -> int:
        return max((len(c) for c in value.conditions), default=0)
    return sorted(conjunction, key=lambda literal: (depth(literal[0]), literal[0].op._id, literal[0].index))


def _counted(op: Operation) -> list[tuple[Any, int]]:
    counted = []
    for arg in op._op_def.inputs:
        count = 1
        if arg.number_attr:
            count = op._attrs[arg.number_attr]
        elif arg.type_list_attr:
            count = len(op._attrs[arg.type_list_attr])
        counted.append((arg, count))
    return counted


def _described(constant: Any) -> str:
    array = np.asarray(constant)
    if array.dtype == object:
        return "a string" if array.ndim == 0 else f"strings, shape {array.shape}"
    if array.ndim == 0:
        return f"{array.dtype.name} {array[()]!s}"
    if array.size <= 8 and array.dtype != object:
        return f"{array.dtype.name} {' '.join(str(array.tolist()).split())}"
    return f"{array.dtype.name} array of shape {array.shape}"
