"""Two graphs run side by side, before and after a pruning: same variables, same fresh data, the same outputs?"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from tfsandbox.notebook.attr_text import dtype_name

BATCH = 8
"""What an unknown dimension of a placeholder becomes."""

_HANDS_ON = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze", "Transpose"})
_INDEXED = {"SparseSoftmaxCrossEntropyWithLogits": (1, 0, -1), "Gather": (1, 0, 0), "GatherV2": (1, 0, 0)}
"""By op: the input that holds indices, the input that they point into, and the axis of it."""

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_INITIALISERS = ("Assign", "AssignVariableOp")


class CannotRun(ValueError):
    """Why two graphs cannot be run side by side, in words for the reader."""


class SideBySide:
    """The graphs of two GraphDefs with a session each.

    `outputs` are tensor names that both have. `values` gives variables their values by name; the others are initialised
    as the graph says. Random ops without a seed get the same one in both graphs.

    Raises `CannotRun` where a graph cannot be imported or lacks an output; a run, where a variable gets no value.
    """

    def __init__(self, before: Any, after: Any, outputs: Sequence[str],
                 values: Mapping[str, Any] | None = None) -> None:
        if not outputs:
            raise CannotRun("There is nothing to run: no value of the forward pass remains.")
        self.outputs = list(outputs)
        self.sessions = [_session(before), _session(after)]
        self.seconds: list[list[float]] = [[], []]
        for session in self.sessions:
            for name in self.outputs:
                try:
                    session.graph.get_tensor_by_name(name)
                except (KeyError, ValueError) as error:
                    raise CannotRun(str(error.args[0])) from None
        self._values = dict(values or {})
        self._ready = False
        self.placeholders = [op for op in _needed(self.sessions[0].graph, self.outputs) if op.type == "Placeholder"]

    # Variables

    def _give_values(self) -> None:
        """Give the variables of both graphs the same values, once, before the first run."""
        if self._ready:
            return
        values = self._values
        first, second = self.sessions
        variables = [op for op in _needed(first.graph, self.outputs) if op.type in _VARIABLES]
        missing = [op for op in variables if values.get(op.name) is None]
        _initialise(first, missing)
        for op in variables:
            if values.get(op.name) is not None:
                first._state.ref(op).assign(values[op.name])
            value = first._state.ref(op).value
            if value is None:
                raise CannotRun(f"The variable {op.name} has no value: nothing in the graph initialises it by itself. "
                                "Run its initialiser in a session of the graph first.")
            if op.name in second.graph._nodes_by_name:
                second._state.ref(second.graph.get_operation_by_name(op.name)).assign(value)
        self._ready = True

    # Runs

    def fresh(self, seed: int) -> dict[str, np.ndarray]:
        """New data for the placeholders: numbers between 0 and 1, and integers that are valid as indices."""
        draw = np.random.default_rng(seed)
        return {op.outputs[0].name: _drawn(op.outputs[0], draw) for op in self.placeholders}

    def _fed(self, which: int, feeds: Mapping[str, Any]) -> dict[str, Any]:
        known = self.sessions[which].graph._nodes_by_name
        return {name: value for name, value in feeds.items() if name.rpartition(":")[0] in known}

    def compare(self, seed: int) -> list[dict[str, Any]]:
        """One run of each graph on the same new data; a record for each output."""
        self._give_values()
        feeds = self.fresh(seed)
        found = [self._run(which, feeds) for which in (0, 1)]
        return [_compared(name, a, b) for name, a, b in zip(self.outputs, *found)]

    def _run(self, which: int, feeds: Mapping[str, Any]) -> list[Any]:
        from tfsandbox.framework.errors_impl import OpError

        try:
            return list(self.sessions[which].run(self.outputs, self._fed(which, feeds)))
        except OpError as error:
            place = ("before", "after")[which]
            raise CannotRun(f"The graph {place} cannot be run on made-up data: "
                            f"{str(error.message).splitlines()[0]}") from None

    def time(self, budget: float = 0.08) -> tuple[float, float, int]:
        """Runs both in turn for so many seconds; the medians of all runs so far in seconds, and how many there were."""
        self._give_values()
        feeds = self.fresh(0)
        runs = [self._timed(which, self._fed(which, feeds)) for which in (0, 1)]
        if not self.seconds[0]:
            self._run(0, feeds)  # makes the programs
            self._run(1, feeds)
        end = time.perf_counter() + budget
        while True:
            # The order changes, so that neither is always the one with the warmer cache.
            for which in ((0, 1), (1, 0))[len(self.seconds[0]) % 2]:
                self.seconds[which].append(runs[which]())
            if time.perf_counter() >= end:
                break
        return median(self.seconds[0]), median(self.seconds[1]), len(self.seconds[0])

    def _timed(self, which: int, feeds: dict[str, Any]) -> Callable[[], float]:
        session, outputs = self.sessions[which], self.outputs

        def run() -> float:
            start = time.perf_counter()
            session.run(outputs, feeds)
            return time.perf_counter() - start
        return run

    def kernels(self) -> list[tuple[int, int]]:
        """For each graph: how many nodes a run of the outputs needs, and how many steps its program has."""
        return [(len(_needed(session.graph, self.outputs)), program_steps(session, self.outputs))
                for session in self.sessions]


def program_steps(session: Any, outputs: Sequence[str]) -> int:
    """How many kernels the program of a run calls, for feeds of any shape."""
    placeholders = [op.outputs[0] for op in _needed(session.graph, outputs) if op.type == "Placeholder"]
    call = session._prepare(list(outputs), dict.fromkeys(placeholders), ())
    return len(session._program(call, None).plan.steps)


def _session(graph_def: Any) -> Any:
    from tfsandbox.framework.graph import Graph
    from tfsandbox.framework.importer import import_graph_def
    from tfsandbox.runtime.session import Session

    graph = Graph()
    try:
        with graph.as_default():
            import_graph_def(_seeded(graph_def), name="")
    except Exception as error:  # an op that nobody knows, a shape that does not fit: whatever it is, it is told
        raise CannotRun(f"The graph cannot be imported: {str(error).splitlines()[0]}") from None
    return Session(graph=graph)


def _seeded(graph_def: Any) -> Any:
    """A copy in which random ops without a seed have one that their name decides."""
    from tfsandbox.proto import graph_pb2

    copy = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    for node in copy.node:
        if "seed" in node.attr and "seed2" in node.attr and not (node.attr["seed"].i or node.attr["seed2"].i):
            node.attr["seed"].i = 1
            node.attr["seed2"].i = zlib.crc32(node.name.encode()) & 0x7FFFFFFF
    return copy


def _needed(graph: Any, outputs: Iterable[str]) -> list[Any]:
    """The operations that a run of the outputs needs, in the graph's order."""
    waiting = [graph.get_tensor_by_name(name).op for name in outputs]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        for other in [*(tensor.op for tensor in op.inputs), *op.control_inputs]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return [op for op in graph.get_operations() if op in seen]


