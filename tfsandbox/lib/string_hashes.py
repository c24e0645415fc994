"""Hashes of byte strings: the ones behind TensorFlow's string_to_hash_bucket ops.

FarmHash's Fingerprint64 (Geoff Pike, Google), SipHash-2-4 (Aumasson and Bernstein) and MurmurHash64A (Austin Appleby).
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at:at + 8], "little")


def _right(value: int, shift: int) -> int:
    """Rotate 64 bits to the right."""
    return ((value >> shift) | (value << (64 - shift))) & _MASK


def _left(value: int, shift: int) -> int:
    """Rotate 64 bits to the left."""
    return ((value << shift) | (value >> (64 - shift))) & _MASK


def _mix(value: int) -> int:
    return value ^ (value >> 47)


def _of_two(u: int, v: int, multiplier: int) -> int:
    a = _mix(((u ^ v) * multiplier) & _MASK)
    b = _mix(((v ^ a) * multiplier) & _MASK)
    return (b * multiplier) & _MASK


def _short(data: bytes) -> int:
    length = len(data)
    if length >= 8:
        multiplier = (_K2 + length * 2) & _MASK
        a, b = (_u64(data, 0) + _K2) & _MASK, _u64(data, length - 8)
        c = (_right(b, 37) * multiplier + a) & _MASK
        d = ((_right(a, 25) + b) * multiplier) & _MASK
        return _of_two(c, d, multiplier)
    if length >= 4:
        multiplier = (_K2 + length * 2) & _MASK
        first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
        return _of_two((length + (first << 3)) & _MASK, last, multiplier)
    if length:
        y = data[0] + (data[length >> 1] << 8)
        z = length + (data[-1] << 2)
        return (_mix((y * _K2 & _MASK) ^ (z * _K0 & _MASK)) * _K2) & _MASK
    return _K2


def _medium(data: bytes) -> int:
    length = len(data)
    multiplier = (_K2 + length * 2) & _MASK
    a, b = (_u64(data, 0) * _K1) & _MASK, _u64(data, 8)
    c, d = (_u64(data, length - 8) * multiplier) & _MASK, (_u64(data, length - 16) * _K2) & _MASK
    return _of_two((_right((a + b) & _MASK, 43) + _right(c, 30) + d) & _MASK,
                   (a + _right((b + _K2) & _MASK, 18) + c) & _MASK, multiplier)


def _long(data: bytes) -> int:
    length = len(data)
    multiplier = (_K2 + length * 2) & _MASK
    a, b = (_u64(data, 0) * _K2) & _MASK, _u64(data, 8)
    c, d = (_u64(data, length - 8) * multiplier) & _MASK, (_u64(data, length - 16) * _K2) & _MASK
    y = (_right((a + b) & _MASK, 43) + _right(c, 30) + d) & _MASK
    z = _of_two(y, (a + _right((b + _K2) & _MASK, 18) + c) & _MASK, multiplier)
    e, f = (_u64(data, 16) * multiplier) & _MASK, _u64(data, 24)
    g = ((y + _u64(data, length - 32)) * multiplier) & _MASK
    h = ((z + _u64(data, length - 24)) * multiplier) & _MASK
    return _of_two((_right((e + f) & _MASK, 43) + _right(g, 30) + h) & _MASK,
                   (e + _right((f + a) & _MASK, 18) + g) & _MASK, multiplier)


def _block(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two sums over 32 bytes, seeded with `a` and `b`."""
    w, x, y, z = (_u64(data, at + 8 * i) for i in range(4))
    a = (a + w) & _MASK
    b = _right((b + a + z) & _MASK, 21)
    start = a
    a = (a + x + y) & _MASK
    b = (b + _right(a, 44)) & _MASK
    return (a + z) & _MASK, (b + start) & _MASK


