"""What a session keeps between runs: variables, and whatever else ops own (random streams, queues, ...)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.runtime.values import storage_of

if TYPE_CHECKING:
    from tfsandbox.framework.operation import Operation


class Ref:
    """The storage of one variable in one session. `value` is None until it is initialised.

    Kernels that change a variable take its Ref. They change `value` in place or put a new array there in one
    statement, so that an interrupt finds the variable either before or after its update.
    """

    __slots__ = ("value", "name", "dtype", "declared_shape")

    def __init__(self, name: str, dtype: np.dtype[Any], declared_shape: tuple[int, ...] = ()) -> None:
        self.value: Any = None
        self.name = name
        self.dtype = dtype
        self.declared_shape = declared_shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The value's shape; before there is one, the shape the variable was made with, a scalar's where unknown."""
        return self.declared_shape if self.value is None else self.value.shape

    def read(self) -> np.ndarray:
        """The value; `FailedPreconditionError` where there is none yet."""
        if self.value is None:
            raise uninitialized(self.name)
        return self.value

    def initialized(self) -> Ref:
        """The Ref itself; `FailedPreconditionError` where it holds no value yet."""
        if self.value is None:
            raise uninitialized(self.name)
        return self

    def assign(self, value: Any) -> None:
        """Store a copy of `value`, into the old array where it fits."""
        value = np.asarray(value) if self.dtype != object else np.asarray(value, object)
        if self.value is not None and self.value.shape == value.shape and self.value.dtype == value.dtype:
            self.value[...] = value
        else:
            self.value = np.array(value, self.dtype, order="C")

    def __repr__(self) -> str:
        return f"<Ref {self.name}>"


def uninitialized(name: str) -> errors.FailedPreconditionError:
    """The error for reading a variable that has no value."""
    return errors.FailedPreconditionError(
        None, None, f"Attempting to use uninitialized value {name} "
                    f"(did you run tf.global_variables_initializer() in this session?)")


class SessionState:
    """One session's variables and op states, made when a plan first needs them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.refs: dict[str, Ref] = {}
        self.op_states: dict[Any, Any] = {}
        self.resources: dict[Any, Any] = {}

    def ref(self, op: Operation) -> Ref:
        """The storage of a variable op."""
        with self.lock:
            name = storage_of(op)
            found = self.refs.get(name)
            if found is None:
                shape = op._attrs["shape"]
                found = self.refs[name] = Ref(op.name, np.dtype(op._attrs["dtype"].as_numpy_dtype),
                                              tuple(shape.as_list()) if shape.is_fully_defined() else ())
            return found

    def op_state(self, op: Operation) -> Any:
        """What a stateful op keeps, made on first use."""
        with self.lock:
            if op not in self.op_states:
                assert op._op_def.state_fn is not None
                self.op_states[op] = op._op_def.state_fn(op, self)
            return self.op_states[op]
