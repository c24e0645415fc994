"""Writing PNG images."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # grey, grey and alpha, RGB, RGB and alpha


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encode_png(image: np.ndarray, compression: int = -1) -> bytes:
    """The PNG file of a uint8 or uint16 image [height, width, 1 to 4 channels]; `compression` is zlib's level.

    Raises ValueError for any other shape.
    """
    if image.ndim != 3 or image.shape[2] not in _COLOR_TYPES or not image.size:
        raise ValueError(f"image must be [height, width, 1, 2, 3 or 4 channels], but is {list(image.shape)}")
    height, width, channels = image.shape
    samples = image.astype(image.dtype.newbyteorder(">"), copy=False).reshape(height, -1)
    rows = np.ascontiguousarray(samples).view(np.uint8).reshape(height, -1)
    filtered = np.zeros((height, rows.shape[1] + 1), np.uint8)  # filter 0, none, in front of every row
    filtered[:, 1:] = rows
    header = struct.pack(">IIBBBBB", width, height, 8 * image.dtype.itemsize, _COLOR_TYPES[channels], 0, 0, 0)
    return (_SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), compression))
            + _chunk(b"IEND", b""))
