"""The tf.flags namespace."""

from tfsandbox.platform.flags import *  # noqa: F403
from tfsandbox.platform.flags import __all__  # noqa: F401
