"""The names of `tf.nn`."""

from tfsandbox.ops.array_ops import depth_to_space, space_to_batch, space_to_depth  # noqa: F401
from tfsandbox.ops.embedding_ops import embedding_lookup  # noqa: F401
