"""Slices of a partitioned tensor: their `shape_and_slice` text, and the keys under which a checkpoint stores them.

The text is the whole tensor's dimensions and, last, the slice: "10 4 0,5:-" is rows 0 to 4 and all columns of a
[10, 4] tensor. A pair is start and length, "-" a whole dimension.
"""
from __future__ import annotations

import re
from dataclasses import dataclass

from tfsandbox.framework import errors

Box = tuple[tuple[int, int], ...]

_WHOLE = (0, -1)
_MOST = (1 << 63) - 1


@dataclass(frozen=True)
class TensorSlice:
    """A (start, length) for each dimension; length -1 (and start 0) is the whole of it."""

    extents: Box

    def __str__(self) -> str:
        return ":".join("-" if extent == _WHOLE else f"{extent[0]},{extent[1]}" for extent in self.extents)

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """The slice written as `text`; InvalidArgumentError if it is none."""
        return cls(tuple(_extent(part, text) for part in text.split(":") if part))

    @classmethod
    def whole(cls, rank: int) -> TensorSlice:
        """The slice that is all of a tensor of that many dimensions."""
        return cls((_WHOLE,) * rank)

    def box(self, shape: tuple[int, ...]) -> Box:
        """(start, end) for each dimension of a tensor of `shape`; InternalError if the slice is not inside."""
        text = f"shape = [{','.join(map(str, shape))}], slice = {self}"
        if len(shape) != len(self.extents):
            raise errors.InternalError(None, None, f"Mismatching ranks: {text}")
        box = []
        for i, (extent, size) in enumerate(zip(self.extents, shape)):
            start, length = (0, size) if extent == _WHOLE else extent
            if start < 0 or length < 0 or start + length > size:
                message = f"Extent in dimension {i} out of bounds: {text}"
                raise errors.InternalError(None, None, message)
            box.append((start, start + length))
        return tuple(box)

    def key(self, name: bytes) -> bytes:
        """The key of this slice of the tensor `name`: it sorts before all names, and by name, then by place."""
        key = bytearray(_number(0) + _string(name) + _number(len(self.extents)))
        for start, length in self.extents:
            key += _signed(start) + _signed(length)
        return bytes(key)


def parse_shape_and_slice(text: str) -> tuple[tuple[int, ...], TensorSlice]:
    """(the whole tensor's shape, the slice) of a `shape_and_slice` text.

    Raises InvalidArgumentError for a malformed text, InternalError for a slice that is not inside the shape.
    """
    *dimensions, part = text.split(" ")
    if not dimensions:
        message = f"Need least two elements in shape_and_slice specification: {text}"
        raise errors.InvalidArgumentError(None, None, message)
    if not all(re.fullmatch(r"[0-9]{1,19}", d) and int(d) <= _MOST for d in dimensions):
        message = f"Non numerical dimension in shape_and_slice: {text}"
        raise errors.InvalidArgumentError(None, None, message)
    shape = tuple(int(d) for d in dimensions)
    piece = TensorSlice.parse(part)
    piece.box(shape)
    return shape, piece


def _extent(part: str, text: str) -> tuple[int, int]:
    if part == "-":
        return _WHOLE
    found = re.fullmatch(r"(-?[0-9]{1,19}),(-?[0-9]{1,19})", part)
    if not found or max(abs(int(number)) for number in found.groups()) > _MOST:
        message = f"Expected a pair of numbers or '-' but got '{part}': string = {text}"
        raise errors.InvalidArgumentError(None, None, message)
    start, length = int(found[1]), int(found[2])
    if start < 0 or length <= 0:
        message = (
            "Expected non-negative start and positive length but got "
            f"start = {start}, length = {length}: string = {text}"
        )
        raise errors.InvalidArgumentError(None, None, message)
    return start, length


# Encodings whose bytes sort as what they encode does.


def _number(value: int) -> bytes:
    """A number of at least zero: how many bytes, then they, the highest first."""
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes((len(digits),)) + digits


def _string(text: bytes) -> bytes:
    escaped = re.sub(rb"[\x00\xff]", lambda found: b"\0\xff" if found[0] == b"\0" else b"\xff\0", text)
    return escaped + b"\0\x01"


def _signed(value: int) -> bytes:
    """A number of n bytes: n ones, a zero and the sign-extended value, the highest bit first; all ones inverted
    where it is negative."""
    size = (value if value >= 0 else ~value).bit_length() // 7 + 1
    bits = value & ((1 << 8 * size) - 1)
    header = ((1 << size) - 1) << (7 * size)
    return (bits ^ header).to_bytes(size, "big")
