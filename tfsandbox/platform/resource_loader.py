"""tf.resource_loader: files that lie beside the program."""

from __future__ import annotations

import os
import sys

__all__ = [
    "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources", "load_resource",
    "readahead_file_path",
]


def _folder_of_caller(depth: int) -> str:
    return os.path.dirname(sys._getframe(depth + 1).f_globals.get("__file__") or "")


def get_data_files_path() -> str:
    """The folder of the calling file."""
    return _folder_of_caller(1)


def get_path_to_datafile(path: str) -> str:
    """The path of a file beside the calling file."""
    return os.path.join(_folder_of_caller(1), path)


def get_root_dir_with_all_resources() -> str:
    """The folder of the calling file."""
    return _folder_of_caller(1)


def load_resource(path: str) -> bytes:
    """The contents of a file beside the package. Raises OSError if there is none."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(root, path), "rb") as file:
        return file.read()


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path as it is."""
    return path
