"""Strings of bytes as tensors: raw numbers, CSV, compressed strings, serialized tensors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, tensor_util
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, scalar, unchanged
from tfsandbox.framework.shape_rules import with_rank, with_rank_at_least, with_rank_at_most
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array

__all__ = ["decode_compressed", "decode_csv", "decode_json_example", "decode_raw", "deserialize_many_sparse",
           "parse_tensor", "serialize_many_sparse", "serialize_sparse", "serialize_tensor"]


def _invalid(message: str) -> Exception:
    return errors.InvalidArgumentError(None, None, message)


def _each(strings: Any, function: Callable[[bytes], Any]) -> np.ndarray:
    array = as_array(strings)
    result = np.empty(array.shape, object)
    flat = result.reshape(-1)
    for i, text in enumerate(array.ravel().tolist()):
        flat[i] = function(text)
    return result


# ------------------------------------------------------------ raw numbers

_RAW_TYPES = "float16, float32, float64, int32, uint16, uint8, int16, int8, int64"
decode_raw_op = register_op(
    "DecodeRaw", "bytes: string -> output: out_type",
    f"out_type: type in {{{_RAW_TYPES}, complex64, complex128, bool}}; little_endian: bool = true").no_gradient()


@decode_raw_op.shape
def _decode_raw_shape(c: ShapeContext) -> TensorShape:
    return c.shape(0).concatenate([None]) if c.shape(0).sizes is not None else UNKNOWN


@decode_raw_op.kernel
def _decode_raw(bytes: Any, *, out_type: dtypes.DType, little_endian: bool) -> Any:
    array = as_array(bytes)
    strings = array.ravel().tolist()
    dtype = np.dtype(out_type.as_numpy_dtype)
    length = len(strings[0]) if strings else 0
    for i, text in enumerate(strings):
        if len(text) != length:
            raise _invalid("DecodeRaw requires input strings to all be the same size, but element "
                           f"{i} has size {length} != {len(text)}")
    if length % dtype.itemsize:
        raise _invalid(f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize}, the size "
                       f"of {type_text(out_type)}")
    numbers = np.frombuffer(b"".join(strings), dtype.newbyteorder("<" if little_endian else ">")).astype(dtype)
    return numbers.reshape(*array.shape, length // dtype.itemsize)


def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
               bytes: Any = None) -> Tensor:
    """[..., n]: the numbers of type `out_type` whose bytes the strings are; the strings have the same length."""
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    data = bytes if input_bytes is None else input_bytes
    return apply_op("DecodeRaw", bytes=data, out_type=out_type, little_endian=little_endian, name=name)


# ------------------------------------------------------------ CSV

decode_csv_op = register_op(
    "DecodeCSV", "records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE",
    "OUT_TYPE: list(type) in {float32, float64, int32, int64, string} >= 1; field_delim: string = ','; "
    "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []").no_gradient()


@decode_csv_op.shape
def _decode_csv_shape(c: ShapeContext) -> list[TensorShape]:
    for i in range(1, c.num_inputs):
        default = with_rank_at_most(c.shape(i), 1).sizes
        if default and default[0] is not None and default[0] > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [c.shape(0)] * (c.num_inputs - 1)


def _fields(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """The fields of a record; quotes around one may hold delimiters, and doubled quotes."""
    fields: list[bytes] = []
    place, end = 0, len(record)
    while place < end:
        if record[place:place + 1] in b"\r\n":
            place += 1
            continue
        if quotes and record[place:place + 1] == b'"':
            field = bytearray()
            place += 1
            while place < end - 1 and (record[place:place + 1] != b'"' or record[place + 1:place + 2] != delimiter):
                if record[place:place + 1] != b'"':
                    field += record[place:place + 1]
                    place += 1
                elif record[place + 1:place + 2] != b'"':
                    raise _invalid("Quote inside a string has to be escaped by another quote")
                else:
                    field += b'"'
                    place += 2
            if record[place:place + 1] != b'"':
                raise _invalid("Quoted field has to end with quote followed by delim or end")
            place += 2
            fields.append(bytes(field))
            continue
        stop = record.find(delimiter, place)
        stop = end if stop < 0 else stop
        field_bytes = record[place:stop]
        if re.search(rb'["\r\n]' if quotes else rb"[\r\n]", field_bytes):
            raise _invalid("Unquoted fields cannot have quotes/CRLFs inside")
        fields.append(field_bytes)
        place = stop + 1
    if record.endswith(delimiter):
        fields.append(b"")
    return fields


_CSV_INTEGER = re.compile(rb"\s*[-+]?\d+\s*\Z")
_CSV_NAMES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}


def _csv_value(text: bytes, dtype: np.dtype[Any], column: int, record: int) -> Any:
    """A field as a value of that type."""
    if dtype.kind == "O":
        return text
    wrong = f"Field {column} in record {record} is not a valid {_CSV_NAMES.get(dtype, dtype.name)}: "
    try:
        if dtype.kind == "f":
            if b"_" in text:
                raise ValueError
            return dtype.type(float(text))
        if not _CSV_INTEGER.match(text):
            raise ValueError
        number, limits = int(text), np.iinfo(dtype)
        if not limits.min <= number <= limits.max:
            raise ValueError
        return number
    except ValueError:
        raise _invalid(wrong + text.decode(errors="replace")) from None


@decode_csv_op.kernel
def _decode_csv(records: Any, record_defaults: list[Any], *, field_delim: bytes, use_quote_delim: bool,
                na_value: bytes, select_cols: Sequence[int]) -> tuple[Any, ...]:
    if len(field_delim) != 1:
        raise _invalid("field_delim should be only 1 char")
    array = as_array(records)
    defaults = [as_array(default) for default in record_defaults]
    columns = [np.empty(array.shape, default.dtype) for default in defaults]
    for number, record in enumerate(array.ravel().tolist()):
        fields = _fields(record, field_delim, use_quote_delim)
        if select_cols:
            fields = [fields[i] for i in select_cols if i < len(fields)]
        if len(fields) != len(defaults):
            raise _invalid(f"Expect {len(defaults)} fields but have {len(fields)} in record {number}")
        for i, (field, default, column) in enumerate(zip(fields, defaults, columns)):
            if field in (b"", na_value):
                if not default.size:
                    raise _invalid(f"Field {i} is required but missing in record {number}!")
                column.reshape(-1)[number] = default.reshape(-1)[0]
            else:
                column.reshape(-1)[number] = _csv_value(field, column.dtype, i, number)
    return tuple(columns)


def decode_csv(records: Any, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
               name: str | None = None, na_value: str = "", select_cols: Sequence[int] | None = None) -> list[Tensor]:
    """One tensor a column of CSV `records`, with their shape. A column's type is that of its default.

    A field that is empty or `na_value` has the default, which is empty itself where a field is required.
    """
    if select_cols is not None and any(a >= b for a, b in zip(select_cols, select_cols[1:])):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    return apply_op("DecodeCSV", records=records, record_defaults=record_defaults, field_delim=field_delim,
                    use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select_cols, name=name)


# ------------------------------------------------------------ compressed strings, JSON

decode_compressed_op = register_op("DecodeCompressed", "bytes: string -> output: string",
                                   "compression_type: string = ''").no_gradient()
decode_json_op = register_op("DecodeJSONExample", "json_examples: string -> binary_examples: string").no_gradient()
decode_compressed_op.shape(unchanged)
decode_json_op.shape(unchanged)


@decode_compressed_op.kernel(view=True)
def _decode_compressed(bytes: Any, *, compression_type: bytes) -> Any:
    if compression_type not in (b"", b"ZLIB", b"GZIP"):
        raise _invalid("Only ZLIB, GZIP or NONE are supported compressions")
    if not compression_type:
        return as_array(bytes).copy()

    def inflated(text: Any) -> Any:
        stream = zlib.decompressobj(zlib.MAX_WBITS | (16 if compression_type == b"GZIP" else 0))
        try:
            return stream.decompress(text)
        except zlib.error:
            return b""
    return _each(bytes, inflated)


@decode_json_op.kernel
def _decode_json(json_examples: Any) -> Any:
    from google.protobuf import json_format

    from tfsandbox.proto import example_pb2

    def encoded(text: bytes) -> bytes:
        try:
            return json_format.Parse(text, example_pb2.Example()).SerializeToString(deterministic=True)
        except json_format.ParseError as error:
            raise _invalid(f"Error while parsing JSON: {error}") from None
    return _each(json_examples, encoded)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """The strings unpacked; `compression_type` is "ZLIB", "GZIP" or "" (they are not packed)."""
    return apply_op("DecodeCompressed", bytes=bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Serialized `tf.train.Example` messages from the same as JSON."""
    return apply_op("DecodeJSONExample", json_examples=json_examples, name=name)


