"""The dense tensor that IndexedSlices stand for."""

from __future__ import annotations

import math
import warnings
from typing import Any

from tfsandbox.framework import conversion, tensor_util
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor

LARGE = 100_000_000
"""Elements from which on a warning tells how many they are."""


def dense_tensor(slices: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    """Zeros with the rows of `slices` added in: an UnsortedSegmentSum.

    Warns where the dense tensor is large or of unknown shape; `ValueError` without `slices.dense_shape`.
    """
    from tfsandbox.ops import math_ops
    if dtype is not None and not dtype.is_compatible_with(slices.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                         f"{slices.dtype.name}")
    if slices.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {slices!s}")
    sizes = tensor_util.constant_value(slices.dense_shape)
    if sizes is None:
        warnings.warn("Converting sparse IndexedSlices to a dense Tensor of unknown shape. This may consume a large "
                      "amount of memory.", stacklevel=2)
    elif math.prod(sizes.tolist()) >= LARGE:
        warnings.warn(f"Converting sparse IndexedSlices to a dense Tensor with {math.prod(sizes.tolist())} elements. "
                      "This may consume a large amount of memory.", stacklevel=2)
    return math_ops.unsorted_segment_sum(slices.values, slices.indices, slices.dense_shape[0], name=name)


conversion.register_tensor_conversion_function(IndexedSlices, dense_tensor)
