"""Normals between bounds, as ParameterizedTruncatedNormal draws them (Robert, "Simulation of truncated normal
variables", 1995): rejection of normals, of uniforms or of exponentials, whichever suits the bounds.

The samples of one parameter row read whole attempts from the generator; the next row begins with the next attempt.
"""
from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
import numpy.typing as npt

from . import float32_functions
from .philox_blocks import CHUNK, Counters, blocks
from .philox_fills import NORMALS, UNIFORMS

Array = npt.NDArray[Any]
Keys = tuple[Counters, ...]

# Normals are tried when a bound is at least that many deviations from the mean, and the mean inside.
_NORMALS_FROM = 1.3
_MOST_REJECTIONS = 1000
# Blocks reserved for a row of n samples: that many times (n + 3).
ROW_STRETCH = _MOST_REJECTIONS // 2


class ExhaustedError(ArithmeticError):
    """No candidate was accepted in a thousand."""


class _BoundedNormal:
    """One row's parameters, brought to bounds in deviations from the mean, and the method that suits them."""

    def __init__(self, mean: Any, deviation: Any, minval: Any, maxval: Any, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.per_block = 2 if dtype == np.float64 else 4
        kind = dtype.type
        if np.isneginf(minval) or maxval < mean:
            minval, maxval, deviation = maxval, minval, -deviation
        self.mean, self.deviation = mean, deviation
        self.low = a = (minval - mean) / deviation
        self.high = b = (maxval - mean) / deviation
        with np.errstate(over="ignore", invalid="ignore"):
            root = np.sqrt(a * a + kind(4))
            exponent = kind(0.5) + (a * (a - root)) / kind(4)
            widest_uniform = kind(2) * kind(np.exp(float(exponent))) / (a + root)
            self.width = b - a
        limit = kind(_NORMALS_FROM)
        if (a < -limit and b >= 0) or (b > limit and a <= 0):
            self.method, self.blocks_each, self.candidates_each = "randn", 1, self.per_block
        elif self.width < widest_uniform:
            self.method, self.blocks_each, self.candidates_each = "uniform", 2, self.per_block
        else:
            self.method, self.blocks_each, self.candidates_each = "exponential", 1, self.per_block // 2
            self.slope = (a + root) / kind(2)

    def attempts(self, keys: Keys, start: int, count: int) -> tuple[Array, Array]:
        """`count` attempts from counter `start`: the candidates in order, and which of them are accepted."""
        words = blocks(keys, start, np.arange(count * self.blocks_each, dtype=np.uint64))
        kind, name = self.dtype.type, self.dtype.name
        if self.method == "randn":
            z = NORMALS[name](words)
            return z, (z >= self.low) & (z <= self.high)
        uniforms = UNIFORMS[name](words)
        if self.method == "uniform":
            pairs = uniforms.reshape(count, 2, self.per_block)
            z = pairs[:, 0].ravel() * self.width + self.low
            most = kind(0) if self.low < 0 else self.low * self.low
            return z, pairs[:, 1].ravel() <= self._exp((most - z * z) / kind(2))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = -self._log(uniforms[0::2]) / self.slope + self.low
            x = self.slope - z if self.low < self.slope else self.low - self.slope
            odds = self._exp(-x * x / kind(2))
        return z, (uniforms[1::2] <= odds) & (z < self.high)

    def _exp(self, x: Any) -> Any:
        return np.exp(np.asarray(x, np.float64)).astype(self.dtype)

    def _log(self, x: Array) -> Array:
        if self.dtype == np.float64:
            return np.log(x)
        logs = float32_functions.log(np.where(x > 0, x, 1).astype(np.float32)).astype(self.dtype)
        return np.where(x > 0, logs, -np.inf).astype(self.dtype)

    def rows(self, keys: Keys, start: int, rows: int, samples: int) -> tuple[Array, int]:
        """([rows, samples] numbers, attempts used)."""
        values, hits = np.empty(0, self.dtype), np.empty(0, np.intp)
        tried = 0
        more = min(CHUNK, 8 + 2 * rows * max(1, samples // self.candidates_each))
        while True:
            z, accepted = self.attempts(keys, start + tried * self.blocks_each, more)
            hits = np.concatenate([hits, np.flatnonzero(accepted) + tried * self.candidates_each])
            values = np.concatenate([values, z])
            tried += more
            if hits.size == 0 and values.size > _MOST_REJECTIONS:
                raise ExhaustedError(self.method)
            taken = self._rows_of(hits, rows, samples)
            if taken is not None:
                used = int(taken[-1, -1]) // self.candidates_each + 1
                return values[taken] * self.deviation + self.mean, used
            more = max(more, tried // 2)

    def _rows_of(self, hits: Array, rows: int, samples: int) -> Array | None:
        """[rows, samples] indices of accepted candidates, each row from an attempt's start; None if too few."""
        if samples == 1:
            of_attempt = hits // self.candidates_each
            firsts = hits[np.flatnonzero(np.diff(of_attempt, prepend=-1))]
            return firsts[:rows, None] if firsts.size >= rows else None
        if hits.size < rows * samples:
            return None
        ordered, at, starts = hits.tolist(), 0, []
        for _ in range(rows):
            if at + samples > len(ordered):
                return None
            starts.append(at)
            next_attempt = ordered[at + samples - 1] // self.candidates_each + 1
            at = bisect_left(ordered, next_attempt * self.candidates_each, at + samples)
        return hits[np.array(starts)[:, None] + np.arange(samples)]


def bounded_normals(keys: Keys, start: int, rows: int, samples: int, parameters: tuple[Array, ...]) -> Array:
    """[rows, samples] normals; `parameters` (means, deviations, minvals, maxvals) have length 1 or `rows` each.

    Raises ValueError for parameters that allow no sample.
    """
    dtype = parameters[0].dtype
    means, deviations, minvals, maxvals = parameters
    bounded = np.isfinite(minvals) | np.isfinite(maxvals)
    if not np.all((deviations > 0) & (minvals < maxvals) & bounded):
        raise ValueError("Invalid parameters")
    if all(p.size == 1 for p in parameters):
        row = _BoundedNormal(means[0], deviations[0], minvals[0], maxvals[0], dtype)
        return row.rows(keys, start, rows, samples)[0]
    out = np.empty((rows, samples), dtype)
    for i, (mean, deviation, low, high) in enumerate(zip(*(np.broadcast_to(p, rows) for p in parameters))):
        row = _BoundedNormal(mean, deviation, low, high, dtype)
        out[i], used = row.rows(keys, start, 1, samples)
        start += used * row.blocks_each
    return out
