"""The histogram of a summary: exponentially growing buckets, as TensorBoard expects them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

_SMALLEST, _LARGEST, _GROWTH = 1e-12, 1e20, 1.1


@functools.cache
def bucket_limits() -> np.ndarray:
    """float64[n]: the upper limits of all buckets, ascending; a bucket holds what is below its limit."""
    positive = []
    limit = _SMALLEST
    while limit < _LARGEST:
        positive.append(limit)
        limit *= _GROWTH  # one product after the other: a power would round differently
    positive.append(np.finfo(np.float64).max)
    limits = np.array([*(-v for v in reversed(positive)), 0.0, *positive])
    limits.flags.writeable = False
    return limits


@dataclass
class Histogram:
    """The fields of a HistogramProto."""

    min: float
    max: float
    num: float
    sum: float
    sum_squares: float
    bucket_limit: list[float]
    bucket: list[float]


def histogram(values: np.ndarray) -> Histogram:
    """The histogram of finite float64 values of any shape; a run of empty buckets is written as one."""
    limits = bucket_limits()
    flat = np.asarray(values, np.float64).ravel()
    if not flat.size:
        return Histogram(float(limits[-1]), float(limits[0]), 0.0, 0.0, 0.0, [float(limits[-1])], [0.0])
    buckets = np.minimum(np.searchsorted(limits, flat, side="right"), limits.size - 1)
    counts = np.bincount(buckets, minlength=limits.size)
    filled = counts > 0
    shown = filled.copy()
    # The last bucket of an empty run stands for the run.
    shown[:-1] |= filled[1:]
    shown[-1] = True
    # Sums run from the first value to the last, as TensorFlow's do; numpy's own would add pairs.
    return Histogram(float(flat.min()), float(flat.max()), float(flat.size), float(np.add.accumulate(flat)[-1]),
                     float(np.add.accumulate(flat * flat)[-1]), limits[shown].tolist(),
                     counts[shown].astype(np.float64).tolist())
