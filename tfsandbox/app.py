"""The tf.app namespace."""

from tfsandbox.platform import flags
from tfsandbox.platform.app import run

__all__ = ["flags", "run"]
