"""The tf.contrib namespace. Its modules (`framework`, `layers`, `slim`, `training`, ...) are imported when used."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    # Programs write tf.contrib.slim without importing it.
    if not name.startswith("_"):
        path = f"{__name__}.{name}"
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
