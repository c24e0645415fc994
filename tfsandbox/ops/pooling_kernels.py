"""Pooling in numpy, over any number of spatial axes, one axis after the other.

Arrays are laid out [batch, *space, channels]; `Windows` says where the windows lie (see `convolution_kernels`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfsandbox.ops.convolution_kernels import Windows, padded


def lowest(dtype: np.dtype[Any]) -> Any:
    """What a maximum begins with."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _reduced(x: np.ndarray, window: Sequence[int], where: Windows, combine: Any) -> np.ndarray:
    """The windows of a padded input combined along one axis after the other."""
    for i, (size, step, count) in enumerate(zip(window, where.strides, where.counts)):
        if size == 1 and step == 1 and x.shape[i + 1] == count:
            continue
        before = (slice(None),) * (i + 1)
        stop = (count - 1) * step + 1
        first = x[(*before, slice(0, stop, step))]
        if size == 1:
            x = first
            continue
        result = combine(first, x[(*before, slice(1, stop + 1, step))])
        for offset in range(2, size):
            combine(result, x[(*before, slice(offset, stop + offset, step))], out=result)
        x = result
    return x


def max_pool(x: np.ndarray, window: Sequence[int], where: Windows) -> np.ndarray:
    """The largest of each window; zeros around the input do not count."""
    if 0 in where.counts or not x.size:
        return np.zeros((x.shape[0], *where.counts, x.shape[-1]), x.dtype)
    result = _reduced(padded(x, where.pads, lowest(x.dtype)), window, where, np.maximum)
    return result.copy() if result is x or result.base is x else result


def _sizes(shape: Sequence[int], window: Sequence[int], where: Windows, dtype: Any) -> Any:
    """How many elements of the input each window holds: a number, or an array that spreads over the output."""
    result: Any = 1
    rank = len(window)
    for i, (size, step, (before, after), count) in enumerate(zip(window, where.strides, where.pads, where.counts)):
        held: Any = size
        if before or after:
            start = np.arange(count) * step - before
            held = np.minimum(start + size, shape[i + 1]) - np.maximum(start, 0)
            held = held.reshape((1,) * (i + 1) + (-1,) + (1,) * (rank - i))
        result = result * held
    return np.asarray(result, dtype)[()]


def average_pool(x: np.ndarray, window: Sequence[int], where: Windows) -> np.ndarray:
    """The mean of each window; zeros around the input do not count."""
    if 0 in where.counts or not x.size:
        return np.zeros((x.shape[0], *where.counts, x.shape[-1]), x.dtype)
    return _reduced(padded(x, where.pads), window, where, np.add) / _sizes(x.shape, window, where, x.dtype)


def _padded_zeros(shape: Sequence[int], where: Windows, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """(zeros of the padded shape, the view of it that has the shape itself)."""
    sizes = [n + before + after for n, (before, after) in zip(shape[1:-1], where.pads)]
    whole = np.zeros([shape[0], *sizes, shape[-1]], dtype)
    return whole, whole[(slice(None), *(slice(b, b + n) for n, (b, _) in zip(shape[1:-1], where.pads)))]


def _taps(window: Sequence[int], where: Windows) -> Iterator[tuple[Any, ...]]:
    """For each tap of the window, in order, its place in the padded input over all windows."""
    for offsets in itertools.product(*map(range, window)):
        yield (slice(None), *where.tap(offsets))


def average_pool_gradient(shape: Sequence[int], grad: np.ndarray, window: Sequence[int],
                          where: Windows) -> np.ndarray:
    """Each window's gradient spread evenly over its elements."""
    whole, result = _padded_zeros(shape, where, grad.dtype)
    if grad.size:
        share = grad / _sizes(shape, window, where, grad.dtype)
        for tap in _taps(window, where):
            whole[tap] += share
    return result


def max_pool_gradient(x: np.ndarray, pooled: np.ndarray, grad: np.ndarray, window: Sequence[int],
                      where: Windows) -> np.ndarray:
    """Each window's gradient where its maximum stands; of equal ones, the first."""
    whole, result = _padded_zeros(x.shape, where, grad.dtype)
    for tap, chosen in _chosen(x, pooled, window, where):
        whole[tap] += grad * chosen
    return result


def max_pool_second_gradient(x: np.ndarray, pooled: np.ndarray, grad: np.ndarray, window: Sequence[int],
                             where: Windows) -> np.ndarray:
    """Of an array like the input, the elements where the maxima of the windows stand."""
    grad = padded(grad, where.pads)
    result = np.zeros(pooled.shape, grad.dtype)
    for tap, chosen in _chosen(x, pooled, window, where):
        result += grad[tap] * chosen
    return result


def _chosen(x: np.ndarray, pooled: np.ndarray, window: Sequence[int],
            where: Windows) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """For each tap of the window: its place, and in which windows it is the first maximum."""
    if not pooled.size or not x.size:
        return
    x = padded(x, where.pads, lowest(x.dtype))
    free: Any = None
    for tap in _taps(window, where):
        chosen = x[tap] == pooled
        if free is None:
            free = ~chosen
        else:
            chosen &= free
            free ^= chosen
        yield tap, chosen


def max_pool_positions(x: np.ndarray, window: Sequence[int], where: Windows,
                       with_batch: bool) -> tuple[np.ndarray, np.ndarray]:
    """(the maxima, where they stand in the flat image, or in the flat batch)."""
    pooled = max_pool(x, window, where)
    positions = np.zeros(pooled.shape, np.int64)
    strides = [int(np.prod(x.shape[i + 1:])) for i in range(x.ndim)]
    offsets = itertools.product(*map(range, window))
    channels = np.arange(x.shape[-1])
    for (_, chosen), taps in zip(_chosen(x, pooled, window, where), offsets):
        place: Any = channels
        for i, (tap, step, (before, _after), count) in enumerate(zip(taps, where.strides, where.pads, where.counts)):
            along = (np.arange(count) * step + tap - before) * strides[i + 1]
            place = place + along.reshape((-1,) + (1,) * (x.ndim - 2 - i))
        positions += place * chosen
    if with_batch:
        positions += (np.arange(x.shape[0]) * strides[0]).reshape((-1,) + (1,) * (x.ndim - 1))
    return pooled, positions
