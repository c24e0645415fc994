"""Files and directories under TensorFlow's names and with its errors: local paths, and `file://` ones.

Where a function has two names in TensorFlow, one per generation of argument names, both are here.
"""
from __future__ import annotations

import errno
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

from tfsandbox.framework import errors

from .. import atomic_file
from .paths import local, name_of, pattern_expression, translated

Path = str | bytes

_DEFAULT_BLOCK_SIZE = 16 * 1024 * 1024
_MODES = {"r", "w", "a", "r+", "w+", "a+"}


class FileIO:
    """A file of the modes r, w, a, r+, w+ and a+, with b for bytes instead of text (UTF-8).

    It is opened when it is first read or written, and reads and writes through two separate handles: what was
    written is read after `flush` only.
    """

    def __init__(self, name: Path, mode: str) -> None:
        self.__name, self.__mode = name, mode
        plain = mode.replace("b", "", 1)
        if plain not in _MODES:
            message = "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            raise errors.InvalidArgumentError(None, None, message)
        self._binary_mode = plain != mode
        self._read_check_passed = plain in ("r", "r+", "a+", "w+")
        self._write_check_passed = plain != "r"
        self._appends = plain[0] == "a"
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None

    @property
    def name(self) -> Path:
        """The name the file was given."""
        return self.__name

    @property
    def mode(self) -> str:
        """The mode the file was given."""
        return self.__mode

    @property
    def _told(self) -> str:
        return name_of(self.__name)

    def _preread_check(self) -> BinaryIO:
        if self._reader is None:
            if not self._read_check_passed:
                raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
            with translated(self._told):
                self._reader = open(local(self.__name), "rb")
        return self._reader

    def _prewrite_check(self) -> BinaryIO:
        if self._writer is None:
            if not self._write_check_passed:
                raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
            with translated(self._told):
                self._writer = open(local(self.__name), "ab" if self._appends else "wb")
        return self._writer

    def _prepare_value(self, value: bytes) -> Any:
        return value if self._binary_mode else value.decode()

    def size(self) -> int:
        """The size of the file in bytes."""
        return stat(self.__name).length

    def write(self, file_content: str | bytes) -> None:
        """Append text (as UTF-8) or bytes."""
        writer = self._prewrite_check()
        if isinstance(file_content, str):
            file_content = file_content.encode()
        elif not isinstance(file_content, bytes):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with translated(self._told):
            writer.write(file_content)

    def read(self, n: int = -1) -> Any:
        """The next n bytes, or all that are left, as text or bytes by the mode."""
        reader = self._preread_check()
        with translated(self._told):
            return self._prepare_value(reader.read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Read on at `offset` from the start, from here (`whence` 1) or from the end (2).

        Raises OutOfRangeError beyond the end, InvalidArgumentError before the start.
        """
        reader = self._preread_check()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        place = int(position if offset is None else offset)  # type: ignore[arg-type]
        size = self.size()
        if whence == 1:
            place += reader.tell()
        elif whence == 2:
            place += size
        elif whence != 0:
            message = f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            raise errors.InvalidArgumentError(None, None, message)
        if place < 0:
            raise errors.InvalidArgumentError(None, None, f"Seeking to a negative position: {place}")
        if place > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        reader.seek(place)

    def readline(self) -> Any:
        """The next line with its newline (a carriage return before that is dropped); empty at the end."""
        reader = self._preread_check()
        with translated(self._told):
            line = reader.readline()
        if line.endswith(b"\r\n"):
            line = line[:-2] + b"\n"
        return self._prepare_value(line)

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def tell(self) -> int:
        """Where the next byte is read, or, in a file that is only written, how many are written."""
        if self._read_check_passed:
            return self._preread_check().tell()
        return self._prewrite_check().tell()

    def __enter__(self) -> FileIO:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def next(self) -> Any:
        """The next line; StopIteration at the end."""
        return self.__next__()

    def flush(self) -> None:
        """Hand what was written to the system."""
        if self._writer is not None:
            with translated(self._told):
                self._writer.flush()

    def close(self) -> None:
        """Close both handles; the next read or write opens the file anew."""
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        with translated(self._told):
            if reader is not None:
                reader.close()
            if writer is not None:
                writer.close()

    def seekable(self) -> bool:
        """True."""
        return True


# Whole files ------------------------------------------------------------------------------------------------------


def file_exists(filename: Path) -> bool:
    """Whether there is a file or directory of that name."""
    return os.path.exists(local(filename))


def file_exists_v2(path: Path) -> bool:
    """Whether there is a file or directory of that name."""
    return file_exists(path)


def delete_file(filename: Path) -> None:
    """Delete a file; NotFoundError if there is none, FailedPreconditionError for a directory."""
    path = local(filename)
    with translated(name_of(filename)):
        if os.path.isdir(path) and not os.path.islink(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        os.remove(path)


def delete_file_v2(path: Path) -> None:
    """Delete a file; NotFoundError if there is none, FailedPreconditionError for a directory."""
    delete_file(path)


def read_file_to_string(filename: Path, binary_mode: bool = False) -> Any:
    """The contents of a file, as text (UTF-8) or bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Path, file_content: str | bytes) -> None:
    """Write a file of that contents."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Path, contents: str | bytes, overwrite: bool = True) -> None:
    """Write a file that appears with all of its contents at once; AlreadyExistsError if it may not be replaced."""
    path = local(filename)
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with translated(name_of(filename)), atomic_file.replacing(path) as file:
        file.write(contents.encode() if isinstance(contents, str) else contents)


def copy(oldpath: Path, newpath: Path, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError if there is one of the new name, unless `overwrite`."""
    old, new = local(oldpath), local(newpath)
    if not overwrite and os.path.exists(new):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with translated(name_of(oldpath)):
        source = open(old, "rb")
    with source, translated(name_of(newpath)), open(new, "wb") as target:
        shutil.copyfileobj(source, target, _DEFAULT_BLOCK_SIZE)


