"""What TensorFlow draws number by number from a Philox generator: shuffles, multinomial, gamma and Poisson samples.

Shuffles and multinomials read one sequence of words. Gamma and Poisson samples reject, so each output has a stretch
of 256 blocks of its own, and reads whole blocks of two doubles from it, the second double of a block first.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .philox_blocks import Counters, blocks
from .philox_fills import STRETCH, normal_float64, uniform_float64

Array = npt.NDArray[Any]
Keys = tuple[Counters, ...]

# Up to that many comparisons are made at once instead of a binary search a row.
_COMPARE_ALL = 1 << 16


def permutation(keys: Keys, start: int, size: int) -> npt.NDArray[np.intp]:
    """The order in which RandomShuffle leaves `size` rows: row i of the result is row permutation[i] of the value."""
    order = list(range(size))
    if size < 2:
        return np.array(order, np.intp)
    offsets = np.arange(-(-(size - 1) // 4), dtype=np.uint64)
    words = blocks(keys, start, offsets).ravel()[: size - 1]
    picks = (words % np.arange(size, 1, -1, dtype=np.uint32)).tolist()
    for i, pick in enumerate(picks):
        other = i + pick
        order[i], order[other] = order[other], order[i]
    return np.array(order, np.intp)


def multinomial(keys: Keys, start: int, logits: Array, num_samples: int) -> npt.NDArray[np.int64]:
    """[batch, num_samples] class numbers drawn by the odds exp(logits), logits [batch, classes].

    A class whose logit is not finite is never drawn.
    """
    batch = logits.shape[0]
    odds = logits.astype(np.float64)
    finite = np.isfinite(odds)
    odds[~finite] = -np.inf
    top = np.max(odds, axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        weights = np.where(finite, np.exp(odds - top), 0.0)
    bounds = np.cumsum(weights, axis=1)
    offsets = np.arange(-(-batch * num_samples // 2), dtype=np.uint64)
    draws = uniform_float64(blocks(keys, start, offsets))[: batch * num_samples].reshape(batch, num_samples)
    draws *= bounds[:, -1:]
    out = np.empty((batch, num_samples), np.int64)
    if batch * num_samples * bounds.shape[1] <= _COMPARE_ALL:
        return np.sum(bounds[:, None, :] <= draws[:, :, None], axis=2)
    for row in range(batch):
        out[row] = np.searchsorted(bounds[row], draws[row], side="right")
    return out


class _Draws:
    """Doubles for many outputs at once: each has its own next block and, for each kind, one double left over."""

    def __init__(self, keys: Keys, start: int, outputs: Counters) -> None:
        self._keys, self._start = keys, start
        self._next = outputs * np.uint64(STRETCH)
        self._left = {kind: np.zeros(outputs.size) for kind in (uniform_float64, normal_float64)}
        self._has_left = {kind: np.zeros(outputs.size, bool) for kind in self._left}

    def _take(self, kind: Any, rows: Array) -> Array:
        left, has_left = self._left[kind], self._has_left[kind]
        values = left[rows]
        fresh = ~has_left[rows]
        need = rows[fresh]
        if need.size:
            pairs = kind(blocks(self._keys, self._start, self._next[need])).reshape(-1, 2)
            self._next[need] += np.uint64(1)
            values[fresh] = pairs[:, 1]
            left[need] = pairs[:, 0]
        has_left[rows] = fresh
        return values

    def uniform(self, rows: Array) -> Array:
        """The next uniform of each output in `rows`."""
        return self._take(uniform_float64, rows)

    def normal(self, rows: Array) -> Array:
        """The next normal of each output in `rows`."""
        return self._take(normal_float64, rows)


def gamma(keys: Keys, start: int, alpha: Array, num_samples: int) -> Array:
    """float64[alpha.size, num_samples] gamma samples of scale 1, by Marsaglia and Tsang (ACM TOMS 26, 2000).

    Shape 1 is exponential; below 1 it is a sample of alpha + 1 times u ** (1 / alpha).
    """
    alphas = np.repeat(alpha.ravel().astype(np.float64), num_samples)
    out = np.full(alphas.size, np.nan)
    draws = _Draws(keys, start, np.arange(alphas.size, dtype=np.uint64))
    exponential = np.flatnonzero(alphas == 1.0)
    if exponential.size:
        out[exponential] = -np.log1p(-draws.uniform(exponential))
    small = alphas < 1.0
    with np.errstate(all="ignore"):
        d = alphas + np.where(small, 1.0, 0.0) - 1.0 / 3
        c = 1.0 / 3 / np.sqrt(d)
        pending = np.flatnonzero((alphas != 1.0) & (d > 0))
        while pending.size:
            x = draws.normal(pending)
            v = 1.0 + c[pending] * x
            positive = v > 0
            rows, x, v = pending[positive], x[positive], v[positive]
            v = v * v * v
            u = draws.uniform(rows)
            squeezed = u < 1.0 - 0.0331 * (x * x) * (x * x)
            accepted = squeezed | (np.log(u) < 0.5 * x * x + d[rows] * (1.0 - v + np.log(v)))
            taken = rows[accepted]
            out[taken] = d[taken] * v[accepted]
            below = taken[small[taken]]
            if below.size:
                out[below] *= draws.uniform(below) ** (1.0 / alphas[below])
            done = np.zeros(alphas.size, bool)
            done[taken] = True
            pending = pending[~done[pending]]
    return out.reshape(alpha.size, num_samples)


def poisson(keys: Keys, start: int, rate: Array, num_samples: int, highest: float) -> Array:
    """float64[rate.size, num_samples] Poisson samples, at most `highest`.

    Below rate 10 by Knuth's product of uniforms, above by Hoermann's transformed rejection PTRS (1993). A rate that
    is infinite or no number gives NaN.
    """
    rates = np.repeat(rate.ravel().astype(np.float64), num_samples)
    out = np.full(rates.size, np.nan)
    draws = _Draws(keys, start, np.arange(rates.size, dtype=np.uint64))
    _poisson_by_product(draws, rates, np.flatnonzero(rates < 10.0), out)
    _poisson_by_rejection(draws, rates, np.flatnonzero((rates >= 10.0) & np.isfinite(rates)), highest, out)
    return out.reshape(rate.size, num_samples)


def _poisson_by_product(draws: _Draws, rates: Array, pending: Array, out: Array) -> None:
    floor = np.exp(-rates[pending])
    product = np.ones(pending.size)
    count = 0.0
    while pending.size:
        product = product * draws.uniform(pending)
        ended = product <= floor
        out[pending[ended]] = count
        pending, floor, product = pending[~ended], floor[~ended], product[~ended]
        count += 1.0


def _poisson_by_rejection(draws: _Draws, rates: Array, pending: Array, highest: float, out: Array) -> None:
    from scipy.special import gammaln

    while pending.size:
        mean = rates[pending]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u = draws.uniform(pending) - 0.5
        v = draws.uniform(pending)
        tail = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2.0 * a / tail + b) * u + mean + 0.43)
            squeezed = (tail >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
            possible = (k >= 0) & ~((tail < 0.013) & (v > tail))
            inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
            s = np.log(v * inverse_alpha / (a / (tail * tail) + b))
            t = -mean + k * np.log(mean) - gammaln(k + 1.0)
            accepted = (k <= highest) & (squeezed | (possible & (s <= t)))
        out[pending[accepted]] = k[accepted]
        pending = pending[~accepted]
