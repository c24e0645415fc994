"""Parts of images, and images with a border: cropping, padding, crop_and_resize."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_size
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.image_resizing import ResizeMethod, resize_images
from tfsandbox.ops.image_sizes import as_batch, as_image, checked, require, require_image, sizes_of, static

# ------------------------------------------------------------ cropping and padding


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of an image [h, w, c] or of images [n, h, w, c]: `central_fraction` of each side."""
    with ops.name_scope(None, "central_crop", [image]):
        image = as_image(image)
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checks = require_image(image, static=False)
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        checked(checks, image)
        known = image.shape.as_list()
        sizes = [array_ops.shape(image)[axis] if known[axis] is None else known[axis] for axis in (rank - 3, rank - 2)]
        starts = [_start(size, central_fraction) for size in sizes]
        kept = [size - start * 2 for size, start in zip(sizes, starts)]
        before, after = ([0], [-1]) if rank == 4 else ([], [])
        result = array_ops.slice(image, array_ops.stack([*before, *starts, 0]), array_ops.stack([*after, *kept, -1]))
        result.set_shape([*known[:-3], *static(kept), known[-1]])
        return result


def _start(size: Any, fraction: float) -> Any:
    from tfsandbox.ops import math_ops
    if not isinstance(size, Tensor):
        return int((size - size * fraction) / 2)
    whole = math_ops.cast(size, dtypes.float64)
    return math_ops.cast((whole - whole * fraction) / 2, dtypes.int32)


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                         target_width: Any) -> Tensor:
    """The part of an image or of images with that corner and size; `ValueError` if it reaches over the edge."""
    with ops.name_scope(None, "crop_to_bounding_box", [image]):
        image, batched = as_batch(as_image(image))
        checks = require_image(image, static=False)
        batch, height, width, depth = sizes_of(image, 4)
        checks += require(offset_width >= 0, ValueError, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, ValueError, "offset_height must be >= 0.")
        checks += require(target_width > 0, ValueError, "target_width must be > 0.")
        checks += require(target_height > 0, ValueError, "target_height must be > 0.")
        checks += require(width >= target_width + offset_width, ValueError, "width must be >= target + offset.")
        checks += require(height >= target_height + offset_height, ValueError, "height must be >= target + offset.")
        image = checked(checks, image)
        cropped = array_ops.slice(image, array_ops.stack([0, offset_height, offset_width, 0]),
                                  array_ops.stack([-1, target_height, target_width, -1]))
        cropped.set_shape(static([batch, target_height, target_width, depth]))
        return cropped if batched else array_ops.squeeze(cropped, axis=[0])


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                        target_width: Any) -> Tensor:
    """An image of the target size, zero but for `image` at that offset; `ValueError` if it does not fit."""
    with ops.name_scope(None, "pad_to_bounding_box", [image]):
        image, batched = as_batch(as_image(image))
        checks = require_image(image, static=False)
        batch, height, width, depth = sizes_of(image, 4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        checks += require(offset_height >= 0, ValueError, "offset_height must be >= 0")
        checks += require(offset_width >= 0, ValueError, "offset_width must be >= 0")
        checks += require(after_width >= 0, ValueError, "width must be <= target - offset")
        checks += require(after_height >= 0, ValueError, "height must be <= target - offset")
        image = checked(checks, image)
        paddings = array_ops.reshape(
            array_ops.stack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]), [4, 2])
        padded = array_ops.pad(image, paddings)
        padded.set_shape(static([batch, target_height, target_width, depth]))
        return padded if batched else array_ops.squeeze(padded, axis=[0])


def _greater(a: Any, b: Any) -> Any:
    from tfsandbox.ops import math_ops
    return math_ops.maximum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else max(a, b)


def _lesser(a: Any, b: Any) -> Any:
    from tfsandbox.ops import math_ops
    return math_ops.minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


