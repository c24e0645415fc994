"""What flows through the nodes of a graph: the values of the runs under `with view.watch(session):`, summed up.

A watched run fetches, beside what it was asked for, the outputs of every node that it computes anyway: the same run,
the same random numbers, one update of each variable. A variable's value is the one after the run.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

BINS = 24
HEAT = 24
"""A heat map has at most this many rows and columns; a larger array is averaged down to them."""

SAMPLE = 200_000
"""A histogram of a larger array is made of this many of its elements, evenly spaced."""

TIMED = 0.6
"""Seconds that timing the kernels may take in all."""


class Watched:
    """The values of the last watched run, by node, and how many runs were watched."""

    def __init__(self) -> None:
        self.runs = 0
        self.values: dict[str, list[np.ndarray]] = {}
        self._kernels: list[Any] = []
        self._seconds: dict[str, float] | None = None
        self._broken_before: frozenset[str] = frozenset()

    def take(self, operations: list[Any], values: list[list[np.ndarray]], broken: frozenset[str] = frozenset()) -> None:
        """Keep what a run has computed; `broken` are the variables that were not finite before it."""
        self.runs += 1
        self._broken_before = broken
        self._kernels = operations
        self.values = {op.name: found for op, found in zip(operations, values)}
        self._seconds = None

    def summaries(self) -> dict[str, dict[str, Any]]:
        """For each node the summary of its first output, with `starts` where NaN or Inf comes up first."""
        found = {name: summary(values[0]) for name, values in self.values.items() if values}
        broken = {name for name, record in found.items() if record.get("nans") or record.get("infs")}
        # What is seen of a variable, and of what reads it, is its value after the run's own update.
        broken -= {op.name for op in self._kernels if _variable_behind(op) not in (None, *self._broken_before)}
        for op in self._kernels:
            if op.name in broken and not any(tensor.op.name in broken for tensor in op.inputs):
                found[op.name]["starts"] = True
        return found

    def seconds(self) -> dict[str, float]:
        """How long each kernel takes on the values of the last run, alone and one after the other.

        A run is faster than their sum: it folds, fuses and reuses memory. Kernels with state are not run again.
        """
        if self._seconds is not None:
            return self._seconds
        from tfsandbox.framework import op_registry

        found: dict[str, float] = {}
        end = time.perf_counter() + TIMED
        for op in self._kernels:
            schema = op_registry.find(op.type)
            if schema is None or schema.is_stateful or schema.kernel_fn is None or time.perf_counter() > end:
                continue
            inputs = [self._input(tensor) for tensor in op.inputs]
            if any(value is None for value in inputs):
                continue
            with contextlib.suppress(Exception), np.errstate(all="ignore"):
                schema.evaluate(inputs, op._attrs)
                start = time.perf_counter()
                schema.evaluate(inputs, op._attrs)
                found[op.name] = time.perf_counter() - start
        self._seconds = found
        return found

    def _input(self, tensor: Any) -> np.ndarray | None:
        if tensor.dtype._is_ref_dtype:
            return None
        values = self.values.get(tensor.op.name)
        return values[tensor.value_index] if values and tensor.value_index < len(values) else None

    def detail(self, name: str) -> dict[str, Any]:
        """The summary of a node's first output with its histogram, a heat map and its first elements.

        Raises KeyError for a node that the watched run did not compute.
        """
        if not self.values.get(name):
            raise KeyError(f"The watched run did not compute {name!r}.")
        array = self.values[name][0]
        return {**summary(array), "histogram": histogram(array), "heat": heat(array), "elements": elements(array)}


def summary(array: np.ndarray) -> dict[str, Any]:
    """Shape, dtype and bytes of an array; for numbers also the least, the greatest, mean and deviation of those that
    are finite, and how many are NaN or infinite.
    """
    array = np.asarray(array)
    kind = "string" if array.dtype == object else array.dtype.name
    record: dict[str, Any] = {"shape": list(array.shape), "dtype": kind, "bytes": int(array.nbytes)}
    if array.dtype.kind not in "fiub" or not array.size:
        return record
    numbers = array.astype(np.float64, copy=False) if array.dtype.kind != "f" or array.itemsize < 4 else array
    finite = np.isfinite(numbers)
    count = int(np.count_nonzero(finite))
    if count < numbers.size:
        nans = int(np.count_nonzero(np.isnan(numbers)))
        record |= {"nans": nans, "infs": numbers.size - count - nans}
        numbers = numbers[finite]
    if count:
        with np.errstate(all="ignore"):
            found = {"min": numbers.min(), "max": numbers.max(), "mean": numbers.mean(dtype=np.float64),
                     "std": numbers.std(dtype=np.float64)}
        record |= {key: float(value) for key, value in found.items() if math.isfinite(value)}
    return record


def histogram(array: np.ndarray) -> dict[str, Any] | None:
    """`low`, `high` and the counts of equal bins between them; None for what has no finite numbers."""
    numbers = _finite(array)
    if numbers is None:
        return None
    counts, edges = np.histogram(numbers, bins=BINS)
    return {"low": float(edges[0]), "high": float(edges[-1]), "counts": counts.tolist()}


def _finite(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind not in "fiub":
        return None
    flat = np.asarray(array).ravel()
    if flat.size > SAMPLE:
        flat = flat[::-(-flat.size // SAMPLE)]
    numbers = flat.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    # A range wider than a float can tell has no bins.
    return numbers if numbers.size and math.isfinite(float(numbers.max()) - float(numbers.min())) else None


def heat(array: np.ndarray) -> list[list[float | None]] | None:
    """Rows of numbers, at most `HEAT` by `HEAT`, averaged down to that; None for scalars and what are no numbers.

    All but the last dimension are rows. NaN and Inf are None, and so is a mean over any of them.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "fiub" or not array.ndim or array.size < 2:
        return None
    table = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(1, -1)
    for axis in (0, 1):
        size = table.shape[axis]
        if size > HEAT:
            starts = (np.arange(HEAT) * size) // HEAT
            lengths = np.diff([*starts, size])
            sums = np.add.reduceat(table.astype(np.float64), starts, axis=axis)
            table = sums / (lengths[:, None] if axis == 0 else lengths)
    return [[float(value) if math.isfinite(value) else None for value in row] for row in table.tolist()]


