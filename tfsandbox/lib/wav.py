"""Writing WAV audio of 16 bit samples."""

from __future__ import annotations

import struct

import numpy as np


def encode_wav(audio: np.ndarray, sample_rate: int) -> bytes:
    """The WAV file of float audio [frames, channels]; what lies outside [-1, 1] is clipped. `sample_rate` in Hz."""
    frames, channels = audio.shape
    scaled = np.asarray(audio, np.float64) * 32768.0
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves go away from zero
    data = np.clip(rounded, -32768.0, 32767.0).astype("<i2").tobytes()
    frame_bytes = 2 * channels
    form = struct.pack("<HHIIHH", 1, channels, sample_rate, sample_rate * frame_bytes, frame_bytes, 16)
    chunks = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks
