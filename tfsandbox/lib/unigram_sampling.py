"""Classes drawn by weights, for TensorFlow's unigram candidate samplers: weights given once, or learned on the way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .philox_fills import uniform_float32
from .philox_sequence import Sampler, WordSequence

__all__ = ["UnigramCounts", "fixed_unigram_sampler"]

_WORDS = 1 << 32


def fixed_unigram_sampler(weights: Sequence[float]) -> Sampler:
    """Class numbers by odds that stay: a table says of each class how often it gives way to which other one."""
    keep, other = _alias_table(np.asarray(weights, np.float32))
    count = len(keep)

    def sample(sequence: WordSequence, number: int) -> npt.NDArray[np.int64]:
        words = _without_favoured(sequence, sequence.words(2 * number), count)
        chance = uniform_float32(words[0::2].copy())
        row = (words[1::2] % np.uint32(count)).astype(np.int64)
        return np.where(chance < keep[row], row, other[row])

    return Sampler(count, sample)


def _alias_table(weights: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Of each class the chance to stay, and the class that stands in for it (its own number where it always stays)."""
    total = np.float32(0)
    for weight in weights:  # one after the other, as the sum of floats depends on it
        total += weight
    size = len(weights)
    share = [weight * size / float(total) for weight in weights.tolist()]
    keep = np.ones(size, np.float32)
    other = np.arange(size, dtype=np.int64)
    rich = [i for i in range(size) if share[i] >= 1.0]
    poor = [i for i in range(size) if share[i] < 1.0]
    while rich and poor:
        low, high = poor.pop(), rich.pop()
        keep[low], other[low] = share[low], high
        share[high] -= 1.0 - share[low]
        (poor if share[high] < 1.0 else rich).append(high)
    return keep, other


def _without_favoured(sequence: WordSequence, words: Any, count: int) -> Any:
    """Pairs of words of which the second may be taken modulo `count`; one that favours some remainders is left out."""
    rest = _WORDS % count
    while rest:
        odd = np.flatnonzero(words[1::2] < rest)
        if not odd.size:
            break
        words = np.append(np.delete(words, 2 * odd[0] + 1), sequence.words(1))
    return words


class UnigramCounts:
    """How often each class in [0, range_max) was seen, beginning with once."""

    def __init__(self, range_max: int) -> None:
        self.counts = np.ones(range_max, np.int64)

    def probabilities(self, classes: Any) -> npt.NDArray[np.float32]:
        """The share of each of these classes in all that was seen."""
        return self.counts[classes].astype(np.float32) / np.float32(self.counts.sum())

    def sampler(self) -> Sampler:
        """Class numbers by these counts."""
        ends = np.cumsum(self.counts)
        total = int(ends[-1])

        def sample(sequence: WordSequence, number: int) -> npt.NDArray[np.int64]:
            words = sequence.words(number)
            rest = _WORDS % total
            while rest and (words < rest).any():
                words = words[words >= rest]
                words = np.append(words, sequence.words(number - len(words)))
            return np.searchsorted(ends, words % np.uint32(total), side="right").astype(np.int64)

        return Sampler(len(self.counts), sample)

    def see(self, classes: Any) -> None:
        """Count these classes."""
        np.add.at(self.counts, np.ravel(classes), 1)
