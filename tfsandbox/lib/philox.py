"""`RandomStream`: the numbers a TensorFlow 1.15 CPU random op draws, run after run, for its seeds.

A TensorFlow random op owns a Philox generator keyed by `seed`, whose counter starts at (0, `seed2`). Each run
takes its numbers from the counter's position, and leaves the position a fixed distance on, which depends on the
op and on how much was asked for, never on how much was used. So nothing depends on threads.
"""
from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfsandbox.framework import dtypes, errors

from .philox_blocks import MASK64, MASK128, blocks, round_keys
from .philox_bounded import ROW_STRETCH, ExhaustedError, bounded_normals
from .philox_fills import NORMALS, STRETCH, UNIFORMS, Fill, TruncatedNormalFill, uniform_int
from .philox_sampling import gamma, multinomial, permutation, poisson
from .philox_sequence import Sampler, WordSequence, candidates

__all__ = ["RandomStream", "stateless_stream"]

Array = npt.NDArray[Any]
Shape = Sequence[int] | Array

# A small fill that is drawn again and again is drawn for several runs at once: that many numbers in all.
_AHEAD_NUMBERS = 4096
_AHEAD_RUNS = 64
_WORDS_A_CANDIDATE = 2048
_STATELESS_KEY = 0x02461E29_3EC8F720


def _dimensions(shape: Shape) -> tuple[int, ...]:
    dims = tuple(int(d) for d in shape)
    for d in dims:
        if d < 0:
            raise _invalid(f"Dimension {d} must be >= 0")
    return dims


def _type_name(dtype: npt.DTypeLike) -> str:
    """The name of a floating type; the framework's bfloat16 arrays have one field of that name."""
    kind = np.dtype(dtype)
    return kind.names[0] if kind.names else kind.name


def _bracketed(shape: Sequence[int]) -> str:
    return "[" + ",".join(str(d) for d in shape) + "]"


def _invalid(message: str) -> Exception:
    return errors.InvalidArgumentError(None, None, message)


