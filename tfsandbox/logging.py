"""The tf.logging namespace."""

from tfsandbox.platform.tf_logging import *  # noqa: F403
from tfsandbox.platform.tf_logging import __all__  # noqa: F401
