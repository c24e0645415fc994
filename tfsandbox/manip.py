"""tf.manip: rearranging tensors."""

# ruff: noqa: F401

from tfsandbox.ops.array_ops import (
    batch_to_space_nd,
    gather_nd,
    reshape,
    reverse,
    roll,
    scatter_nd,
    space_to_batch_nd,
    tile,
)
