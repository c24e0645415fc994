"""InputSpec: what a layer demands of its inputs, and the check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.operation import Tensor


class InputSpec:
    """Rank, shape, dtype and single axes that an input must have; what is None may be anything."""

    def __init__(self, dtype: Any = None, shape: Any = None, ndim: int | None = None, max_ndim: int | None = None,
                 min_ndim: int | None = None, axes: dict[int, int | None] | None = None) -> None:
        self.dtype = dtypes.as_dtype(dtype).name if dtype is not None else None
        self.shape = None if shape is None else tuple(shape)
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = axes or {}

    def __repr__(self) -> str:
        parts = {"dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim,
                 "min_ndim": self.min_ndim, "axes": self.axes or None}
        return f"InputSpec({', '.join(f'{key}={value}' for key, value in parts.items() if value is not None)})"

    def check(self, tensor: Tensor, index: int, layer_name: str) -> None:
        """Raise `ValueError`, in TensorFlow's words, where the tensor does not fit."""
        prefix = f"Input {index} of layer {layer_name} is incompatible with the layer: "
        rank = tensor.shape.ndims
        if rank is None:
            if self.ndim is not None or self.min_ndim is not None or self.max_ndim is not None:
                raise ValueError(prefix + "its rank is undefined, but the layer requires a defined rank.")
        else:
            shape = tensor.shape.as_list()
            if self.ndim is not None and rank != self.ndim and self.shape is None:
                raise ValueError(f"{prefix}expected ndim={self.ndim}, found ndim={rank}. Full shape received: {shape}")
            if self.max_ndim is not None and rank > self.max_ndim:
                raise ValueError(f"{prefix}expected max_ndim={self.max_ndim}, found ndim={rank}")
            if self.min_ndim is not None and rank < self.min_ndim:
                raise ValueError(f"{prefix}: expected min_ndim={self.min_ndim}, found ndim={rank}. Full shape "
                                 f"received: {shape}")
        if self.dtype is not None and tensor.dtype.name != self.dtype:
            raise ValueError(f"{prefix}expected dtype={self.dtype}, found dtype={tensor.dtype!r}")
        if rank is None:
            return
        shape = tensor.shape.as_list()
        for axis, size in self.axes.items():
            if size is not None and shape[int(axis)] not in (size, None):
                raise ValueError(f"{prefix}expected axis {axis} of input shape to have value {size} but received input "
                                 f"with shape {shape}")
        if self.shape is not None and any(wanted is not None and size is not None and wanted != size
                                          for wanted, size in zip(self.shape, shape)):
            raise ValueError(f"Input {index} is incompatible with layer {layer_name}: expected shape={self.shape}, "
                             f"found shape={shape}")


def check_inputs(spec: Any, tensors: Sequence[Any], layer_name: str) -> None:
    """Check the inputs of a layer against its spec: None, an InputSpec, or one an input."""
    if spec is None:
        return
    specs = list(spec) if isinstance(spec, (list, tuple)) else [spec]
    if len(tensors) != len(specs):
        raise ValueError(f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(tensors)} input "
                         f"tensors. Inputs received: {list(tensors)}")
    for i, (tensor, wanted) in enumerate(zip(tensors, specs)):
        if wanted is not None and isinstance(tensor, Tensor):
            wanted.check(tensor, i, layer_name)