# ------------------------------------------------------------ serialized tensors

serialize_tensor_op = register_op("SerializeTensor", "tensor: T -> serialized: string", "T: type").no_gradient()
parse_tensor_op = register_op("ParseTensor", "serialized: string -> output: out_type", "out_type: type").no_gradient()
_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type"
_SPARSE_ATTRS = "T: type; out_type: type in {string, variant} = string"
serialize_sparse_op = register_op("SerializeSparse", _SPARSE, _SPARSE_ATTRS).no_gradient()
serialize_many_op = register_op("SerializeManySparse", _SPARSE, _SPARSE_ATTRS).no_gradient()
deserialize_many_op = register_op(
    "DeserializeManySparse", "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: "
    "int64", "dtype: type").no_gradient()
serialize_tensor_op.shape(scalar)


@parse_tensor_op.shape
def _parse_tensor_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 0)
    return UNKNOWN


@serialize_sparse_op.shape
def _serialize_sparse_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 2)
    with_rank(c.shape(1), 1)
    with_rank(c.shape(2), 1)
    return TensorShape([3])


@serialize_many_op.shape
def _serialize_many_shape(c: ShapeContext) -> TensorShape:
    _serialize_sparse_shape(c)
    return TensorShape([None, 3])


@deserialize_many_op.shape
def _deserialize_many_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank_at_least(c.shape(0), 2)
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


