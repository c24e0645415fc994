"""The TensorProto message: arrays to messages, byte for byte as TensorFlow writes them, and back with every check.

TensorFlow puts the raw bytes of the common number types in `tensor_content` and everything else (single values,
halves, bools, complex numbers, strings) in the typed field. A message may hold fewer values than its shape has
elements: the last one then stands for the rest.

A message read from a file is not to be trusted: nothing is allocated on the strength of its shape alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.array_conversion import as_bytes, expanded
from tfsandbox.framework.dtypes import DType

# protobuf holds no message of 2 GiB or more, so no constant of that size can have been meant.
_MAX_BYTES = 2**31 - 1
# The most memory that repeating the last of several values may take. (One value repeated takes none.)
_MAX_REPEATED_BYTES = 2**28

_CONTENT_TYPES = frozenset(
    {
        dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
        dtypes.uint32, dtypes.uint64, *(d for d in dtypes.QUANTIZED_DTYPES if not d._is_ref_dtype),
    }
)  # fmt: skip

_VALUE_FIELDS: dict[DType, str] = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
}


def _value_field(dtype: DType) -> str:
    return _VALUE_FIELDS.get(dtype, "int_val")


def is_tensor_proto(value: Any) -> bool:
    """True for a TensorProto message, ours or TensorFlow's, without importing protobuf."""
    return type(value).__name__ == "TensorProto" and hasattr(value, "tensor_content")


def is_shape_proto(value: Any) -> bool:
    """True for a TensorShapeProto message, ours or TensorFlow's, without importing protobuf."""
    return type(value).__name__ == "TensorShapeProto" and hasattr(value, "unknown_rank")


def ndarray_to_proto(array: np.ndarray, dtype: Any = None) -> Any:
    """Return the TensorProto of an array whose elements are of type `dtype` (by default that of the array).

    An array that is one value repeated with zero strides is stored as that value. TypeError for a type arrays cannot
    have, ValueError for 2 GiB or more.
    """
    found = dtypes.as_dtype(array.dtype if dtype is None else dtype).base_dtype
    if array.size > 1 and not any(stride for stride, size in zip(array.strides, array.shape) if size > 1):
        return values_to_proto(array[(slice(0, 1),) * array.ndim], found, array.shape)
    return values_to_proto(array, found, array.shape)


def values_to_proto(array: np.ndarray, dtype: DType, sizes: tuple[int, ...]) -> Any:
    """Return a TensorProto of shape `sizes` that holds the elements of `array`, which may be fewer."""
    from tfsandbox.proto import tensor_pb2

    if dtype._array_dtype is None:
        raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {array}")
    if array.nbytes > _MAX_BYTES:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    enum: Any = dtype.as_datatype_enum
    proto = tensor_pb2.TensorProto(dtype=enum, tensor_shape={})
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    if dtype is not dtypes.string:
        array = np.asarray(array, dtype._array_dtype)
    if dtype in _CONTENT_TYPES and array.size > 1 and array.size == math.prod(sizes):
        proto.tensor_content = array.tobytes()
    else:
        getattr(proto, _value_field(dtype)).extend(_field_values(array.ravel(), dtype))
    return proto


def _field_values(flat: np.ndarray, dtype: DType) -> Any:
    """Return what the typed field holds for a flat array."""
    if dtype is dtypes.string:
        return [as_bytes(item) for item in flat.tolist()]
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return flat.view(np.uint16).tolist()
    if dtype.is_complex:
        return flat.view(dtype.real_dtype.as_numpy_dtype).tolist()
    if flat.dtype.names:
        return flat[flat.dtype.names[0]].tolist()
    return flat.tolist()


