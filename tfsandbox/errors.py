"""The tf.errors namespace."""

from tfsandbox.framework.errors import *  # noqa: F403
from tfsandbox.framework.errors import __all__  # noqa: F401
