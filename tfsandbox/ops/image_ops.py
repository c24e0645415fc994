"""The names of `tensorflow.python.ops.image_ops`, gathered from the files that each hold one subject."""

# ruff: noqa: F401

from tfsandbox.ops import hsv_gradient
from tfsandbox.ops.image_boxes import (
    combined_non_max_suppression,
    draw_bounding_boxes,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
    sample_distorted_bounding_box,
)
from tfsandbox.ops.image_colors import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    grayscale_to_rgb,
    hsv_to_rgb,
    random_brightness,
    random_contrast,
    random_hue,
    random_saturation,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from tfsandbox.ops.image_cropping import (
    central_crop,
    crop_and_resize,
    crop_to_bounding_box,
    pad_to_bounding_box,
    resize_image_with_crop_or_pad,
    resize_image_with_pad,
)
from tfsandbox.ops.image_files import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from tfsandbox.ops.image_measures import (
    image_gradients,
    per_image_standardization,
    psnr,
    sobel_edges,
    ssim,
    total_variation,
)
from tfsandbox.ops.image_patches import extract_glimpse, extract_image_patches, extract_patches
from tfsandbox.ops.image_resizing import (
    ResizeMethod,
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_images,
    resize_nearest_neighbor,
)
from tfsandbox.ops.image_turning import (
    flip_left_right,
    flip_up_down,
    random_flip_left_right,
    random_flip_up_down,
    rot90,
    transpose,
    transpose_image,
)
from tfsandbox.ops.image_types import convert_image_dtype

