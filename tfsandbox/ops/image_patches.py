"""Patches of images: extract_image_patches, extract_glimpse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_size
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops

__all__ = ["extract_image_patches"]

_TYPES = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"
patches_op = register_op(
    "ExtractImagePatches", "images: T -> patches: T",
    "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; "
    f"T: type in {_TYPES}; padding: string in {{'SAME', 'VALID'}}")


def _patch_count(size: int, kernel: int, stride: int, rate: int, padding: bytes) -> tuple[int, int]:
    """(how many patches lie along an axis, how many zeros come before it)."""
    reach = kernel + (kernel - 1) * (rate - 1)
    if padding == b"VALID":
        return (size - reach + stride) // stride, 0
    count = -(-size // stride)
    return count, max((count - 1) * stride + reach - size, 0) // 2


@patches_op.shape
def _patches_shape(c: ShapeContext) -> TensorShape:
    sizes = with_rank(c.shape(0), 4).sizes
    assert sizes is not None
    kernels, strides, rates, padding = (c.attr(name) for name in ("ksizes", "strides", "rates", "padding"))
    counts = [None if sizes[axis] is None else
              _patch_count(sizes[axis], kernels[axis], strides[axis], rates[axis], padding)[0]  # type: ignore[arg-type]
              for axis in (1, 2)]
    for count in counts:
        if count is not None and count < 0:
            raise ValueError(f"Computed output size would be negative: {count}")
    depth = None if sizes[3] is None else sizes[3] * kernels[1] * kernels[2]
    return TensorShape.from_sizes((sizes[0], *counts, depth))


@patches_op.kernel
def _patches(images: Any, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int],
             padding: bytes) -> Any:
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[3] != 1:
            raise errors.UnimplementedError(None, None, f"Only support {name} across space.")
    n, height, width, depth = images.shape
    rows, above = _patch_count(height, ksizes[1], strides[1], rates[1], padding)
    columns, left = _patch_count(width, ksizes[2], strides[2], rates[2], padding)
    row = np.arange(rows)[:, None] * strides[1] + np.arange(ksizes[1]) * rates[1] - above
    column = np.arange(columns)[:, None] * strides[2] + np.arange(ksizes[2]) * rates[2] - left
    inside = ((row >= 0) & (row < height))[:, None, :, None] & ((column >= 0) & (column < width))[None, :, None, :]
    found = images[:, np.clip(row, 0, height - 1)[:, None, :, None], np.clip(column, 0, width - 1)[None, :, None, :]]
    if not inside.all():
        found = np.where(inside[..., None], found, images.dtype.type(0))
    return found.reshape(n, rows, columns, ksizes[1] * ksizes[2] * depth)


@patches_op.gradient
def _patches_gradient(op: Operation, grad: Tensor) -> Tensor:
    from tfsandbox.ops import math_ops, sparse_ops
    source = array_ops.shape(op.inputs[0], out_type=dtypes.int64)
    batch, height, width, depth = (source[i] for i in range(4))
    # One number for every pixel; zero stands for the border.
    pixels = 1 + height * width
    places = array_ops.reshape(math_ops.range(1, pixels, dtype=dtypes.int64), (1, height, width, 1))
    options = {name: op.get_attr(name) for name in ("ksizes", "strides", "rates", "padding")}
    places = extract_image_patches(places, **options | {"padding": options["padding"].decode()})
    _, kernel_rows, kernel_columns, _ = options["ksizes"]
    target = array_ops.shape(op.outputs[0], out_type=dtypes.int64)
    rows, columns = target[1], target[2]
    count = rows * columns * kernel_rows * kernel_columns
    order = array_ops.reshape(math_ops.range(count, dtype=dtypes.int64),
                              (1, rows, columns, kernel_rows * kernel_columns))
    pairs = array_ops.concat((array_ops.expand_dims(places, -1), array_ops.expand_dims(order, -1)), axis=-1)
    pairs = array_ops.reshape(pairs, (-1, 2))
    matrix = SparseTensor(pairs, array_ops.ones((count,), dtype=grad.dtype), (pixels, count))
    # Nothing of the border goes back.
    matrix = sparse_ops.sparse_slice(matrix, (1, 0), (pixels - 1, count))
    by_place = array_ops.transpose(
        array_ops.reshape(grad, (batch, rows, columns, kernel_rows, kernel_columns, depth)), (1, 2, 3, 4, 0, 5))
    flat = array_ops.reshape(by_place, (-1, batch * depth))
    summed = sparse_ops.sparse_tensor_dense_matmul(matrix, flat)
    return array_ops.transpose(array_ops.reshape(summed, (height, width, batch, depth)), (2, 0, 1, 3))


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None,
                          padding: Any = None, name: str | None = None, sizes: Any = None) -> Tensor:
    """[n, rows, columns, h * w * c]: patches of h x w pixels of `images` [n, ..., c], flat.

    `ksizes` is [1, h, w, 1], `strides` says how far apart patches are, `rates` how far apart the pixels of one.
    """
    return apply_op("ExtractImagePatches", images=images, ksizes=sizes if ksizes is None else ksizes, strides=strides,
                    rates=rates, padding=padding, name=name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: Any,
                    name: str | None = None) -> Tensor:
    """`extract_image_patches`, with the name that TensorFlow 2 has for it."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


# ------------------------------------------------------------ glimpses

glimpse_op = register_op(
    "ExtractGlimpse", "input: float32, size: int32, offsets: float32 -> glimpse: float32",
    "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'"
).no_gradient()


@glimpse_op.shape
def _glimpse_shape(c: ShapeContext) -> TensorShape:
    image, offsets = with_rank(c.shape(0), 4).sizes, with_rank(c.shape(2), 2).sizes
    assert image is not None and offsets is not None
    with_rank(c.shape(1), 1)
    with_size(offsets[1], 2)
    size = c.value(1)
    height, width = (None, None) if size is None else (int(size[0]), int(size[1]))
    return TensorShape.from_sizes((merge_sizes(image[0], offsets[0]), height, width, image[3]))


@glimpse_op.kernel
def _glimpse(input: Any, size: Any, offsets: Any, *, centered: bool, normalized: bool, uniform_noise: bool,
             noise: bytes) -> Any:
    n, height, width, depth = input.shape
    rows, columns = size.tolist()
    if noise == b"zero":
        result = np.zeros((n, rows, columns, depth), np.float32)
    elif noise == b"gaussian" or not uniform_noise:
        result = np.random.standard_normal((n, rows, columns, depth)).astype(np.float32)
    else:
        result = np.random.random_sample((n, rows, columns, depth)).astype(np.float32)
    for image, glimpse, (y, x) in zip(input, result, offsets.tolist()):
        if normalized:
            y, x = y * height, x * width
        if centered:
            y, x = (y + height) / 2, (x + width) / 2
        top, left = int(y - rows / 2), int(x - columns / 2)
        first_row, first_column = max(top, 0), max(left, 0)
        part = image[first_row:max(top + rows, 0), first_column:max(left + columns, 0)]
        glimpse[first_row - top:first_row - top + len(part),
                first_column - left:first_column - left + part.shape[1]] = part
    return result


def extract_glimpse(input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
                    uniform_noise: bool = True, name: str | None = None) -> Tensor:
    """[n, *size, c]: the part of each image of `input` [n, h, w, c] around `offsets` [n, (y, x)].

    Offsets are from the middle (`centered`) or the upper left corner, in halves of the image or in pixels. What lies
    outside is noise.
    """
    return apply_op("ExtractGlimpse", input=input, size=size, offsets=offsets, centered=centered,
                    normalized=normalized, uniform_noise=uniform_noise, name=name)
