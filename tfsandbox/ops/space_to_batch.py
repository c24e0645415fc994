"""Dilation by sorting: a dilated window is a plain one on the pixels sorted by their position modulo the rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops

__all__: list[str] = []


def with_space_to_batch(input: Any, dilation_rate: Any, padding: str, op: Callable[..., Tensor],  # noqa: A002
                        filter_shape: Any = None, spatial_dims: Sequence[int] | None = None,
                        data_format: str | None = None) -> Tensor:
    """`op(input, num_spatial_dims, padding)` on the input's pixels sorted into batches, and sorted back.

    `spatial_dims` are the dilated axes (1, 2, ... or 2, 3, ... by default). 'SAME' needs `filter_shape`. Raises
    `ValueError` for rates below 1, an unknown rank and another padding.
    """
    input = ops.convert_to_tensor(input, name="input")  # noqa: A001
    return SpaceToBatch(input.shape, dilation_rate, padding, filter_shape, spatial_dims, data_format)(input, op)


class SpaceToBatch:
    """`with_space_to_batch` in two steps: what depends on the window alone is made once, for several inputs."""

    def __init__(self, input_shape: TensorShape, dilation_rate: Any, padding: str, filter_shape: Any = None,
                 spatial_dims: Sequence[int] | None = None, data_format: str | None = None) -> None:
        self.padding = padding
        self.rates = ops.convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
        if self.rates.shape.ndims is not None and self.rates.shape.ndims != 1:
            raise ValueError("rate must be rank 1")
        if not self.rates.get_shape().is_fully_defined():
            raise ValueError("rate must have known shape")
        self.count: int = self.rates.shape.as_list()[0]  # type: ignore[assignment]
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        self.axes = sorted(set(range(first, first + self.count) if spatial_dims is None
                               else (int(d) for d in spatial_dims)))
        if len(self.axes) != self.count or any(axis < 1 for axis in self.axes):
            raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
        last = self.axes[-1] + (0 if first == 2 else 1)
        if input_shape.ndims is not None and input_shape.ndims < last + 1:
            raise ValueError(f"input must have rank {last + 1} at least")
        self.known_rates = constant_value(self.rates)
        self.plain = False
        if self.known_rates is not None:
            if np.any(self.known_rates < 1):
                raise ValueError("dilation_rate must be positive")
            self.plain = bool(np.all(self.known_rates == 1))
        if not self.plain:
            self.base = _base_paddings(padding, filter_shape, self.rates, self.known_rates, self.count)

    def __call__(self, input: Tensor, op: Callable[..., Tensor], sized: Tensor | None = None) -> Tensor:  # noqa: A002
        """Apply `op`. `sized` has the sizes that count, where `input` has multiples of the rates more."""
        if self.plain:
            return op(input, num_spatial_dims=self.count, padding=self.padding)
        paddings, crops = array_ops.required_space_to_batch_paddings(
            input_shape=_sizes(input if sized is None else sized, self.axes), base_paddings=self.base,
            block_shape=self.rates)
        block_shape = _at_axes(self.rates if self.known_rates is None else self.known_rates, 1, self.axes)
        paddings, crops = _at_axes(paddings, 0, self.axes), _at_axes(crops, 0, self.axes)
        spaced = array_ops.space_to_batch_nd(input=input, block_shape=block_shape, paddings=paddings)
        result = op(spaced, num_spatial_dims=self.count, padding="VALID")
        return array_ops.batch_to_space_nd(input=result, block_shape=block_shape, crops=crops)


def _base_paddings(padding: str, filter_shape: Any, rates: Tensor, known_rates: Any, count: int) -> Any:
    """Zeros before and after each axis that the window as a whole wants."""
    if padding == "VALID":
        return np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    shape = ops.convert_to_tensor(filter_shape, name="filter_shape")
    known = constant_value(shape)
    window: Any = shape if known is None else known
    reach = (window[:count] - 1) * (rates if known_rates is None else known_rates)
    before = reach // 2
    after = reach - before
    return array_ops.stack([[before[i], after[i]] for i in range(count)])


def _sizes(value: Tensor, axes: Sequence[int]) -> Any:
    """The sizes of these axes: numbers where all are known."""
    static = value.shape.as_list() if value.shape.ndims is not None else [None] * (max(axes) + 1)
    chosen = [static[axis] for axis in axes]
    if None not in chosen:
        return np.array(chosen, np.int32)
    shape = array_ops.shape(value)
    return array_ops.stack([shape[axis] for axis in axes])


def _at_axes(value: Any, fill: int, axes: Sequence[int]) -> Any:
    """[n] or [n, 2] for these axes, with `fill` at the axes between the batch and them."""
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is not None:
            value = known
    shape = value.shape.as_list() if isinstance(value, Tensor) else list(value.shape)
    parts: list[Any] = []
    at, axis, dtype = 0, 1, (value.dtype if isinstance(value, Tensor) else None)
    while at < len(axes):
        if axis < axes[at]:
            missing = axes[at] - axis
            filler = np.full([missing, *shape[1:]], fill, dtype.as_numpy_dtype if dtype else value.dtype)
            parts.append(filler)
            axis = axes[at]
        stop = at
        while stop < len(axes) and axes[stop] == axis + (stop - at):
            stop += 1
        parts.append(value[at:stop])
        axis += stop - at
        at = stop
    if isinstance(value, Tensor):
        return array_ops.concat(parts, 0)
    return np.concatenate(parts)