def _initialise(session: Any, variables: Sequence[Any]) -> None:
    """Run the initialiser of each variable that has one; again while some that read others succeed."""
    from tfsandbox.framework.errors_impl import OpError

    waiting = []
    for op in variables:
        writers = [user for user in op.outputs[0].consumers()
                   if user.type in _INITIALISERS and user.inputs[0] is op.outputs[0]]
        named = [user for user in writers if user.name == f"{op.name}/Assign"]
        waiting += (named or writers)[:1]
    while waiting:
        left = []
        for op in waiting:
            try:
                session.run(op)
            except OpError:
                left.append(op)
        if len(left) == len(waiting):
            break
        waiting = left


# Data


def _drawn(tensor: Any, draw: np.random.Generator) -> np.ndarray:
    shape = [BATCH] if tensor.shape.ndims is None else [BATCH if size is None else size
                                                        for size in tensor.shape.as_list()]
    dtype = tensor.dtype
    if dtype.name == "string":
        return np.full(shape, b"", object)
    kind = dtype.as_numpy_dtype
    if dtype.name == "bool":
        return np.asarray(draw.integers(0, 2, shape)).astype(kind)
    if dtype.is_integer:
        return np.asarray(draw.integers(0, max(1, _bound(tensor)), shape)).astype(kind)
    if not (dtype.is_floating or dtype.is_complex):
        raise CannotRun(f"There is no made-up data of type {dtype.name} for {tensor.op.name}.")
    return np.asarray(draw.uniform(0.05, 1.0, shape)).astype(kind)


def _bound(tensor: Any) -> int:
    """Integers below this are valid where the tensor is used: as classes, as rows of a table."""
    waiting, seen, bounds = [tensor], {tensor}, []
    while waiting:
        source = waiting.pop()
        for user in source.consumers():
            if user.type in _HANDS_ON and user.inputs[0] is source:
                found = [output for output in user.outputs if output not in seen]
                seen.update(found)
                waiting += found
            elif user.type in _INDEXED:
                indices, table, axis = _INDEXED[user.type]
                shape = user.inputs[table].shape
                if user.inputs[indices] is source and shape.ndims:
                    size = shape.as_list()[axis]
                    bounds += [] if size is None else [size]
    return min(bounds, default=2)


# What is compared


def _compared(name: str, before: Any, after: Any) -> dict[str, Any]:
    a, b = np.asarray(before), np.asarray(after)
    same = a.dtype == b.dtype and a.shape == b.shape and _bits(a) == _bits(b)
    record = {"name": name, "dtype": dtype_name(a.dtype), "shape": list(a.shape), "same": same,
              "before": f"{zlib.crc32(_bits(a)):08x}", "after": f"{zlib.crc32(_bits(b)):08x}",
              "sample": [_sample(a), _sample(b)], "difference": None}
    if not same and a.shape == b.shape and a.dtype.kind in "fiu" and a.size:
        difference = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
        record["difference"] = difference if np.isfinite(difference) else None
    return record


def _bits(array: np.ndarray) -> bytes:
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


def _sample(array: np.ndarray) -> str:
    shown = [f"{value:.9g}" if array.dtype.kind == "f" else str(value) for value in array.ravel()[:3]]
    return ", ".join(shown) + (", …" if array.size > 3 else "")
