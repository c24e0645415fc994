"""The sorted string table of LevelDB, in which TensorFlow keeps a checkpoint's index.

A table is a run of blocks, then a footer. A block holds sorted entries, each key without the prefix it shares with
the key before, except at every sixteenth (a restart); the restarts' places and count; then, not part of its size, a
byte for the compression and a masked CRC of all before. The last block, the index, has a key not below any of a
block's keys for every block, and where the block lies. The one before, the meta index, is empty here.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from tfsandbox.framework import errors

from . import crc32c, snappy
from .wire_format import read_varint, varint

MAGIC = 0xDB4775248B80FB57
FOOTER_SIZE = 48
# As in TensorFlow's tables; LevelDB's own are 4096.
_BLOCK_SIZE = 262144
_RESTART_INTERVAL = 16
_TRAILER_SIZE = 5
_PLAIN, _SNAPPY = 0, 1


class _BlockBuilder:
    def __init__(self, restart_interval: int) -> None:
        self._interval = restart_interval
        self._buffer = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self._last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since_restart < self._interval:
            shared = _shared_prefix(self._last_key, key)
        else:
            self._restarts.append(len(self._buffer))
            self._since_restart = 0
        self._buffer += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        self._last_key = key
        self._since_restart += 1

    @property
    def size(self) -> int:
        return len(self._buffer) + 4 * len(self._restarts) + 4

    @property
    def empty(self) -> bool:
        return not self._buffer

    def finish(self) -> bytes:
        places = (*self._restarts, len(self._restarts))
        return bytes(self._buffer) + b"".join(place.to_bytes(4, "little") for place in places)


def _shared_prefix(one: bytes, other: bytes) -> int:
    for i, (a, b) in enumerate(zip(one, other)):
        if a != b:
            return i
    return min(len(one), len(other))


def _separator(key: bytes, next_key: bytes) -> bytes:
    """A short key k, key <= k < next_key."""
    i = _shared_prefix(key, next_key)
    if i < min(len(key), len(next_key)) and key[i] + 1 < next_key[i]:
        return key[:i] + bytes((key[i] + 1,))
    return key


def _successor(key: bytes) -> bytes:
    """A short key not below `key`."""
    for i, byte in enumerate(key):
        if byte != 0xFF:
            return key[:i] + bytes((byte + 1,))
    return key


class TableWriter:
    """Writes a table to a file; the keys come in ascending order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._offset = 0
        self._block = _BlockBuilder(_RESTART_INTERVAL)
        self._index = _BlockBuilder(1)
        self._pending: bytes | None = None
        self._last_key: bytes | None = None

    def add(self, key: bytes, value: bytes) -> None:
        """Append an entry; ValueError if `key` does not come after the one before."""
        if self._last_key is not None and key <= self._last_key:
            raise ValueError(f"the key {key!r} does not come after {self._last_key!r}")
        if self._pending is not None and self._last_key is not None:
            self._index.add(_separator(self._last_key, key), self._pending)
            self._pending = None
        self._block.add(key, value)
        self._last_key = key
        if self._block.size >= _BLOCK_SIZE:
            self._flush()

    def _flush(self) -> None:
        self._pending = self._write_block(self._block)
        self._block = _BlockBuilder(_RESTART_INTERVAL)

    def _write_block(self, block: _BlockBuilder) -> bytes:
        contents = block.finish()
        covered = contents + bytes((_PLAIN,))
        self._file.write(covered + crc32c.mask(crc32c.value(covered)).to_bytes(4, "little"))
        handle = varint(self._offset) + varint(len(contents))
        self._offset += len(contents) + _TRAILER_SIZE
        return handle

    def finish(self) -> None:
        """Write what is left, the index and the footer."""
        if not self._block.empty:
            self._flush()
        meta_index = self._write_block(_BlockBuilder(_RESTART_INTERVAL))
        if self._pending is not None and self._last_key is not None:
            self._index.add(_successor(self._last_key), self._pending)
        handles = meta_index + self._write_block(self._index)
        self._file.write(handles.ljust(FOOTER_SIZE - 8, b"\0") + MAGIC.to_bytes(8, "little"))


def read_table(data: bytes, name: str) -> list[tuple[bytes, bytes]]:
    """All entries of the table `data`, read from the file `name`, in order.

    Raises DataLossError, naming the file, for what is no table, is cut short, or fails a checksum. Memory is bounded
    by a small multiple of the table's size, whatever it declares.
    """
    try:
        return _read(data)
    except ValueError as problem:
        raise errors.DataLossError(None, None, f"{name}: {problem}") from None


def _read(data: bytes) -> list[tuple[bytes, bytes]]:
    if len(data) < FOOTER_SIZE:
        raise ValueError("file is too short to be an sstable")
    footer = data[-FOOTER_SIZE:]
    if int.from_bytes(footer[-8:], "little") != MAGIC:
        raise ValueError("not an sstable (bad magic number)")
    meta_at, at = read_varint(footer, 0)
    meta_size, at = read_varint(footer, at)
    _block(data, meta_at, meta_size)
    index_at, at = read_varint(footer, at)
    index_size, _ = read_varint(footer, at)
    entries: list[tuple[bytes, bytes]] = []
    # A shared prefix is repeated at most from one restart to the next.
    budget = _Budget(2 * _RESTART_INTERVAL * len(data))
    end = 0
    for _, handle in _entries(_block(data, index_at, index_size), budget):
        offset, at = read_varint(handle, 0)
        size, _ = read_varint(handle, at)
        if offset < end:
            raise ValueError("the blocks overlap or are out of order")
        for key, value in _entries(_block(data, offset, size), budget):
            if entries and key <= entries[-1][0]:
                raise ValueError("the keys are out of order")
            entries.append((key, value))
        end = offset + size + _TRAILER_SIZE
    return entries


class _Budget:
    """How many bytes of keys and values may yet be unpacked."""

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ValueError("the keys expand to more than a table can hold")


def _block(data: bytes, offset: int, size: int) -> bytes:
    end = offset + size
    if end + _TRAILER_SIZE > len(data) - FOOTER_SIZE:
        raise ValueError("truncated block read")
    covered = data[offset : end + 1]
    stored = int.from_bytes(data[end + 1 : end + _TRAILER_SIZE], "little")
    if crc32c.mask(crc32c.value(covered)) != stored:
        raise ValueError("block checksum mismatch")
    kind = data[end]
    if kind == _SNAPPY:
        return snappy.decompress(data[offset:end])
    if kind != _PLAIN:
        raise ValueError("bad block type")
    return data[offset:end]


def _entries(block: bytes, budget: _Budget) -> Iterator[tuple[bytes, bytes]]:
    count = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (count + 1)
    if len(block) < 4 or end < 0:
        raise ValueError("bad block contents")
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        value_size, at = read_varint(block, at)
        if shared > len(key) or unshared + value_size > end - at:
            raise ValueError("bad entry in block")
        budget.spend(shared + unshared + value_size)
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        yield key, block[at : at + value_size]
        at += value_size