def fingerprint64(data: bytes) -> int:
    """FarmHash Fingerprint64 of `data`, 0 <= hash < 2**64."""
    length = len(data)
    if length <= 16:
        return _short(data)
    if length <= 32:
        return _medium(data)
    if length <= 64:
        return _long(data)
    seed = 81
    x, y = seed, (seed * _K1 + 113) & _MASK
    z = (_mix((y * _K2 + 113) & _MASK) * _K2) & _MASK
    v, w = (0, 0), (0, 0)
    x = (x * _K2 + _u64(data, 0)) & _MASK
    end = ((length - 1) // 64) * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _round(data, at, x, y, z, v, w, _K1, 1)
    multiplier = (_K1 + ((z & 0xFF) << 1)) & _MASK
    rest = (length - 1) & 63
    w = ((w[0] + rest) & _MASK, w[1])
    v = ((v[0] + w[0]) & _MASK, v[1])
    w = ((w[0] + v[0]) & _MASK, w[1])
    x, y, z, v, w = _round(data, end + rest - 63, x, y, z, v, w, multiplier, 9)
    return _of_two((_of_two(v[0], w[0], multiplier) + _mix(y) * _K0 + z) & _MASK,
                   (_of_two(v[1], w[1], multiplier) + x) & _MASK, multiplier)


def _round(data: bytes, at: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], multiplier: int,
           weight: int) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Take in 64 bytes. The last round weighs what was carried over."""
    x = (_right((x + y + v[0] + _u64(data, at + 8)) & _MASK, 37) * multiplier) & _MASK
    y = (_right((y + v[1] + _u64(data, at + 48)) & _MASK, 42) * multiplier) & _MASK
    x ^= (w[1] * weight) & _MASK
    y = (y + v[0] * weight + _u64(data, at + 40)) & _MASK
    z = (_right((z + w[0]) & _MASK, 33) * multiplier) & _MASK
    v = _block(data, at, (v[1] * multiplier) & _MASK, (x + w[0]) & _MASK)
    w = _block(data, at + 32, (z + w[1]) & _MASK, (y + _u64(data, at + 16)) & _MASK)
    return z, y, x, v, w


def siphash(data: bytes, key: tuple[int, int]) -> int:
    """SipHash-2-4 of `data` under a key of two 64-bit numbers."""
    a, b = (part & _MASK for part in key)
    v0, v1, v2, v3 = a ^ 0x736F6D6570736575, b ^ 0x646F72616E646F6D, a ^ 0x6C7967656E657261, b ^ 0x7465646279746573
    length = len(data)
    padded = data + b"\0" * (7 - length % 8) + bytes([length & 0xFF])
    for at in range(0, len(padded), 8):
        word = _u64(padded, at)
        v3 ^= word
        for _ in range(2):
            v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def _sip_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & _MASK
    v1 = _left(v1, 13) ^ v0
    v0 = _left(v0, 32)
    v2 = (v2 + v3) & _MASK
    v3 = _left(v3, 16) ^ v2
    v0 = (v0 + v3) & _MASK
    v3 = _left(v3, 21) ^ v0
    v2 = (v2 + v1) & _MASK
    v1 = _left(v1, 17) ^ v2
    return v0, v1, _left(v2, 32), v3


def murmurhash64a(data: bytes, seed: int = 0xDECAFCAFFE) -> int:
    """MurmurHash64A of `data`; the default seed is TensorFlow's."""
    multiplier, shift = 0xC6A4A7935BD1E995, 47
    length = len(data)
    result = seed ^ ((length * multiplier) & _MASK)
    whole = length - length % 8
    for at in range(0, whole, 8):
        word = (_u64(data, at) * multiplier) & _MASK
        word = ((word ^ (word >> shift)) * multiplier) & _MASK
        result = ((result ^ word) * multiplier) & _MASK
    if whole < length:
        result = ((result ^ int.from_bytes(data[whole:], "little")) * multiplier) & _MASK
    result = ((result ^ (result >> shift)) * multiplier) & _MASK
    return result ^ (result >> shift)
