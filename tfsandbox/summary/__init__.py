"""The tf.summary namespace."""

from __future__ import annotations

from typing import Any

from tfsandbox import proto
from tfsandbox.summary.summary import (  # noqa: F401
    MESSAGES,
    FileWriter,
    FileWriterCache,
    all_v2_summary_ops,
    audio,
    get_summary_description,
    histogram,
    image,
    initialize,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)


def __getattr__(name: str) -> Any:
    if name not in MESSAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return proto.message(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *MESSAGES})
