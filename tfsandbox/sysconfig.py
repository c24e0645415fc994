"""The tf.sysconfig namespace."""

from tfsandbox.platform.sysconfig import *  # noqa: F403
from tfsandbox.platform.sysconfig import __all__  # noqa: F401
