"""Print: values shown while the graph runs, and how values read in messages."""

from __future__ import annotations

import math
import os
import pprint
import random
import sys
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.op_def_library import apply_op, apply_operation
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext, unchanged
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array
from tfsandbox.ops.string_numbers import number_text, string_format
from tfsandbox.platform import tf_logging

__all__ = ["Print", "print"]

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
        sys.stderr.write(text + "\n")
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


# ------------------------------------------------------------ tf.print

print_v2_op = register_op("PrintV2", "input: string ->", "output_stream: string = 'stderr'; end: string = '\\n'",
                          stateful=True).no_gradient()
_LEVELS = ("info", "warning", "error")


@print_v2_op.shape
def _print_v2_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 0)
    return []


@print_v2_op.kernel
def _print_v2(input: Any, *, output_stream: bytes, end: bytes) -> tuple[()]:
    text = (as_array(input).item() + end).decode("utf-8", "replace")
    stream = output_stream.decode()
    if stream.startswith("file://"):
        with open(stream[len("file://"):], "a", encoding="utf-8") as file:
            file.write(text)
        return ()
    if stream.startswith("log("):
        # It was asked for: the verbosity of tf.logging does not keep it back.
        text = f"{stream[len('log('):-1].upper()}:tensorflow:{text}"
    shown = sys.stdout if stream == "stdout" else sys.stderr
    shown.write(text)
    shown.flush()
    return ()


def _stream_name(stream: Any) -> str:
    for name, known in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if stream is known:
            return name
    for level in _LEVELS:
        if stream in (getattr(tf_logging, level), getattr(tf_logging, level.upper(), None)):
            return f"log({level})"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
                     "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form "
                     "of 'file://<filepath>'.")


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


class _Placeholder:
    """Stands for a tensor in a structure that is written out."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that prints `inputs`, tensors and structures of them shortened, when it runs.

    Keywords: `output_stream` (sys.stderr, sys.stdout, a function of tf.logging, "file://<path>"), `summarize` (how many
    elements of each tensor stand at either end of an axis; -1 for all), `sep`, `end`, `name`.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name, summarize = kwargs.pop("name", None), kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream_name(stream)
    summarize = 3 if summarize is None else summarize
    only: Any = inputs[0] if len(inputs) == 1 else None
    if _is_tensor(only) and only.dtype == dtypes.string and only.shape.ndims == 0:
        text = only
    else:
        template, tensors, placeholder = _template(inputs, sep)
        text = string_format(template, tensors, placeholder, summarize,
                             name=None if name is None else f"{name}_format")
    return apply_operation("PrintV2", input=text, output_stream=stream, end=end, name=name)


print = print_v2


def _template(inputs: tuple[Any, ...], sep: str) -> tuple[str, list[Any], str]:
    """(text with a placeholder for every tensor, the tensors, the placeholder, which the rest of the text has not)."""
    rest = sep.join(value if isinstance(value, str) else str(_written(value, "", [])) for value in inputs)
    placeholder, choice = "{}", random.Random(5)
    while placeholder in rest:
        placeholder += str(choice.randint(0, 9))
    tensors: list[Any] = []
    parts = [value if isinstance(value, str) else pprint.pformat(_written(value, placeholder, tensors))
             for value in inputs]
    return sep.join(parts), tensors, placeholder


def _written(value: Any, placeholder: str, tensors: list[Any]) -> Any:
    """The value with placeholders for its tensors, which are added to the list."""
    from tfsandbox.framework.sparse_tensor import SparseTensor
    from tfsandbox.util import nest

    def one(part: Any) -> Any:
        if isinstance(part, SparseTensor):
            tensors.extend([part.indices, part.values, part.dense_shape])
            return f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})"
        if not _is_tensor(part):
            return part
        tensors.append(part)
        return _Placeholder(placeholder)
    return nest.map_structure(one, value)


# ------------------------------------------------------------ values in messages


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
