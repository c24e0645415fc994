"""Ops on the set of values in a tensor: unique, setdiff1d."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape

_OUT_IDX = "T: type; out_idx: type in {int32, int64} = int32"
_AXIS = "T: type; Taxis: type in {int32, int64} = int64; out_idx: type in {int32, int64} = int32"

unique_op = register_op("Unique", "x: T -> y: T, idx: out_idx", _OUT_IDX)
unique_counts_op = register_op("UniqueWithCounts", "x: T -> y: T, idx: out_idx, count: out_idx", _OUT_IDX)
unique_v2_op = register_op("UniqueV2", "x: T, axis: Taxis -> y: T, idx: out_idx", _AXIS)
unique_counts_v2_op = register_op("UniqueWithCountsV2", "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
                                  _AXIS)
list_diff_op = register_op("ListDiff", "x: T, y: T -> out: T, idx: out_idx", _OUT_IDX)

_ANY_LENGTH = TensorShape([None])


@unique_op.shape
def _unique_shape(c: ShapeContext) -> list[TensorShape]:
    return [_ANY_LENGTH, with_rank(c.shape(0), 1)]


@unique_counts_op.shape
def _unique_counts_shape(c: ShapeContext) -> list[TensorShape]:
    return [_ANY_LENGTH, with_rank(c.shape(0), 1), _ANY_LENGTH]


@unique_v2_op.shape
@unique_counts_v2_op.shape
def _unique_v2_shape(c: ShapeContext) -> list[TensorShape]:
    return [UNKNOWN, _ANY_LENGTH, _ANY_LENGTH]


@list_diff_op.shape
def _list_diff_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 1)
    with_rank(c.shape(1), 1)
    return [_ANY_LENGTH, _ANY_LENGTH]


def _in_order(x: Any, axis: int, out_idx: dtypes.DType) -> tuple[Any, Any, Any]:
    """The distinct slices along `axis` in the order in which they first appear, where each is, and how often."""
    if x.dtype == object:
        seen: dict[Any, int] = {}
        idx = np.array([seen.setdefault(key, len(seen)) for key in x.tolist()], out_idx.as_numpy_dtype)
        values = np.empty(len(seen), object)
        values[:] = list(seen)
        return values, idx, np.bincount(idx, minlength=len(seen)).astype(out_idx.as_numpy_dtype)
    values, first, inverse, counts = np.unique(x, True, True, True, axis=None if x.ndim == 1 else axis)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kind = out_idx.as_numpy_dtype
    return np.take(values, order, axis), rank[inverse.ravel()].astype(kind), counts[order].astype(kind)


def _checked_vector(x: Any) -> Any:
    if np.ndim(x) != 1:
        raise errors.InvalidArgumentError(None, None, "unique expects a 1D vector.")
    return x


@unique_op.kernel
def _unique(x: Any, *, out_idx: dtypes.DType) -> tuple[Any, Any]:
    return _in_order(_checked_vector(x), 0, out_idx)[:2]


@unique_counts_op.kernel
def _unique_with_counts(x: Any, *, out_idx: dtypes.DType) -> tuple[Any, Any, Any]:
    return _in_order(_checked_vector(x), 0, out_idx)


@unique_v2_op.kernel
def _unique_v2(x: Any, axis: Any, *, out_idx: dtypes.DType) -> tuple[Any, Any]:
    return _in_order(x, int(np.ravel(axis)[0]) if np.size(axis) else 0, out_idx)[:2]


@unique_counts_v2_op.kernel
def _unique_with_counts_v2(x: Any, axis: Any, *, out_idx: dtypes.DType) -> tuple[Any, Any, Any]:
    return _in_order(x, int(np.ravel(axis)[0]) if np.size(axis) else 0, out_idx)


@list_diff_op.kernel
def _list_diff(x: Any, y: Any, *, out_idx: dtypes.DType) -> tuple[Any, Any]:
    unwanted = set(y.tolist())
    kept = np.array([i for i, value in enumerate(x.tolist()) if value not in unwanted], np.intp)
    return x[kept], kept.astype(out_idx.as_numpy_dtype)


Unique = collections.namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", ["y", "idx", "count"])
ListDiff = collections.namedtuple("ListDiff", ["out", "idx"])


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(y, idx): the distinct values of the vector `x` in the order they appear, and for each element which it is."""
    return Unique(*apply_op("Unique", x=x, out_idx=out_idx, name=name))


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(y, idx, count): as `unique`, and how often each value appears."""
    return UniqueWithCounts(*apply_op("UniqueWithCounts", x=x, out_idx=out_idx, name=name))


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(out, idx): the elements of the vector `x` that are not in `y`, in order, and where they stood."""
    return ListDiff(*apply_op("ListDiff", x=x, y=y, out_idx=index_dtype, name=name))


listdiff = setdiff1d
