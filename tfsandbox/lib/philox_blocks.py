"""The Philox 4x32-10 counter-based generator of Salmon et al. (SC 2011), over whole arrays of counters.

A generator is a pure function of a 64-bit key and a 128-bit counter; a block is its four 32-bit words. The
rounds run on two rows at a time, (word 0, word 2) and (word 1, word 3), so that a round is five numpy calls.
"""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Counters = npt.NDArray[np.uint64]

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
MASK128 = (1 << 128) - 1

# Blocks worked on at a time: the three work arrays (16 bytes a block each) then stay in the second-level cache.
CHUNK = 8192

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_SHIFT = np.uint64(32)
_MASK = np.uint64(MASK32)
# A round leaves the two rows in the other order; the constants follow instead of the data.
_ROUND_MULTIPLIERS = tuple(
    np.array(pair, np.uint64).reshape(2, 1) for pair in (_MULTIPLIERS, _MULTIPLIERS[::-1])
)


def round_keys(key: int) -> tuple[Counters, ...]:
    """The ten rounds' keys for a 64-bit `key`, each uint64[2, 1] in the row order of its round."""
    low, high = key & MASK32, (key >> 32) & MASK32
    keys = []
    for number in range(_ROUNDS):
        pair = (high, low) if number % 2 == 0 else (low, high)
        keys.append(np.array(pair, np.uint64).reshape(2, 1))
        low = (low + _KEY_STEPS[0]) & MASK32
        high = (high + _KEY_STEPS[1]) & MASK32
    return tuple(keys)


def counters(start: int, offsets: Counters) -> tuple[Counters, Counters | int]:
    """The counters `start + offsets` as (low 64 bits, high 64 bits); the high half is one int unless it carries."""
    base, high = start & MASK64, (start >> 64) & MASK64
    low = offsets + np.uint64(base)
    if offsets.size == 0 or base + int(offsets.max()) <= MASK64:
        return low, high
    carried = low < np.uint64(base)
    return low, np.where(carried, np.uint64((high + 1) & MASK64), np.uint64(high))


def blocks(keys: tuple[Counters, ...], start: int, offsets: Counters) -> Words:
    """The blocks at the counters `start + offsets` (uint64[n]), as uint32[n, 4]."""
    words = np.empty((offsets.size, 4), np.uint32)
    for first in range(0, offsets.size, CHUNK):
        _block_chunk(keys, start, offsets[first : first + CHUNK], words[first : first + CHUNK])
    return words


def _block_chunk(keys: tuple[Counters, ...], start: int, offsets: Counters, out: Words) -> None:
    low, high = counters(start, offsets)
    even = np.empty((2, offsets.size), np.uint64)
    odd, spare = np.empty_like(even), np.empty_like(even)
    np.bitwise_and(low, _MASK, even[0])
    np.right_shift(low, _SHIFT, odd[0])
    even[1] = high & MASK32 if isinstance(high, int) else high & _MASK
    odd[1] = high >> 32 if isinstance(high, int) else high >> _SHIFT
    for number in range(_ROUNDS):
        np.multiply(even, _ROUND_MULTIPLIERS[number & 1], spare)
        np.right_shift(spare, _SHIFT, even)
        np.bitwise_xor(even, odd[::-1], even)
        np.bitwise_xor(even, keys[number], even)
        np.bitwise_and(spare, _MASK, spare)
        odd, spare = spare, odd
    out[:, 0::2] = even.T
    out[:, 1::2] = odd.T