def _varint(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes((*result, number))


def _message(value: Any, dtype: dtypes.DType, packed_strings: bool) -> bytes:
    """A TensorProto with the elements as `tensor_content`; strings stand there only with `packed_strings`."""
    from tfsandbox.proto import tensor_pb2
    array = as_array(value)
    message = tensor_pb2.TensorProto()
    message.dtype = dtype.as_datatype_enum  # type: ignore[assignment]
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    message.tensor_shape.SetInParent()
    if dtype != dtypes.string:
        message.tensor_content = np.ascontiguousarray(array).tobytes()
    elif packed_strings:
        texts = array.ravel().tolist()
        message.tensor_content = b"".join([_varint(len(text)) for text in texts] + texts)
    else:
        message.string_val.extend(array.ravel().tolist())
    return message.SerializeToString()


def _parsed(data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from tfsandbox.proto import tensor_pb2
    try:
        return tensor_pb2.TensorProto.FromString(data)
    except DecodeError:
        return None


def _value(message: Any) -> np.ndarray:
    """The value of a TensorProto, whose strings may be packed."""
    if message.dtype != dtypes.string.as_datatype_enum or not message.tensor_content:
        return tensor_util.make_ndarray(message)
    shape = [dim.size for dim in message.tensor_shape.dim]
    data, place, lengths = message.tensor_content, 0, []
    for _ in range(int(np.prod(shape))):
        length = shift = 0
        while data[place] > 127:
            length |= (data[place] & 127) << shift
            shift, place = shift + 7, place + 1
        lengths.append(length | data[place] << shift)
        place += 1
    result = np.empty(len(lengths), object)
    for i, length in enumerate(lengths):
        result[i] = data[place:place + length]
        place += length
    return result.reshape(shape)


@serialize_tensor_op.kernel
def _serialize_tensor(tensor: Any, *, T: dtypes.DType) -> Any:
    return _message(tensor, T, packed_strings=False)


@parse_tensor_op.kernel
def _parse_tensor(serialized: Any, *, out_type: dtypes.DType) -> Any:
    data = as_array(serialized).item()
    message = _parsed(data)
    if message is None:
        raise _invalid(f"Could not parse `serialized` as TensorProto: '{data.decode(errors='replace')}'")
    found = dtypes.as_dtype(message.dtype)
    if found != out_type:
        raise _invalid(f"Type mismatch between parsed tensor ({type_text(found)}) and dtype ({type_text(out_type)})")
    return _value(message)


def type_text(dtype: dtypes.DType) -> str:
    """A type as C++ calls it."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


@serialize_sparse_op.kernel
def _serialize_sparse(sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, T: dtypes.DType) -> Any:
    result = np.empty(3, object)
    result[:] = [_message(sparse_indices, dtypes.int64, True), _message(sparse_values, T, True),
                 _message(sparse_shape, dtypes.int64, True)]
    return result


@serialize_many_op.kernel
def _serialize_many(sparse_indices: Any, sparse_values: Any, sparse_shape: Any, *, T: dtypes.DType) -> Any:
    if len(sparse_shape) < 2:
        raise _invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}")
    result = np.empty((int(sparse_shape[0]), 3), object)
    for row in range(len(result)):
        chosen = sparse_indices[:, 0] == row
        result[row] = _serialize_sparse(sparse_indices[chosen][:, 1:], sparse_values[chosen], sparse_shape[1:], T=T)
    return result


@deserialize_many_op.kernel
def _deserialize_many(serialized_sparse: Any, *, dtype: dtypes.DType) -> tuple[Any, Any, Any]:
    if serialized_sparse.ndim != 2 or serialized_sparse.shape[1] != 3:
        raise _invalid("Serialized sparse should have 3 columns but has shape "
                       f"[{','.join(map(str, serialized_sparse.shape))}]")
    indices, values, shapes = [], [], []
    for number, row in enumerate(serialized_sparse.tolist()):
        messages = [_parsed(data) for data in row]
        if any(message is None for message in messages):
            raise _invalid("Could not parse serialized proto")
        places, found, shape = (_value(message) for message in messages)
        if dtypes.as_dtype(messages[1].dtype) != dtype:
            kind = type_text(dtypes.as_dtype(messages[1].dtype))
            raise _invalid(f"Requested SparseTensor of type {type_text(dtype)} but "
                           f"SparseTensor[{number}].values.dtype() == {kind}")
        indices.append(np.insert(places, 0, number, axis=1))
        values.append(found)
        shapes.append(shape)
    if not shapes:
        return np.zeros((0, 1), np.int64), np.zeros(0, dtype.as_numpy_dtype), np.zeros(1, np.int64)
    return (np.concatenate(indices), np.concatenate(values),
            np.array([len(shapes), *np.maximum.reduce(shapes)], np.int64))


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A string: the tensor as a serialized TensorProto."""
    return apply_op("SerializeTensor", tensor=tensor, name=name)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor of a serialized TensorProto. A run with another type raises `InvalidArgumentError`."""
    return apply_op("ParseTensor", serialized=serialized, out_type=out_type, name=name)


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """[3]: indices, values and shape of a SparseTensor as serialized TensorProtos."""
    from tfsandbox.ops.sparse_conversion import as_sparse
    sp_input = as_sparse(sp_input)
    return apply_op("SerializeSparse", sparse_indices=sp_input.indices, sparse_values=sp_input.values,
                    sparse_shape=sp_input.dense_shape, name=name, out_type=out_type)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """[n, 3]: every slice along the first axis of a SparseTensor as in `serialize_sparse`."""
    from tfsandbox.ops.sparse_conversion import as_sparse
    sp_input = as_sparse(sp_input)
    return apply_op("SerializeManySparse", sparse_indices=sp_input.indices, sparse_values=sp_input.values,
                    sparse_shape=sp_input.dense_shape, name=name, out_type=out_type)


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None,
                            name: str | None = None) -> SparseTensor:
    """The SparseTensors of `serialize_sparse` [n, 3], as one with a first axis more; `rank` is that of the result."""
    indices, values, shape = apply_op("DeserializeManySparse", serialized_sparse=serialized_sparse, dtype=dtype,
                                      name=name)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
