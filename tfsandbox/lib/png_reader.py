"""Reading PNG images."""

from __future__ import annotations

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def decode_png(data: bytes) -> np.ndarray:
    """The image [height, width, channels] of a PNG file, uint8 or uint16; colors of a palette are looked up.

    Raises ValueError for what is no PNG file, and for interlaced ones.
    """
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    chunks = _chunks(data)
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"][:13])
    if interlaced:
        raise ValueError("the PNG file is interlaced, which tfsandbox does not read")
    if kind not in _CHANNELS or depth not in (1, 2, 4, 8, 16):
        raise ValueError(f"no such PNG color type: {kind}, {depth} bits")
    channels = _CHANNELS[kind]
    length = (width * channels * depth + 7) // 8
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8)
    rows = _unfiltered(raw[:height * (length + 1)].reshape(height, length + 1), max(channels * depth // 8, 1))
    if depth == 16:
        samples = rows.view(">u2").astype(np.uint16)
    elif depth == 8:
        samples = rows
    else:
        bits = np.unpackbits(rows, axis=1)[:, :width * depth].reshape(height, width, depth)
        samples = np.packbits(bits, axis=2)[..., 0] >> (8 - depth)
    image = samples.reshape(height, width, channels)
    if kind == 3:
        return _with_palette(image[..., 0], chunks)
    # Few shades of grey are spread over the whole range.
    return image * np.uint8(255 // ((1 << depth) - 1)) if depth < 8 else image


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The contents by chunk type; those of one type joined."""
    found: dict[bytes, bytes] = {}
    place = len(SIGNATURE)
    while place + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        found[kind] = found.get(kind, b"") + data[place + 8:place + 8 + size]
        place += 12 + size
    if b"IHDR" not in found or b"IDAT" not in found:
        raise ValueError("the PNG file is not complete")
    return found


def _with_palette(index: np.ndarray, chunks: dict[bytes, bytes]) -> np.ndarray:
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    colors = palette[index]
    if b"tRNS" not in chunks:
        return colors
    alpha = np.full(256, 255, np.uint8)
    alpha[:len(chunks[b"tRNS"])] = np.frombuffer(chunks[b"tRNS"], np.uint8)
    return np.concatenate([colors, alpha[index][..., None]], 2)


def _unfiltered(rows: np.ndarray, step: int) -> np.ndarray:
    """The bytes of the rows, of which each pixel holds `step`; the first byte of a row says how it is filtered."""
    result = np.zeros((len(rows), rows.shape[1] - 1), np.uint8)
    above = np.zeros(rows.shape[1] - 1, np.uint8)
    for number, row in enumerate(rows):
        kind, line = int(row[0]), row[1:].copy()
        if kind == 1:
            for start in range(step):
                line[start::step] = np.add.accumulate(line[start::step], dtype=np.uint8)
        elif kind == 2:
            line += above
        elif kind in (3, 4):
            line = _predicted(line, above, step, kind)
        elif kind:
            raise ValueError(f"no such PNG filter: {kind}")
        result[number] = above = line
    return result


def _predicted(line: np.ndarray, above: np.ndarray, step: int, kind: int) -> np.ndarray:
    """A row whose bytes are differences to the mean of the neighbors before and above (3), or to Paeth's choice (4)."""
    values, up = line.tolist(), above.tolist()
    for i in range(len(values)):
        left, corner = (values[i - step], up[i - step]) if i >= step else (0, 0)
        if kind == 3:
            guess = (left + up[i]) // 2
        else:
            estimate = left + up[i] - corner
            guess = min((left, up[i], corner), key=lambda value: abs(estimate - value))  # noqa: B023
        values[i] = (values[i] + guess) & 255
    return np.array(values, np.uint8)
