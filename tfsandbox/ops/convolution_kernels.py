"""Convolutions in numpy, over any number of spatial axes: im2col by strides, then one matrix product.

Arrays are laid out [batch, *space, channels], filters [*window, in, out]. `Windows` says where the windows lie along
each spatial axis. A batch is worked through in chunks whose columns stay in the cache, and the columns are laid out
either one window a row (long runs of channels are copied) or one tap a row (few channels, long runs of pixels).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfsandbox.ops.nn_shapes import window_pads

_CHUNK = 1 << 18
"""Elements of columns made at a time."""

_SMALL = 1 << 15
"""Up to so many elements of columns, the number of numpy calls decides, not the arithmetic."""


@dataclass(frozen=True)
class Windows:
    """Along each spatial axis: strides, dilations, zeros (before, after), and the number of windows."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]

    @staticmethod
    def over(space: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int],
             padding: bytes, pads: Sequence[tuple[int, int]] = ()) -> Windows:
        """The windows of a convolution or pooling; `pads` are those of explicit padding."""
        found = [window_pads(space[i], window[i], strides[i], padding, pads[i] if pads else (0, 0), dilations[i])
                 for i in range(len(space))]
        return Windows(tuple(strides), tuple(dilations), tuple((b, a) for _, b, a in found),
                       tuple(n for n, _, _ in found))

    def tap(self, offsets: Sequence[int]) -> tuple[slice, ...]:
        """Where the padded input meets one tap of the window, over all windows."""
        return tuple(slice(o * d, o * d + (n - 1) * s + 1, s)
                     for o, d, s, n in zip(offsets, self.dilations, self.strides, self.counts))


def padded(x: np.ndarray, pads: Sequence[tuple[int, int]], value: float = 0) -> np.ndarray:
    """`x` with `value` around its spatial axes; negative pads cut off. `x` itself where there is nothing to do."""
    if not any(before or after for before, after in pads):
        return x
    inner, source = [slice(None)], [slice(None)]
    shape = [x.shape[0]]
    for size, (before, after) in zip(x.shape[1:-1], pads):
        shape.append(size + before + after)
        inner.append(slice(max(before, 0), max(before, 0) + size + min(before, 0) + min(after, 0)))
        source.append(slice(max(-before, 0), size - max(-after, 0)))
    result = np.zeros([*shape, x.shape[-1]], x.dtype)
    if value:
        result.fill(value)
    result[tuple(inner)] = x[tuple(source)]
    return result


def windows_of(x: np.ndarray, window: Sequence[int], where: Windows) -> np.ndarray:
    """A view [batch, *windows, *window, channels] of the padded input."""
    steps = x.strides[1:-1]
    return as_strided(x, (x.shape[0], *where.counts, *window, x.shape[-1]),
                      (x.strides[0], *(s * k for s, k in zip(steps, where.strides)),
                       *(s * k for s, k in zip(steps, where.dilations)), x.strides[-1]), writeable=False)


def _tap_major(window: Sequence[int], channels: int, where: Windows) -> bool:
    """Whether one tap a row gives the longer runs to copy."""
    run = channels if where.dilations[-1] > 1 else channels * window[-1]
    return where.strides[-1] == 1 and where.counts[-1] > run


