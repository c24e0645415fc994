"""TrainingGraphManager: what each variable did, step by step, with checkpoints that go on counting."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from tfsandbox.framework import errors, stacks
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.runtime.session import BaseSession
from tfsandbox.training import checkpoint_management
from tfsandbox.training import training_scope as scope_lib

_CHUNK = 1 << 16
_RECORD_SUFFIX = ".tracking.json"


@dataclass
class StepRecord:
    """One variable in one step. Norms are L2; `state` is training, idle or frozen."""

    step: int
    variable: str
    state: str
    delta_norm: float
    value_norm: float


@dataclass
class _Tracked:
    """The running account of one variable."""

    steps: int = 0
    changed_steps: int = 0
    last_delta: float = 0.0
    total_delta: float = 0.0
    value_norm: float = 0.0
    state: str = "new"


class ManagerTable:
    """The account as a table: text in a terminal, HTML in a notebook."""

    COLUMNS = ("variable", "state", "steps", "changed", "last change", "total change", "norm")

    def __init__(self, rows: list[tuple[str, ...]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        table = [self.COLUMNS, *self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.COLUMNS))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(c)}</th>" for c in self.COLUMNS)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class TrainingGraphManager:
    """Tracks the training state of variables of one graph.

    `begin()` and `end()` bracket one step (or `with manager.step():`). Between them run what you like; `end` compares
    each variable with what it was. States: `new` (no step yet), `training` (changed in the last step), `idle` (could
    have changed, did not), `frozen` (a training scope held it).
    """

    def __init__(self, variables: Any = None, graph: Graph | None = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph or None, but is {type(graph).__name__}: {graph!r}")
        self._graph = graph or get_default_graph()
        self._variables: dict[str, Any] = {}
        self._tracked: dict[str, _Tracked] = {}
        self._buffers: dict[str, np.ndarray] = {}
        self._open: Any = None
        self._unfinished = 0
        self._watch: list[Any] = []
        self.history: list[StepRecord] = []
        self.steps = 0
        if variables is not None:
            self.add_variables(variables)

    # ------------------------------------------------------------ variables

    @property
    def variables(self) -> list[Any]:
        """The managed variables, in the order they were added."""
        return list(self._variables.values())

    def add_variables(self, vars: Any) -> None:
        """Manage these variables too (a variable, list or dict); those managed already stay as they are.

        Raises `TypeError` for what is no variable, `ValueError` for a variable of another graph.
        """
        if isinstance(vars, dict):
            vars = [v for value in vars.values() for v in (value if isinstance(value, (list, tuple)) else [value])]
        members = [vars] if scope_lib.is_variable(vars) else vars
        if not isinstance(members, (list, tuple, set, frozenset)):
            raise TypeError(f"add_variables takes a tf.Variable or a list of them, but got {type(vars).__name__}: "
                            f"{vars!r}")
        for variable in members:
            if not scope_lib.is_variable(variable):
                raise TypeError(f"add_variables takes tf.Variable objects, but got {type(variable).__name__}: "
                                f"{variable!r}")
            if variable.graph is not self._graph:
                raise ValueError(f"variable {variable.op.name} belongs to another graph than this manager's. Make the "
                                 f"manager with graph=variable.graph.")
        for variable in members:
            self._variables.setdefault(variable.op.name, variable)
            self._tracked.setdefault(variable.op.name, _Tracked())

    def state(self, variable: Any) -> str:
        """`new`, `training`, `idle` or `frozen`; by variable or by name (with or without `:0`)."""
        name = variable if isinstance(variable, str) else variable.op.name
        name = name.removesuffix(":0")
        if name not in self._tracked:
            raise ValueError(f"{name!r} is not managed. There are: {', '.join(self._tracked) or 'none'}.")
        return self._tracked[name].state

    # ------------------------------------------------------------ steps

    def begin(self, session: Any = None) -> None:
        """Begin a step: remember what the variables are.

        Raises `RuntimeError` where a step is open already or the session is closed, `ValueError` where there is no
        session or it is of another graph, `FailedPreconditionError` where a variable has no value yet.
        """
        if self._open is not None:
            if getattr(self._open, "_unfinished", 0) == self._unfinished:
                raise RuntimeError("begin() was called twice: a step is open. Call end() first.")
            self.abandon()  # a run of that step raised: it never got to its end()
        session = self._session(session, "begin")
        values = {name: self._read(session, variable) for name, variable in self._variables.items()}
        for name, value in values.items():
            buffer = self._buffers.get(name)
            if buffer is None or buffer.shape != value.shape or buffer.dtype != value.dtype:
                self._buffers[name] = np.array(value)
            else:
                np.copyto(buffer, value)
        self._watch = [scope_lib.current_scope()]
        scope_lib.watchers.lists.append(self._watch)
        self._open = session
        self._unfinished = getattr(session, "_unfinished", 0)

    def end(self, session: Any = None) -> None:
        """End the step: compare, and write one record a variable into `history`.

        Raises `RuntimeError` where no step is open or its session is closed by now, `ValueError` where the session is
        not the one `begin` had.
        """
        if self._open is None:
            raise RuntimeError("end() was called without a step: call begin() before the step runs.")
        opened = self._open
        if session is not None and getattr(session, "_tf_sess", lambda: session)() is not opened:
            raise ValueError("end() was given another session than begin(): the step is still open in that one.")
        self.abandon()
        if opened._closed:
            raise RuntimeError("Attempted to use a closed Session: it was closed while the step was open. Call begin() "
                               "with an open one.")
        self.steps += 1
        scopes = [s for s in [*self._watch, scope_lib.current_scope()] if s is not None]
        for name, variable in self._variables.items():
            if name not in self._buffers:
                continue  # added while the step was open
            value = self._read(opened, variable)
            changed, delta, norm = _compare(value, self._buffers[name])
            frozen = not changed and any(not s.trains(variable) for s in scopes)
            tracked = self._tracked[name]
            tracked.state = "training" if changed else "frozen" if frozen else "idle"
            tracked.steps += 1
            tracked.changed_steps += changed
            tracked.last_delta = delta
            tracked.total_delta += delta
            tracked.value_norm = norm
            self.history.append(StepRecord(self.steps, name, tracked.state, delta, norm))

    def abandon(self) -> None:
        """Close an open step without counting it: the next call is `begin()` again."""
        self._open = None
        if self._watch in scope_lib.watchers.lists:
            scope_lib.watchers.lists[:] = [w for w in scope_lib.watchers.lists if w is not self._watch]

    @contextmanager
    def step(self, session: Any = None) -> Iterator[TrainingGraphManager]:
        """Context manager for one step; a step that raises is not counted."""
        self.begin(session)
        try:
            yield self
        except BaseException:
            self.abandon()
            raise
        self.end()

    def _session(self, session: Any, method: str) -> Any:
        if session is None:
            session = stacks.default_session()
            if session is None:
                raise ValueError(f"{method}() needs a session: call it inside `with tf.Session() as sess:`, or pass "
                                 f"session=sess.")
        if hasattr(session, "_tf_sess"):
            session = session._tf_sess()  # a monitored session's own
        if not isinstance(session, BaseSession):
            raise TypeError(f"{method}() takes a tf.Session, but got {type(session).__name__}: {session!r}")
        if session._closed:
            raise RuntimeError(f"Attempted to use a closed Session: {method}() needs an open one.")
        if session.graph is not self._graph:
            raise ValueError(f"{method}() got a session of another graph than the manager's.")
        return session

    def _read(self, session: Any, variable: Any) -> np.ndarray:
        try:
            return np.asarray(session._state.ref(variable.op).read())
        except errors.FailedPreconditionError as error:
            raise errors.FailedPreconditionError(None, variable.op, error.message) from None

    # ------------------------------------------------------------ showing

    def table(self) -> ManagerTable:
        """One row a variable: state, steps seen and changed in, last and total change, norm."""
        return ManagerTable([(name, t.state, str(t.steps), str(t.changed_steps), f"{t.last_delta:.4g}",
                              f"{t.total_delta:.4g}", f"{t.value_norm:.4g}") for name, t in self._tracked.items()])

    def plot(self) -> Any:
        """A matplotlib figure: each variable's change per step, and its norm."""
        from matplotlib.figure import Figure
        figure = Figure(figsize=(8, 3), layout="constrained")
        left, right = figure.subplots(1, 2)
        for name in self._variables:
            records = [r for r in self.history if r.variable == name]
            left.plot([r.step for r in records], [r.delta_norm for r in records], label=name)
            right.plot([r.step for r in records], [r.value_norm for r in records], label=name)
        left.set(title="change per step", xlabel="step", ylabel="L2 norm of the change")
        right.set(title="size", xlabel="step", ylabel="L2 norm of the value")
        if self._variables:
            right.legend()
        return figure

    def __repr__(self) -> str:
        return f"<TrainingGraphManager: {len(self._variables)} variables, {self.steps} steps>\n{self.table()!r}"

    # ------------------------------------------------------------ checkpoints

    def save(self, path: str, session: Any = None, global_step: Any = None) -> str | None:
        """Write the managed variables to a checkpoint, as `tf.train.Saver` does, and the account beside it.

        Gives the checkpoint's path prefix, None in a training scope with `is_chief=False`. Raises `ValueError` where
        nothing is managed or the folder does not exist.
        """
        from tfsandbox.lib import tensor_bundle
        session = self._session(session, "save")
        if not scope_lib.is_chief():
            return None
        if not self._variables:
            raise ValueError("there is nothing to save: add_variables() first.")
        prefix = os.fspath(path)
        if global_step is not None:
            number = global_step if isinstance(global_step, (int, np.integer)) else int(session.run(global_step))
            prefix = f"{prefix}-{number}"
        folder = os.path.dirname(prefix)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {prefix} doesn't exist, can't save.")
        values = {name: (v.dtype.base_dtype.as_datatype_enum, self._read(session, v))
                  for name, v in self._variables.items()}
        account = {"steps": self.steps, "variables": {n: asdict(t) for n, t in self._tracked.items()},
                   "history": [asdict(r) for r in self.history]}
        temporary = f"{prefix}{_RECORD_SUFFIX}.tmp{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(account, file)
        os.replace(temporary, prefix + _RECORD_SUFFIX)
        with tensor_bundle.BundleWriter(prefix) as writer:
            for name, (dtype, value) in values.items():
                writer.add(name, value, dtype)
        checkpoint_management.update_checkpoint_state(folder or ".", prefix, [prefix])
        return prefix

    def restore(self, path_or_dir: str, session: Any = None) -> str:
        """Read the managed variables from a checkpoint (a prefix, or a folder: its latest), and the account.

        All is checked before anything changes. Gives the prefix. Raises `ValueError` where a folder holds no
        checkpoint, `NotFoundError` for a missing file or variable, `InvalidArgumentError` for another shape or type,
        `DataLossError` for a corrupt file.
        """
        from tfsandbox.lib import tensor_bundle
        session = self._session(session, "restore")
        prefix = os.fspath(path_or_dir)
        if os.path.isdir(prefix):
            found = checkpoint_management.latest_checkpoint(prefix)
            if found is None:
                raise ValueError(f"there is no checkpoint in the folder {prefix}.")
            prefix = found
        values = {}
        with tensor_bundle.BundleReader(prefix) as reader:
            for name, variable in self._variables.items():
                value = reader.get(name)
                dtype = variable.dtype.base_dtype
                if not variable.shape.is_compatible_with(value.shape) or (
                        dtype.is_numpy_compatible and value.dtype != np.dtype(dtype.as_numpy_dtype)):
                    raise errors.InvalidArgumentError(
                        None, variable.op, f"checkpoint {prefix} holds {name} with shape {list(value.shape)} and type "
                                           f"{value.dtype}, but the variable has shape {variable.shape} and type "
                                           f"{dtype.name}")
                values[name] = value
        account = self._read_account(prefix)
        for name, value in values.items():
            session._state.ref(self._variables[name].op).assign(value)
        if account is not None:
            self.steps, self.history, tracked = account
            self._tracked.update({n: t for n, t in tracked.items() if n in self._variables})
        self.abandon()
        return prefix

    def _read_account(self, prefix: str) -> tuple[int, list[StepRecord], dict[str, _Tracked]] | None:
        try:
            with open(prefix + _RECORD_SUFFIX, encoding="utf-8") as file:
                data = json.load(file)
            return (int(data["steps"]), [StepRecord(**r) for r in data["history"]],
                    {n: _Tracked(**t) for n, t in data["variables"].items()})
        except FileNotFoundError:
            return None  # a checkpoint of tf.train.Saver has no account
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise errors.DataLossError(None, None, f"the tracking record {prefix}{_RECORD_SUFFIX} is damaged: "
                                                   f"{error}") from None


