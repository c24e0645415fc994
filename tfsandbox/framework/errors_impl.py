"""The exceptions a graph raises while it runs, one class for each status code."""

from __future__ import annotations

import traceback
from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class InaccessibleTensorError(ValueError):
    """A tensor was used outside the function or control flow branch that made it."""


class OperatorNotAllowedInGraphError(TypeError):
    """A Python operation (such as iterating or asking for truth) that a graph tensor cannot do was tried."""


class OpError(Exception):
    """A failure while a graph ran. `node_def` and `op` say which node failed, where that is known."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self) -> str:
        """What went wrong, without the stack trace of the failed op."""
        return self._message

    @property
    def op(self) -> Any:
        """The `Operation` that failed; None if it was made by the runtime or is not known."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the op that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The status code: one of this module's constants."""
        return self._error_code

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        parts = [f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n", *_stack_lines(self._op)]
        original = getattr(self._op, "_original_op", None)
        while original is not None:
            parts.append(f"\n...which was originally created as op {original.name!r}, defined at:\n")
            parts.extend(_stack_lines(original))
            original = getattr(original, "_original_op", None)
        return "".join(parts)


def _stack_lines(op: Any) -> list[str]:
    stack = getattr(op, "traceback", None)
    return traceback.format_list(stack) + ["\n"] if stack else []


class CancelledError(OpError):
    """The operation or step was cancelled, for instance by closing the session or the queue."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, CANCELLED)


class UnknownError(OpError):
    """An error of a kind that has no class of its own."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message, error_code)


class InvalidArgumentError(OpError):
    """An op got a value it cannot take, such as shapes that do not fit or a placeholder that was not fed."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT)


class DeadlineExceededError(OpError):
    """A time limit passed before the operation was done."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED)


class NotFoundError(OpError):
    """A file, a checkpoint key or a resource that was asked for does not exist."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, NOT_FOUND)


class AlreadyExistsError(OpError):
    """Something that was to be made exists already."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS)


class PermissionDeniedError(OpError):
    """The caller may not do this, for instance write to that file."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota ran out."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED)


class FailedPreconditionError(OpError):
    """The system is not in the state the op needs, such as reading a variable before it was initialised."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION)


class AbortedError(OpError):
    """The operation was given up, usually because of a conflict with another one."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ABORTED)


class OutOfRangeError(OpError):
    """Input ran out: the end of a dataset, file or queue."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE)


class UnimplementedError(OpError):
    """The op exists but cannot do this, for these types or on this device."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED)


class InternalError(OpError):
    """Something that should always hold did not."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INTERNAL)


class UnavailableError(OpError):
    """The service cannot be reached now; trying again may help."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE)


class DataLossError(OpError):
    """A file is cut short or damaged."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DATA_LOSS)


_CODE_TO_EXCEPTION_CLASS: dict[int, type[OpError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    UNAUTHENTICATED: UnauthenticatedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
}
_EXCEPTION_CLASS_TO_CODE: dict[type, int] = {cls: code for code, cls in _CODE_TO_EXCEPTION_CLASS.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Return the exception class of a status code; KeyError for `OK` and for numbers that are no code."""
    return _CODE_TO_EXCEPTION_CLASS[error_code]


def error_code_from_exception_type(cls: type) -> Any:
    """Return the code of an exception class; for any other class an `UnknownError` object (not raised)."""
    code = _EXCEPTION_CLASS_TO_CODE.get(cls)
    return UnknownError(None, None, f"Unknown class {cls}") if code is None else code


def _make_specific_exception(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """Return the exception for a status code, an `UnknownError` carrying the code if it has no class."""
    cls: Any = _CODE_TO_EXCEPTION_CLASS.get(error_code)
    return UnknownError(node_def, op, message, error_code) if cls is None else cls(node_def, op, message)
