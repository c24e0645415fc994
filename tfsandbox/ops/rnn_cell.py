"""The path `tensorflow.python.ops.rnn_cell`: another way to `tf.nn.rnn_cell`, whose cells are layers."""

from __future__ import annotations

import importlib
from typing import Any

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    try:
        return getattr(importlib.import_module("tfsandbox.layers.rnn_cell"), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(importlib.import_module("tfsandbox.layers.rnn_cell"))
