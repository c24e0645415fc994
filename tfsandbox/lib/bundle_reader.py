"""Reading V2 checkpoints: `BundleReader`."""
from __future__ import annotations

import contextlib
import math
import os
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tfsandbox.framework import dtypes, errors

from . import atomic_file, crc32c
from .bundle_entry import (
    HEADER_KEY,
    STRING,
    BundleEntry,
    data_path,
    decode_entry,
    decode_header,
    index_path,
)
from .io.paths import error_of
from .table import read_table
from .tensor_slice import Box, TensorSlice, parse_shape_and_slice
from .wire_format import read_varint

Array = npt.NDArray[Any]


class BundleReader:
    """Reads the checkpoint `prefix`. The index is read and checked at once, a tensor when it is asked for.

    Raises NotFoundError when there is no such checkpoint, DataLossError, naming the file, when one of its files is
    cut short or damaged. Whatever an index declares, no more memory is taken than the files are long.
    Safe to use from several threads.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._files: dict[int, BinaryIO] = {}
        self._lock = threading.Lock()
        path = current_index(prefix)
        try:
            with open(path, "rb") as file:
                table = read_table(file.read(), path)
        except OSError as problem:
            raise _missing(prefix, problem) from None
        self.entries: dict[bytes, BundleEntry] = {}
        """The entries by key: that of a tensor is its name, that of a slice comes from `TensorSlice.key`."""
        try:
            if not table or table[0][0] != HEADER_KEY:
                raise ValueError("the header is missing")
            self.shards = decode_header(table[0][1]).shards
            for key, value in table[1:]:
                self.entries[key] = decode_entry(value)
            _check_places(self.entries.values(), self.shards)
        except ValueError as problem:
            raise errors.DataLossError(None, None, f"{path}: {problem}") from None

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the data files; reading opens them again."""
        with self._lock:
            for file in self._files.values():
                file.close()
            self._files.clear()

    # What there is ------------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of all tensors, sorted."""
        # Slices have keys of their own, which begin with a zero byte.
        return [_name(key) for key in self.entries if not key.startswith(b"\0")]

    def has(self, name: str) -> bool:
        """Whether there is a tensor of that name."""
        return _key(name) in self.entries

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, the whole one if it is partitioned."""
        return self._entry(name).shape

    def dtype(self, name: str) -> int:
        """The DataType number of a tensor."""
        return self._entry(name).dtype

    def debug_string(self) -> str:
        """A line for each tensor and slice, as TensorFlow prints them: key, type and shape."""
        lines = []
        for key, entry in self.entries.items():
            if not entry.slices:
                shape = ",".join(map(str, entry.shape))
                lines.append(f"{_name(key)} (DT_{_type_name(entry.dtype).upper()}) [{shape}]\n")
        return "".join(lines)

    def _entry(self, name: str) -> BundleEntry:
        try:
            return self.entries[_key(name)]
        except KeyError:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint") from None

    # Reading ------------------------------------------------------------------------------------------------

    def get(self, name: str) -> Array:
        """The tensor of that name, put together if it is partitioned; NotFoundError if there is none."""
        entry = self._entry(name)
        return self._region(name, entry, TensorSlice.whole(len(entry.shape)))

    def restore(self, name: str, shape_and_slice: str = "", dtype: int | None = None) -> Array:
        """The tensor, or the part of it, that the op RestoreV2 gives for these arguments, with its errors."""
        entry = self._entry(name)
        if dtype is not None and dtype != entry.dtype:
            wanted, stored = _type_name(dtype), _type_name(entry.dtype)
            message = f"tensor_name = {name}; expected dtype {wanted} does not equal original dtype {stored}"
            raise errors.InvalidArgumentError(None, None, message)
        if not shape_and_slice:
            return self._region(name, entry, TensorSlice.whole(len(entry.shape)))
        shape, piece = parse_shape_and_slice(shape_and_slice)
        if shape != entry.shape:
            wanted, stored = (f"[{','.join(map(str, s))}]" for s in (shape, entry.shape))
            message = (
                f"tensor_name = {name}; shape in shape_and_slice spec {wanted} does not match the shape stored in "
                f"checkpoint: {stored}"
            )
            raise errors.InvalidArgumentError(None, None, message)
        return self._region(name, entry, piece)

    def _region(self, name: str, entry: BundleEntry, wanted: TensorSlice) -> Array:
        box = wanted.box(entry.shape)
        if not entry.slices:
            whole = self._stored(entry)
            return whole if _extent(box) == entry.shape else whole[_index(box, None)].copy()
        parts = []
        for place, stored in self._slices(name, entry):
            if place == box:
                return self._stored(stored)
            common = _common(place, box)
            if common is not None:
                parts.append(_Part(common, place, stored))
        for part in parts:
            self._open(part.stored)
        if not _cover(parts, box):
            lacking = f"Does not have sufficient slices for partitioned tensor {name}"
            raise errors.InvalidArgumentError(None, None, f"{lacking} to restore in slice_spec: {wanted}")
        out = np.empty(_extent(box), dtypes.as_dtype(entry.dtype).as_numpy_dtype)
        for part in parts:
            out[_index(part.common, box)] = self._stored(part.stored)[_index(part.common, part.place)]
        return out

    def _slices(self, name: str, entry: BundleEntry) -> list[tuple[Box, BundleEntry]]:
        """Where each slice of a partitioned tensor lies in it, and its entry."""
        slices = []
        path = current_index(self.prefix)
        for piece in entry.slices:
            stored = self.entries.get(piece.key(_key(name)))
            try:
                place = piece.box(entry.shape)
            except errors.InternalError as problem:
                raise _loss(path, f"tensor {name}: {problem.message}") from None
            if stored is None or stored.slices or (stored.shape, stored.dtype) != (_extent(place), entry.dtype):
                raise _loss(path, f"slice {piece} of tensor {name} is not what it should be")
            slices.append((place, stored))
        return slices

    def _stored(self, entry: BundleEntry) -> Array:
        """A tensor or slice as it is in its file."""
        path, data = self._bytes(entry)
        stored_type = np.dtype(dtypes.as_dtype(entry.dtype).as_numpy_dtype)
        if entry.dtype == STRING:
            return self._strings(entry, data.tobytes(), path)
        self._check(entry, crc32c.value(data), path)
        if stored_type == np.bool_ and data.size and data.max() > 1:
            data = (data != 0).view(np.uint8)
        return data.view(stored_type).reshape(entry.shape)

    def _strings(self, entry: BundleEntry, data: bytes, path: str) -> Array:
        lengths, at = [], 0
        try:
            for _ in range(entry.elements):
                length, at = read_varint(data, at)
                lengths.append(length)
        except ValueError as problem:
            raise _loss(path, str(problem)) from None
        seen = b"".join(length.to_bytes(4 if length <= 0xFFFFFFFF else 8, "little") for length in lengths)
        check, actual = data[at : at + 4], crc32c.mask(crc32c.value(seen))
        if int.from_bytes(check, "little") != actual:
            expected = crc32c.unmask(int.from_bytes(check, "little"))
            message = f"The length checksum does not match: expected {expected} but actual is {crc32c.unmask(actual)}"
            raise _loss(path, message)
        at += 4
        if sum(lengths) != len(data) - at:
            raise _loss(path, "the lengths of the strings do not add up")
        self._check(entry, crc32c.of_parts((seen, check, data[at:])), path)
        out = np.empty(entry.elements, object)
        for i, length in enumerate(lengths):
            out[i] = data[at : at + length]
            at += length
        return out.reshape(entry.shape)

    def _check(self, entry: BundleEntry, crc: int, path: str) -> None:
        if crc32c.mask(crc) != entry.crc:
            message = (
                f"Checksum does not match: stored {crc32c.unmask(entry.crc)} vs. calculated on the restored bytes {crc}"
            )
            raise _loss(path, message)

    def _open(self, entry: BundleEntry) -> tuple[str, BinaryIO]:
        """(path, open file) of an entry's shard, which is long enough to hold it. Called with the lock or before it."""
        path = data_path(self.prefix, entry.shard, self.shards)
        try:
            file = self._files.get(entry.shard)
            if file is None:
                file = self._files.setdefault(entry.shard, open(path, "rb"))
            size = os.fstat(file.fileno()).st_size
        except OSError as problem:
            raise error_of(problem, path) from None
        end = entry.offset + entry.size
        if end > size:
            raise _loss(path, f"the file is cut short: a tensor ends at byte {end}, the file at {size}")
        return path, file

    def _bytes(self, entry: BundleEntry) -> tuple[str, npt.NDArray[np.uint8]]:
        """(path, the bytes of a tensor or slice)."""
        with self._lock:
            path, file = self._open(entry)
            data = np.empty(entry.size, np.uint8)
            file.seek(entry.offset)
            if file.readinto(data.data) != entry.size:  # type: ignore[attr-defined]
                raise _loss(path, "Read less bytes than requested")
        return path, data


