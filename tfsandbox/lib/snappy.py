"""Decompression of a snappy block, for tables that another program compressed."""
from __future__ import annotations

from .wire_format import read_varint

# A copy of 64 bytes takes three at least.
_MOST_EXPANSION = 22


def decompress(data: bytes) -> bytes:
    """The contents of a snappy block; ValueError if it is malformed."""
    size, at = read_varint(data, 0)
    if size > _MOST_EXPANSION * len(data):
        raise ValueError("a compressed block declares more than it can hold")
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind, length = tag & 3, (tag >> 2) + 1
        if kind == 0:
            if length > 60:
                extra = length - 60
                length = int.from_bytes(data[at : at + extra], "little") + 1
                at += extra
            literal = data[at : at + length]
            if len(literal) != length:
                raise ValueError("a compressed block is cut short")
            out += literal
            at += length
        else:
            width = (0, 1, 2, 4)[kind]
            distance = int.from_bytes(data[at : at + width], "little")
            if len(data) - at < width:
                raise ValueError("a compressed block is cut short")
            at += width
            if kind == 1:
                length = (tag >> 2 & 7) + 4
                distance |= tag >> 5 << 8
            if not 0 < distance <= len(out):
                raise ValueError("a compressed block refers to what is not there")
            start = len(out) - distance
            repeated = bytes(out[start : start + min(length, distance)])
            out += (repeated * (length // distance + 1))[:length]
        if len(out) > size:
            raise ValueError("a compressed block holds more than it declares")
    if len(out) != size:
        raise ValueError("a compressed block holds less than it declares")
    return bytes(out)