def _compare(value: np.ndarray, before: np.ndarray) -> tuple[bool, float, float]:
    """(changed, L2 norm of the change, L2 norm of the value), in pieces so that no full copy is made."""
    if value.shape != before.shape or value.dtype != before.dtype:
        return True, _norm(value), _norm(value)
    flat, old = value.reshape(-1), before.reshape(-1)
    changed, delta, norm = False, 0.0, 0.0
    for start in range(0, flat.size, _CHUNK):
        now, then = flat[start:start + _CHUNK], old[start:start + _CHUNK]
        if now.dtype == object:
            changed |= bool(np.any(now != then))
            continue
        changed |= now.tobytes() != then.tobytes()
        wide = np.abs(now).astype(np.float64)
        norm += float(np.dot(wide, wide))
        if changed:
            with np.errstate(all="ignore"):
                difference = np.abs(now - then) if now.dtype.kind == "c" else \
                    now.astype(np.float64) - then.astype(np.float64)
            delta += float(np.dot(difference, difference).real)
    return changed, float(np.sqrt(delta)), float(np.sqrt(norm))


def _norm(value: np.ndarray) -> float:
    if value.dtype == object:
        return 0.0
    return float(np.sqrt(np.sum(np.square(np.abs(value).astype(np.float64)))))
