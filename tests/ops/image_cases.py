"""Expressions on images for `record_expressions.py` and `test_expressions.py`; see `expression_outcomes.py`."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np

_RNG = np.random.RandomState(3)
_BATCH = _RNG.uniform(0, 1, (2, 5, 4, 3)).round(3)

INPUTS = {
    "batch": ("float32", [2, 5, 4, 3], _BATCH),
    "image": ("float32", [5, 4, 3], _BATCH[0]),
    "loose": ("float32", [None, None, None, 3], _BATCH),
    "flat": ("float32", [None, None, 3], _BATCH[1]),
    "any": ("float32", None, _BATCH),
    "any3": ("float32", None, _BATCH[0]),
    "gray": ("float32", [2, 5, 4, 1], _BATCH[..., :1]),
    "pixels": ("uint8", [4, 4, 3], _RNG.randint(0, 256, (4, 4, 3))),
    "shorts": ("int16", [2, 3, 1], _RNG.randint(-300, 300, (2, 3, 1))),
    "doubles": ("float64", [1, 3, 3, 2], _RNG.uniform(0, 1, (1, 3, 3, 2)).round(3)),
    "big": ("float32", [2, 16, 16, 3], _RNG.uniform(0, 1, (2, 16, 16, 3)).round(3)),
    "size": ("int32", [2], [3, 7]),
    "n": ("int32", [], 2),
    "x": ("float32", [], 0.7),
    "boxes": ("float32", [3, 4], [[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 0.5, 0.5], [0.1, 0.25, 0.8, 0.9]]),
    "scores": ("float32", [3], [0.6, 0.9, 0.8]),
    "wild": ("float32", [2, 4], [[-0.2, 0.9, 1.3, 0.1], [0.5, 0.5, 0.5, 0.5]]),
}

RESIZING = """
tf.image.resize_bilinear(batch, [7, 6]) | tf.image.resize_bilinear(batch, [3, 3], align_corners=True) | tf.image.resize_bilinear(loose, size)
tf.image.resize_bilinear(batch, [2, 9], half_pixel_centers=True) | tf.image.resize_bilinear(doubles, [5, 5]) | tf.image.resize_bilinear(image, [2, 2])
tf.image.resize_bilinear(batch, [1, 1], align_corners=True) | tf.image.resize_bilinear(batch, [0, 2]) | tf.image.resize_bilinear(batch, [2]) | tf.image.resize_bilinear(batch, [5, 4])
tf.image.resize_nearest_neighbor(batch, [7, 6]) | tf.image.resize_nearest_neighbor(batch, [3, 3], align_corners=True) | tf.image.resize_nearest_neighbor(loose, size)
tf.image.resize_nearest_neighbor(batch, [8, 3], half_pixel_centers=True) | tf.image.resize_nearest_neighbor(pixels[None], [2, 5]) | tf.image.resize_nearest_neighbor(batch, [n, 3])
tf.image.resize_bicubic(batch, [7, 6]) | tf.image.resize_bicubic(batch, [3, 3], align_corners=True) | tf.image.resize_bicubic(batch, [4, 9], half_pixel_centers=True) | tf.image.resize_bicubic(pixels[None], [6, 6])
tf.image.resize_area(batch, [2, 2]) | tf.image.resize_area(batch, [7, 6]) | tf.image.resize_area(batch, [3, 3], align_corners=True) | tf.image.resize_area(pixels[None], [3, 3])
tf.image.resize_images(image, [4, 4]) | tf.image.resize_images(batch, [7, 6], method=1) | tf.image.resize_images(batch, size, method=tf.image.ResizeMethod.BICUBIC) | tf.image.resize_images(batch, [2, 2], method=3)
tf.image.resize_images(batch, [5, 4]) | tf.image.resize_images(flat, [4, 4]) | tf.image.resize_images(any, [4, 4]) | tf.image.resize_images(image[0], [4, 4]) | tf.image.resize_images(batch, [4]) | tf.image.resize_images(batch, [4, 4], method=7)
tf.image.resize_images(batch, [8, 6], preserve_aspect_ratio=True) | tf.image.resize_images(loose, [8, 6], preserve_aspect_ratio=True) | tf.image.resize_images(batch, [4, 4], align_corners=True) | tf.image.resize_images(batch, [5.0, 4])
tf.image.resize_images(pixels, [4, 4]) | tf.image.resize_images(pixels, [3, 3]) | tf.image.resize(batch, (3, 8)) | tf.image.resize_images(batch, tf.constant([3, 3]), name='r')
tf.image.resize_image_with_pad(batch, 8, 8) | tf.image.resize_image_with_pad(image, 3, 9) | tf.image.resize_image_with_pad(batch, 0, 9) | tf.image.resize_image_with_pad(loose, 6, 6, method=1)
"""

CROPPING = """
tf.image.resize_image_with_crop_or_pad(batch, 3, 6) | tf.image.resize_image_with_crop_or_pad(image, 8, 2) | tf.image.resize_image_with_crop_or_pad(loose, 3, 6) | tf.image.resize_image_with_crop_or_pad(flat, n, 6)
tf.image.resize_image_with_crop_or_pad(any, 4, 4) | tf.image.resize_image_with_crop_or_pad(image[0], 4, 4) | tf.image.resize_image_with_crop_or_pad(batch, 0, 4) | tf.image.resize_image_with_crop_or_pad(any3, 4, 4)
tf.image.central_crop(image, 0.5) | tf.image.central_crop(batch, 0.6) | tf.image.central_crop(image, 1.0) | tf.image.central_crop(image, 0.0) | tf.image.central_crop(image, 1.5) | tf.image.central_crop(flat, 0.5) | tf.image.central_crop(loose, 0.3)
tf.image.central_crop(image[0], 0.5) | tf.image.central_crop(any, 0.5)
tf.image.crop_to_bounding_box(batch, 1, 1, 3, 2) | tf.image.crop_to_bounding_box(image, 0, n, 3, 2) | tf.image.crop_to_bounding_box(image, 3, 0, 3, 2) | tf.image.crop_to_bounding_box(image, -1, 0, 3, 2) | tf.image.crop_to_bounding_box(image, 0, 0, 0, 2)
tf.image.crop_to_bounding_box(loose, 1, 1, 3, 2) | tf.image.crop_to_bounding_box(flat, 4, 1, 3, 2) | tf.image.crop_to_bounding_box(any, 1, 1, 3, 2) | tf.image.crop_to_bounding_box(image[0], 1, 1, 3, 2)
tf.image.pad_to_bounding_box(batch, 1, 2, 8, 7) | tf.image.pad_to_bounding_box(image, 0, 0, 5, 4) | tf.image.pad_to_bounding_box(image, 1, 0, 5, 4) | tf.image.pad_to_bounding_box(image, -1, 0, 7, 7) | tf.image.pad_to_bounding_box(loose, 1, n, 8, 7)
tf.image.pad_to_bounding_box(flat, 0, 0, 3, 9) | tf.image.pad_to_bounding_box(any, 0, 0, 7, 7)
tf.image.crop_and_resize(batch, boxes, [0, 1, 1], [3, 3]) | tf.image.crop_and_resize(batch, wild, [1, 0], [2, 4]) | tf.image.crop_and_resize(batch, boxes, [0, 1, 1], [3, 3], method='nearest') | tf.image.crop_and_resize(batch, wild, [0, 1], [1, 3], extrapolation_value=-1.0)
tf.image.crop_and_resize(batch, boxes, [0, 1, 2], [3, 3]) | tf.image.crop_and_resize(batch, boxes, [0, 1], [3, 3]) | tf.image.crop_and_resize(loose, boxes, [0, 1, 1], size) | tf.image.crop_and_resize(pixels[None], boxes, [0, 0, 0], [2, 2]) | tf.image.crop_and_resize(image, boxes, [0], [2, 2])
tf.image.crop_and_resize(batch, boxes, box_indices=[0, 1, 1], crop_size=[3, 3], name='c') | tf.image.crop_and_resize(batch, boxes, [0, 1, 1], [0, 3])
tf.image.extract_glimpse(batch, [3, 2], [[0.0, 0.5], [0.1, -0.2]]) | tf.image.extract_glimpse(batch, [3, 2], [[2.0, 1.0], [2.6, 2.0]], centered=False, normalized=False) | tf.image.extract_glimpse(batch, [n, 2], [[0.0, 0.0]] * 2)
tf.extract_image_patches(batch, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID') | tf.extract_image_patches(batch, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'SAME') | tf.extract_image_patches(batch, [1, 2, 2, 1], [1, 1, 1, 1], [1, 2, 2, 1], 'SAME')
tf.image.extract_patches(loose, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID') | tf.extract_image_patches(image, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID') | tf.extract_image_patches(batch, [2, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID')
tf.random_crop(image, [2, 2, 3], seed=4) | tf.image.random_crop(pixels, [2, 4, 3], seed=1) | tf.random_crop(image, [9, 2, 3], seed=4)
"""

TURNING = """
tf.image.flip_left_right(batch) | tf.image.flip_left_right(image) | tf.image.flip_up_down(batch) | tf.image.flip_up_down(flat) | tf.image.flip_left_right(any) | tf.image.flip_left_right(image[0]) | tf.image.flip_up_down(loose)
tf.image.random_flip_left_right(image, seed=1) | tf.image.random_flip_left_right(batch, seed=1) | tf.image.random_flip_up_down(flat, seed=2) | tf.image.random_flip_up_down(loose, seed=2) | tf.image.random_flip_left_right(any, seed=3)
tf.image.transpose_image(image) | tf.image.transpose(batch) | tf.image.transpose(any) | tf.image.rot90(image, 1) | tf.image.rot90(batch, 2) | tf.image.rot90(flat, n) | tf.image.rot90(loose, 3) | tf.image.rot90(any, 1) | tf.image.rot90(image, 4) | tf.image.rot90(image)
"""

COLORING = """
tf.image.adjust_brightness(image, 0.2) | tf.image.adjust_brightness(pixels, 0.2) | tf.image.adjust_brightness(doubles, 0.1) | tf.image.adjust_brightness(image, x)
tf.image.adjust_contrast(batch, 1.5) | tf.image.adjust_contrast(pixels, 2.0) | tf.image.adjust_contrast(image[0], 2.0) | tf.image.adjust_contrast(loose, x) | tf.image.adjust_contrast(shorts, 0.5)
tf.image.adjust_gamma(image, 2.0) | tf.image.adjust_gamma(pixels, 0.5, 1.2) | tf.image.adjust_gamma(image, -1.0) | tf.image.adjust_gamma(image, x, 2)
tf.image.adjust_hue(image, 0.1) | tf.image.adjust_hue(pixels, -0.4) | tf.image.adjust_hue(batch, x) | tf.image.adjust_hue(gray, 0.1) | tf.image.adjust_hue(image, 1.5)
tf.image.adjust_saturation(image, 0.6) | tf.image.adjust_saturation(pixels, 2.0) | tf.image.adjust_saturation(batch, x) | tf.image.adjust_saturation(gray, 0.1)
tf.image.rgb_to_grayscale(batch) | tf.image.rgb_to_grayscale(pixels) | tf.image.rgb_to_grayscale(gray) | tf.image.rgb_to_grayscale(flat, name='g') | tf.image.grayscale_to_rgb(gray) | tf.image.grayscale_to_rgb(batch) | tf.image.grayscale_to_rgb(any[..., :1]) | tf.image.grayscale_to_rgb(shorts)
tf.image.rgb_to_hsv(batch) | tf.image.hsv_to_rgb(batch) | tf.image.rgb_to_hsv(doubles) | tf.image.hsv_to_rgb(gray) | tf.image.rgb_to_yiq(image) | tf.image.yiq_to_rgb(image) | tf.image.rgb_to_yuv(batch) | tf.image.yuv_to_rgb(batch) | tf.image.rgb_to_hsv(image * 0)
tf.image.random_brightness(image, 0.3, seed=1) | tf.image.random_brightness(pixels, 0.3, seed=1) | tf.image.random_brightness(image, -1) | tf.image.random_contrast(image, 0.2, 1.8, seed=5) | tf.image.random_contrast(image, 2.0, 1.0) | tf.image.random_contrast(image, -1.0, 1.0)
tf.image.random_hue(image, 0.2, seed=3) | tf.image.random_hue(image, 0.7) | tf.image.random_hue(image, -0.1) | tf.image.random_saturation(image, 0.5, 1.5, seed=3) | tf.image.random_saturation(image, 1.5, 1.5) | tf.image.random_saturation(image, -1, 1.5)
tf.image.convert_image_dtype(pixels, tf.float32) | tf.image.convert_image_dtype(image, tf.uint8) | tf.image.convert_image_dtype(image, tf.uint8, saturate=True) | tf.image.convert_image_dtype(pixels, tf.int16) | tf.image.convert_image_dtype(shorts, tf.uint8, saturate=True)
tf.image.convert_image_dtype(doubles, tf.float32) | tf.image.convert_image_dtype(image, tf.float32) | tf.image.convert_image_dtype(image, tf.bool) | tf.image.convert_image_dtype(shorts, tf.float64) | tf.image.convert_image_dtype(pixels, tf.int32, name='c')
tf.image.per_image_standardization(image) | tf.image.per_image_standardization(batch) | tf.image.per_image_standardization(pixels) | tf.image.per_image_standardization(loose) | tf.image.per_image_standardization(image[0]) | tf.image.per_image_standardization(any)
"""

MEASURING = """
tf.image.total_variation(batch) | tf.image.total_variation(image) | tf.image.total_variation(loose) | tf.image.total_variation(image[0]) | tf.image.total_variation(any)
tf.image.image_gradients(batch) | tf.image.image_gradients(image) | tf.image.image_gradients(loose) | tf.image.sobel_edges(batch) | tf.image.sobel_edges(loose)
tf.image.psnr(batch, loose, 1.0) | tf.image.psnr(pixels, pixels, 255) | tf.image.psnr(image, batch[1], max_val=1.0, name='p') | tf.image.ssim(big, big * 0.5, 1.0) | tf.image.ssim(batch, batch, 1.0) | tf.image.ssim(big, big[::-1], 1.0, filter_size=5)
tf.image.draw_bounding_boxes(batch, tf.expand_dims(boxes[:2], 1)) | tf.image.draw_bounding_boxes(batch, [boxes, boxes], colors=[[0.5, 0.5, 0.5]]) | tf.image.draw_bounding_boxes(big, tf.expand_dims(wild, 1)) | tf.image.draw_bounding_boxes(gray, [boxes, boxes]) | tf.image.draw_bounding_boxes(image, [boxes])
tf.image.non_max_suppression(boxes, scores, 2) | tf.image.non_max_suppression(boxes, scores, n, iou_threshold=0.9) | tf.image.non_max_suppression(boxes, scores, 3, 0.5, 0.7, name='s') | tf.image.non_max_suppression(boxes, [0.1], 3) | tf.image.non_max_suppression(boxes, scores, 3, 1.5)
tf.image.non_max_suppression_padded(boxes, scores, 3, pad_to_max_output_size=True) | tf.image.non_max_suppression_padded(boxes, scores, 3) | tf.image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=0.5)
tf.image.non_max_suppression_overlaps([[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]], scores, 3, 0.5)
tf.image.combined_non_max_suppression(tf.reshape(boxes, [1, 3, 1, 4]), tf.reshape(scores, [1, 3, 1]), 2, 4) | tf.image.combined_non_max_suppression(tf.reshape(boxes, [1, 3, 1, 4]), tf.stack([scores, 1 - scores], 1)[None], 2, 3, 0.5, 0.2, pad_per_class=True)
tf.image.sample_distorted_bounding_box([20, 30, 3], boxes[None], seed=2) | tf.image.sample_distorted_bounding_box([20, 30, 3], boxes[None, :1], seed=2, min_object_covered=0.5, aspect_ratio_range=[0.5, 2.0], area_range=[0.1, 0.9], max_attempts=10)
tf.image.sample_distorted_bounding_box([20, 30, 3], tf.zeros([1, 0, 4]), seed=2, use_image_if_no_bounding_boxes=True) | tf.image.sample_distorted_bounding_box([20, 30, 3], tf.zeros([1, 0, 4]), seed=2)
tf.image.decode_png(tf.image.encode_png(pixels)) | tf.image.decode_png(tf.image.encode_png(pixels), channels=1) | tf.image.decode_png(tf.image.encode_png(pixels[..., :1])) | tf.image.decode_png(tf.image.encode_png(pixels[..., :2])) | tf.image.decode_png(tf.image.encode_png(pixels), channels=4)
tf.image.decode_png(tf.image.encode_png(tf.cast(pixels, tf.uint16)), dtype=tf.uint16) | tf.image.decode_image(tf.image.encode_png(pixels)) | tf.image.decode_png('x') | tf.image.is_jpeg('x') | tf.image.decode_image(tf.image.encode_png(pixels), channels=1, dtype=tf.float32)
tf.image.encode_png(image) | tf.image.encode_png(pixels[0]) | tf.image.decode_png(tf.image.encode_png(pixels), channels=2)
"""

GRADIENTS = """
tf.image.resize_bilinear(batch, [7, 6]) | tf.image.resize_bilinear(batch, [3, 3], align_corners=True) | tf.image.resize_bilinear(loose, [3, 9], half_pixel_centers=True) | tf.image.resize_bilinear(doubles, [2, 4])
tf.image.resize_nearest_neighbor(batch, [7, 6]) | tf.image.resize_nearest_neighbor(loose, [2, 9], align_corners=True) | tf.image.resize_nearest_neighbor(batch, [3, 3], half_pixel_centers=True) | tf.image.resize_bicubic(batch, [7, 6])
tf.image.resize_bicubic(batch, [3, 9], align_corners=True) | tf.image.resize_bicubic(doubles, [4, 4], half_pixel_centers=True) | tf.square(tf.image.crop_and_resize(batch, boxes, [0, 1, 1], [3, 3])) | tf.square(tf.image.crop_and_resize(loose, boxes, [0, 1, 1], [2, 4]))
tf.square(tf.image.crop_and_resize(batch, boxes, [0, 1, 1], [3, 3], method='nearest')) | tf.image.flip_left_right(batch) | tf.image.central_crop(image, 0.5) | tf.image.resize_image_with_crop_or_pad(batch, 3, 6) | tf.image.total_variation(batch)
tf.extract_image_patches(batch, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], 'VALID') | tf.extract_image_patches(batch, [1, 3, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'SAME') | tf.extract_image_patches(batch, [1, 2, 2, 1], [1, 1, 1, 1], [1, 2, 2, 1], 'VALID')
tf.image.rgb_to_grayscale(batch) | tf.image.adjust_brightness(image, 0.1) | tf.image.resize_area(batch, [2, 2]) | tf.image.per_image_standardization(image) * image | tf.image.rgb_to_hsv(batch) | tf.image.adjust_hue(image, 0.2)
"""

GROUPS = [("resizing", RESIZING), ("cropping", CROPPING), ("turning", TURNING), ("coloring", COLORING),
          ("measuring", MEASURING), ("gradients", GRADIENTS)]
