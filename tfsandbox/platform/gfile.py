"""`tf.gfile`: files and directories under the names of TensorFlow's first generation."""
from __future__ import annotations

from tfsandbox.lib.io import file_io

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory", "MakeDirs",
    "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip


class GFile(file_io.FileIO):
    """A file; see `FileIO`. Text is read unless the mode says otherwise."""

    def __init__(self, name: str | bytes, mode: str = "r") -> None:
        super().__init__(name, mode)


class FastGFile(GFile):
    """The same as `GFile`, under an older name."""


Open = GFile
Copy = file_io.copy
DeleteRecursively = file_io.delete_recursively
Exists = file_io.file_exists
Glob = file_io.get_matching_files
IsDirectory = file_io.is_directory
ListDirectory = file_io.list_directory
MakeDirs = file_io.recursive_create_dir
MkDir = file_io.create_dir
Remove = file_io.delete_file
Rename = file_io.rename
Stat = file_io.stat
Walk = file_io.walk
