"""Record files (`tf.python_io`): length, masked CRC of the length, contents, masked CRC of the contents, over and over.

A file may be compressed as a whole, by gzip or zlib.
"""
from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO

from tfsandbox.framework import errors

from .. import crc32c
from .paths import local, name_of, translated

_HEADER_SIZE = 12
_CRC_SIZE = 4
_CHUNK = 1 << 18
_GZIP_WINDOW = zlib.MAX_WBITS + 16
_GZIP_MAGIC = b"\x1f\x8b"


class TFRecordCompressionType:
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How to read or write a record file; what is None is as in zlib, with a memory level of 9."""

    compression_type_map = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: str | int | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """"", "GZIP" or "ZLIB" for options, a name or a TFRecordCompressionType; ValueError for anything else."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in ("GZIP", "ZLIB"):
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


Options = TFRecordOptions | str | int | None


def _compressor(options: Options) -> Any:
    """A zlib compressor, or None for a plain file."""
    kind = TFRecordOptions.get_compression_type_string(options)
    if not kind:
        return None
    told = options if isinstance(options, TFRecordOptions) else TFRecordOptions(kind)

    def chosen(value: int | None, default: int) -> int:
        return default if value is None else value

    return zlib.compressobj(
        chosen(told.compression_level, zlib.Z_DEFAULT_COMPRESSION),
        chosen(told.compression_method, zlib.DEFLATED),
        chosen(told.window_bits, _GZIP_WINDOW if kind == "GZIP" else zlib.MAX_WBITS),
        chosen(told.mem_level, 9),
        chosen(told.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
    )


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = len(record).to_bytes(8, "little")
    checks = [crc32c.mask(crc32c.value(part)).to_bytes(_CRC_SIZE, "little") for part in (length, record)]
    return length + checks[0] + record + checks[1]


class TFRecordWriter:
    """Writes records to a file, which it replaces. `options` may also be a compression's name or number."""

    def __init__(self, path: str | bytes, options: Options = None) -> None:
        self._path = name_of(path)
        self._compressor = _compressor(options)
        with translated(self._path):
            self._file: BinaryIO | None = open(local(path), "wb")

    def _open_file(self) -> BinaryIO:
        if self._file is None:
            message = "Writer not initialized or previously closed"
            raise errors.FailedPreconditionError(None, None, message)
        return self._file

    def write(self, record: bytes) -> None:
        """Append a record; TypeError unless it is bytes."""
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        file = self._open_file()
        data = framed(record)
        with translated(self._path):
            file.write(data if self._compressor is None else self._compressor.compress(data))

    def flush(self) -> None:
        """Hand what was written to the system, so that a reader finds it."""
        file = self._open_file()
        with translated(self._path):
            if self._compressor is not None:
                file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
            file.flush()

    def close(self) -> None:
        """Write what is left; closing again does nothing."""
        file, self._file = self._file, None
        if file is not None:
            with translated(self._path), file:
                if self._compressor is not None:
                    file.write(self._compressor.flush())

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Plain:
    """A file, of which no more is read than it has, whatever is asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        left = os.fstat(self._file.fileno()).st_size - self._file.tell()
        return self._file.read(max(0, min(size, left)))


class _Inflated:
    """The contents of a compressed file, of one part or of several put together."""

    def __init__(self, file: BinaryIO, window_bits: int) -> None:
        self._file, self._window_bits = file, window_bits
        self._inflater = zlib.decompressobj(window_bits)
        self._input = b""

    def _more(self, size: int) -> bytes:
        """At most `size` bytes; none at the end of the file."""
        while True:
            if self._inflater.eof:
                rest = self._inflater.unused_data + self._file.read(_CHUNK)
                if self._window_bits != _GZIP_WINDOW or not rest.startswith(_GZIP_MAGIC):
                    return b""
                self._inflater, self._input = zlib.decompressobj(self._window_bits), rest
            self._input = self._input or self._file.read(_CHUNK)
            ended = not self._input
            try:
                out = self._inflater.decompress(self._input, size)
            except zlib.error as problem:
                number, _, text = str(problem).removeprefix("Error ").partition(" ")
                message = f"inflate() failed with error {number}: {text.partition(': ')[2]}"
                raise errors.DataLossError(None, None, message) from None
            self._input = self._inflater.unconsumed_tail
            if out or ended:
                return out

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._more(min(size, _CHUNK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _checked(data: bytes, check: bytes) -> bool:
    return crc32c.mask(crc32c.value(data)) == int.from_bytes(check, "little")


def _records(file: _Plain | _Inflated) -> Iterator[bytes]:
    offset = 0
    while True:
        header = file.read(_HEADER_SIZE)
        if len(header) < _HEADER_SIZE:
            return  # as TensorFlow does: what is not even a header is the end
        if not _checked(header[:8], header[8:]):
            raise errors.DataLossError(None, None, f"corrupted record at {offset}")
        length = int.from_bytes(header[:8], "little")
        contents = file.read(length + _CRC_SIZE)
        if len(contents) < length + _CRC_SIZE:
            raise errors.DataLossError(None, None, f"truncated record at {offset}")
        record = contents[:length]
        if not _checked(record, contents[length:]):
            raise errors.DataLossError(None, None, f"corrupted record at {offset + _HEADER_SIZE}")
        yield record
        offset += _HEADER_SIZE + len(contents)


def tf_record_iterator(path: str | bytes, options: Options = None) -> Iterator[bytes]:
    """The records of a file.

    Raises NotFoundError if there is none, DataLossError for a record that is damaged or cut short.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    with translated(name_of(path)):
        file = open(local(path), "rb")
    with file:
        if not kind:
            yield from _records(_Plain(file))
            return
        window_bits = _GZIP_WINDOW if kind == "GZIP" else zlib.MAX_WBITS
        if isinstance(options, TFRecordOptions) and options.window_bits is not None:
            window_bits = options.window_bits
        yield from _records(_Inflated(file, window_bits))
