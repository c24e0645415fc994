"""What the neural network ops share: sliding windows, layouts, and the error of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import errors


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error of a kernel that cannot work on what it was given; the runtime names the node."""
    return errors.InvalidArgumentError(None, None, message)


def spatial_axes(data_format: bytes, rank: int) -> range:
    """The axes between batch and channels of an array laid out as `data_format` says."""
    return range(2, rank) if data_format.startswith(b"NC") else range(1, rank - 1)


def channel_axis(data_format: bytes, rank: int) -> int:
    """The axis of the channels of an array laid out as `data_format` says."""
    return 1 if data_format.startswith(b"NC") else rank - 1


def channels_last(x: Any, data_format: bytes) -> Any:
    """An array in this layout as a view with the channels last."""
    return x.transpose(0, *range(2, x.ndim), 1) if data_format.startswith(b"NC") else x


def channels_first(x: Any, data_format: bytes) -> Any:
    """An array with the channels last as a view in this layout."""
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)) if data_format.startswith(b"NC") else x


def sizes_last(sizes: Any, data_format: bytes) -> list[int]:
    """A shape in this layout as one with the channels last."""
    listed = [int(n) for n in sizes]
    return [listed[0], *listed[2:], listed[1]] if data_format.startswith(b"NC") else listed


def windowed_size(size: int | None, window: int | None, stride: int, padding: bytes,
                  pads: tuple[int, int] = (0, 0), dilation: int = 1) -> int | None:
    """How many windows fit along an axis; `ValueError` where a window without padding is larger than the input.

    `pads` are those of explicit padding.
    """
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if size is None or (window is None and padding != b"SAME"):
        return None
    if padding == b"SAME":
        return -(-size // stride)
    assert window is not None
    if padding == b"EXPLICIT":
        size += sum(pads)
    span = (window - 1) * dilation + 1
    if size < span:
        raise ValueError(f"Negative dimension size caused by subtracting {span} from {size}")
    return (size - span + stride) // stride


def window_pads(size: int, window: int, stride: int, padding: bytes, pads: tuple[int, int] = (0, 0),
                dilation: int = 1) -> tuple[int, int, int]:
    """(windows, zeros before, zeros after) along an axis; with SAME the odd zero goes behind."""
    span = (window - 1) * dilation + 1
    if padding == b"SAME":
        count = -(-size // stride)
        missing = max((count - 1) * stride + span - size, 0)
        return count, missing // 2, missing - missing // 2
    before, after = pads if padding == b"EXPLICIT" else (0, 0)
    count = (size + before + after - span) // stride + 1
    # VALID leaves what the last window does not reach; explicit zeros are there in any case.
    return max(count, 0), before, after


def pairs(flat: Sequence[int]) -> list[tuple[int, int]]:
    """The attribute `explicit_paddings` as one (before, after) an axis."""
    return [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
