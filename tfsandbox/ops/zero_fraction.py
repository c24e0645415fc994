"""The fraction of elements that are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, control_flow_ops, math_ops

__all__: list[str] = []


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements of `value` that are 0, a float32 scalar; nan for an empty tensor."""
    with ops.name_scope(name, "zero_fraction", [value]):
        value = ops.convert_to_tensor(value, name="value")
        size = array_ops.size(value, out_type=dtypes.int64)
        # Counting in int32 is faster where the count cannot overflow.
        nonzero = control_flow_ops.cond(
            size <= np.iinfo(np.int32).max,
            true_fn=lambda: math_ops.cast(_count_nonzero(value, dtypes.int32), dtypes.int64),
            false_fn=lambda: _count_nonzero(value, dtypes.int64))
        with ops.name_scope("counts_to_fraction"):
            zeros = size - nonzero
            fraction = math_ops.cast(zeros, dtypes.float32) / math_ops.cast(size, dtypes.float32)
        return array_ops.identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: dtypes.DType) -> Tensor:
    with ops.name_scope("count_nonzero", None, [value]):
        zero = array_ops.zeros([], dtype=value.dtype)
        return math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(value, zero), dtype), name="nonzero_count")
