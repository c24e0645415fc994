"""The tf.compat namespace; `tf.compat.v1` is `tf` itself."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tfsandbox.framework.tensor_shape import dimension_at_index, dimension_value
from tfsandbox.util.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    integral_types,
    path_to_str,
    real_types,
)

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "forward_compatibility_horizon", "forward_compatible", "integral_types", "path_to_str",
    "real_types", "v1",
]

v1 = sys.modules["tfsandbox"]
__path__: list[str] = []  # a package to the import system: `import tensorflow.compat.v1`

_horizon = datetime.date(2019, 8, 21)  # TensorFlow 1.15's


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True if a change made on that day may be used: TensorFlow 1.15 stops at its own date."""
    return _horizon > datetime.date(year, month, day)


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Move the date that `forward_compatible` compares with."""
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before
