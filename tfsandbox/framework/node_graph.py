"""A GraphDef read for analysis: nodes by number, with their edges in both directions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.graph_util_impl import check_graph_def, copy_of
from tfsandbox.framework.tensor_proto import proto_to_ndarray

VARIABLE_OPS = frozenset({"Variable", "VariableV2", "VarHandleOp"})
IS_INITIALIZED_OPS = frozenset({"IsVariableInitialized", "VarIsInitializedOp"})
# What tells of a tensor's shape, not of its value.
SHAPE_OPS = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "BroadcastGradientArgs",
                       "ConcatOffset", "InvertPermutation", "VariableShape"})
INITIALISER_OPS = frozenset({"Assign", "AssignVariableOp"})

_WRITE_OP = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]\w*|Assign(Add|Sub)?|Assign(Add|Sub)?VariableOp|"
                       r"(Resource)?Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)|(Resource)?StridedSliceAssign|"
                       r"CountUpTo|ResourceCountUpTo")
_HANDS_ON_REFS = re.compile(r"(Ref)?(Identity|Switch|Enter)|RefNextIteration|ReadVariableOp")
_SUMMARY_OP = re.compile(r"(Write)?(Scalar|Histogram|Image|Audio|Tensor|Merge)?Summary(V2)?")


class NodeGraph:
    """The nodes of a GraphDef and who feeds whom. The GraphDef may be TensorFlow's own; it is copied.

    Raises `TypeError` for something else, `ValueError` for an input that is not there or two nodes of one name.
    """

    def __init__(self, graph_def: Any) -> None:
        check_graph_def(graph_def)
        self.graph_def = copy_of(graph_def, graph_def.node)
        self.nodes: list[Any] = list(self.graph_def.node)
        self.names: list[str] = [node.name for node in self.nodes]
        self.ops: list[str] = [node.op for node in self.nodes]
        self.number: dict[str, int] = {name: i for i, name in enumerate(self.names)}
        if len(self.number) < len(self.nodes):
            seen: set[str] = set()
            twice = next(name for name in self.names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise ValueError(f"Two nodes of the GraphDef have the name {twice!r}.")
        self.inputs: list[list[tuple[int, int]]] = []  # (node, output) of each data input
        self.controls: list[list[int]] = []
        self.users: list[list[int]] = [[] for _ in self.nodes]  # by data, each once
        self.control_users: list[list[int]] = [[] for _ in self.nodes]
        for i, node in enumerate(self.nodes):
            self.inputs.append([])
            self.controls.append([])
            for text in node.input:
                self._connect(i, text)
        self.reads_after: list[list[int]] = [[] for _ in self.nodes]  # reads that wait for a write of the same variable
        self.read_writes: dict[int, list[int]] = {}  # and the writes that these wait for
        for i, op in enumerate(self.ops):
            if op == "ReadVariableOp" and self.controls[i]:
                self._connect_state(i)
        self.loops = any(op in ("NextIteration", "RefNextIteration") for op in self.ops)

    def __len__(self) -> int:
        return len(self.nodes)

    def _connect(self, i: int, text: str) -> None:
        source, output = split_input(text)
        j = self.number.get(source)
        if j is None:
            raise ValueError(f"Node {self.names[i]!r} has the input {text!r}, but the GraphDef has no node {source!r}."
                             f"{nearest(source, self.names)}")
        if output is None:
            self.controls[i].append(j)
            self.control_users[j].append(i)
        else:
            self.inputs[i].append((j, output))
            if not self.users[j] or self.users[j][-1] != i:
                self.users[j].append(i)

    def _connect_state(self, read: int) -> None:
        """A resource's write has no output: its value comes by way of a read that waits for it."""
        variable = self.variable_behind(read)
        waiting = list(self.controls[read])
        for i in waiting:
            if self.ops[i] == "NoOp" and len(waiting) < 1000:
                waiting += self.controls[i]
            elif self.is_write(i) and self.written_variable(i) == variable is not None:
                self.reads_after[i].append(read)
                self.read_writes.setdefault(read, []).append(i)

    # What a node is

    def is_variable(self, i: int) -> bool:
        """Whether the node holds a variable."""
        return self.ops[i] in VARIABLE_OPS

    def is_write(self, i: int) -> bool:
        """Whether the node changes a variable."""
        return bool(self.inputs[i]) and _WRITE_OP.fullmatch(self.ops[i]) is not None

    def is_summary(self, i: int) -> bool:
        """Whether the node makes, merges or writes a summary."""
        return _SUMMARY_OP.fullmatch(self.ops[i]) is not None

    def sources(self, i: int) -> list[int]:
        """The nodes that feed it, by data and by control."""
        return [j for j, _ in self.inputs[i]] + self.controls[i]

    def all_users(self, i: int) -> list[int]:
        """The nodes that it feeds, by data and by control."""
        return self.users[i] + self.control_users[i]

    def variable_behind(self, i: int) -> int | None:
        """The variable that a reference or handle comes from, None if it comes from something else."""
        for _ in range(len(self.nodes)):
            if self.is_variable(i):
                return i
            if not self.inputs[i] or not (_HANDS_ON_REFS.fullmatch(self.ops[i]) or self.is_write(i)):
                return None
            i = self.inputs[i][0][0]
        return None

    def written_variable(self, i: int) -> int | None:
        """The variable that a node changes."""
        return self.variable_behind(self.inputs[i][0][0]) if self.is_write(i) else None

    def constant(self, i: int) -> np.ndarray | None:
        """The value of a Const node, None for other nodes and for values that cannot be read."""
        if self.ops[i] != "Const":
            return None
        try:
            return proto_to_ndarray(self.nodes[i].attr["value"].tensor)
        except (TypeError, ValueError):
            return None

    def is_floating(self, i: int) -> bool:
        """Whether the node's type attribute is a floating or complex type."""
        attr = self.nodes[i].attr
        for name in ("dtype", "T"):
            if name in attr and attr[name].type:
                dtype = dtypes.as_dtype(attr[name].type)
                return dtype.is_floating or dtype.is_complex
        return False

    def located_at(self, i: int) -> list[str]:
        """The nodes with which the node asks to be placed."""
        attr = self.nodes[i].attr
        if "_class" not in attr:
            return []
        return [text[5:].decode("utf-8", "replace") for text in attr["_class"].list.s if text.startswith(b"loc:@")]

    def is_own_read(self, i: int, variable: int) -> bool:
        """Whether a node is the read that a variable is made with: placed as the variable, or named after it."""
        if self.controls[i] or len(self.inputs[i]) != 1 or self.inputs[i][0][0] != variable:
            return False
        if self.ops[i] == "ReadVariableOp":
            return self.names[i].startswith(self.names[variable] + "/")
        if self.ops[i] != "Identity":
            return False
        places = self.located_at(i)
        return self.names[variable] in places or (bool(places) and places == self.located_at(variable)) \
            or self.names[i] == self.names[variable] + "/read"

    # Walks

    def reach(self, starts: Iterable[int], step: Callable[[int], Iterable[int]]) -> set[int]:
        """The nodes that `step` leads to from the starts, which are among them."""
        found = set(starts)
        waiting = list(found)
        while waiting:
            for j in step(waiting.pop()):
                if j not in found:
                    found.add(j)
                    waiting.append(j)
        return found

    def ancestors(self, starts: Iterable[int]) -> set[int]:
        """The starts and all they depend on, by data and by control."""
        return self.reach(starts, self.sources)

    def dependents(self, starts: Iterable[int]) -> set[int]:
        """The starts and all that depends on them, by data and by control."""
        return self.reach(starts, self.all_users)

    def value_dependents(self, starts: Iterable[int]) -> set[int]:
        """The starts and all that depends on them by data, by way of a variable's new value too."""
        return self.reach(starts, lambda i: self.users[i] + self.reads_after[i])

    def value_ancestors(self, starts: Iterable[int]) -> set[int]:
        """The starts and all they depend on by data."""
        return self.reach(starts, lambda i: [j for j, _ in self.inputs[i]] + self.read_writes.get(i, []))


def split_input(text: str) -> tuple[str, int | None]:
    """Node and output of an input text; the output of a control input `^a` is None."""
    if text.startswith("^"):
        return text[1:], None
    head, _, index = text.rpartition(":")
    return (head, int(index)) if head and index.isdigit() else (text, 0)


def input_text(name: str, output: int) -> str:
    """An input as a NodeDef writes it: `a` for output 0, `a:1` for others."""
    return name if output == 0 else f"{name}:{output}"


def nearest(name: str, names: Sequence[str]) -> str:
    """` The nearest names it has: a, b.`, or nothing."""
    if len(names) > 2000:  # comparing takes its time: only those that end or begin alike
        ends = name.rpartition("/")[2], name[:3]
        names = [other for other in names if abs(len(other) - len(name)) < 4
                 and (other.endswith(ends[0]) or other.startswith(ends[1]))][:2000]
    close = difflib.get_close_matches(name, names, 3)
    return f" The nearest names it has: {', '.join(close)}." if close else ""
