"""tf.image: operations on images."""

# ruff: noqa: F401, F403

from tfsandbox.ops.image_ops import *
from tfsandbox.ops.image_ops import resize_image_with_crop_or_pad as resize_with_crop_or_pad
from tfsandbox.ops.image_ops import resize_images as resize
from tfsandbox.ops.random_ops import random_crop
