"""From Philox blocks to the numbers of TensorFlow's fills: uniform, uniform integer, normal, truncated normal.

Each of the first three turns a block into a fixed count of numbers. A truncated normal rejects, so there every
group of four outputs has a stretch of 256 blocks of its own.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfsandbox.framework import dtypes

from .float32_functions import log, sincos
from .philox_blocks import CHUNK, Counters, Words, blocks

Array = npt.NDArray[Any]
# Turns words uint32[n, 4] into n times so many numbers, in order.
Conversion = Callable[[Words], Array]

# Blocks between the stretches of two outputs where a distribution may reject.
STRETCH = 256
_TRUNCATE_AT = 2.0
_TWO_PI = 2.0 * np.pi
# Keeps the logarithm finite; TensorFlow's value, for double too.
_SMALLEST_UNIFORM = 1e-7


def uniform_float16(words: Words) -> Array:
    """[0, 1) on a grid of 2**-10, from the low bits of each word."""
    bits = (words.ravel() & np.uint32(0x3FF)) | np.uint32(0x3C00)
    return bits.astype(np.uint16).view(np.float16) - np.float16(1)


def uniform_bfloat16(words: Words) -> Array:
    """[0, 1) on a grid of 2**-7, as the framework's bfloat16 arrays."""
    bits = ((words.ravel() & np.uint32(0x7F)) | np.uint32(0x3F80)) << np.uint32(16)
    return dtypes.float32_to_bfloat16(bits.view(np.float32) - np.float32(1))


def uniform_float32(words: Words) -> Array:
    """[0, 1) on a grid of 2**-23: the low 23 bits as the mantissa of a number in [1, 2), less 1."""
    bits = words.ravel() & np.uint32(0x7FFFFF)
    bits |= np.uint32(0x3F800000)
    values = bits.view(np.float32)
    values -= np.float32(1)
    return values


def uniform_float64(words: Words) -> Array:
    """[0, 1) on a grid of 2**-52, each from two words, the high bits first."""
    bits = (words[:, 0::2] & np.uint32(0xFFFFF)).astype(np.uint64).ravel()
    bits |= np.uint64(0x3FF00000)
    bits <<= np.uint64(32)
    bits |= words[:, 1::2].ravel()
    values = bits.view(np.float64)
    values -= 1.0
    return values


UNIFORMS: dict[str, Conversion] = {
    "float16": uniform_float16,
    "bfloat16": uniform_bfloat16,
    "float32": uniform_float32,
    "float64": uniform_float64,
}


def uniform_int(minval: int, maxval: int, dtype: np.dtype[Any]) -> Conversion:
    """Integers in [minval, maxval): the word (two, low first, for int64) modulo the range, as TensorFlow has it."""
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}").type
    width, low = unsigned(maxval - minval), unsigned(minval % (1 << 8 * dtype.itemsize))

    def convert(words: Words) -> Array:
        if dtype.itemsize == 4:
            bits: Array = words.ravel() % width
        else:
            bits = words[:, 1::2].astype(np.uint64).ravel() << np.uint64(32)
            bits |= words[:, 0::2].ravel()
            bits %= width
        bits += low
        return bits.view(dtype)

    return convert


def normal_float32(words: Words) -> Array:
    """Box-Muller pairs (sine, cosine), rounded to float32 after each step as TensorFlow does."""
    uniforms = uniform_float32(words)
    radius = log(np.maximum(uniforms[0::2], np.float32(_SMALLEST_UNIFORM)))
    radius *= np.float32(-2)
    np.sqrt(radius, radius)
    sine, cosine = sincos(np.multiply(uniforms[1::2], _TWO_PI, dtype=np.float64).astype(np.float32))
    out = np.empty(uniforms.size, np.float32)
    np.multiply(sine, radius, out[0::2])
    np.multiply(cosine, radius, out[1::2])
    return out


def normal_float16(words: Words) -> Array:
    """The float32 normals, rounded."""
    return normal_float32(words).astype(np.float16)


def normal_float64(words: Words) -> Array:
    """Box-Muller pairs (sine, cosine), a pair a block."""
    uniforms = uniform_float64(words)
    radius = np.sqrt(np.log(np.maximum(uniforms[0::2], _SMALLEST_UNIFORM)) * -2.0)
    angle = uniforms[1::2] * _TWO_PI
    out = np.empty(uniforms.size, np.float64)
    np.multiply(np.sin(angle), radius, out[0::2])
    np.multiply(np.cos(angle), radius, out[1::2])
    return out


def normal_bfloat16(words: Words) -> Array:
    """The float32 normals, rounded."""
    return dtypes.float32_to_bfloat16(normal_float32(words))


NORMALS: dict[str, Conversion] = {
    "float16": normal_float16,
    "bfloat16": normal_bfloat16,
    "float32": normal_float32,
    "float64": normal_float64,
}


@dataclass(frozen=True)
class Fill:
    """`size` numbers of one distribution: how to draw them for several runs whose first counters are known."""

    size: int
    convert: Conversion
    per_block: int

    def draw(self, keys: tuple[Counters, ...], start: int, run_offsets: Counters) -> Array:
        """[runs, size] numbers: run r begins at counter `start + run_offsets[r]`."""
        groups = -(-self.size // self.per_block)
        steps: Counters = np.arange(groups, dtype=np.uint64)
        offsets = (run_offsets[:, None] + steps).ravel()
        pieces = [
            self.convert(blocks(keys, start, offsets[first : first + CHUNK]))
            for first in range(0, max(offsets.size, 1), CHUNK)
        ]
        values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        return values.reshape(run_offsets.size, groups * self.per_block)[:, : self.size]


@dataclass(frozen=True)
class TruncatedNormalFill(Fill):
    """Normals redrawn until within two standard deviations.

    The outputs stand in groups of as many as a block gives; each group has its own stretch of blocks, 64 an output.
    """

    def draw(self, keys: tuple[Counters, ...], start: int, run_offsets: Counters) -> Array:
        """[runs, size] numbers: run r begins at counter `start + run_offsets[r]`."""
        groups = -(-self.size // self.per_block)
        group_offsets = np.arange(groups, dtype=np.uint64) * np.uint64(STRETCH // 4 * self.per_block)
        offsets = (run_offsets[:, None] + group_offsets).ravel()
        values = np.empty((offsets.size, self.per_block), self.convert(np.zeros((1, 4), np.uint32)).dtype)
        for first in range(0, offsets.size, CHUNK):
            self._fill(keys, start, offsets[first : first + CHUNK], values[first : first + CHUNK])
        return values.reshape(run_offsets.size, groups * self.per_block)[:, : self.size]

    def _fill(self, keys: tuple[Counters, ...], start: int, offsets: Counters, out: Array) -> None:
        """Take a block for every group, then one more for each group that still lacks numbers."""
        out[:] = self.convert(blocks(keys, start, offsets)).reshape(out.shape)
        within = np.abs(out) < _TRUNCATE_AT
        pending = np.flatnonzero(~within.all(axis=1))
        have = np.zeros(offsets.size, np.intp)
        drawn, within = out[pending], within[pending]
        while pending.size:
            place = have[pending, None] + np.cumsum(within, axis=1) - 1
            rows, columns = np.nonzero(within & (place < self.per_block))
            out[pending[rows], place[rows, columns]] = drawn[rows, columns]
            have[pending] += np.count_nonzero(within, axis=1)
            pending = pending[have[pending] < self.per_block]
            offsets = offsets + np.uint64(1)
            drawn = self.convert(blocks(keys, start, offsets[pending])).reshape(pending.size, self.per_block)
            within = np.abs(drawn) < _TRUNCATE_AT
