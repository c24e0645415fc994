"""The tf.contrib.losses namespace."""

from __future__ import annotations

from tfsandbox.contrib.losses.loss_ops import *  # noqa: F401, F403
