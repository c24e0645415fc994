"""What a V2 checkpoint's index says: its header and an entry for each tensor, as TensorFlow's messages."""
from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from tfsandbox.framework import dtypes

from . import wire_format
from .tensor_slice import TensorSlice

HEADER_KEY = b""
STRING = 7
_WITHOUT_ARRAY = (20, 21)  # resource and variant
_LAST_TYPE = 23
_VERSION = 1
_MOST_DIMENSIONS = 32
_MOST_BYTES = (1 << 63) - 1


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a checkpoint's shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def index_path(prefix: str) -> str:
    """The file of a checkpoint's index."""
    return f"{prefix}.index"


@dataclass(frozen=True)
class BundleEntry:
    """Where a tensor lies and its masked CRC; for a partitioned tensor only its slices, which have entries too."""

    dtype: int
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    crc: int = 0
    slices: tuple[TensorSlice, ...] = field(default=())

    def encode(self) -> bytes:
        """The entry as a BundleEntryProto."""
        out = wire_format.field(1, self.dtype) + wire_format.field(2, _encode_shape(self.shape))
        for number, value in ((3, self.shard), (4, self.offset), (5, self.size)):
            out += wire_format.field(number, value)
        out += wire_format.fixed32_field(6, self.crc)
        for piece in self.slices:
            out += wire_format.field(7, _encode_slice(piece))
        return out

    @property
    def elements(self) -> int:
        """How many elements the tensor has."""
        return math.prod(self.shape)

    def in_shard(self, shard: int) -> BundleEntry:
        """The same entry, of another shard."""
        return replace(self, shard=shard)


def decode_entry(data: bytes) -> BundleEntry:
    """The entry of a BundleEntryProto; ValueError if it is malformed or says what cannot be."""
    numbers = {1: 0, 3: 0, 4: 0, 5: 0, 6: 0}
    shape: tuple[int, ...] = ()
    slices = []
    for number, value in wire_format.fields(data):
        if number in numbers:
            numbers[number] = wire_format.signed(_integer(value))
        elif number == 2:
            shape = _decode_shape(_message(value))
        elif number == 7:
            slices.append(_decode_slice(_message(value)))
    entry = BundleEntry(numbers[1], shape, numbers[3], numbers[4], numbers[5], numbers[6], tuple(slices))
    _check(entry)
    return entry


def _check(entry: BundleEntry) -> None:
    if entry.dtype in _WITHOUT_ARRAY:
        raise ValueError(f"tensors of type {dtypes.as_dtype(entry.dtype).name} cannot be read")
    if not 0 < entry.dtype <= _LAST_TYPE:
        raise ValueError(f"an entry has the unknown type {entry.dtype}")
    itemsize = dtypes.as_dtype(entry.dtype).size
    if min(entry.shard, entry.offset, entry.size) < 0 or min(entry.shape, default=0) < 0:
        raise ValueError("an entry has a negative size, offset or shard")
    if len(entry.shape) > _MOST_DIMENSIONS:
        raise ValueError(f"an entry has {len(entry.shape)} dimensions")
    if math.prod(d for d in entry.shape if d) * itemsize > _MOST_BYTES:
        raise ValueError(f"an entry has the impossible shape {list(entry.shape)}")
    if entry.slices:
        return
    if entry.dtype == STRING:
        # A length of at least a byte for each, and the lengths' checksum.
        possible = entry.size >= entry.elements + 4
    else:
        possible = entry.size == entry.elements * itemsize
    if not possible:
        raise ValueError(f"an entry has {entry.size} bytes for the shape {list(entry.shape)}")


@dataclass(frozen=True)
class BundleHeader:
    """How many data files a checkpoint has."""

    shards: int = 1

    def encode(self) -> bytes:
        """The header as a BundleHeaderProto: little-endian, version 1."""
        return wire_format.field(1, self.shards) + wire_format.field(3, wire_format.field(1, _VERSION))


def decode_header(data: bytes) -> BundleHeader:
    """The header of a BundleHeaderProto; ValueError if it is malformed or of a form that cannot be read."""
    shards = 0
    for number, value in wire_format.fields(data):
        if number == 1:
            shards = wire_format.signed(_integer(value))
        elif number == 2 and _integer(value) != 0:
            raise ValueError("a checkpoint of a big-endian machine cannot be read")
        elif number == 3:
            versions = dict(wire_format.fields(_message(value)))
            if _integer(versions.get(2, 0)) > _VERSION:
                raise ValueError(f"the checkpoint needs a reader of version {versions[2]!r}")
    if not 0 < shards < 1 << 31:
        raise ValueError(f"the header declares {shards} shards")
    return BundleHeader(shards)


def _encode_shape(shape: tuple[int, ...]) -> bytes:
    return b"".join(wire_format.field(2, wire_format.field(1, size)) for size in shape)


def _decode_shape(data: bytes) -> tuple[int, ...]:
    shape = []
    for number, value in wire_format.fields(data):
        if number == 2:
            sizes = dict(wire_format.fields(_message(value)))
            shape.append(wire_format.signed(_integer(sizes.get(1, 0))))
        elif number == 3 and value:
            raise ValueError("an entry's shape is unknown")
    return tuple(shape)


def _encode_slice(piece: TensorSlice) -> bytes:
    out = b""
    for start, length in piece.extents:
        # The length is one of a oneof: it is written even where it is zero, and left out for the whole dimension.
        told = b"" if length < 0 else wire_format.varint(2 << 3) + wire_format.varint(length)
        out += wire_format.field(1, wire_format.field(1, start) + told)
    return out


def _decode_slice(data: bytes) -> TensorSlice:
    extents = []
    for number, value in wire_format.fields(data):
        if number == 1:
            extent = dict(wire_format.fields(_message(value)))
            start = wire_format.signed(_integer(extent.get(1, 0)))
            extents.append((start, wire_format.signed(_integer(extent[2])) if 2 in extent else -1))
    return TensorSlice(tuple(extents))


def _integer(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("a number is stored as bytes")
    return value


def _message(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a message is stored as a number")
    return value
