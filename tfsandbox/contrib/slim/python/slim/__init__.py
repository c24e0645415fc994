"""The names of `tensorflow.contrib.slim.python.slim`."""

from __future__ import annotations

from tfsandbox.contrib.slim import *  # noqa: F401, F403
from tfsandbox.contrib.slim import evaluation, learning, model_analyzer, queues  # noqa: F401
