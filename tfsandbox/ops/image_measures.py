"""Numbers and maps that images are judged by: standardization, variation, edges, PSNR, SSIM."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_colors import as_floating
from tfsandbox.ops.image_sizes import as_image, checked, require_image
from tfsandbox.ops.image_types import convert_image_dtype


def per_image_standardization(image: Any) -> Tensor:
    """Each image [..., h, w, c] with mean 0 and deviation 1; one that hardly varies is not blown up."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(None, "per_image_standardization", [image]) as scope:
        image = as_image(image)
        image, dtype = as_floating(checked(require_image(image, static=False), image))
        count = math_ops.reduce_prod(array_ops.shape(image)[-3:])
        axes = [-1, -2, -3]
        mean = math_ops.reduce_mean(image, axis=axes, keepdims=True)
        deviation = math_ops.reduce_std(image, axis=axes, keepdims=True)
        least = math_ops.rsqrt(math_ops.cast(count, image.dtype))
        deviation = math_ops.maximum(deviation, least)
        standard = math_ops.divide(image - mean, deviation, name=scope)
        return convert_image_dtype(standard, dtype, saturate=True)


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences between neighboring pixels, of each image of a batch by itself."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "total_variation"):
        ndims = images.shape.ndims
        axes: list[int] | None = None
        if ndims == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            along = images[:, 1:, :] - images[:, :-1, :]
        elif ndims == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            along = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return math_ops.reduce_sum(math_ops.abs(down), axis=axes) + math_ops.reduce_sum(math_ops.abs(along), axis=axes)


def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """(dy, dx) of images [n, h, w, c]: the differences to the next pixel, 0 at the last one."""
    if image.shape.ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.", image.shape)
    shape = array_ops.shape(image)
    count, height, width, depth = array_ops.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    last_row = array_ops.zeros(array_ops.stack([count, 1, width, depth]), image.dtype)
    dy = array_ops.reshape(array_ops.concat([dy, last_row], 1), shape)
    last_column = array_ops.zeros(array_ops.stack([count, height, 1, depth]), image.dtype)
    dx = array_ops.reshape(array_ops.concat([dx, last_column], 2), shape)
    return dy, dx


_SOBEL = [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]]


