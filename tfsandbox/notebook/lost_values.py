"""What a magic gives is shown even where a cell drops it: inside a `with`, in a loop, before the last line."""

from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import Any


def show_if_lost(shell: Any, value: Any) -> Any:
    """The value; or None, after displaying it, where the statement that asked for it throws it away.

    IPython shows the last expression of a cell only, and nobody writes `%tf_scope` inside of a training scope for
    nothing.
    """
    if value is None or not _thrown_away(shell.user_global_ns):
        return value
    from IPython.display import display

    display(value)
    return None


def _thrown_away(namespace: dict[str, Any]) -> bool:
    """True if the user's code that is running, of all frames the nearest, drops the value of its current call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is not namespace:
        frame = frame.f_back
    if frame is None:
        return False
    last = frame.f_lasti
    after = next((step for step in dis.get_instructions(frame.f_code) if step.offset > last), None)
    return after is not None and after.opname == "POP_TOP"
