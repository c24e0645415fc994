"""Numbers as strings and strings as numbers: as_string, string_to_number, string_format."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import scalar, unchanged
from tfsandbox.ops.kernel_values import as_array
from tfsandbox.ops.string_elements import each

__all__ = ["as_string", "string_to_number"]

as_string_op = register_op(
    "AsString", "input: T -> output: string",
    "T: type in {int8, int16, int32, int64, complex64, complex128, float32, float64, bool}; precision: int = -1; "
    "scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''")
as_string_op.shape(unchanged)


@as_string_op.kernel
def _as_string(input: Any, *, precision: int, scientific: bool, shortest: bool, width: int, fill: bytes) -> Any:
    array = np.asarray(input)
    if scientific and shortest:
        raise errors.InvalidArgumentError(None, None, "Cannot select both scientific and shortest notation")
    if len(fill) > 1 or fill not in (b"", b" ", b"0", b"+", b"-"):
        raise errors.InvalidArgumentError(None, None, f'Fill argument not supported: "{fill.decode()}"')
    kind = array.dtype.kind
    if kind == "b":
        return _texts(array, lambda value: "true" if value else "false")
    flags = fill.decode() + (str(width) if width > 0 else "")
    if kind in "iu":
        if precision >= 0:
            raise errors.InvalidArgumentError(None, None, f"precision not supported for datatype {array.dtype}")
        if scientific or shortest:
            raise errors.InvalidArgumentError(None, None, "scientific and shortest format not supported for datatype "
                                                          f"{array.dtype}")
        return _texts(array, lambda value: f"%{flags}d" % value)
    code = f"%{flags}" + (f".{precision}" if precision >= 0 else "") + ("e" if scientific else "g" if shortest else "f")
    if kind == "c":
        return _texts(array, lambda value: f"({code % value.real},{code % value.imag})")
    return _texts(array, lambda value: code % value)


def _texts(array: np.ndarray, function: Any) -> Any:
    result = np.empty(array.shape, object)
    flat = result.reshape(-1)
    for i, value in enumerate(array.ravel().tolist()):
        flat[i] = function(value).encode()
    return result


def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Numbers and booleans as strings, as C's printf writes them.

    `precision` is the number of digits after the point, `scientific` and `shortest` choose %e and %g, `width` and
    `fill` ("0", " ", "+", "-") fill up.
    """
    return apply_op("AsString", input=input, precision=precision, scientific=scientific, shortest=shortest,
                    width=width, fill=fill, name=name)


to_number_op = register_op("StringToNumber", "string_tensor: string -> output: out_type",
                           "out_type: type in {float32, float64, int32, int64} = float32")
to_number_op.shape(unchanged)


@to_number_op.kernel
def _to_number(string_tensor: Any, *, out_type: dtypes.DType) -> Any:
    kind = out_type.as_numpy_dtype
    info = np.iinfo(kind) if out_type.is_integer else None

    def number(text: bytes) -> Any:
        try:
            if info is None:
                return _float(text)
            if not re.fullmatch(rb"\s*-?[0-9]+\s*", text):
                raise ValueError
            value = int(text)
            if not info.min <= value <= info.max:
                raise ValueError
        except ValueError:
            raise errors.InvalidArgumentError(None, None, "StringToNumberOp could not correctly convert string: "
                                                          f"{text.decode(errors='replace')}") from None
        return value

    return each(string_tensor, number, kind)


def _float(text: bytes) -> float:
    if re.fullmatch(rb"\s*[-+]?0[xX].*", text, re.S):
        return float.fromhex(text.decode())
    if b"_" in text:
        raise ValueError
    return float(text)


def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
                     input: Any = None) -> Tensor:
    """The strings as numbers. One that is none raises `InvalidArgumentError` in a run."""
    strings = input if string_tensor is None else string_tensor
    return apply_op("StringToNumber", string_tensor=strings, out_type=out_type, name=name)


# ------------------------------------------------------------ format

format_op = register_op("StringFormat", "inputs: T -> output: string",
                        "T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3")
format_op.shape(scalar)


@format_op.kernel
def _format(inputs: list[Any], *, template: bytes, placeholder: bytes, summarize: int) -> Any:
    pieces = template.split(placeholder)
    texts = [formatted(value, summarize).encode() for value in inputs]
    result = pieces[0]
    for text, piece in zip(texts, pieces[1:]):
        result += text + piece
    return result


def formatted(value: Any, summarize: int) -> str:
    """A tensor in brackets, with `summarize` elements at each end of every axis (all if negative)."""
    array = as_array(value)
    if not array.ndim:
        return _element(array[()])
    return _nested(array, summarize, 0)


def _nested(array: np.ndarray, summarize: int, depth: int) -> str:
    if array.ndim == 1:
        items = [_element(item) for item in array]
        between = " "
    else:
        items = [_nested(item, summarize, depth + 1) for item in _ends(array, summarize)]
        between = "\n" * (array.ndim - 1) + " " * (depth + 1)
    if summarize >= 0 and len(array) > 2 * summarize:
        if array.ndim == 1:
            items = items[:summarize] + ["..."] + (items[-summarize:] if summarize else [])
        else:
            items[summarize:summarize] = ["..."]
    return "[" + between.join(items) + "]"


def _ends(array: np.ndarray, summarize: int) -> Any:
    if summarize < 0 or len(array) <= 2 * summarize:
        return list(array)
    return [*array[:summarize], *(array[-summarize:] if summarize else [])]


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "replace")}"'
    return number_text(value)


def number_text(value: Any) -> str:
    """A number as TensorFlow's messages write it: true is 1, and of a complex number they say nothing."""
    if isinstance(value, bool | np.bool_):
        return "1" if value else "0"
    if isinstance(value, complex | np.complexfloating):
        return "?"
    if isinstance(value, (float, np.floating)):
        # As few digits as TensorFlow tries: enough for most numbers, or else enough for all.
        kind, few, all_ = (np.float64, 15, 17) if isinstance(value, np.float64) else (np.float32, 6, 9)
        short = f"{float(value):.{few}g}"
        return short if kind(short) == kind(value) else f"{float(value):.{all_}g}"
    return str(value)


def string_format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3,
                  name: str | None = None) -> Tensor:
    """[], string: `template` with every `placeholder` replaced by one of the tensors `inputs`, shortened to
    `summarize` elements at each end. `ValueError` where their numbers differ."""
    tensors = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    count = template.count(placeholder)
    if count != len(tensors):
        raise ValueError(
            f"{count} placeholder(s) in template does not match {len(tensors)} tensor(s) provided as input")
    return apply_op("StringFormat", inputs=tensors, template=template, placeholder=placeholder, summarize=summarize,
                    name=name)