def _columns(x: np.ndarray, window: Sequence[int], where: Windows) -> Iterator[tuple[int, int, np.ndarray]]:
    """(first image, last image + 1, their columns [windows, taps * channels]) over the batch of a padded input."""
    batch, taps = x.shape[0], math.prod(window) * x.shape[-1]
    view = windows_of(x, window, where)
    tap_major = _tap_major(window, x.shape[-1], where)
    if tap_major:
        rank = len(where.counts)
        view = view.transpose(*range(rank + 1, 2 * rank + 2), *range(rank + 1))
    count = max(1, _CHUNK // max(taps * math.prod(where.counts), 1))
    for start in range(0, batch, count):
        stop = min(start + count, batch)
        if tap_major:
            some: tuple[Any, ...] = (..., slice(start, stop), *(slice(None),) * len(where.counts))
            yield start, stop, view[some].reshape(taps, -1).T
        else:
            yield start, stop, view[start:stop].reshape(-1, taps)


def convolve(x: np.ndarray, kernel: np.ndarray, where: Windows) -> np.ndarray:
    """[batch, *space, in], [*window, in, out] -> [batch, *windows, out]."""
    window, (inputs, outputs) = kernel.shape[:-2], kernel.shape[-2:]
    x = padded(x, where.pads)
    matrix = kernel.reshape(-1, outputs)
    shape = (x.shape[0], *where.counts, outputs)
    if not x.size or 0 in shape:
        return np.zeros(shape, x.dtype)
    if math.prod(window) == 1 and all(s == 1 for s in where.strides):
        return np.dot(x.reshape(-1, inputs), matrix).reshape(shape)
    result: Any = None
    for start, stop, columns in _columns(x, window, where):
        if stop - start == shape[0]:
            return np.dot(columns, matrix).reshape(shape)
        if result is None:
            result = np.empty(shape, x.dtype)
        np.dot(columns, matrix, out=result[start:stop].reshape(-1, outputs))
    return result


def kernel_gradient(x: np.ndarray, grad: np.ndarray, kernel_shape: Sequence[int], where: Windows) -> np.ndarray:
    """The gradient of `convolve` by its kernel, given that by its output."""
    window, outputs = tuple(kernel_shape[:-2]), kernel_shape[-1]
    x = padded(x, where.pads)
    if not x.size or not grad.size:
        return np.zeros(kernel_shape, x.dtype)
    total: Any = None
    for start, stop, columns in _columns(x, window, where):
        part = np.dot(columns.T, grad[start:stop].reshape(-1, outputs))
        total = part if total is None else np.add(total, part, out=total)
    return total.reshape(kernel_shape)


def input_gradient(shape: Sequence[int], kernel: np.ndarray, grad: np.ndarray, where: Windows) -> np.ndarray:
    """The gradient of `convolve` by its input (of this shape), given that by its output."""
    window, (inputs, outputs) = kernel.shape[:-2], kernel.shape[-2:]
    if not grad.size or not kernel.size or 0 in shape:
        return np.zeros(shape, grad.dtype)
    dense = all(s == 1 for s in where.strides)
    if math.prod(window) == 1 and dense and not any(itertools.chain(*where.pads)):
        return np.dot(grad.reshape(-1, outputs), kernel.reshape(inputs, outputs).T).reshape(shape)
    small = math.prod(window) * inputs * grad.size // outputs <= _SMALL
    if dense and (small or 4 < inputs >= outputs):
        return _flipped(shape, kernel, grad, where)
    sizes = [n + before + after for n, (before, after) in zip(shape[1:-1], where.pads)]
    result = np.zeros([shape[0], *sizes, inputs], grad.dtype)
    if inputs <= 4:
        _scatter_taps(result, kernel, grad, where)
    else:
        _scatter_products(result, kernel, grad, where)
    return result[(slice(None), *(slice(before, before + n) for n, (before, _) in zip(shape[1:-1], where.pads)))]


def _flipped(shape: Sequence[int], kernel: np.ndarray, grad: np.ndarray, where: Windows) -> np.ndarray:
    """With stride 1, the convolution of the gradient with the kernel turned around."""
    window = kernel.shape[:-2]
    turned = kernel[(slice(None, None, -1),) * len(window)].swapaxes(-1, -2)
    pads = []
    for size, k, dilation, (before, _), count in zip(shape[1:-1], window, where.dilations, where.pads, where.counts):
        reach = (k - 1) * dilation
        pads.append((reach - before, size + before - count))
    return convolve(grad, np.ascontiguousarray(turned),
                    Windows(where.strides, where.dilations, tuple(pads), tuple(shape[1:-1])))


def _chunks(batch: int, each: int) -> Iterator[slice]:
    count = max(1, _CHUNK // max(each, 1))
    return (slice(start, start + count) for start in range(0, batch, count))


def _scatter_taps(result: np.ndarray, kernel: np.ndarray, grad: np.ndarray, where: Windows) -> None:
    """One product for all taps, then each tap's plane of pixels is added where it came from: for few channels."""
    window, (inputs, outputs) = kernel.shape[:-2], kernel.shape[-2:]
    matrix = kernel.reshape(-1, outputs)
    channels_first = (result.ndim - 1, *range(result.ndim - 1))
    for part in _chunks(len(grad), matrix.shape[0] * math.prod(where.counts)):
        some = grad[part]
        taps = np.dot(matrix, some.reshape(-1, outputs).T).reshape(*window, inputs, len(some), *where.counts)
        target = result[part].transpose(channels_first)
        for offsets in itertools.product(*map(range, window)):
            target[(slice(None), slice(None), *where.tap(offsets))] += taps[offsets]


def _scatter_products(result: np.ndarray, kernel: np.ndarray, grad: np.ndarray, where: Windows) -> None:
    """One product a tap, added where it came from: for many channels."""
    window, (inputs, outputs) = kernel.shape[:-2], kernel.shape[-2:]
    for part in _chunks(len(grad), max(inputs, outputs) * math.prod(where.counts)):
        some, target = grad[part].reshape(-1, outputs), result[part]
        for offsets in itertools.product(*map(range, window)):
            product = np.dot(some, kernel[offsets].T)
            target[(slice(None), *where.tap(offsets))] += product.reshape(-1, *where.counts, inputs)


# ------------------------------------------------------------ depthwise: each channel has filters of its own


def convolve_depthwise(x: np.ndarray, kernel: np.ndarray, where: Windows) -> np.ndarray:
    """[batch, *space, c], [*window, c, m] -> [batch, *windows, c * m]."""
    window, (channels, multiplier) = kernel.shape[:-2], kernel.shape[-2:]
    x = padded(x, where.pads)
    result = np.zeros((x.shape[0], *where.counts, channels, multiplier), x.dtype)
    if result.size and x.size:
        for offsets in itertools.product(*map(range, window)):
            result += x[(slice(None), *where.tap(offsets))][..., None] * kernel[offsets]
    return result.reshape(x.shape[0], *where.counts, channels * multiplier)


def depthwise_kernel_gradient(x: np.ndarray, grad: np.ndarray, kernel_shape: Sequence[int],
                              where: Windows) -> np.ndarray:
    """The gradient of `convolve_depthwise` by its kernel."""
    window, (channels, multiplier) = kernel_shape[:-2], kernel_shape[-2:]
    x = padded(x, where.pads)
    result = np.zeros(kernel_shape, x.dtype)
    if x.size and grad.size:
        grad = grad.reshape(-1, channels, multiplier)
        for offsets in itertools.product(*map(range, window)):
            some = x[(slice(None), *where.tap(offsets))].reshape(-1, channels)
            result[offsets] = np.einsum("nc,ncm->cm", some, grad)
    return result


def depthwise_input_gradient(shape: Sequence[int], kernel: np.ndarray, grad: np.ndarray,
                             where: Windows) -> np.ndarray:
    """The gradient of `convolve_depthwise` by its input (of this shape)."""
    window, (channels, multiplier) = kernel.shape[:-2], kernel.shape[-2:]
    sizes = [n + before + after for n, (before, after) in zip(shape[1:-1], where.pads)]
    result = np.zeros([shape[0], *sizes, channels], grad.dtype)
    if result.size and grad.size:
        grad = grad.reshape(*grad.shape[:-1], channels, multiplier)
        for offsets in itertools.product(*map(range, window)):
            result[(slice(None), *where.tap(offsets))] += np.add.reduce(grad * kernel[offsets], axis=-1)
    return result[(slice(None), *(slice(before, before + n) for n, (before, _) in zip(shape[1:-1], where.pads)))]
