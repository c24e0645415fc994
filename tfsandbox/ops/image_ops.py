"""Ops on images [..., height, width, channels]: types and contrast."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops

__all__: list[str] = []


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """`image` as another type: floating values in [0, 1] become integers over the whole range of the type, and back.

    `saturate` clips what would overflow.
    """
    from tfsandbox.ops import math_ops
    image = ops.convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    with ops.name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_integer and dtype.is_integer:
            source, target = image.dtype.max, dtype.max
            if source > target:
                scaled = math_ops.floordiv(image, (source + 1) // (target + 1))
                return _cast(scaled, dtype, saturate, name)
            cast = _cast(image, dtype, saturate, None)
            return math_ops.multiply(cast, (target + 1) // (source + 1), name=name)
        if image.dtype.is_floating and dtype.is_floating:
            return math_ops.cast(image, dtype, name=name)
        if image.dtype.is_integer:
            return math_ops.multiply(math_ops.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        # Halfway between two integers rounds up.
        return _cast(math_ops.multiply(image, dtype.max + 0.5), dtype, saturate, name)


def _cast(value: Tensor, dtype: dtypes.DType, saturate: bool, name: str | None) -> Tensor:
    from tfsandbox.ops import math_ops
    return math_ops.saturate_cast(value, dtype, name=name) if saturate else math_ops.cast(value, dtype, name=name)


# Not differentiable in TensorFlow 1.15, and without saying so: asking for its gradient raises LookupError.
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


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """[..., h, w, c]: every channel's distance from its mean over the image, times `contrast_factor`."""
    with ops.name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = ops.convert_to_tensor(images, name="images")
        original = images.dtype
        floating = images if original in (dtypes.float16, dtypes.float32) else convert_image_dtype(
            images, dtypes.float32)
        adjusted = apply_op("AdjustContrastv2", images=floating, contrast_factor=contrast_factor, name=name)
        return convert_image_dtype(adjusted, original, saturate=True)
