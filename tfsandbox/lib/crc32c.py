"""The CRC-32C (Castagnoli) checksum, and its masked form, which TensorFlow stores in its files.

Data are a polynomial over GF(2), the first bit of the first byte (its lowest) at the highest power. Its remainder
modulo the generator P is found in three ways:

* a few bytes: a table look-up a byte, in Python;
* up to some thousand bytes: every byte's share of the remainder from a table for its place, all at once in numpy;
* more: P divides x**5685 + x**1362 + x**426 + 1, so the same holds with all exponents doubled any number of times.
  A block of leading bytes can then be added (xor) three times further back and dropped, which numpy does at the
  speed of memory.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | npt.NDArray[Any]

_POLYNOMIAL = 0x82F63B78
_ALL_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8

_SPARSE = (5685, 1362, 426)
# Up to that many doublings of a byte's eight: blocks of some 70 KB, which the second-level cache holds.
_DOUBLINGS = 4
_IN_PYTHON = 96
# The middle way sees the bytes as rows of this many columns.
_COLUMNS = 128
_ROWS = -(-_SPARSE[0] // _COLUMNS)
# So much is copied to be worked on at a time.
_PIECE = 1 << 22


def _byte_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_BYTE_TABLE = _byte_table()


def _spread(basis: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """[..., 256] values of all bytes from [..., 8] values of their bits."""
    table = np.zeros((*basis.shape[:-1], 256), np.uint32)
    for bit in range(8):
        size = 1 << bit
        table[..., size : 2 * size] = table[..., :size] ^ basis[..., bit : bit + 1]
    return table


@cache
def _tables() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """(row table, column table), flat: at 1024 * r + 256 * b + v, the word whose byte b is v, times a power of x.

    The row table's power is that of r rows, the column table's that of r + 1 words.
    """
    powers = np.empty((_ROWS * _COLUMNS * 8 + 32,), np.uint32)
    value = 1 << 31
    for i in range(powers.size):
        powers[i] = value
        value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
    # Bit j of a word is x ** (31 - j) within it.
    bits = 31 - np.arange(32)
    by_row = powers[np.arange(_ROWS)[:, None] * _COLUMNS * 8 + bits].reshape(_ROWS, 4, 8)
    by_column = powers[(np.arange(_COLUMNS // 4)[:, None] + 1) * 32 + bits].reshape(_COLUMNS // 4, 4, 8)
    return _spread(by_row).ravel(), _spread(by_column).ravel()


@cache
def _offsets() -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where in the two tables the byte at [row, column], and the one at [column], look; the last row is row 0."""
    place = 256 * (np.arange(_COLUMNS) % 4)
    rows = 1024 * np.arange(_ROWS)[::-1, None] + place
    columns = 1024 * (np.arange(_COLUMNS)[::-1] // 4) + place
    return rows.astype(np.intp), columns.astype(np.intp)


def _remainder(data: Bytes) -> int:
    """data times x**32 modulo P, for at most _ROWS * _COLUMNS bytes, a multiple of _COLUMNS."""
    row_table, column_table = _tables()
    row_offsets, column_offsets = _offsets()
    rows = data.reshape(-1, _COLUMNS)
    values = row_table[rows + row_offsets[_ROWS - len(rows) :]]
    words = np.bitwise_xor.reduce(np.bitwise_xor.reduce(values, axis=0).reshape(-1, 4), axis=1)
    values = column_table[words.astype("<u4").view(np.uint8) + column_offsets]
    return int(np.bitwise_xor.reduce(values))


def _fold(data: Bytes) -> Bytes:
    """The end of `data`, at most _SPARSE[0] bytes, with the same remainder as all of it. Overwrites `data`."""
    first, size = 0, data.size
    for doubling in range(_DOUBLINGS, -1, -1):
        degree, *powers = (power << doubling for power in _SPARSE)
        places = [degree - power for power in (*powers, 0)]
        while size - first > degree:
            end = first + min(places[0], size - first - degree)
            block = data[first:end]
            for place in places:
                target = data[first + place : end + place]
                np.bitwise_xor(target, block, target)
            first = end
    return data[first:]


def _extend_piece(state: int, data: Bytes) -> int:
    # Zeros in front change nothing, once the state has been added to the first four bytes.
    used = min(data.size, _SPARSE[0])
    front = -used % _COLUMNS
    work = np.zeros(front + data.size, np.uint8)
    work[front:] = data
    work[front : front + 4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
    rest = _fold(work)
    if rest.size % _COLUMNS or rest.size > _ROWS * _COLUMNS:
        whole = np.zeros(_ROWS * _COLUMNS, np.uint8)
        whole[-rest.size :] = rest
        rest = whole
    return _remainder(rest)


def extend(crc: int, data: Buffer) -> int:
    """The CRC-32C of some bytes followed by `data`, given the former's `crc`."""
    view = np.frombuffer(data, np.uint8)
    state = crc ^ _ALL_ONES
    if view.size <= _IN_PYTHON:
        for byte in view.tobytes():
            state = _BYTE_TABLE[(state ^ byte) & 0xFF] ^ (state >> 8)
        return state ^ _ALL_ONES
    for first in range(0, view.size, _PIECE):
        piece = view[first : first + _PIECE]
        if piece.size < 4:
            return extend(state ^ _ALL_ONES, piece)
        state = _extend_piece(state, piece)
    return state ^ _ALL_ONES


def value(data: Buffer) -> int:
    """The CRC-32C of `data`."""
    return extend(0, data)


def of_parts(parts: Sequence[Buffer]) -> int:
    """The CRC-32C of the parts one after the other."""
    crc = 0
    for part in parts:
        crc = extend(crc, part)
    return crc


def mask(crc: int) -> int:
    """The form in which a CRC is stored beside the data it covers: a CRC of data with a CRC in it is a poor check."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _ALL_ONES


def unmask(masked: int) -> int:
    """The CRC of a stored, masked one."""
    rotated = (masked - _MASK_DELTA) & _ALL_ONES
    return ((rotated >> 17) | (rotated << 15)) & _ALL_ONES
