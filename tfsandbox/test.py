"""The tf.test namespace."""

from tfsandbox.client.test_case import *  # noqa: F403
from tfsandbox.client.test_case import __all__  # noqa: F401