@dataclass(frozen=True)
class _Part:
    """What a slice has of a region: the box common to both, where the slice lies, and its entry."""

    common: Box
    place: Box
    stored: BundleEntry


def _cover(parts: list[_Part], box: Box) -> bool:
    """Whether the parts together are all of `box`. No more memory is taken than they have elements."""
    if sum(math.prod(_extent(part.common)) for part in parts) < math.prod(_extent(box)):
        return False
    covered = np.zeros(_extent(box), np.bool_)  # some may overlap
    for part in parts:
        covered[_index(part.common, box)] = True
    return bool(covered.all())


def current_index(prefix: str) -> str:
    """The file that holds the index of the checkpoint `prefix`.

    That is its `.index`, but for a checkpoint whose writer was killed between its two renames: the data are the new
    ones then, and the new index is there under the name it was written to, whose data have none such any more.
    """
    path = index_path(prefix)
    directory, base = os.path.split(path)
    try:
        written = os.stat(path).st_mtime_ns
        beside = os.listdir(directory or ".")
    except OSError:
        return path
    for name in beside:
        if name.startswith(base + atomic_file.TEMPORARY):
            suffix, pending = name[len(base) :], os.path.join(directory, name)
            # A later checkpoint of a writer that leaves such files alone has the newer index.
            # (One that is gone meanwhile has been put in place.)
            with contextlib.suppress(OSError):
                if not os.path.exists(data_path(prefix, 0, 1) + suffix) and os.stat(pending).st_mtime_ns >= written:
                    return pending
    return path


