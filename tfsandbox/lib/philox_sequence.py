"""A Philox generator read word by word, as TensorFlow's candidate samplers do."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfsandbox.framework import errors

from .philox_blocks import Counters, Words, blocks
from .philox_fills import uniform_float32, uniform_float64

# Words are made that many blocks at a time.
_BLOCKS = 64


class WordSequence:
    """The words of the blocks from a counter on, one after the other."""

    def __init__(self, keys: tuple[Counters, ...], start: int) -> None:
        self._keys, self._position = keys, start
        self._left: Words = np.empty(0, np.uint32)

    def words(self, count: int) -> Words:
        """The next `count` words."""
        missing = count - self._left.size
        if missing > 0:
            number = max(_BLOCKS, -(-missing // 4))
            more = blocks(self._keys, self._position, np.arange(number, dtype=np.uint64)).ravel()
            self._position += number
            self._left = np.concatenate([self._left, more])
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def doubles(self, count: int) -> npt.NDArray[np.float64]:
        """Uniform doubles in [0, 1), of two words each."""
        return uniform_float64(self.words(2 * count).reshape(count, 2))

    def below(self, limit: int, count: int) -> npt.NDArray[np.int64]:
        """Uniform integers in [0, limit), of two words each, the low one first.

        Numbers that would favour some remainders are drawn again.
        """
        highest = (1 << 64) - 1 - (1 << 64) % limit
        found: npt.NDArray[Any] = np.empty(0, np.uint64)
        while found.size < count:
            pairs = self.words(2 * (count - found.size)).reshape(-1, 2).astype(np.uint64)
            numbers = pairs[:, 0] | pairs[:, 1] << np.uint64(32)
            found = np.concatenate([found, numbers[numbers <= np.uint64(highest)]])
        return (found % np.uint64(limit)).astype(np.int64)


    def float(self) -> np.float32:
        """A uniform float in [0, 1), of one word."""
        return uniform_float32(self.words(1))[0]

    def integer(self, limit: int) -> int:
        """A uniform integer in [0, limit), of one word; words that would favour some remainders are drawn again."""
        if not limit & (limit - 1):
            return int(self.words(1)[0]) & (limit - 1)
        unfair = ((1 << 32) - 1) % limit + 1
        word = int(self.words(1)[0])
        while word < unfair:
            word = int(self.words(1)[0])
        return word % limit


@dataclass(frozen=True)
class Sampler:
    """A distribution over the classes in [0, range_max): what gives the next so many of a sequence."""

    range_max: int
    sample: Callable[[WordSequence, int], npt.NDArray[np.int64]]


def uniform_sampler(range_max: int) -> Sampler:
    """Class numbers in [0, range_max), all as likely."""
    return Sampler(range_max, lambda sequence, count: sequence.below(range_max, count))


def log_uniform_sampler(range_max: int) -> Sampler:
    """Class numbers in [0, range_max), class k with probability log((k + 2) / (k + 1)) / log(range_max + 1)."""
    scale = np.log1p(range_max)

    def sample(sequence: WordSequence, count: int) -> npt.NDArray[np.int64]:
        drawn = np.exp(sequence.doubles(count) * scale).astype(np.int64) - 1
        return drawn % range_max  # rounding can reach range_max

    return Sampler(range_max, sample)


def candidates(
    sequence: WordSequence, sampler: Sampler, count: int, unique: bool
) -> tuple[npt.NDArray[np.int64], int]:
    """(`count` samples, how many were drawn for them): with `unique`, what was drawn before is drawn again.

    Raises InvalidArgumentError for more unique samples than there are classes.
    """
    if not unique:
        return sampler.sample(sequence, count), count
    if count > sampler.range_max:
        raise errors.InvalidArgumentError(None, None, "Sampler's range is too small.")
    seen: dict[int, None] = {}
    tries = 0
    while len(seen) < count:
        for number in sampler.sample(sequence, count - len(seen)).tolist():
            tries += 1
            seen.setdefault(number)
    return np.array(list(seen), np.int64), tries