class RandomStream:
    """The generator of one random op in one session. Safe to use from several threads.

    `seed` and `seed2` are the op's attrs. Both zero: seeded from the operating system, as TensorFlow does.
    """

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        if seed == 0 and seed2 == 0:
            seed, seed2 = (int.from_bytes(os.urandom(8), "little") for _ in range(2))
        self._keys = round_keys(seed & MASK64)
        self._position = (seed2 & MASK64) << 64
        self._lock = threading.Lock()
        self._last: tuple[Any, ...] = ()
        self._rows: Array | None = None
        self._next_row = 0
        self._rows_position = -1

    def _reserve(self, distance: int) -> int:
        """The present position, after moving on by `distance` blocks."""
        with self._lock:
            start = self._position
            self._position = (start + distance) & MASK128
            return start

    # Fills --------------------------------------------------------------------------------------------------

    def uniform(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Array:
        """RandomUniform: `shape` numbers in [0, 1), of a floating type; bit for bit TensorFlow's."""
        name = _type_name(dtype)
        return self._fill(("uniform", name), _dimensions(shape), Fill, UNIFORMS[name])

    def uniform_int(
        self, shape: Shape, minval: int, maxval: int, dtype: npt.DTypeLike = np.int32
    ) -> Array:
        """RandomUniformInt: `shape` integers in [minval, maxval), int32 or int64.

        Raises InvalidArgumentError unless minval < maxval, if there are any to draw.
        """
        dims, kind, low, high = _dimensions(shape), np.dtype(dtype), int(minval), int(maxval)
        if math.prod(dims) == 0:
            return np.zeros(dims, kind)
        if low >= high:
            raise _invalid(f"Need minval < maxval, got {low} >= {high}")
        return self._fill(("int", kind.name, low, high), dims, Fill, uniform_int(low, high, kind))

    def standard_normal(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Array:
        """RandomStandardNormal: `shape` normals of mean 0 and deviation 1, of a floating type."""
        name = _type_name(dtype)
        return self._fill(("normal", name), _dimensions(shape), Fill, NORMALS[name])

    def truncated_normal(self, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Array:
        """TruncatedNormal: normals of mean 0 and deviation 1, redrawn until within 2, of a floating type."""
        name, dims = _type_name(dtype), _dimensions(shape)
        if name in ("float16", "bfloat16"):  # rejected before they are rounded, so that 2 itself can come out
            drawn = self.truncated_normal(dims, np.float32)
            return drawn.astype(np.float16) if name == "float16" else dtypes.float32_to_bfloat16(drawn)
        return self._fill(("truncated", name), dims, TruncatedNormalFill, NORMALS[name])

    # Number by number ---------------------------------------------------------------------------------------

    def shuffle(self, value: Array) -> Array:
        """RandomShuffle: a copy of `value` with its rows (first dimension) in random order."""
        rows = value.shape[0] if value.ndim else 1
        if value.ndim == 0 or rows < 2:
            return value.copy()
        start = self._reserve((rows + 2) // 4)
        return value[permutation(self._keys, start, rows)]

    def multinomial(self, logits: Array, num_samples: int, output_dtype: npt.DTypeLike = np.int64) -> Array:
        """Multinomial: [batch, num_samples] class numbers drawn by the odds exp(logits), logits [batch, classes].

        Raises InvalidArgumentError when logits is no matrix or has no classes, or num_samples is negative.
        """
        samples = int(num_samples)
        if logits.ndim != 2:
            raise _invalid(f"logits should be a matrix, got shape {_bracketed(logits.shape)}")
        if samples < 0:
            raise _invalid(f"num_samples should be nonnegative, got {samples}")
        batch, classes = logits.shape
        if classes <= 0:
            raise _invalid(f"num_classes should be positive, got {classes}")
        if batch * samples == 0:
            return np.zeros((batch, samples), output_dtype)
        start = self._reserve(batch * (-(-samples // 4) * 4) * 2 * STRETCH)
        return multinomial(self._keys, start, logits, samples).astype(output_dtype, copy=False)

    def gamma(self, shape: Shape, alpha: Array) -> Array:
        """RandomGamma: `shape` samples for each alpha, in an array shape + alpha.shape of alpha's dtype."""
        dims = _dimensions(shape)
        samples = math.prod(dims)
        start = self._reserve(samples * alpha.size * STRETCH)
        drawn = gamma(self._keys, start, alpha, samples)
        return drawn.T.reshape(dims + alpha.shape).astype(alpha.dtype)

    def poisson(self, shape: Shape, rate: Array, dtype: npt.DTypeLike = np.int64) -> Array:
        """RandomPoissonV2: `shape` samples for each rate, in an array shape + rate.shape of `dtype`."""
        dims, kind = _dimensions(shape), np.dtype(dtype)
        samples = math.prod(dims)
        highest = float(np.finfo(kind).max if kind.kind == "f" else np.iinfo(kind).max)
        start = self._reserve(samples * rate.size * STRETCH)
        drawn = poisson(self._keys, start, rate, samples, highest)
        with np.errstate(invalid="ignore"):
            return drawn.T.reshape(dims + rate.shape).astype(kind)

    def parameterized_truncated_normal(
        self, shape: Shape, means: Array, stddevs: Array, minvals: Array, maxvals: Array
    ) -> Array:
        """ParameterizedTruncatedNormal: normals between bounds; the parameters are scalars or of length shape[0].

        Raises InvalidArgumentError for a parameter of another shape, or that allows no sample.
        """
        dims = _dimensions(shape)
        if not dims:
            raise _invalid("Shape of samples must have at least one dimension, got []")
        named = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
        for name, parameter in named.items():
            if parameter.ndim > 1:
                got = _bracketed(parameter.shape)
                raise _invalid(f"Input {name} should be a scalar or vector, got shape: {got}")
            if parameter.size not in (1, dims[0]):
                got = _bracketed(parameter.shape)
                raise _invalid(f"Input {name} should have length 1 or shape[0], got shape: {got}")
        if math.prod(dims) == 0:
            return np.zeros(dims, means.dtype)
        samples = math.prod(dims[1:])
        start = self._reserve(dims[0] * ROW_STRETCH * (samples + 3))
        parameters = tuple(p.ravel() for p in named.values())
        try:
            return bounded_normals(self._keys, start, dims[0], samples, parameters).reshape(dims)
        except ValueError:
            raise _invalid("Invalid parameters") from None
        except ExhaustedError as method:
            message = f"TruncatedNormal {method} distribution rejection sampler failed to accept a sample."
            raise errors.InternalError(None, None, message) from None

    def candidates(
        self, sampler: Sampler, num_sampled: int, unique: bool
    ) -> tuple[npt.NDArray[np.int64], int]:
        """The sampled classes of a candidate sampler op, and how many draws they took; see `philox_sequence`."""
        start = self._reserve((_WORDS_A_CANDIDATE * num_sampled + 3) // 4)
        return candidates(WordSequence(self._keys, start), sampler, num_sampled, unique)

    def words(self, blocks: int) -> WordSequence:
        """The numbers from here on word by word, for an op that leaves the position `blocks` blocks on."""
        return WordSequence(self._keys, self._reserve(blocks))

    def _fill(self, kind: tuple[Any, ...], shape: tuple[int, ...], fill: type[Fill], conversion: Any) -> Array:
        """The next run of a fill. `kind` names distribution, type and bounds."""
        size = math.prod(shape)
        two_words = kind[1] in ("float64", "int64")
        key = (kind, size)
        distance = size * STRETCH
        with self._lock:
            start = self._position
            self._position = (start + distance) & MASK128
            again, self._last = key == self._last, key
            if again and self._rows is not None and self._rows_position == start:
                row = self._rows[self._next_row]
                self._next_row += 1
                self._rows_position = self._position
                if self._next_row == len(self._rows):
                    self._rows = None
                return row.reshape(shape)
            runs = max(1, min(_AHEAD_RUNS, _AHEAD_NUMBERS // size)) if again and size else 1
            offsets = np.arange(runs, dtype=np.uint64) * np.uint64(distance)
            rows = fill(size, conversion, 2 if two_words else 4).draw(self._keys, start, offsets)
            if runs > 1:
                self._rows, self._next_row, self._rows_position = rows, 1, self._position
            return rows[0].reshape(shape)


def stateless_stream(seed: Sequence[int] | Array) -> RandomStream:
    """The stream whose first draw is what the Stateless op of the same distribution gives for `seed`, two integers."""
    pair = np.asarray(seed)
    if pair.shape != (2,):
        raise _invalid(f"seed must have shape [2], not {_bracketed(pair.shape)}")
    first, second = (int(part) & MASK64 for part in pair)
    # The seed is not used as it is, so that seeds which differ in one bit give unrelated streams.
    mixed = blocks(round_keys(_STATELESS_KEY), (second << 64) | first, np.zeros(1, np.uint64))[0].tolist()
    stream = RandomStream(mixed[0] | mixed[1] << 32, mixed[2] | mixed[3] << 32)
    return stream
