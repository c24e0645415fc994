"""tf.bitwise: operations on the bits of integers."""

from tfsandbox.ops.bitwise_ops import (  # noqa: F401
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)
