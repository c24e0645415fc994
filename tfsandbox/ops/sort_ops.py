"""Sorting along an axis, built from TopKV2."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, ops, tensor_util
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, sequences

__all__ = ["argsort", "sort"]


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The values in order along `axis`; `direction` is "ASCENDING" or "DESCENDING".

    `ValueError` for another direction or an axis that is not a constant number.
    """
    with ops.name_scope(name, "sort"):
        return _sorted(values, axis, direction, indices=False)


def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """The indices (int32) that put the values in order along `axis`, arguments as in `sort`. Always stable."""
    with ops.name_scope(name, "argsort"):
        return _sorted(values, axis, direction, indices=True)


def _sorted(values: Any, axis: Any, direction: str, indices: bool) -> Tensor:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = ops.convert_to_tensor(axis, name="axis")
    place = tensor_util.constant_value(axis)
    if place is None or place.ndim != 0:
        raise ValueError("axis must be a constant scalar")
    values = ops.convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(place), indices)
    found = _descending(-values, int(place), indices)
    return found if indices else -found


def _descending(values: Tensor, axis: int, indices: bool) -> Tensor:
    """TopKV2 of the whole axis, which is brought to the end and back."""
    from tfsandbox.ops import nn_ops
    count = array_ops.shape(values)[axis]
    rank = array_ops.rank(values)
    known = values.shape.ndims
    order: Tensor | None = None
    if axis != -1 and axis + 1 != known:
        if known is None:
            place: Any = axis if axis >= 0 else axis + rank
            last = rank - 1
            parts = [sequences.range(place), [last], sequences.range(place + 1, last), [place]]
            order = array_ops.concat(parts, axis=0)
        else:
            place = axis % known
            places = np.r_[np.arange(place), [known - 1], np.arange(place + 1, known - 1), [place]]
            order = constant_op.constant(places, name="transposition")
        values = array_ops.transpose(values, order)
    top = nn_ops.top_k(values, count)
    found = top[1] if indices else top[0]
    return found if order is None else array_ops.transpose(found, order)
