"""Images of another size: bilinear, nearest neighbor, bicubic, area."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank, with_size
from tfsandbox.framework.static_values import constant_value_as_shape
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_sizes import sizes_of

_NUMBERS = "{int8, uint8, int16, uint16, int32, int64, float16, float32, float64}"
_CORNERS = "align_corners: bool = false"
_CENTERS = f"{_CORNERS}; half_pixel_centers: bool = false"


class ResizeMethod:
    """How `resize_images` computes pixels that lie between others."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# ------------------------------------------------------------ how the pixels of one axis make those of another
#
# Each is a matrix [new size, old size], of float32 as TensorFlow computes the places.


def _scale(old: int, new: int, align_corners: bool) -> np.float32:
    if align_corners and new > 1:
        return np.float32((old - 1) / np.float32(new - 1))
    return np.float32(old / np.float32(new))


def _places(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where new pixels lie among the old ones."""
    scale = _scale(old, new, align_corners)
    index = np.arange(new, dtype=np.float32)
    if half_pixel_centers:
        return (index + np.float32(0.5)) * scale - np.float32(0.5)
    return index * scale


def _between(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> tuple[Any, Any, Any]:
    """(pixel before, pixel after, how far it is from the one to the other) for every new pixel."""
    places = _places(old, new, align_corners, half_pixel_centers)
    floor = np.floor(places)
    before = np.maximum(floor.astype(np.int64), 0)
    after = np.minimum(np.ceil(places).astype(np.int64), old - 1)
    return before, after, places - floor


@functools.lru_cache(64)
def _bilinear_matrix(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    before, after, far = _between(old, new, align_corners, half_pixel_centers)
    return _matrix(old, [(before, 1 - far), (after, far)])


@functools.lru_cache(64)
def _nearest_index(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    scale = _scale(old, new, align_corners)
    index = np.arange(new, dtype=np.float32)
    places = (index + np.float32(0.5)) * scale if half_pixel_centers else index * scale
    # Halves are rounded up.
    rounded = np.floor(places + np.float32(0.5)) if align_corners else np.floor(places)
    return np.clip(rounded.astype(np.int64), 0, old - 1)


_CUBIC_STEPS = 1024


@functools.cache
def _cubic_table(sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """The cubic kernel at distances 0...1 and 1...2, in steps."""
    a = np.float32(sharpness)
    x = np.arange(_CUBIC_STEPS + 1, dtype=np.float32) / np.float32(_CUBIC_STEPS)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + np.float32(1)
    return near, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


@functools.lru_cache(64)
def _cubic_matrix(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    places = _places(old, new, align_corners, half_pixel_centers)
    first = np.floor(places).astype(np.int64)
    step = np.rint((places - first.astype(np.float32)) * np.float32(_CUBIC_STEPS)).astype(np.int64)
    weights = [far[step], near[step], near[_CUBIC_STEPS - step], far[_CUBIC_STEPS - step]]
    indices = [first - 1, first, first + 1, first + 2]
    bounded = [np.clip(index, 0, old - 1) for index in indices]
    if half_pixel_centers:
        # What lies outside does not count, and the rest makes up for it.
        weights = [np.where(index == inside, weight, np.float32(0))
                   for index, inside, weight in zip(indices, bounded, weights)]
        total = weights[0] + weights[1] + weights[2] + weights[3]
        counts = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
        weights = [np.where(counts, weight / np.where(counts, total, 1), weight) for weight in weights]
    return _matrix(old, list(zip(bounded, weights)))


@functools.lru_cache(64)
def _area_matrix(old: int, new: int, align_corners: bool) -> np.ndarray:
    scale = _scale(old, new, align_corners)
    matrix = np.zeros((new, old), np.float32)
    for row in range(new):
        start, end = np.float32(row) * scale, np.float32(row + 1) * scale
        for pixel in range(int(np.floor(start)), int(np.ceil(end))):
            covered = min(np.float32(pixel + 1), end) - max(np.float32(pixel), start)
            matrix[row, min(max(pixel, 0), old - 1)] += covered
    return matrix / scale


def _matrix(old: int, parts: Any) -> np.ndarray:
    rows = np.arange(len(parts[0][0]))
    matrix = np.zeros((len(rows), old), np.float32)
    for columns, weights in parts:
        np.add.at(matrix, (rows, columns), weights)
    return matrix


def _both_ways(images: np.ndarray, vertical: np.ndarray, horizontal: np.ndarray) -> np.ndarray:
    """`vertical` applied to the columns and `horizontal` to the rows of images [n, h, w, c]."""
    n, height, width, channels = images.shape
    tall = vertical @ images.reshape(n, height, width * channels)
    return horizontal @ tall.reshape(n, len(vertical), width, channels)


# ------------------------------------------------------------ ops

bilinear_op = register_op(
    "ResizeBilinear", "images: T, size: int32 -> resized_images: float32",
    f"T: type in {_NUMBERS[:-1].replace('float16', 'bfloat16, float16')}}}; {_CENTERS}")
nearest_op = register_op("ResizeNearestNeighbor", "images: T, size: int32 -> resized_images: T",
                         f"T: type in {_NUMBERS}; {_CENTERS}")
bicubic_op = register_op("ResizeBicubic", "images: T, size: int32 -> resized_images: float32",
                         f"T: type in {_NUMBERS}; {_CENTERS}")
area_op = register_op("ResizeArea", "images: T, size: int32 -> resized_images: float32",
                      f"T: type in {_NUMBERS}; {_CORNERS}")
bilinear_grad_op = register_op("ResizeBilinearGrad", "grads: float32, original_image: T -> output: T",
                               f"T: type in {{float32, bfloat16, float16, float64}}; {_CENTERS}")
nearest_grad_op = register_op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T",
                              f"T: type in {{uint8, int8, int32, float16, float32, float64}}; {_CENTERS}")
bicubic_grad_op = register_op("ResizeBicubicGrad", "grads: float32, original_image: T -> output: T",
                              f"T: type in {{float32, float64}}; {_CENTERS}")


@bilinear_op.shape
@nearest_op.shape
@bicubic_op.shape
@area_op.shape
@nearest_grad_op.shape
def _resize_shape(c: ShapeContext) -> TensorShape:
    images, size = with_rank(c.shape(0), 4), with_rank(c.shape(1), 1)
    assert images.sizes is not None and size.sizes is not None
    with_size(size.sizes[0], 2)
    value = c.value(1)
    height, width = (None, None) if value is None else (int(value[0]), int(value[1]))
    return TensorShape.from_sizes((images.sizes[0], height, width, images.sizes[3]))


@bilinear_grad_op.shape
@bicubic_grad_op.shape
def _like_original(c: ShapeContext) -> TensorShape:
    return c.shape(1)


def _checked_size(images: Any, size: Any) -> tuple[int, int]:
    if images.ndim != 4:
        raise errors.InvalidArgumentError(None, None, f"input must be 4-dimensional{list(images.shape)}")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise errors.InvalidArgumentError(None, None, "output dimensions must be positive")
    if not images.shape[1] or not images.shape[2]:
        raise errors.InvalidArgumentError(None, None, "input image must be of non-zero size")
    return height, width


@bilinear_op.kernel
def _bilinear(images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = _checked_size(images, size)
    pixels = images.astype(np.float32, copy=False)
    if images.shape[1:3] == (height, width):
        return pixels if pixels is not images else images.copy()
    before, after, far = _between(images.shape[2], width, align_corners, half_pixel_centers)
    left, far = pixels[:, :, before], far[:, None]
    wide = left + (pixels[:, :, after] - left) * far
    before, after, far = _between(images.shape[1], height, align_corners, half_pixel_centers)
    top, far = wide[:, before], far[:, None, None]
    return top + (wide[:, after] - top) * far


@nearest_op.kernel
def _nearest(images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = _checked_size(images, size)
    rows = _nearest_index(images.shape[1], height, align_corners, half_pixel_centers)
    return images[:, rows[:, None], _nearest_index(images.shape[2], width, align_corners, half_pixel_centers)]


@bicubic_op.kernel
def _bicubic(images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = _checked_size(images, size)
    return _both_ways(images.astype(np.float32, copy=False),
                      _cubic_matrix(images.shape[1], height, align_corners, half_pixel_centers),
                      _cubic_matrix(images.shape[2], width, align_corners, half_pixel_centers))


@area_op.kernel
def _area(images: Any, size: Any, *, align_corners: bool) -> Any:
    height, width = _checked_size(images, size)
    return _both_ways(images.astype(np.float32, copy=False), _area_matrix(images.shape[1], height, align_corners),
                      _area_matrix(images.shape[2], width, align_corners))


def _spread(grads: np.ndarray, image: np.ndarray, matrix: Callable[..., np.ndarray], *options: bool) -> np.ndarray:
    """What every old pixel gave to the gradient at the new ones."""
    vertical = matrix(image.shape[1], grads.shape[1], *options)
    horizontal = matrix(image.shape[2], grads.shape[2], *options)
    return _both_ways(grads.astype(image.dtype, copy=False), vertical.T, horizontal.T).astype(image.dtype, copy=False)


@bilinear_grad_op.kernel
def _bilinear_grad(grads: Any, original_image: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    return _spread(grads, original_image, _bilinear_matrix, align_corners, half_pixel_centers)


@bicubic_grad_op.kernel
def _bicubic_grad(grads: Any, original_image: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    return _spread(grads, original_image, _cubic_matrix, align_corners, half_pixel_centers)


@nearest_grad_op.kernel
def _nearest_grad(grads: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    n, height, width, channels = grads.shape
    old_height, old_width = size.tolist()
    rows = _nearest_index(old_height, height, align_corners, half_pixel_centers)
    columns = _nearest_index(old_width, width, align_corners, half_pixel_centers)
    result = np.zeros((n, old_height, old_width, channels), grads.dtype)
    np.add.at(result, (slice(None), rows[:, None], columns), grads)  # type: ignore[arg-type]
    return result


def _options(op: Operation) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}


@bilinear_op.gradient
def _bilinear_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("ResizeBilinearGrad", grads=grad, original_image=op.inputs[0], **_options(op)), None]


@bicubic_op.gradient
def _bicubic_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    if op.inputs[0].dtype not in (dtypes.float32, dtypes.float64):
        return [None, None]
    return [apply_op("ResizeBicubicGrad", grads=grad, original_image=op.inputs[0], **_options(op)), None]


@nearest_op.gradient
def _nearest_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image = op.inputs[0]
    size: Any = image.shape[1:3]
    size = size.as_list() if size.is_fully_defined() else array_ops.shape(image)[1:3]
    return [apply_op("ResizeNearestNeighborGrad", grads=grad, size=size, **_options(op)), None]


def _resizer(op_def: OpDef, images: Any, size: Any, name: str | None, **options: bool) -> Tensor:
    return apply_op(op_def.name, images=images, size=size, name=name, **options)


def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                    half_pixel_centers: bool = False) -> Tensor:
    """[n, *size, c], float32: every pixel mixed of the four around its place in `images` [n, h, w, c].

    With `align_corners` the centers of the corner pixels stay where they are; otherwise the corners of the first pixel
    do, or with `half_pixel_centers` those of the whole image.
    """
    return _resizer(bilinear_op, images, size, name, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


def resize_nearest_neighbor(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                            half_pixel_centers: bool = False) -> Tensor:
    """[n, *size, c]: as `resize_bilinear`, but every pixel is the nearest one."""
    return _resizer(nearest_op, images, size, name, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


def resize_bicubic(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                   half_pixel_centers: bool = False) -> Tensor:
    """[n, *size, c], float32: as `resize_bilinear`, but of the sixteen pixels around."""
    return _resizer(bicubic_op, images, size, name, align_corners=align_corners, half_pixel_centers=half_pixel_centers)


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """[n, *size, c], float32: every pixel is the mean of what it covers."""
    return _resizer(area_op, images, size, name, align_corners=align_corners)


_FUNCTIONS: dict[int, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: resize_bilinear, ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic, ResizeMethod.AREA: resize_area}


def resize_images(images: Any, size: Any, method: int = ResizeMethod.BILINEAR, align_corners: bool = False,
                  preserve_aspect_ratio: bool = False, name: str | None = None) -> Tensor:
    """An image [h, w, c] or images [n, h, w, c] with height and width `size`, by one of the `ResizeMethod`s.

    Floating, unless nothing changes or the method is NEAREST_NEIGHBOR. With `preserve_aspect_ratio` the result is as
    large as fits into `size`.
    """
    def resized(images: Tensor, size: Tensor) -> Tensor:
        if method not in _FUNCTIONS:
            raise ValueError("Resize method is not implemented.")
        return _FUNCTIONS[method](images, size, align_corners=align_corners)

    with ops.name_scope(name, "resize", [images, size]):
        images = ops.convert_to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise ValueError("'images' contains no shape.")
        single = images.shape.ndims == 3
        if single:
            images = array_ops.expand_dims(images, 0)
        elif images.shape.ndims != 4:
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        _, height, width, _ = images.shape.as_list()
        try:
            size = ops.convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            size = _fitting(images, size)
        wanted = constant_value_as_shape(size).as_list()
        if [height, width] != wanted or None in wanted:
            images = resized(images, size)
            images.set_shape([None, *wanted, None])
        return array_ops.squeeze(images, axis=[0]) if single else images


def _fitting(images: Tensor, size: Tensor) -> Tensor:
    """The largest size within `size` that is as wide to its height as the images are."""
    from tfsandbox.ops import math_ops
    wanted = constant_value_as_shape(size).as_list()
    _, height, width, _ = sizes_of(images, 4)

    def ratio(side: int, now: Any) -> Tensor:
        new: Any = wanted[side] if wanted[side] is not None else size[side]
        return math_ops.cast(new, dtypes.float32) / math_ops.cast(now, dtypes.float32)

    scale = math_ops.minimum(ratio(0, height), ratio(1, width))
    new = [math_ops.cast(math_ops.round(scale * math_ops.cast(now, dtypes.float32)), dtypes.int32)
           for now in (height, width)]
    return ops.convert_to_tensor(new, dtypes.int32, name="size")
