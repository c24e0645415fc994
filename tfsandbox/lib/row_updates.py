"""Row updates of an array in place, where a row may be named several times.

TensorFlow goes through the rows in order, so the second update of a row sees the first one's result. Here all rows
that are named for the first time are updated at once, then all that are named for the second time, and so on: the
same sums in the same order, one numpy call a round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MOST_ROUNDS = 64


def rounds(indices: Array) -> Iterator[Array]:
    """Positions in `indices` (a vector), such that no round names a row twice and repeats keep their order."""
    if indices.size < 2:
        yield np.arange(indices.size)
        return
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if first.all():
        yield np.arange(indices.size)
        return
    starts = np.flatnonzero(first)
    repeat = np.arange(indices.size) - np.repeat(starts, np.diff(np.append(starts, indices.size)))
    for number in range(int(repeat.max()) + 1):
        yield order[repeat == number]


def update(rule: Callable[[Array, Array], Array], array: Array, indices: Array, updates: Array) -> None:
    """`array[i] = rule(array[i], u)` for every index i of `indices` and its row u of `updates`, in order.

    `rule` is elementwise, best a ufunc. `indices` may have any shape, `updates` has that shape followed by a row's, or
    is a scalar.
    """
    rows = indices.ravel()
    if updates.ndim:
        updates = updates.reshape(rows.shape + array.shape[1:])
    parts = list(rounds(rows))
    if len(parts) == 1:
        array[rows] = rule(array[rows], updates)
        return
    unique, inverse = np.unique(rows, return_inverse=True)
    # Worked out beside the array and stored at once, so that an interrupt leaves it whole.
    values = array[unique]
    if len(parts) > _MOST_ROUNDS and isinstance(rule, np.ufunc):
        rule.at(values, inverse, updates)
    else:
        for part in parts:
            at = inverse[part]
            values[at] = rule(values[at], updates[part] if updates.ndim else updates)
    array[unique] = values


def update_each(rule: Callable[..., tuple[Array, ...]], arrays: list[Array], indices: Array, updates: Array) -> None:
    """For every index i in order: the rows i of all `arrays` become `rule(*those rows, the row of updates)`.

    The rule works on many rows at once and gives the new rows, one result an array.
    """
    parts = list(rounds(indices))
    if len(parts) == 1:
        results = rule(*(array[indices] for array in arrays), updates)
        for array, result in zip(arrays, results):
            array[indices] = result
        return
    unique, inverse = np.unique(indices, return_inverse=True)
    gathered = [array[unique] for array in arrays]
    for part in parts:
        at = inverse[part]
        for rows, result in zip(gathered, rule(*(rows[at] for rows in gathered), updates[part])):
            rows[at] = result
    for array, rows in zip(arrays, gathered):
        array[unique] = rows
