"""Running without numpy's floating point warnings, at next to no cost.

TensorFlow says nothing of a division by zero. `np.errstate` around every run would cost as much as a small matrix
product; since numpy 2 its setting lives in a context variable, so a run can enter a context that has it set already.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

_IN_CONTEXT = int(np.__version__.split(".")[0]) >= 2


class _Quiet(threading.local):
    """This thread's context in which numpy is silent."""

    def __init__(self) -> None:
        self.context = contextvars.copy_context()
        self.context.run(np.seterr, all="ignore")


_quiet = _Quiet()


def call_nested(function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)` without numpy's warnings; may be called from inside itself."""
    with np.errstate(all="ignore"):
        return function(*arguments)


def call_plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """As `call_nested`, cheaper, for functions that run no code of the user's: a context is entered only once."""
    try:
        return _quiet.context.run(function, *arguments)
    except RuntimeError as error:
        # From `function`, or because a signal handler came in between and runs something itself.
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
    return call_nested(function, *arguments)


if not _IN_CONTEXT:
    call_plain = call_nested
