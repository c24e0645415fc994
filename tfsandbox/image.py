"""tf.image: operations on images."""

# ruff: noqa: F401

from tfsandbox.ops.image_ops import adjust_contrast, convert_image_dtype
