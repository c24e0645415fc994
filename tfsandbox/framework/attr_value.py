"""Attributes of nodes: the plain values a graph holds, and the AttrValue messages they are stored as.

In a graph an attribute of type `int`, `float` or `bool` is that Python value, `string` is `bytes`, `type` a DType,
`shape` a TensorShape, `tensor` a (read-only) numpy array, `func` a `FunctionRef`, and `list(...)` a Python list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.array_conversion import as_bytes
from tfsandbox.framework.tensor_proto import (
    is_shape_proto,
    is_tensor_proto,
    ndarray_to_proto,
    proto_to_ndarray,
)
from tfsandbox.framework.tensor_shape import TensorShape, as_shape


@dataclass
class FunctionRef:
    """A function named by an attribute, with the attributes to instantiate it with."""

    name: str
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass
class AttrPlaceholder:
    """In the body of a function: the value is the attribute `name` of the node that calls it."""

    name: str


# The type an op declares -> the field of AttrValue (and of AttrValue.ListValue) that holds it.
_FIELDS = {
    "string": "s",
    "int": "i",
    "float": "f",
    "bool": "b",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}
_TYPES = {name: attr_type for attr_type, name in _FIELDS.items()}


def to_attr_value(value: Any, attr_type: str | None = None) -> Any:
    """Return the AttrValue message of `value`; see `fill_attr_value`."""
    from tfsandbox.proto import attr_value_pb2

    proto = attr_value_pb2.AttrValue()
    fill_attr_value(proto, value, attr_type)
    return proto


def fill_attr_value(proto: Any, value: Any, attr_type: str | None = None) -> None:
    """Write `value` into an empty AttrValue message.

    `attr_type` is the type the op declares (`"int"`, `"list(shape)"`, ...); None takes the type from the value, which
    is how private attributes such as `_class` are stored. TypeError or ValueError for a value that is not of the type.
    """
    if isinstance(value, AttrPlaceholder):
        proto.placeholder = value.name
        return
    if attr_type is None:
        attr_type = type_of_value(value)
    if attr_type.startswith("list("):
        proto.list.SetInParent()  # an empty list is a value too
        element_type = attr_type[5:-1]
        if element_type:
            _fill_list(proto.list, value, element_type)
    elif attr_type in ("string", "int", "float", "bool", "type"):
        setattr(proto, _FIELDS[attr_type], _ENCODE[attr_type](value))
    elif attr_type == "func":
        _fill_function(proto.func, value)
    else:
        getattr(proto, _field_of(attr_type)).CopyFrom(_ENCODE[attr_type](value))


def _fill_list(proto: Any, values: Any, attr_type: str) -> None:
    target = getattr(proto, _field_of(attr_type))
    if attr_type == "func":
        for value in values:
            _fill_function(target.add(), value)
    else:
        target.extend([_ENCODE[attr_type](value) for value in values])


def _fill_function(proto: Any, value: Any) -> None:
    if not isinstance(value, FunctionRef):
        raise TypeError(f"Expected a FunctionRef for an attribute of type 'func', got {value!r}.")
    proto.name = value.name
    for name, attr in value.attrs.items():
        fill_attr_value(proto.attr[name], attr)


def _field_of(attr_type: str) -> str:
    if attr_type not in _FIELDS:
        raise ValueError(f"'{attr_type}' is not a type of attribute; there are: {', '.join(_FIELDS)}.")
    return _FIELDS[attr_type]


def _tensor_to_proto(value: Any) -> Any:
    if is_tensor_proto(value):
        from tfsandbox.proto import tensor_pb2

        # TensorFlow's message is of another class; the bytes are the same.
        return tensor_pb2.TensorProto.FromString(value.SerializeToString())
    return ndarray_to_proto(value if isinstance(value, np.ndarray) else np.asarray(value))


_ENCODE: dict[str, Callable[[Any], Any]] = {
    "string": as_bytes,
    "int": int,
    "float": float,
    "bool": bool,
    "type": lambda value: dtypes.as_dtype(value).as_datatype_enum,
    "shape": lambda value: as_shape(value).as_proto(),
    "tensor": _tensor_to_proto,
}


def type_of_value(value: Any) -> str:
    """Return the attribute type of a plain value, `"list()"` for an empty list; TypeError if it has none."""
    if isinstance(value, list | tuple):
        return f"list({type_of_value(value[0]) if value else ''})"
    for python_types, attr_type in _PYTHON_TYPES:
        if isinstance(value, python_types):
            return attr_type
    if is_tensor_proto(value):
        return "tensor"
    if is_shape_proto(value):
        return "shape"
    raise TypeError(f"{value!r} of type {type(value).__name__!r} cannot be the value of an attribute.")


# In this order: bool is an int.
_PYTHON_TYPES: list[tuple[Any, str]] = [
    (str | bytes, "string"),
    (bool | np.bool_, "bool"),
    (int | np.integer, "int"),
    (float | np.floating, "float"),
    (dtypes.DType, "type"),
    (TensorShape, "shape"),
    (np.ndarray, "tensor"),
    (FunctionRef, "func"),
]


def from_attr_value(proto: Any, attr_type: str | None = None) -> Any:
    """Return the plain value of an AttrValue message, ours or TensorFlow's.

    `attr_type` is the type the op declares; None takes what is there. ValueError if the message holds no value or one
    of another type, and for a malformed type, shape or tensor (without allocating what it asks for).
    """
    which = proto.WhichOneof("value")
    if which == "placeholder":
        return AttrPlaceholder(proto.placeholder)
    if which == "list":
        return _list_from(proto.list, attr_type)
    if which is None:
        raise ValueError(f"AttrValue missing value with expected type '{attr_type or 'any'}'")
    found = _TYPES[which]
    if attr_type is not None and found != attr_type:
        raise ValueError(f"AttrValue had value with type '{found}' when '{attr_type}' expected")
    return _DECODE[found](getattr(proto, which))


def _list_from(proto: Any, attr_type: str | None) -> list[Any]:
    filled = [name for name in _TYPES if len(getattr(proto, name))]
    if attr_type is not None and not attr_type.startswith("list("):
        if not filled:
            raise ValueError(f"AttrValue missing value with expected type '{attr_type}'")
        raise ValueError(
            f"AttrValue had value with type 'list({_TYPES[filled[0]]})' when '{attr_type}' expected"
        )
    expected = [_field_of(attr_type[5:-1])] if attr_type is not None else filled[:1]
    for name in filled:
        if name not in expected:
            wanted = attr_type or f"list({_TYPES[expected[0]]})"
            raise ValueError(f"AttrValue had value with type 'list({_TYPES[name]})' when '{wanted}' expected")
    if not filled:
        return []
    decode = _DECODE[_TYPES[filled[0]]]
    return [decode(value) for value in getattr(proto, filled[0])]


def _type_from(enum: int) -> dtypes.DType:
    if enum == 0:
        raise ValueError("AttrValue has invalid DataType")
    try:
        return dtypes.as_dtype(enum)
    except TypeError:
        raise ValueError(f"AttrValue has invalid DataType enum: {enum}") from None


def _shape_from(proto: Any) -> TensorShape:
    sizes = [dim.size for dim in proto.dim]
    if any(size < -1 for size in sizes):
        raise ValueError(f"Shape {sizes} has dimensions with values below -1 (where -1 means unknown)")
    return TensorShape(proto)


def _tensor_from(proto: Any) -> np.ndarray:
    try:
        return proto_to_ndarray(proto)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _function_from(proto: Any) -> FunctionRef:
    return FunctionRef(proto.name, {name: from_attr_value(attr) for name, attr in proto.attr.items()})


_DECODE: dict[str, Callable[[Any], Any]] = {
    "string": bytes,
    "int": int,
    "float": float,
    "bool": bool,
    "type": _type_from,
    "shape": _shape_from,
    "tensor": _tensor_from,
    "func": _function_from,
}