def proto_to_ndarray(proto: Any) -> np.ndarray:
    """Return the value of a TensorProto as a read-only array, which may share the message's bytes.

    ValueError, without allocating what the message asks for, if its shape is unknown, negative or 2 GiB large, or if
    its data does not fit its shape; TypeError for a type that arrays cannot have.
    """
    dtype = dtypes.as_dtype(proto.dtype).base_dtype
    target = dtype._array_dtype
    if target is None:
        raise TypeError(f"Unsupported tensor type: {proto.dtype} ({dtype.name} values have no array form)")
    sizes = _checked_sizes(proto, target)
    count = math.prod(sizes)
    if proto.tensor_content:
        found = _from_content(proto.tensor_content, dtype, count, sizes)
    else:
        values = _from_field(getattr(proto, _value_field(dtype)), dtype)
        if values.size > count:
            raise ValueError(f"TensorProto of shape {list(sizes)} holds {values.size} values, which is too many.")
        if 1 < values.size < count and count * target.itemsize > _MAX_REPEATED_BYTES:
            raise ValueError(f"TensorProto of shape {list(sizes)} holds only {values.size} values.")
        found = expanded(values, sizes)
    found.flags.writeable = False
    return found


def _checked_sizes(proto: Any, target: np.dtype[Any]) -> tuple[int, ...]:
    if proto.tensor_shape.unknown_rank:
        raise ValueError("TensorProto has a shape of unknown rank.")
    sizes = tuple([dim.size for dim in proto.tensor_shape.dim])
    if any(size < 0 for size in sizes):
        raise ValueError(f"TensorProto has a negative size in its shape {list(sizes)}.")
    if len(sizes) > _MAX_RANK:
        raise ValueError(f"TensorProto has {len(sizes)} dimensions; at most {_MAX_RANK} are supported.")
    # Sizes beside a 0 count too: no array could have them, whatever the product.
    if math.prod(size for size in sizes if size) * target.itemsize > _MAX_BYTES:
        raise ValueError(f"TensorProto of shape {list(sizes)} is larger than 2GB.")
    return sizes


_MAX_RANK = 32  # numpy's limit before version 2


def _from_content(content: bytes, dtype: DType, count: int, sizes: tuple[int, ...]) -> np.ndarray:
    if dtype is dtypes.string:
        return _strings_from_content(content, count).reshape(sizes)
    expected = count * dtype.size
    if len(content) != expected:
        raise ValueError(
            f"TensorProto of shape {list(sizes)} and type {dtype.name} needs {expected} bytes of content, "
            f"but holds {len(content)}."
        )
    if dtype.is_bool:
        # Any other byte would make a bool that is neither.
        return (np.frombuffer(content, np.uint8) != 0).reshape(sizes)
    return np.frombuffer(content, dtype._array_dtype).reshape(sizes)


def _strings_from_content(content: bytes, count: int) -> np.ndarray:
    """Decode packed strings: the lengths of all (varints), then their bytes one after the other."""
    if count > len(content):
        raise ValueError(f"TensorProto content of {len(content)} bytes is too short for {count} strings.")
    position = 0
    lengths = []
    for _ in range(count):
        length = shift = 0
        while True:
            if position >= len(content) or shift > 63:
                raise ValueError("TensorProto content holds no list of strings.")
            byte = content[position]
            position += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        lengths.append(length)
    if position + sum(lengths) != len(content):
        raise ValueError("TensorProto content has another length than its strings.")
    found = np.empty(count, object)
    found[:] = list(_cut(content, position, lengths))
    return found


def _cut(content: bytes, position: int, lengths: list[int]) -> Iterator[bytes]:
    for length in lengths:
        yield content[position : position + length]
        position += length


def _from_field(field: Any, dtype: DType) -> np.ndarray:
    """Return the values of a typed field as a flat array."""
    if dtype is dtypes.string:
        found = np.empty(len(field), object)
        found[:] = list(field)
        return found
    target = dtype.as_numpy_dtype
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(field, np.int64).astype(np.uint16).view(target)
    if dtype.is_complex:
        parts = np.array(field, dtype.real_dtype.as_numpy_dtype)
        if parts.size % 2:
            raise ValueError(f"TensorProto holds {parts.size} parts of {dtype.name} values, an odd number.")
        return parts.view(target)
    if dtype.is_quantized:
        integers = target[0]
        return np.array(field, np.int64).astype(integers).view(target)
    if dtype.is_integer and dtype is not dtypes.uint64:
        # A value out of range wraps, as a C++ cast does.
        return np.array(field, np.int64).astype(target)
    return np.array(field, target)
