"""The names of `tensorflow.contrib.framework.python.framework`."""

from __future__ import annotations

from tfsandbox.contrib.framework import *  # noqa: F401, F403
from tfsandbox.contrib.framework import checkpoint_utils, tensor_util  # noqa: F401