def copy_v2(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; AlreadyExistsError if there is one of the new name, unless `overwrite`."""
    copy(src, dst, overwrite)


def rename(oldname: Path, newname: Path, overwrite: bool = False) -> None:
    """Rename a file or directory; AlreadyExistsError if there is one of the new name, unless `overwrite`."""
    old, new = local(oldname), local(newname)
    if not overwrite and os.path.exists(new):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with translated(name_of(oldname)):
        os.replace(old, new)


def rename_v2(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Rename a file or directory; AlreadyExistsError if there is one of the new name, unless `overwrite`."""
    rename(src, dst, overwrite)


def filecmp(filename_a: Path, filename_b: Path) -> bool:
    """Whether two files have the same contents."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    with FileIO(filename_a, "rb") as a, FileIO(filename_b, "rb") as b:
        while True:
            one, other = a.read(_DEFAULT_BLOCK_SIZE), b.read(_DEFAULT_BLOCK_SIZE)
            if one != other or not one:
                return one == other


def file_crc32(filename: Path, block_size: int = _DEFAULT_BLOCK_SIZE) -> str:
    """The CRC-32 (that of zip files) of a file's contents, as hexadecimal text."""
    crc = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            crc = zlib.crc32(block, crc)
    return hex(crc)


@dataclass(frozen=True)
class FileStatistics:
    """Length in bytes, time of the last change in nanoseconds since 1970, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(filename: Path) -> FileStatistics:
    """What is known of a file; NotFoundError if there is none."""
    path = local(filename)
    with translated(name_of(filename)):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


def stat_v2(path: Path) -> FileStatistics:
    """What is known of a file; NotFoundError if there is none."""
    return stat(path)


# Directories ------------------------------------------------------------------------------------------------------


def is_directory(dirname: Path) -> bool:
    """Whether there is a directory of that name."""
    return os.path.isdir(local(dirname))


def is_directory_v2(path: Path) -> bool:
    """Whether there is a directory of that name."""
    return is_directory(path)


def create_dir(dirname: Path) -> None:
    """Create a directory; that it is there already is no error, that its parent is not there is a NotFoundError."""
    path = local(dirname)
    with translated(name_of(dirname)):
        if not os.path.exists(path):
            os.mkdir(path)


def create_dir_v2(path: Path) -> None:
    """Create a directory; that it is there already is no error, that its parent is not there is a NotFoundError."""
    create_dir(path)


def recursive_create_dir(dirname: Path) -> None:
    """Create a directory and its parents, as far as they are not there."""
    path = local(dirname)
    with translated(name_of(dirname)):
        if not os.path.exists(path):
            os.makedirs(path, exist_ok=True)


def recursive_create_dir_v2(path: Path) -> None:
    """Create a directory and its parents, as far as they are not there."""
    recursive_create_dir(path)


def delete_recursively(dirname: Path) -> None:
    """Delete a directory and all in it; NotFoundError if there is none, FailedPreconditionError for a file."""
    path = local(dirname)
    if not os.path.lexists(path):
        raise errors.NotFoundError(None, None, f"{name_of(dirname)} not found")
    with translated(name_of(dirname)):
        if not os.path.isdir(path) or os.path.islink(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        shutil.rmtree(path)


def delete_recursively_v2(path: Path) -> None:
    """Delete a directory and all in it; NotFoundError if there is none, FailedPreconditionError for a file."""
    delete_recursively(path)


def list_directory(dirname: Path) -> list[str]:
    """The names in a directory, in no order; NotFoundError if it is not there."""
    return list_directory_v2(dirname)


def list_directory_v2(path: Path) -> list[str]:
    """The names in a directory, in no order; NotFoundError if it is not there."""
    if not is_directory(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {name_of(path)}")
    with translated(name_of(path)):
        return os.listdir(local(path))


def walk(top: Path, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, the directories in it, the files in it) of a tree, parents first or last; none if it is not there."""
    return walk_v2(top, in_order)


def walk_v2(
    top: Path, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `walk`; `onerror` is called with the error for a directory that cannot be listed."""
    directory = name_of(top)
    try:
        names = list_directory_v2(directory)
    except errors.NotFoundError as problem:
        if onerror is not None:
            onerror(problem)
        return
    parts: tuple[list[str], list[str]] = ([], [])
    for name in names:
        parts[0 if is_directory(os.path.join(directory, name)) else 1].append(name)
    here = (directory, *parts)
    if topdown:
        yield here
    for name in parts[0]:
        yield from walk_v2(os.path.join(directory, name), topdown, onerror)
    if not topdown:
        yield here


def get_matching_files(filename: Path | Iterable[Path]) -> list[str]:
    """The files and directories that match a pattern, or any of several; see `paths.pattern_expression`.

    Raises NotFoundError if the directory before the first wildcard is not there.
    """
    return get_matching_files_v2(filename)


def get_matching_files_v2(pattern: Path | Iterable[Path]) -> list[str]:
    """The files and directories that match a pattern, or any of several; see `paths.pattern_expression`.

    Raises NotFoundError if the directory before the first wildcard is not there.
    """
    if isinstance(pattern, (str, bytes)):
        return _matching(name_of(pattern))
    return [path for one in pattern for path in _matching(name_of(one))]


def _matching(pattern: str) -> list[str]:
    path = local(pattern)
    scheme = pattern[: len(pattern) - len(path)]
    first = min((i for i in map(path.find, "*?[\\") if i >= 0), default=len(path))
    directory, slash, _ = path[:first].rpartition("/")
    if not slash:
        directory, path = ".", f"./{path}"
    elif not directory:
        directory = "/"
    with translated(scheme + directory):
        os.scandir(directory).close()
    rest = path[len(directory) :].lstrip("/")
    found = [path[: len(path) - len(rest)]]
    for i, part in enumerate(parts := rest.split("/")):
        expression = pattern_expression(part)
        found = [
            above + name + ("/" if i + 1 < len(parts) else "")
            for above in found
            if os.path.isdir(above)
            for name in sorted(os.listdir(above))
            if expression.fullmatch(name)
        ]
    return [scheme + match for match in found]
