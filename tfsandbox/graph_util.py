"""tf.graph_util."""

from tfsandbox.framework.graph_util import *  # noqa: F403
