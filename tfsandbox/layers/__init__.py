"""The tf.layers namespace: layers as classes and as functions."""

from __future__ import annotations

from tfsandbox.layers.base import InputSpec, Layer  # noqa: F401
from tfsandbox.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten  # noqa: F401
