"""Writing V2 checkpoints: `BundleWriter`, and `merge`, which makes one checkpoint of several."""
from __future__ import annotations

import contextlib
import os
import threading
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tfsandbox.framework import dtypes, errors

from . import atomic_file, crc32c
from .bundle_entry import HEADER_KEY, STRING, BundleEntry, BundleHeader, data_path, index_path
from .io.paths import translated
from .table import TableWriter
from .tensor_slice import parse_shape_and_slice
from .wire_format import varint

Array = npt.NDArray[Any]

_LARGEST_SHORT = 0xFFFFFFFF

_live: set[str] = set()
"""The endings of the files that writers of this process have open."""

_renaming = threading.RLock()
"""Held while a checkpoint is put in place: its two files are of one writer, whoever else saves under the name."""


class BundleWriter:
    """Writes the checkpoint `prefix`: add tensors, then `finish`; as a context manager, an exception aborts.

    The bytes are TensorFlow's for the same tensors in the same order. Nothing is seen under the checkpoint's name
    before `finish`, which puts the data in place first and the index last, each by one rename.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._entries: dict[bytes, BundleEntry] = {}
        self._size = 0
        self._suffix = atomic_file.temporary_suffix()
        self._temporary = data_path(prefix, 0, 1) + self._suffix
        self._placed = False
        # Said before the file is there: another writer clears away what nobody has said is in use.
        _live.add(self._suffix)
        try:
            with translated(self._temporary):
                os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
                self._data: BinaryIO = open(self._temporary, "wb")
        except BaseException:
            _live.discard(self._suffix)
            raise

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.abort()

    def add(self, name: str, value: Array, dtype: int | None = None) -> None:
        """Append a tensor. `dtype` is its DataType number, if not what the array's type says.

        Strings are object arrays of bytes. Raises InvalidArgumentError for a name that is there already.
        """
        self._add(_key(name), np.asarray(value), dtype)

    def add_slice(self, name: str, shape_and_slice: str, value: Array, dtype: int | None = None) -> None:
        """Append a slice of a partitioned tensor, such as "10 4 0,5:-"; an empty text is a whole tensor.

        Raises InvalidArgumentError if the array does not have the slice's shape, or the slice is there already.
        """
        value = np.asarray(value)
        if not shape_and_slice:
            self.add(name, value, dtype)
            return
        shape, piece = parse_shape_and_slice(shape_and_slice)
        box = piece.box(shape)
        if tuple(end - start for start, end in box) != value.shape:
            message = (
                "Slice in shape_and_slice specification does not match the shape of the tensor to  save: "
                f"{shape_and_slice}, tensor: [{','.join(map(str, value.shape))}]"
            )
            raise errors.InvalidArgumentError(None, None, message)
        if value.shape == shape:
            self.add(name, value, dtype)
            return
        key = _key(name)
        number = _number_of(value, dtype)
        whole = self._entries.get(key) or BundleEntry(number, shape)
        if whole.dtype != number or whole.shape != shape:
            message = f"The slices of {name} do not have the same type and the same whole shape: {shape_and_slice}"
            raise errors.InvalidArgumentError(None, None, message)
        self._add(piece.key(key), value, dtype)
        slices = (*whole.slices, piece)
        self._entries[key] = BundleEntry(number, shape, slices=slices)

    def _add(self, key: bytes, value: Array, dtype: int | None) -> None:
        if key == HEADER_KEY:
            raise errors.InvalidArgumentError(None, None, "A tensor in a checkpoint needs a name")
        if key in self._entries:
            message = f"Adding duplicate key: {key.decode('utf-8', 'replace')}"
            raise errors.InvalidArgumentError(None, None, message)
        number = _number_of(value, dtype)
        if number == STRING:
            size, crc = self._write_strings(value)
        else:
            plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
            size, crc = plain.size, crc32c.value(plain)
            self._write(plain.data)
        self._entries[key] = BundleEntry(number, value.shape, 0, self._size, size, crc32c.mask(crc))
        self._size += size

    def _write(self, part: bytes | memoryview) -> None:
        with translated(self._temporary):
            self._data.write(part)

    def _write_strings(self, value: Array) -> tuple[int, int]:
        """Lengths, their checksum, contents. (All checksums see a length as four bytes, eight if it needs them.)"""
        strings = [s.encode() if isinstance(s, str) else bytes(s) for s in value.ravel().tolist()]
        widths = ((len(s), 4 if len(s) <= _LARGEST_SHORT else 8) for s in strings)
        seen = b"".join(length.to_bytes(width, "little") for length, width in widths)
        check = crc32c.mask(crc32c.value(seen)).to_bytes(4, "little")
        lengths = b"".join(varint(len(s)) for s in strings)
        contents = b"".join(strings)
        self._write(lengths + check + contents)
        return len(lengths) + len(check) + len(contents), crc32c.of_parts((seen, check, contents))

    def finish(self) -> None:
        """Put the checkpoint in place."""
        index = index_path(self._prefix) + self._suffix
        try:
            with translated(self._temporary), self._data:
                atomic_file.sync(self._data)
            with translated(index), open(index, "wb") as file:
                _write_index(file, BundleHeader(), self._entries)
                atomic_file.sync(file)
            with _renaming:
                remove_temporaries(self._prefix)
                # Between these two a reader takes the new index by the name it has yet; see BundleReader.
                for written, path in ((self._temporary, data_path(self._prefix, 0, 1)),
                                      (index, index_path(self._prefix))):
                    with translated(path):
                        os.replace(written, path)
                    self._placed = True
        except BaseException:
            self.abort()
            raise
        _live.discard(self._suffix)
        atomic_file.sync_directory(self._prefix)

    def abort(self) -> None:
        """Leave no trace of what was added."""
        _live.discard(self._suffix)
        self._data.close()
        # Data that are in place already keep their index beside them.
        if not self._placed:
            for path in (index_path(self._prefix) + self._suffix, self._temporary):
                with contextlib.suppress(OSError):
                    os.remove(path)


def remove_temporaries(prefix: str) -> None:
    """Remove what writers of `prefix` that were killed have left, not the files that this process has open."""
    directory, base = os.path.split(prefix)
    for name in os.listdir(directory or "."):
        for start in (os.path.basename(index_path(base)), os.path.basename(data_path(base, 0, 1))):
            suffix = name.removeprefix(start)
            if suffix != name and suffix.startswith(atomic_file.TEMPORARY) and suffix not in _live:
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(directory, name))


def _write_index(file: BinaryIO, header: BundleHeader, entries: dict[bytes, BundleEntry]) -> None:
    table = TableWriter(file)
    table.add(HEADER_KEY, header.encode())
    for key in sorted(entries):
        table.add(key, entries[key].encode())
    table.finish()


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _number_of(value: Array, dtype: int | None) -> int:
    if dtype is not None:
        return dtype
    if value.dtype.kind in "OSU":
        return STRING
    return dtypes.as_dtype(value.dtype).as_datatype_enum


def merge(prefixes: list[str], merged_prefix: str, delete_old_dirs: bool = False) -> None:
    """Make one checkpoint of several, whose files it takes over, as the op MergeV2Checkpoints does.

    The slices of a partitioned tensor may come from several. With `delete_old_dirs` the directories of the old
    prefixes, which are empty then, are removed. Raises InvalidArgumentError when two have a tensor of the same name.
    """
    from .bundle_reader import BundleReader

    merged: dict[bytes, BundleEntry] = {}
    places: dict[str, int] = {}
    for prefix in prefixes:
        with BundleReader(prefix) as reader:
            for key, entry in reader.entries.items():
                place = places.setdefault(data_path(prefix, entry.shard, reader.shards), len(places))
                if entry.slices and key in merged and merged[key].slices:
                    first = merged[key]
                    if (first.dtype, first.shape) != (entry.dtype, entry.shape):
                        message = f"The slices of {key!r} do not have the same type and the same whole shape"
                        raise errors.InvalidArgumentError(None, None, message)
                    slices = first.slices + entry.slices
                    merged[key] = BundleEntry(first.dtype, first.shape, slices=slices)
                elif key in merged:
                    told = key.decode("utf-8", "replace")
                    message = f"Duplicate tensor keyed by {told} encountered, when merging prefix: {prefix}"
                    raise errors.InvalidArgumentError(None, None, message)
                else:
                    merged[key] = entry if entry.slices else entry.in_shard(place)
    os.makedirs(os.path.dirname(merged_prefix) or ".", exist_ok=True)
    for path, place in places.items():
        os.replace(path, data_path(merged_prefix, place, len(places)))
    with atomic_file.replacing(index_path(merged_prefix)) as file:
        _write_index(file, BundleHeader(max(len(places), 1)), merged)
    for prefix in prefixes:
        with contextlib.suppress(OSError):
            os.remove(index_path(prefix))
        if delete_old_dirs:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(prefix))
