"""Print: values shown while the graph runs, and how values read in messages."""

from __future__ import annotations

import math
import sys
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import unchanged
from tfsandbox.ops.kernel_values import as_array
from tfsandbox.ops.string_numbers import number_text

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
    array = as_array(value)
    shown = array.size if count < 0 else min(count, array.size)
    text = _rows([_element(item) for item in array.reshape(-1)[:shown]], array.shape) if array.size else ""
    return text + ("..." if shown < array.size else "")


def _rows(items: list[str], shape: tuple[int, ...]) -> str:
    """The first elements of an array of this shape: axes but the first in brackets, cut off rows with dots."""
    if len(shape) < 2:
        return " ".join(items)
    size = math.prod(shape[1:])
    texts = []
    for start in range(0, len(items), size):
        row = items[start:start + size]
        cut = len(shape) == 2 and len(row) < size
        texts.append(f"[{_rows(row, shape[1:])}{'...' if cut else ''}]")
    return "".join(texts)


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return "".join(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in value)
    return number_text(value)


_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord("\""): "\\\"", ord("'"): "\\'", ord("\\"): "\\\\"}
