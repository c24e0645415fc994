"""Counting values: bincount, histograms of fixed width, buckets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, casts, elementwise, reductions, segment_ops

__all__ = ["bincount", "histogram_fixed_width", "histogram_fixed_width_bins"]

bincount_op = register_op("Bincount", "arr: int32, size: int32, weights: T -> bins: T",
                          "T: type in {int32, int64, float32, float64}").no_gradient()


@bincount_op.shape
def _bincount_shape(c: Any) -> TensorShape:
    if c.shape(1).ndims not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {c.shape(1).ndims}")
    size = c.value(1)
    if size is None:
        return TensorShape([None])
    if size < 0:
        raise ValueError(f"size ({size}) must be non-negative")
    return TensorShape([int(size)])


@bincount_op.kernel
def _bincount(arr: Any, size: Any, weights: Any) -> Any:
    if size < 0:
        raise errors.InvalidArgumentError(None, None, f"size ({size}) must be non-negative")
    if weights.size and weights.shape != arr.shape:
        raise errors.InvalidArgumentError(None, None, "If weights are passed, they must have the same shape as arr.")
    flat = np.ravel(arr)
    if (flat < 0).any():
        raise errors.InvalidArgumentError(None, None, "Input arr must be non-negative!")
    kept = flat < size
    counted = np.bincount(flat[kept], np.ravel(weights)[kept] if weights.size else None, int(size))
    return counted.astype(weights.dtype)


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
             dtype: Any = dtypes.int32) -> Tensor:
    """How often each value from 0 occurs in `arr` (int32), or the sums of the weights; [largest value + 1].

    `minlength` and `maxlength` bound the length; values beyond it are not counted.
    """
    with ops.name_scope("bincount"):
        arr = ops.convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        nonempty = reductions.reduce_prod(array_ops.shape(arr)) > 0
        size = casts.cast(nonempty, dtypes.int32) * (reductions.reduce_max(arr) + 1)
        if minlength is not None:
            size = binary_ops.maximum(ops.convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32), size)
        if maxlength is not None:
            size = binary_ops.minimum(ops.convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32), size)
        if weights is not None:
            weights = ops.convert_to_tensor(weights, name="weights")
            return segment_ops.unsorted_segment_sum(weights, arr, size)
        return apply_op("Bincount", arr=arr, size=size, weights=constant_op.constant([], dtype))


histogram_op = register_op("HistogramFixedWidth", "values: T, value_range: T, nbins: int32 -> out: dtype",
                           "T: type in {int32, int64, float32, float64}; dtype: type in {int32, int64} = int32")
histogram_op.no_gradient()


@histogram_op.shape
def _histogram_shape(c: Any) -> TensorShape:
    bins = c.value(2)
    return TensorShape([None if bins is None else int(bins)])


@histogram_op.kernel
def _histogram(values: Any, value_range: Any, nbins: Any, *, dtype: Any) -> Any:
    count = int(nbins)
    if value_range.shape != (2,):
        raise errors.InvalidArgumentError(None, None, "value_range should be a vector of 2 elements.")
    low, high = value_range
    if not low < high:
        raise errors.InvalidArgumentError(None, None, "value_range should satisfy value_range[0] < value_range[1], "
                                                      f"but got '[{low}, {high}]'")
    if count <= 0:
        raise errors.InvalidArgumentError(None, None, f"nbins should be a positive number, but got '{count}'")
    step = (np.float64(high) - np.float64(low)) / count
    # What lies outside counts in the first or the last bin.
    bins = np.clip(np.floor((np.ravel(values).astype(np.float64) - low) / step), 0, count - 1).astype(np.int64)
    return np.bincount(bins, minlength=count).astype(dtype.as_numpy_dtype)


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                          name: str | None = None) -> Tensor:
    """How many values lie in each of `nbins` bins of one width between the two of `value_range`, [nbins].

    Values outside count in the first and the last bin.
    """
    with ops.name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as name:
        return apply_op("HistogramFixedWidth", values=values, value_range=value_range, nbins=nbins, dtype=dtype,
                        name=name)


def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                               name: str | None = None) -> Tensor:
    """The number of the bin that each value lies in, in the shape of `values`; bins as in `histogram_fixed_width`."""
    from tfsandbox.ops import clip_ops
    with ops.name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = ops.convert_to_tensor(values, name="values")
        shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1])
        value_range = ops.convert_to_tensor(value_range, name="value_range")
        nbins = ops.convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        count = casts.cast(nbins, values.dtype)
        scaled = binary_ops.truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        bins = elementwise.floor(count * scaled, name="indices")
        bins = casts.cast(clip_ops.clip_by_value(bins, 0, count - 1), dtypes.int32)
        return array_ops.reshape(bins, shape)


bucketize_op = register_op("Bucketize", "input: T -> output: int32",
                           "T: type in {int32, int64, float32, float64}; boundaries: list(float)").no_gradient()
bucketize_op.shape(shape_inference.unchanged)


@bucketize_op.kernel
def _bucketize(input: Any, *, boundaries: list[float]) -> Any:
    if sorted(boundaries) != list(boundaries):
        raise errors.InvalidArgumentError(None, None, "Expected sorted boundaries")
    return np.searchsorted(np.array(boundaries, np.float32), input, side="right").astype(np.int32)


def bucketize(input: Any, boundaries: Any, name: str | None = None) -> Tensor:
    """Between which of the sorted boundaries each value lies: 0 below the first, as int32."""
    return apply_op("Bucketize", input=input, boundaries=boundaries, name=name)
