"""Sequences of numbers: range and linspace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import casts

__all__ = ["lin_space", "linspace", "range"]

range_op = register_op("Range", "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
                       "Tidx: type in {bfloat16, float32, float64, int32, int64} = int32").no_gradient()


def _count(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(delta, int):
        return (abs(limit - start) + abs(delta) - 1) // abs(delta)
    return math.ceil(abs((limit - start) / delta))


@range_op.shape
def _range_shape(c: Any) -> TensorShape:
    for i, name in enumerate(("start", "limit", "delta")):
        if c.shape(i).ndims not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {c.shape(i).ndims}\n\t for '{name}'")
    values = [c.value(i) for i in (0, 1, 2)]
    if any(value is None for value in values) or any(value.dtype.names for value in values):
        return TensorShape([None])
    return TensorShape([_count(*(value.item() for value in values))])


@range_op.kernel
def _range(start: Any, limit: Any, delta: Any) -> Any:
    if delta == 0:
        raise errors.InvalidArgumentError(None, None, f"Requires delta != 0: {delta}")
    try:
        count = _count(start.item(), limit.item(), delta.item())
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    if start.dtype.kind == "i":
        return np.arange(count, dtype=start.dtype) * delta + start
    # Floats are added up step by step, so that the rounding is TensorFlow's.
    steps = np.full(count, delta, start.dtype)
    if count:
        steps[0] = start
    return np.add.accumulate(steps, dtype=start.dtype)


_ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """start, start + delta, ... up to but not including limit, [n]. With one argument it counts from 0 to it.

    Without `dtype` the result has the widest type of the arguments.
    """
    if limit is None:
        start, limit = 0, start
    with ops.name_scope(name, "Range", [start, limit, delta]) as name:
        start = ops.convert_to_tensor(start, dtype=dtype, name="start")
        limit = ops.convert_to_tensor(limit, dtype=dtype, name="limit")
        delta = ops.convert_to_tensor(delta, dtype=dtype, name="delta")
        if dtype is None:
            types = [t.dtype.base_dtype for t in (start, limit, delta)]
            for found in types:
                if found not in _ORDER:
                    raise TypeError(f"tf.range counts in {', '.join(t.name for t in _ORDER)}, not in {found.name}.")
            widest = max(types, key=_ORDER.index)
            start, limit, delta = (casts.cast(t, widest) for t in (start, limit, delta))
        return apply_op("Range", start=start, limit=limit, delta=delta, name=name)


lin_space_op = register_op("LinSpace", "start: T, stop: T, num: Tidx -> output: T",
                           "T: type in {bfloat16, float32, float64}; Tidx: type in {int32, int64} = int32")
lin_space_op.no_gradient()


@lin_space_op.shape
def _lin_space_shape(c: Any) -> TensorShape:
    for i in (0, 1, 2):
        if c.shape(i).ndims not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {c.shape(i).ndims}")
    num = c.value(2)
    if num is None:
        return TensorShape([None])
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}")
    return TensorShape([int(num)])


@lin_space_op.kernel
def _lin_space(start: Any, stop: Any, num: Any) -> Any:
    if num <= 0:
        raise errors.InvalidArgumentError(None, None, f"Requires num > 0: {num}")
    kind = start.dtype.type
    if num == 1:
        return np.full(1, start, start.dtype)
    step = kind((kind(stop) - kind(start)) / kind(int(num) - 1))
    return kind(start) + step * np.arange(int(num)).astype(start.dtype)


def lin_space(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """`num` values evenly spaced from start to stop, both included."""
    return apply_op("LinSpace", start=start, stop=stop, num=num, name=name)


linspace = lin_space
