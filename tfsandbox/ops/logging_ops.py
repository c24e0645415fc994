"""Print: values shown while the graph runs, and how values read in messages."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import unchanged

__all__ = ["Print"]

print_op = register_op("Print", "input: T, data: U -> output: T",
                       "T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3",
                       stateful=True)
print_op.shape(unchanged)


class _Countdown:
    """How often a Print node of a session has printed."""

    def __init__(self) -> None:
        self.printed = 0


@print_op.state
def _print_state(op: Operation, session_state: Any) -> _Countdown:
    return _Countdown()


@print_op.kernel(view=True)
def _print(input: Any, data: list[Any], *, message: bytes, first_n: int, summarize: int, state: _Countdown) -> Any:
    if first_n < 0 or state.printed < first_n:
        state.printed += 1
        text = message.decode("utf-8", "replace") + "".join(f"[{summarized(value, summarize)}]" for value in data)
        print(text, file=sys.stderr)
    return input


@print_op.gradient
def _print_grad(op: Operation, grad: Any) -> list[Any]:
    return [grad] + [None] * (len(op.inputs) - 1)


def Print(input_: Any, data: list[Any], message: str | None = None, first_n: int | None = None,
          summarize: int | None = None, name: str | None = None) -> Tensor:
    """`input_` again; when it runs, `message` and `data` go to standard error.

    `first_n` limits how often, `summarize` how many elements of each tensor are shown.
    """
    with ops.name_scope(name, "Print", [input_, *data]) as name:
        return apply_op("Print", input=input_, data=data, message=message, first_n=first_n, summarize=summarize,
                        name=name)


def summarized(value: Any, count: int) -> str:
    """A tensor's first `count` elements (all if negative) as TensorFlow's messages write them."""
    array = np.asarray(value)
    if array.ndim == 0:
        return _element(array[()])
    limit = array.size if count < 0 else count
    if array.ndim == 1 or limit == 0:
        shown = " ".join(_element(v) for v in array.ravel()[:limit])
        return shown + ("..." if array.size > limit else "")
    left = [limit]

    def nested(part: np.ndarray) -> str:
        if part.ndim == 0:
            left[0] -= 1
            return _element(part[()])
        pieces = []
        for item in part:
            if left[0] <= 0:
                break
            pieces.append(nested(item))
        return "[" + " ".join(pieces) + "]" if part.ndim < array.ndim else "".join(pieces)
    text = nested(array)
    return text + ("..." if array.size > limit else "")


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):g}"
    if isinstance(value, (complex, np.complexfloating)):
        return f"({value.real:g},{value.imag:g})"
    return str(value)
