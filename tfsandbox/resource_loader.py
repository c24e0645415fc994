"""The tf.resource_loader namespace."""

from tfsandbox.platform.resource_loader import *  # noqa: F403
from tfsandbox.platform.resource_loader import __all__  # noqa: F401
