"""`import tensorflow` in processes that `multiprocessing` starts anew, while it gives the sandbox in this one.

A spawned process runs the program's main file again, `import tensorflow` and all. What is sent to it before that
brings the alias along: the name of the process, which is text that installs the alias when it is unpickled.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_original: Any = None


class _Name(str):
    """The name of a process to be spawned."""

    def __reduce__(self) -> Any:
        from tfsandbox import _alias

        finder = _alias._finder()
        pruning = None if finder is None else finder.pruning
        # The other process has not got this one's sys.path yet; it gets it after this, in place of what is added here.
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return eval, (f"(__import__('sys').path.append({folder!r}), __import__('tfsandbox._alias', None, None, ['_'])"
                      f".install_as_tensorflow({pruning!r}), {str(self)!r})[-1]",)


def begin() -> None:
    """From now on the processes that this one spawns have the alias."""
    global _original
    try:
        from multiprocessing import spawn
    except ImportError:  # a Python without processes
        return
    if _original is None:
        _original = spawn.get_preparation_data
        spawn.get_preparation_data = _prepared


def end() -> None:
    """No more."""
    global _original
    spawn: Any = sys.modules.get("multiprocessing.spawn")
    if _original is not None and spawn is not None and spawn.get_preparation_data is _prepared:
        spawn.get_preparation_data, _original = _original, None


def _prepared(name: str) -> dict[str, Any]:
    data: dict[str, Any] = _original(name)
    data["name"] = _Name(data["name"])
    return data
