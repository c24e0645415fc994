"""Sums and maxima over the rows or columns of a matrix, several times faster than numpy's reductions.

numpy's `reduce` walks a narrow matrix element by element; a product with a vector of ones is one BLAS call, and
the maximum over a narrow row is the elementwise maximum of a few long columns.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

_NARROW = 64
"""Up to so many columns the matrix is turned before the maximum of its rows is taken."""


@lru_cache(maxsize=64)
def _kept_ones(count: int, kind: str) -> np.ndarray:
    array = np.ones(count, kind)
    array.flags.writeable = False
    return array


def ones(count: int, dtype: Any) -> np.ndarray:
    """A read-only vector of ones; short ones are made only once."""
    return _kept_ones(count, dtype.char) if count <= 65536 else np.ones(count, dtype)


def column_sums(matrix: np.ndarray) -> np.ndarray:
    """[n, c] -> [c]: the sums over the rows, in the matrix's type."""
    if matrix.dtype.char not in "fd":
        return np.add.reduce(matrix, axis=0, dtype=matrix.dtype)
    return np.dot(ones(matrix.shape[0], matrix.dtype), matrix)


def row_sums(matrix: np.ndarray) -> np.ndarray:
    """[n, c] -> [n]: the sums over the columns, in the matrix's type."""
    if matrix.dtype.char not in "fd":
        return np.add.reduce(matrix, axis=1, dtype=matrix.dtype)
    return np.dot(matrix, ones(matrix.shape[1], matrix.dtype))


def row_maxima(matrix: np.ndarray) -> np.ndarray:
    """[n, c] -> [n]: the largest of each row, nan where there is one; c must not be 0."""
    rows, columns = matrix.shape
    if columns <= _NARROW and rows > columns:
        return np.maximum.reduce(np.ascontiguousarray(matrix.T), axis=0)
    return np.maximum.reduce(matrix, axis=1)
