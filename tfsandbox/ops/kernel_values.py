"""What kernels say of the values they are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def as_array(value: Any) -> np.ndarray:
    """The value as an array: numbers of rank 0 may arrive as numpy scalars, strings of rank 0 as bytes."""
    if value.__class__ is np.ndarray:
        return value
    if isinstance(value, bytes):
        array = np.empty((), object)
        array[()] = value
        return array
    return np.asarray(value)


def text_of_shape(value: Any) -> str:
    """The shape of a value as `[2,3]`, as error messages write it."""
    return text_of_sizes(np.shape(value))


def text_of_sizes(sizes: Iterable[Any]) -> str:
    """Sizes as `[2,3]`, as error messages write them; `?` for one that is not known."""
    return "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"