def exists(prefix: str) -> bool:
    """Whether there is a V2 checkpoint `prefix`."""
    return os.path.isfile(index_path(prefix))


def _missing(prefix: str, problem: OSError) -> errors.OpError:
    directory = os.path.dirname(prefix)
    if directory and not os.path.isdir(directory):
        message = (
            f"Unsuccessful TensorSliceReader constructor: Failed to get matching files on {prefix}: "
            f"Not found: {directory}; No such file or directory"
        )
        return errors.InvalidArgumentError(None, None, message)
    if isinstance(problem, FileNotFoundError):
        message = f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
        return errors.NotFoundError(None, None, message)
    return error_of(problem, index_path(prefix))


def _check_places(entries: Any, shards: int) -> None:
    """ValueError if an entry names a shard that is not, or two lie on the same bytes."""
    places = sorted((entry.shard, entry.offset, entry.size) for entry in entries if entry.size)
    end = (0, 0)
    for shard, offset, size in places:
        if shard >= shards:
            raise ValueError(f"an entry is in shard {shard} of {shards}")
        if (shard, offset) < end:
            raise ValueError("two tensors lie on the same bytes")
        end = (shard, offset + size)


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _name(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def _type_name(dtype: int) -> str:
    """The name of a type in TensorFlow's C++ side."""
    name = dtypes.as_dtype(dtype).name
    return {"float16": "half", "float32": "float", "float64": "double"}.get(name, name)


def _common(one: Box, other: Box) -> Box | None:
    common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other))
    return common if all(start < end for start, end in common) else None


def _extent(box: Box) -> tuple[int, ...]:
    return tuple(end - start for start, end in box)


def _loss(path: str, message: str) -> errors.DataLossError:
    return errors.DataLossError(None, None, f"{path}: {message}")


def _index(part: Box, box: Box | None) -> tuple[slice, ...]:
    """The part of a tensor as an index into an array that holds `box` of it (None: all of it)."""
    origin = [start for start, _ in box] if box is not None else [0] * len(part)
    return tuple(slice(start - at, end - at) for (start, end), at in zip(part, origin))
