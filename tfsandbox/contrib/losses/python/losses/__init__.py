"""The names of `tensorflow.contrib.losses.python.losses`."""

from __future__ import annotations

from tfsandbox.contrib.losses import loss_ops  # noqa: F401
from tfsandbox.contrib.losses.loss_ops import *  # noqa: F401, F403
