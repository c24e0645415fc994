"""The protocol buffer wire format, as much of it as checkpoint indexes need.

They hold thousands of messages of a few bytes, which are read before protobuf is needed for anything else.
"""
from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_MASK64 = (1 << 64) - 1


def varint(number: int) -> bytes:
    """`number`, of at most 64 bits, in groups of seven bits, the lowest first; a negative one in two's complement."""
    number &= _MASK64
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """(the unsigned number at `at`, the place after it); ValueError if it does not end."""
    number = shift = 0
    while shift < 70:
        if at >= len(data):
            raise ValueError("a number is cut short")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & _MASK64, at
        shift += 7
    raise ValueError("a number has more than ten bytes")


def signed(number: int) -> int:
    """A 64-bit unsigned number as the signed one of the same bits."""
    return number - (1 << 64) if number >> 63 else number


def field(number: int, value: int | bytes) -> bytes:
    """A field that holds an integer, as a varint, or bytes (or a message). Zero is left out, as proto3 does."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value) if value else b""
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def fixed32_field(number: int, value: int) -> bytes:
    """A fixed32 field; zero is left out."""
    return varint(number << 3 | FIXED32) + value.to_bytes(4, "little") if value else b""


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a message in order; ValueError if it is malformed."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            number, at = read_varint(data, at)
            yield tag >> 3, number
            continue
        if kind == BYTES:
            size, at = read_varint(data, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise ValueError(f"a field has the unknown wire type {kind}")
        if size > len(data) - at:
            raise ValueError("a field is longer than its message")
        part = data[at : at + size]
        at += size
        yield tag >> 3, part if kind == BYTES else int.from_bytes(part, "little")
