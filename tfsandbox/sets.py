"""tf.sets: sets of values along the last axis of tensors."""

# ruff: noqa: F401

from tfsandbox.ops.sets_impl import set_difference, set_intersection, set_size, set_union

difference, intersection, size, union = set_difference, set_intersection, set_size, set_union
