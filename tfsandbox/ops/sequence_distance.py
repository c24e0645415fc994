"""Edit distance between sequences in SparseTensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue
from tfsandbox.framework.tensor_shape import TensorShape

edit_distance_op = register_op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, truth_values: T, "
    "truth_shape: int64 -> output: float32", "normalize: bool = true; T: type").no_gradient()


@edit_distance_op.shape
def _edit_distance_shape(c: ShapeContext) -> TensorShape:
    for first in (0, 3):
        with_rank(c.shape(first), 2)
        with_rank(c.shape(first + 1), 1)
        with_rank(c.shape(first + 2), 1)
    one, other = c.value(2), c.value(5)
    if one is None or other is None:
        return UNKNOWN
    if len(one) != len(other):
        raise ValueError(f"Num elements of hypothesis_shape does not match truth_shape: {len(one)} vs. {len(other)}")
    return TensorShape([int(size) for size in np.maximum(one, other)[:-1]])


@edit_distance_op.kernel
def _edit_distance(hypothesis_indices: Any, hypothesis_values: Any, hypothesis_shape: Any, truth_indices: Any,
                   truth_values: Any, truth_shape: Any, *, normalize: bool) -> Any:
    if len(truth_shape) < 2:
        raise errors.InvalidArgumentError(
            None, None, f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {len(truth_shape)}")
    found = _sequences(hypothesis_indices, hypothesis_values)
    wanted = _sequences(truth_indices, truth_values)
    result = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1], np.float32)
    for place in found.keys() | wanted.keys():
        one, other = found.get(place, []), wanted.get(place, [])
        distance = float(_levenshtein(one, other))
        if normalize:
            distance = distance / len(other) if other else np.inf if one else 0.0
        result[place] = distance
    return result


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """What stands along the last axis, by the other indices."""
    sequences: dict[tuple[int, ...], list[Any]] = {}
    for index, value in zip(indices.tolist(), values.tolist()):
        sequences.setdefault(tuple(index[:-1]), []).append(value)
    return sequences


def _levenshtein(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many insertions, deletions and replacements turn one sequence into the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = "edit_distance") -> Tensor:
    """The Levenshtein distances between the sequences along the last axes of two SparseTensors, float32.

    With `normalize` they are divided by the length of the true sequence: infinite where that is 0 and the other is not.
    """
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, SparseTensor | SparseTensorValue):
            raise TypeError(f"{what} must be a SparseTensor.")
    one, other = (SparseTensor.from_value(value) for value in (hypothesis, truth))
    return apply_op("EditDistance", hypothesis_indices=one.indices, hypothesis_values=one.values,
                    hypothesis_shape=one.dense_shape, truth_indices=other.indices, truth_values=other.values,
                    truth_shape=other.dense_shape, normalize=normalize, name=name)
