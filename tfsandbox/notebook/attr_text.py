"""Attributes of a node as short text, from Python values as well as from protobuf messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.notebook.graph_model import Shape, shape_text

MAX_CHARACTERS = 120
MAX_ELEMENTS = 6


def dtype_name(value: Any) -> str:
    """The name of an element type without `_ref`, from a DType, an enum value or a name."""
    if not isinstance(value, str):
        name = getattr(value, "name", None)
        if not isinstance(name, str):
            try:
                name = dtypes.as_dtype(value).name
            except TypeError:
                name = str(value)
        value = name
    return value[:-4] if value.endswith("_ref") else value


def shape_of(value: Any) -> Shape:
    """A static shape from a TensorShape, a TensorShapeProto, a list or None."""
    if value is None:
        return None
    if hasattr(value, "unknown_rank"):
        return None if value.unknown_rank else tuple(None if dim.size < 0 else int(dim.size) for dim in value.dim)
    if hasattr(value, "ndims"):
        return None if value.ndims is None else tuple(value.as_list())
    return tuple(None if size is None or int(size) < 0 else int(size) for size in value)


def clipped(text: str, limit: int = MAX_CHARACTERS) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= limit else text[:limit - 1] + "…"


def attr_text(value: Any) -> str:
    """One attribute as short text. Unknown kinds of value give their type's name, never their content."""
    if hasattr(value, "WhichOneof"):
        return _message_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return f"{float(value):g}"
    if isinstance(value, bytes):
        return clipped(repr(value.decode("utf-8", "replace")))
    if isinstance(value, str):
        return clipped(repr(value))
    if isinstance(value, np.ndarray):
        return array_text(value)
    if hasattr(value, "as_datatype_enum"):
        return dtype_name(value)
    if hasattr(value, "tensor_shape") and hasattr(value, "dtype"):
        return _tensor_proto_text(value)
    if hasattr(value, "unknown_rank") or hasattr(value, "ndims"):
        return shape_text(shape_of(value))
    if isinstance(value, (list, tuple)):
        shown = ", ".join(attr_text(item) for item in value[:MAX_ELEMENTS])
        return clipped(f"[{shown}{', …' if len(value) > MAX_ELEMENTS else ''}]")
    name = getattr(value, "name", None)
    return clipped(name) if isinstance(name, str) else type(value).__name__


def array_text(array: np.ndarray) -> str:
    """Type and shape of an array, and its elements when they are few: `float32 () 0.1`."""
    head = f"{'string' if array.dtype.kind in 'OSU' else array.dtype.name} {shape_text(array.shape)}"
    if array.size > MAX_ELEMENTS:
        return head
    return clipped(f"{head} {_elements_text(array.ravel().tolist(), array.ndim)}")


def _elements_text(values: list[Any], rank: int) -> str:
    shown = [attr_text(value) for value in values]
    return shown[0] if rank == 0 and shown else f"[{', '.join(shown)}]"


def _message_text(message: Any) -> str:
    """An AttrValue."""
    kind = message.WhichOneof("value")
    if kind is None:
        return ""
    value = getattr(message, kind)
    if kind == "type":
        return dtype_name(value)
    if kind == "shape":
        return shape_text(shape_of(value))
    if kind == "tensor":
        return _tensor_proto_text(value)
    if kind == "func":
        return clipped(str(value.name))
    if kind == "list":
        for part in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            items = list(getattr(value, part, ()))
            if items:
                shown = items[:MAX_ELEMENTS]
                texts = [dtype_name(item) for item in shown] if part == "type" else [attr_text(item) for item in shown]
                return clipped(f"[{', '.join(texts)}{', …' if len(items) > MAX_ELEMENTS else ''}]")
        return "[]"
    return attr_text(value)


_VALUE_FIELDS = ("float_val", "double_val", "int_val", "int64_val", "bool_val", "string_val", "uint32_val",
                 "uint64_val")


def _tensor_proto_text(tensor: Any) -> str:
    """A TensorProto: type, shape, and the elements when they are few. Large content is never unpacked."""
    shape = shape_of(tensor.tensor_shape)
    name = dtype_name(tensor.dtype)
    head = f"{name} {shape_text(shape)}"
    count = int(np.prod([size or 0 for size in shape], dtype=np.int64)) if shape is not None else 0
    if shape is None or not 0 < count <= MAX_ELEMENTS:
        return head
    values: list[Any] = []
    if tensor.tensor_content:
        try:
            kind = np.dtype(dtypes.as_dtype(tensor.dtype).as_numpy_dtype)
            values = np.frombuffer(tensor.tensor_content, kind, count).tolist()
        except (TypeError, KeyError, ValueError):
            return head
    else:
        for part in _VALUE_FIELDS:
            values = list(getattr(tensor, part, ()))
            if values:
                # TensorFlow writes a run of equal last elements once.
                values = (values + values[-1:] * count)[:count]
                break
    return clipped(f"{head} {_elements_text(values, len(shape))}") if values else head