def elements(array: np.ndarray) -> str:
    """The array as numpy prints it, its middle left out."""
    with np.printoptions(threshold=60, edgeitems=3, precision=4, linewidth=60, suppress=False):
        text = str(array)
    return text if len(text) <= 1200 else text[:1199] + "…"


@contextlib.contextmanager
def watching(session: Any, watched: Watched, heard: Callable[[], None]) -> Iterator[Watched]:
    """Let every run of a session be watched; `heard` is called after each."""
    original = session.run
    known: dict[Any, Any] = {}

    def run(fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        operations, tensors = _computed(session.graph, fetches, feed_dict, known)
        before = _broken_variables(session, operations)
        result, values = original([fetches, tensors], feed_dict, options, run_metadata)
        watched.take(operations, values, before)
        heard()
        return result

    session.run = run
    try:
        yield watched
    finally:
        if session.run is run:
            del session.run


def _variable_behind(op: Any) -> str | None:
    """The variable that an op is, or reads; None for all others."""
    if op.outputs and op.outputs[0].dtype._is_ref_dtype and not op.inputs:
        return str(op.name)
    if op.type == "Identity" and op.inputs and op.inputs[0].dtype._is_ref_dtype:
        return str(op.inputs[0].op.name)
    return None


def _broken_variables(session: Any, operations: list[Any]) -> frozenset[str]:
    """The variables that hold a NaN or Inf now, as far as the session keeps them here."""
    from tfsandbox.notebook.engine_records import stored_value

    found = set()
    for op in operations:
        if _variable_behind(op) == op.name:
            value = stored_value(session, op.name)
            if value is not None and value.dtype.kind == "f" and not np.isfinite(value).all():
                found.add(op.name)
    return frozenset(found)


def _computed(graph: Any, fetches: Any, feed_dict: Any, known: dict[Any, Any]) -> tuple[list[Any], list[list[Any]]]:
    """The nodes that a run computes, in order of making, with those of their outputs that can be fetched."""
    from tfsandbox.runtime import rewrites
    from tfsandbox.runtime.fetches import FetchPlan, structure_key
    from tfsandbox.runtime.order import needed_ops

    active = rewrites.active.rewrites
    key: Any
    try:
        key = (structure_key(fetches), tuple(feed_dict or ()), active, graph.version)
        found = known.get(key)
    except TypeError:
        key = found = None
    if found is None:
        feeds = {graph.as_graph_element(name, allow_operation=False) for name in (feed_dict or ())}
        targets = [getattr(element, "op", element) for element in FetchPlan(fetches, graph).elements]
        inside = {*needed_ops(targets, feeds, active), *(tensor.op for tensor in feeds if len(tensor.op.outputs) == 1)}
        operations = [op for op in graph.get_operations() if op in inside and _fetchable(graph, op)]
        found = operations, [list(op.outputs) for op in operations]
        if key is not None:
            known[key] = found
    return found


def _fetchable(graph: Any, op: Any) -> bool:
    """Whether every output has a value in any run: not inside a loop, nor in a branch that may not be taken."""
    if not op.outputs or op._control_flow_context is not None or op.type in ("Switch", "RefSwitch"):
        return False
    return all(graph.is_fetchable(tensor) and tensor.dtype.base_dtype.name not in ("resource", "variant")
               for tensor in op.outputs)
