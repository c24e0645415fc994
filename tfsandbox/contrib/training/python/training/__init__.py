"""The names of `tensorflow.contrib.training.python.training`."""

from __future__ import annotations

from tfsandbox.contrib.training import *  # noqa: F401, F403
from tfsandbox.contrib.training import evaluation, hparam, training  # noqa: F401