def sobel_edges(image: Tensor) -> Tensor:
    """[n, h, w, c, (dy, dx)] of images [n, h, w, c]: Sobel's filters."""
    from tfsandbox.ops import nn_impl
    known = image.shape
    shape = array_ops.shape(image)
    filters = np.array(_SOBEL, np.float32).transpose(1, 2, 0)[:, :, None, :]
    kernel = array_ops.tile(constant(filters, dtype=image.dtype), [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array_ops.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = nn_impl.depthwise_conv2d(padded, kernel, [1, 1, 1, 1], "VALID")
    edges = array_ops.reshape(edges, array_ops.concat([shape, [2]], 0))
    edges.set_shape(known.concatenate([2]))
    return edges


# ------------------------------------------------------------ how alike two images are


def _check_pair(one: Tensor, other: Tensor) -> list[Operation]:
    """Checks that two batches of images fit each other; `ValueError` where they are known not to."""
    from tfsandbox.ops import control_flow_ops, math_ops
    shapes = [image.shape.with_rank_at_least(3) for image in (one, other)]
    shapes[0][-3:].assert_is_compatible_with(shapes[1][-3:])
    if shapes[0].ndims is not None and shapes[1].ndims is not None:
        leading = [list(reversed(shape.as_list()[:-3])) for shape in shapes]
        if any(a not in (1, b, None) and b not in (1, None) for a, b in zip(*leading)):
            raise ValueError(f"Two images are not compatible: {shapes[0]} and {shapes[1]}")
    first, second = array_ops.shape_n([one, other])
    return [
        control_flow_ops.Assert(math_ops.greater_equal(array_ops.size(first), 3), [first, second], summarize=10),
        control_flow_ops.Assert(math_ops.reduce_all(math_ops.equal(first[-3:], second[-3:])), [first, second],
                                summarize=10)]


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio, in decibel, of images [..., h, w, c] whose values reach to `max_val`."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "PSNR", [a, b]):
        most = convert_image_dtype(math_ops.cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = math_ops.reduce_mean(math_ops.squared_difference(a, b), [-3, -2, -1])
        ratio = math_ops.subtract(20 * math_ops.log(most) / math_ops.log(10.0),
                                  np.float32(10 / np.log(10)) * math_ops.log(error), name="psnr")
        with ops.control_dependencies(_check_pair(a, b)):
            return array_ops.identity(ratio)


def ssim(img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
         k2: float = 0.03) -> Tensor:
    """How alike images [..., h, w, c] are in structure (Wang et al. 2004): 1 for the same one."""
    from tfsandbox.ops import math_ops
    with ops.control_dependencies(_check_pair(img1, img2)):
        img1 = array_ops.identity(img1)
    most = convert_image_dtype(math_ops.cast(max_val, img1.dtype), dtypes.float32)
    img1, img2 = convert_image_dtype(img1, dtypes.float32), convert_image_dtype(img2, dtypes.float32)
    alike = _ssim_per_channel(img1, img2, most, filter_size, filter_sigma, k1, k2)
    return math_ops.reduce_mean(alike, [-1])


def _ssim_per_channel(one: Tensor, other: Tensor, most: Tensor, filter_size: int, filter_sigma: float, k1: float,
                      k2: float) -> Tensor:
    from tfsandbox.ops import control_flow_ops, math_ops, nn_impl
    size = constant(filter_size, dtype=dtypes.int32)
    sigma = constant(filter_sigma, dtype=one.dtype)
    shapes = array_ops.shape_n([one, other])
    checks = [control_flow_ops.Assert(math_ops.reduce_all(math_ops.greater_equal(shape[-3:-1], size)), [shape, size],
                                      summarize=8) for shape in shapes]
    with ops.control_dependencies(checks):
        one = array_ops.identity(one)
    kernel = array_ops.tile(_gaussian(size, sigma), multiples=[1, 1, shapes[0][-1], 1])
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2

    def smoothed(x: Tensor) -> Tensor:
        shape = array_ops.shape(x)
        flat = array_ops.reshape(x, array_ops.concat([[-1], shape[-3:]], 0))
        y = nn_impl.depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))

    mean, other_mean = smoothed(one), smoothed(other)
    product = mean * other_mean * 2.0
    squares = math_ops.square(mean) + math_ops.square(other_mean)
    luminance = (product + c1) / (squares + c1)
    product_mean = smoothed(one * other) * 2.0
    squares_mean = smoothed(math_ops.square(one) + math_ops.square(other))
    c2 = c2 * 1.0
    contrast = (product_mean - product + c2) / (squares_mean - squares + c2)
    axes = constant([-3, -2], dtype=dtypes.int32)
    result = math_ops.reduce_mean(luminance * contrast, axes)
    math_ops.reduce_mean(contrast, axes)  # for the multiscale form
    return result


def _gaussian(size: Tensor, sigma: Tensor) -> Tensor:
    """[size, size, 1, 1]: weights around the middle, whose sum is 1."""
    from tfsandbox.ops import math_ops, nn_ops
    places = math_ops.cast(math_ops.range(size), sigma.dtype)
    places = places - math_ops.cast(size - 1, sigma.dtype) / 2.0
    exponents = math_ops.square(places) * (-0.5 / math_ops.square(sigma))
    exponents = array_ops.reshape(exponents, [1, -1]) + array_ops.reshape(exponents, [-1, 1])
    weights = nn_ops.softmax(array_ops.reshape(exponents, [1, -1]))
    return array_ops.reshape(weights, [size, size, 1, 1])
