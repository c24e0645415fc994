"""Colors of images: brightness, contrast, gamma, hue, saturation, and other color spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank, with_rank_at_least, with_size
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_sizes import as_image, checked, require
from tfsandbox.ops.image_types import convert_image_dtype

_FLOATS = (dtypes.float16, dtypes.float32)


def as_floating(image: Any, name: str = "image") -> tuple[Tensor, dtypes.DType]:
    """(the image in a floating type that ops on colors take, the type it had)."""
    image = as_image(image, name)
    floating = image if image.dtype in _FLOATS else convert_image_dtype(image, dtypes.float32)
    return floating, image.dtype


# ------------------------------------------------------------ brightness, contrast, gamma

# Not differentiable in TensorFlow 1.15, and without saying so: asking for the gradient raises LookupError.
adjust_contrast_op = register_op("AdjustContrastv2", "images: T, contrast_factor: float32 -> output: T",
                                 "T: type in {float16, float32} = float32")


@adjust_contrast_op.shape
def _adjust_contrast_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 0)
    return with_rank_at_least(c.shape(0), 3)


@adjust_contrast_op.kernel
def _adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    values = images.astype(np.float32, copy=False)
    mean = np.mean(values, axis=(-3, -2), keepdims=True, dtype=np.float32)
    return ((values - mean) * np.float32(contrast_factor) + mean).astype(images.dtype, copy=False)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """The image with `delta` added, where 1 is the full range of colors."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(None, "adjust_brightness", [image, delta]) as name:
        floating, dtype = as_floating(image)
        adjusted = math_ops.add(floating, math_ops.cast(delta, floating.dtype), name=name)
        return convert_image_dtype(adjusted, dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """[..., h, w, c]: every channel's distance from its mean over the image, times `contrast_factor`."""
    with ops.name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        floating, dtype = as_floating(images, "images")
        adjusted = apply_op("AdjustContrastv2", images=floating, contrast_factor=contrast_factor, name=name)
        return convert_image_dtype(adjusted, dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """`gain * image ** gamma`, colors being between 0 and 1."""
    with ops.name_scope(None, "adjust_gamma", [image, gamma, gain]):
        floating, dtype = as_floating(image)
        checks = require(gamma >= 0, ValueError, "Gamma should be a non-negative real number.")
        if checks:
            gamma = checked(checks, gamma)
        return convert_image_dtype(gain * floating ** gamma, dtype, saturate=True)


# ------------------------------------------------------------ hue and saturation

adjust_hue_op = register_op("AdjustHue", "images: T, delta: float32 -> output: T",
                            "T: type in {float16, float32} = float32")
adjust_saturation_op = register_op("AdjustSaturation", "images: T, scale: float32 -> output: T",
                                   "T: type in {float16, float32} = float32")


@adjust_hue_op.shape
@adjust_saturation_op.shape
def _adjusted_shape(c: ShapeContext) -> TensorShape:
    return with_rank_at_least(c.shape(0), 3)


def _channels(images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if images.ndim < 3:
        raise errors.InvalidArgumentError(None, None, f"input must be at least 3-D, got shape{list(images.shape)}")
    if images.shape[-1] != 3:
        raise errors.InvalidArgumentError(
            None, None, f"input must have 3 channels but instead has {images.shape[-1]} channels.")
    red, green, blue = np.moveaxis(images.astype(np.float32, copy=False), -1, 0)
    return red, green, blue


def _hue(red: Any, green: Any, blue: Any, value: Any, spread: Any) -> Any:
    """The hue, 0 to 1, of colors whose largest part is `value` and whose parts differ by `spread`."""
    norm = 1 / (6 * np.where(spread > 0, spread, 1))
    hue = np.where(red == value, norm * (green - blue),
                   np.where(green == value, norm * (blue - red) + spread.dtype.type(2 / 6),
                            norm * (red - green) + spread.dtype.type(4 / 6)))
    hue = np.where(spread > 0, hue, spread.dtype.type(0))
    return np.where(hue < 0, hue + 1, hue)


def _color(hue: Any, low: Any, spread: Any) -> Any:
    """[..., 3]: colors of a hue whose smallest part is `low`, whose largest `low + spread`."""
    sixth = hue * 6
    parts = (np.clip(abs(sixth - 3) - 1, 0, 1), np.clip(2 - abs(sixth - 2), 0, 1), np.clip(2 - abs(sixth - 4), 0, 1))
    return np.stack([low + spread * part for part in parts], -1)


@adjust_hue_op.kernel
def _adjust_hue(images: Any, delta: Any) -> Any:
    red, green, blue = _channels(images)
    high = np.maximum(np.maximum(red, green), blue)
    low = np.minimum(np.minimum(red, green), blue)
    hue = (_hue(red, green, blue, high, high - low) + np.float32(delta)) % np.float32(1)
    return _color(hue, low, high - low).astype(images.dtype, copy=False)


@adjust_saturation_op.kernel
def _adjust_saturation(images: Any, scale: Any) -> Any:
    red, green, blue = _channels(images)
    high = np.maximum(np.maximum(red, green), blue)
    spread = high - np.minimum(np.minimum(red, green), blue)
    saturation = np.where(high > 0, spread / np.where(high > 0, high, 1), np.float32(0))
    saturation = np.clip(saturation * np.float32(scale), 0, 1)
    color = _color(_hue(red, green, blue, high, spread), high - saturation * high, saturation * high)
    return color.astype(images.dtype, copy=False)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The RGB image or images with the hue turned by `delta`: a whole turn is 1."""
    with ops.name_scope(name, "adjust_hue", [image]):
        floating, dtype = as_floating(image)
        return convert_image_dtype(apply_op("AdjustHue", images=floating, delta=delta), dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The RGB image or images with the saturation multiplied by `saturation_factor`."""
    with ops.name_scope(name, "adjust_saturation", [image]):
        floating, dtype = as_floating(image)
        return convert_image_dtype(apply_op("AdjustSaturation", images=floating, scale=saturation_factor), dtype)


# ------------------------------------------------------------ by chance


def _randomly(adjust: Callable[[Any, Any], Tensor], image: Any, lower: float, upper: float, seed: int | None) -> Tensor:
    from tfsandbox.ops import random_ops
    return adjust(image, random_ops.random_uniform([], lower, upper, seed=seed))


def _check_bounds(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` by a random number in [-max_delta, max_delta)."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _randomly(adjust_brightness, image, -max_delta, max_delta, seed)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_contrast` by a random number in [lower, upper)."""
    _check_bounds(lower, upper)
    return _randomly(adjust_contrast, image, lower, upper, seed)


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_hue` by a random number in [-max_delta, max_delta)."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _randomly(adjust_hue, image, -max_delta, max_delta, seed)


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_saturation` by a random number in [lower, upper)."""
    _check_bounds(lower, upper)
    return _randomly(adjust_saturation, image, lower, upper, seed)


# ------------------------------------------------------------ color spaces

_COLOR_TYPES = "T: type in {float16, bfloat16, float32, float64} = float32"
rgb_to_hsv_op = register_op("RGBToHSV", "images: T -> output: T", _COLOR_TYPES)
hsv_to_rgb_op = register_op("HSVToRGB", "images: T -> output: T", _COLOR_TYPES)


@rgb_to_hsv_op.shape
@hsv_to_rgb_op.shape
def _color_space_shape(c: ShapeContext) -> TensorShape:
    sizes = with_rank_at_least(c.shape(0), 1).sizes
    if sizes is None:
        return c.shape(0)
    return TensorShape.from_sizes((*sizes[:-1], with_size(sizes[-1], 3)))


@rgb_to_hsv_op.kernel
def _rgb_to_hsv(images: Any) -> Any:
    red, green, blue = np.moveaxis(images, -1, 0)
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    saturation = np.where(value > 0, spread / np.where(value > 0, value, 1), images.dtype.type(0))
    return np.stack([_hue(red, green, blue, value, spread), saturation, value], -1).astype(images.dtype, copy=False)


@hsv_to_rgb_op.kernel
def _hsv_to_rgb(images: Any) -> Any:
    hue, saturation, value = np.moveaxis(images, -1, 0)
    return (_color(hue, 1 - saturation, saturation) * value[..., None]).astype(images.dtype, copy=False)


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """[..., (hue, saturation, value)], all between 0 and 1, of RGB colors between 0 and 1."""
    return apply_op("RGBToHSV", images=images, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The inverse of `rgb_to_hsv`."""
    return apply_op("HSVToRGB", images=images, name=name)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """[..., 1]: how bright RGB colors look."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = as_image(images, "images")
        floating = convert_image_dtype(images, dtypes.float32)
        gray = math_ops.tensordot(floating, [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(gray, -1), images.dtype, name=name)


def _require_gray(image: Tensor) -> list[Operation]:
    from tfsandbox.ops import check_ops
    shape, wrong_rank = image.shape, "A grayscale image must be at least two-dimensional."
    try:
        shape = shape.with_rank(2) if shape.ndims is None else shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError(wrong_rank) from None
    wrong_size = "Last dimension of a grayscale image should be size 1."
    if shape.is_fully_defined():
        if shape.as_list()[-1] != 1:
            raise ValueError(wrong_size)
        return []
    return [check_ops.assert_equal(array_ops.shape(image)[-1], 1, message=wrong_size),
            check_ops.assert_greater_equal(array_ops.rank(image), 3, message=wrong_rank)]


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """[..., 3] from [..., 1]: the same brightness for every color."""
    with ops.name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = as_image(images, "images")
        images = checked(_require_gray(images), images)
        others = array_ops.expand_dims(array_ops.rank(images) - 1, 0)
        multiples = array_ops.concat([array_ops.ones(others, dtype=dtypes.int32), array_ops.expand_dims(3, 0)], 0)
        rgb = array_ops.tile(images, multiples, name=name)
        if images.shape.ndims is not None:
            rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _color_matrix(images: Any, matrix: list[list[float]]) -> Tensor:
    from tfsandbox.ops import math_ops
    images = as_image(images, "images")
    kernel = ops.convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    return math_ops.tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """RGB colors [..., 3] in the YIQ space."""
    return _color_matrix(images, _TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yiq`."""
    return _color_matrix(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Tensor:
    """RGB colors [..., 3] in the YUV space."""
    return _color_matrix(images, _TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `rgb_to_yuv`."""
    return _color_matrix(images, _FROM_YUV)
