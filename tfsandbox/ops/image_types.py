"""Types of images: convert_image_dtype."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops


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
