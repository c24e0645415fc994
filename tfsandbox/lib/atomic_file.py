"""Files that appear whole or not at all: written beside their place under another name, then renamed into it."""
from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import BinaryIO

# As TensorFlow marks the files of an unfinished checkpoint.
TEMPORARY = ".tempstate"


def temporary_suffix() -> str:
    """A new ending for the names of files that are being written."""
    return f"{TEMPORARY}{secrets.randbits(64)}"


def sync(file: BinaryIO) -> None:
    """Make sure that what was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_directory(path: str) -> None:
    """Make sure that the renames in the directory of `path` are on the disk, where the system can."""
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` when the block ends; an exception leaves `path` as it was."""
    temporary = path + temporary_suffix()
    try:
        with open(temporary, "wb") as file:
            yield file
            sync(file)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise
    sync_directory(path)
