"""A program compiled once for a graph and bound to a session: what a run calls."""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tfsandbox.framework import errors
from tfsandbox.framework.operation import Operation
from tfsandbox.runtime import quiet
from tfsandbox.runtime.emit import Emitter, Program
from tfsandbox.runtime.state import Ref, SessionState, uninitialized
from tfsandbox.runtime.values import Plan

_numbers = itertools.count(1)


def compile_plan(plan: Plan) -> Program:
    """Emit and compile a plan. Its source is known to `linecache`, so tracebacks and debuggers show it."""
    program = Emitter(plan).emit()
    program.filename = f"<tfsandbox plan {next(_numbers)}>"
    program.code = compile(program.source, program.filename, "exec")
    linecache.cache[program.filename] = (len(program.source), None, program.source.splitlines(True), program.filename)
    weakref.finalize(program, linecache.cache.pop, program.filename, None).atexit = False
    return program


class Executable:
    """A program in one session: `run(*feeds)` gives the tuple of fetched values."""

    __slots__ = ("program", "run", "call", "unchecked")

    def __init__(self, program: Program, state: SessionState) -> None:
        namespace: dict[str, Any] = dict(program.constants)
        for name, op in program.refs.items():
            namespace[name] = state.ref(op)
        for name, op in program.states.items():
            namespace[name] = state.op_state(op)
        exec(program.code, namespace)
        self.program = program
        self.run: Callable[..., tuple[Any, ...]] = namespace["run"]
        # A node with a state may call the user's functions, and those may run this or another session.
        self.call = quiet.call_nested if program.states else quiet.call_plain
        self.unchecked: list[Ref] = [namespace[name] for name in program.required]

    def check_initialized(self) -> None:
        """Once a variable has a value it keeps one, so this is asked only until all of them do."""
        for ref in self.unchecked:
            if ref.value is None:
                raise self._located(uninitialized(ref.name), next(
                    (op for name, op in self.program.refs.items() if op.name == ref.name), None))
        self.unchecked = []

    def explain(self, error: Exception) -> Exception:
        """The TensorFlow error for what a line raised, naming the node it belongs to."""
        return self._located(error, self._op_at(error.__traceback__))

    def _op_at(self, trace: TracebackType | None) -> Operation | None:
        op = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.program.filename:
                op = self.program.lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return op

    def _located(self, error: Exception, op: Operation | None) -> Exception:
        where = "" if op is None else f"\n\t [[node {op.name} (defined at {op._frame[0]}:{op._frame[1]}) ]]"
        if isinstance(error, errors.OpError):
            if error.op is not None:
                return error
            kind: Any = type(error)
            return kind(None, op, error.message + where)
        if op is None:
            return error
        if isinstance(error, MemoryError):
            return errors.ResourceExhaustedError(None, op, f"out of memory: {error}{where}")
        if isinstance(error, NotImplementedError):
            return errors.UnimplementedError(None, op, f"{error}{where}")
        return errors.InvalidArgumentError(None, op, f"{error}{where}")