def _equal(a: Any, b: Any) -> Any:
    from tfsandbox.ops import math_ops
    return math_ops.equal(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else a == b


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """An image or images of the target size: each axis cut off, or filled up with zeros, evenly at both ends."""
    with ops.name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, batched = as_batch(as_image(image))
        checks = require_image(image, static=False)
        checks += require(target_width > 0, ValueError, "target_width must be > 0.")
        checks += require(target_height > 0, ValueError, "target_height must be > 0.")
        image = checked(checks, image)
        # A fed size is used only after its check.
        if isinstance(target_height, Tensor):
            target_height = checked(checks, target_height)
        if isinstance(target_width, Tensor):
            target_width = checked(checks, target_width)
        _, height, width, _ = sizes_of(image, 4)
        more_width = target_width - width
        crop_width, pad_width = _greater(-more_width // 2, 0), _greater(more_width // 2, 0)
        more_height = target_height - height
        crop_height, pad_height = _greater(-more_height // 2, 0), _greater(more_height // 2, 0)
        cropped = crop_to_bounding_box(image, crop_height, crop_width, _lesser(target_height, height),
                                       _lesser(target_width, width))
        resized = pad_to_bounding_box(cropped, pad_height, pad_width, target_height, target_width)
        _, height, width, _ = sizes_of(resized, 4)
        checks = require(_equal(height, target_height), ValueError, "resized height is not correct.")
        checks += require(_equal(width, target_width), ValueError, "resized width is not correct.")
        resized = checked(checks, resized)
        return resized if batched else array_ops.squeeze(resized, axis=[0])


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: int = ResizeMethod.BILINEAR,
                          align_corners: bool = False) -> Tensor:
    """An image or images of the target size: resized without distortion to fit in, and zeros around it."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(None, "resize_image_with_pad", [image]):
        image, batched = as_batch(as_image(image))
        checks = require_image(image, static=False)
        checks += require(target_width > 0, ValueError, "target_width must be > 0.")
        checks += require(target_height > 0, ValueError, "target_height must be > 0.")
        image = checked(checks, image)
        _, height, width, _ = sizes_of(image, 4)
        height, width, whole_height, whole_width = (
            math_ops.cast(size, dtypes.float32) for size in (height, width, target_height, target_width))
        ratio = math_ops.maximum(width / whole_width, height / whole_height)
        new_height, new_width = height / ratio, width / ratio
        size = [math_ops.cast(math_ops.floor(side), dtypes.int32) for side in (new_height, new_width)]
        margins = [(whole_height - new_height) / 2, (whole_width - new_width) / 2]
        floors = [math_ops.floor(margin) for margin in margins]
        offsets = [math_ops.maximum(0, math_ops.cast(floor, dtypes.int32)) for floor in floors]
        resized = resize_images(image, size, method, align_corners)
        padded = pad_to_bounding_box(resized, offsets[0], offsets[1], target_height, target_width)
        sizes_of(padded, 4)
        return padded if batched else array_ops.squeeze(padded, axis=[0])


# ------------------------------------------------------------ boxes of images, resized

_NUMBERS = "{uint8, uint16, int8, int16, int32, int64, float16, float32, float64}"
crop_and_resize_op = register_op(
    "CropAndResize", "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    f"T: type in {_NUMBERS}; method: string in {{'bilinear', 'nearest'}} = 'bilinear'; "
    "extrapolation_value: float = 0.0")
image_grad_op = register_op(
    "CropAndResizeGradImage", "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    "T: type in {float32, float16, float64}; method: string in {'bilinear', 'nearest'} = 'bilinear'").no_gradient()
boxes_grad_op = register_op(
    "CropAndResizeGradBoxes", "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    f"T: type in {_NUMBERS}; method: string in {{'bilinear'}} = 'bilinear'").no_gradient()


@crop_and_resize_op.shape
def _crop_and_resize_shape(c: ShapeContext) -> TensorShape:
    image, boxes = with_rank(c.shape(0), 4).sizes, with_rank(c.shape(1), 2).sizes
    indices, size = with_rank(c.shape(2), 1).sizes, with_rank(c.shape(3), 1).sizes
    assert image is not None and boxes is not None and indices is not None and size is not None
    count = merge_sizes(boxes[0], indices[0])
    with_size(boxes[1], 4)
    with_size(size[0], 2)
    value = c.value(3)
    height, width = (None, None) if value is None else (int(value[0]), int(value[1]))
    return TensorShape.from_sizes((count, height, width, image[3]))


@image_grad_op.shape
def _image_grad_shape(c: ShapeContext) -> TensorShape:
    return with_rank(c.value_as_shape(3), 4)


@boxes_grad_op.shape
def _boxes_grad_shape(c: ShapeContext) -> TensorShape:
    return with_rank(c.shape(2), 2)


class _Samples:
    """Where the pixels of crops lie on one axis of the images: [boxes, pixels]."""

    def __init__(self, first: np.ndarray, last: np.ndarray, size: int, pixels: int) -> None:
        whole = np.float32(size - 1)
        if pixels > 1:
            step = (last - first) * whole / np.float32(pixels - 1)
            places = first[:, None] * whole + np.arange(pixels, dtype=np.float32) * step[:, None]
        else:
            places = (np.float32(0.5) * (first + last) * whole)[:, None]
        self.inside = (places >= 0) & (places <= whole)
        places = np.where(self.inside, places, np.float32(0))
        self.before = np.floor(places).astype(np.int64)
        self.after = np.ceil(places).astype(np.int64)
        self.far = places - self.before.astype(np.float32)
        # Halves are rounded up.
        self.nearest = np.floor(places + np.float32(0.5)).astype(np.int64)


def _samples(boxes: np.ndarray, shape: Any, size: tuple[int, int]) -> tuple[_Samples, _Samples]:
    return (_Samples(boxes[:, 0], boxes[:, 2], shape[1], size[0]),
            _Samples(boxes[:, 1], boxes[:, 3], shape[2], size[1]))


def _check_boxes(box_ind: np.ndarray, batch: int) -> None:
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= batch):
        raise errors.OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


@crop_and_resize_op.kernel
def _crop_and_resize(image: Any, boxes: Any, box_ind: Any, crop_size: Any, *, method: bytes,
                     extrapolation_value: float) -> Any:
    height, width = crop_size.tolist()
    if height <= 0 or width <= 0:
        raise errors.InvalidArgumentError(None, None, "crop dimensions must be positive")
    _check_boxes(box_ind, len(image))
    rows, columns = _samples(boxes, image.shape, (height, width))
    n = box_ind[:, None, None]
    if method == b"nearest":
        found = image[n, rows.nearest[:, :, None], columns.nearest[:, None, :]].astype(np.float32)
    else:
        pixels = image.astype(np.float32, copy=False)
        right = columns.far[:, None, :, None]

        def mixed(row: np.ndarray) -> np.ndarray:
            left = pixels[n, row[:, :, None], columns.before[:, None, :]]
            return left + (pixels[n, row[:, :, None], columns.after[:, None, :]] - left) * right
        top = mixed(rows.before)
        found = top + (mixed(rows.after) - top) * rows.far[:, :, None, None]
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    return np.where(inside[..., None], found, np.float32(extrapolation_value))


@image_grad_op.kernel
def _crop_image_grad(grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: dtypes.DType, method: bytes) -> Any:
    result = np.zeros(image_size, T.as_numpy_dtype)
    _check_boxes(box_ind, len(result))
    rows, columns = _samples(boxes, result.shape, grads.shape[1:3])
    n = box_ind[:, None, None]
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    grads = np.where(inside[..., None], grads, np.float32(0)).astype(result.dtype, copy=False)
    if method == b"nearest":
        np.add.at(result, (n, rows.nearest[:, :, None], columns.nearest[:, None, :]), grads)
        return result
    down, right = rows.far[:, :, None, None], columns.far[:, None, :, None]
    for row, weight in ((rows.before, 1 - down), (rows.after, down)):
        for column, share in ((columns.before, 1 - right), (columns.after, right)):
            np.add.at(result, (n, row[:, :, None], column[:, None, :]), (grads * (weight * share)).astype(result.dtype))
    return result


@boxes_grad_op.kernel
def _crop_boxes_grad(grads: Any, image: Any, boxes: Any, box_ind: Any) -> Any:
    _check_boxes(box_ind, len(image))
    height, width = grads.shape[1:3]
    rows, columns = _samples(boxes, image.shape, (height, width))
    n, pixels = box_ind[:, None, None], image.astype(np.float32, copy=False)
    above, below = rows.before[:, :, None], rows.after[:, :, None]
    left, right = columns.before[:, None, :], columns.after[:, None, :]
    corners = {(i, j): pixels[n, row, column] for i, row in enumerate((above, below))
               for j, column in enumerate((left, right))}
    down, along = rows.far[:, :, None, None], columns.far[:, None, :, None]
    inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
    grads = np.where(inside, grads, np.float32(0))
    by_row = ((1 - along) * (corners[1, 0] - corners[0, 0]) + along * (corners[1, 1] - corners[0, 1])) * grads
    by_column = ((1 - down) * (corners[0, 1] - corners[0, 0]) + down * (corners[1, 1] - corners[1, 0])) * grads
    result = np.empty(boxes.shape, np.float32)
    for axis, (slope, size, count) in enumerate(((by_row.sum((2, 3)), image.shape[1], height),
                                                 (by_column.sum((1, 3)), image.shape[2], width))):
        whole = np.float32(size - 1)
        moved = np.arange(count, dtype=np.float32) * (whole / np.float32(count - 1)) if count > 1 else whole / 2
        result[:, axis], result[:, axis + 2] = (slope * (whole - moved)).sum(1), (slope * moved).sum(1)
    return result


@crop_and_resize_op.gradient
def _crop_and_resize_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image, boxes, box_ind = op.inputs[0], op.inputs[1], op.inputs[2]
    size: Any = image.shape.as_list() if image.shape.is_fully_defined() else array_ops.shape(image)
    image_grad = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        image_grad = apply_op("CropAndResizeGradImage", grads=grad, boxes=boxes, box_ind=box_ind, image_size=size,
                              T=op.get_attr("T"), method=op.get_attr("method"))
    boxes_grad = apply_op("CropAndResizeGradBoxes", grads=grad, image=image, boxes=boxes, box_ind=box_ind)
    return [image_grad, boxes_grad, None, None]


def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Tensor:
    """[boxes, *crop_size, c], float32: each of `boxes` [(y1, x1, y2, x2)] of image `box_ind[i]`, resized.

    `image` is [n, h, w, c]. Corners are between 0 and 1; what lies outside the image is `extrapolation_value`.
    `method` is "bilinear" or "nearest". A run with an index outside the batch raises `OutOfRangeError`.
    """
    box_ind = box_indices if box_ind is None else box_ind
    return apply_op("CropAndResize", image=image, boxes=boxes, box_ind=box_ind, crop_size=crop_size, method=method,
                    extrapolation_value=float(extrapolation_value), name=name)
