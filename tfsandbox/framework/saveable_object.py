"""SaveableObject: something a Saver writes and restores, as one or several tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SaveSpec:
    """One tensor to save: under which name, and which slice of a larger tensor it is (empty: all)."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: str | None = None) -> None:
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        self._dtype, self._device = dtype, device
        if callable(tensor) and (dtype is None or device is None):
            raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be "
                                 "provided.")

    @property
    def tensor(self) -> Any:
        return self._tensor() if callable(self._tensor) else self._tensor

    @property
    def dtype(self) -> Any:
        return self._tensor.dtype if self._dtype is None else self._dtype

    @property
    def device(self) -> str:
        return self._tensor.device if self._device is None else self._device


class SaveableObject:
    """Base class: `specs` say what is saved; a subclass's `restore` gives the operation that puts it back."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self) -> str:
        return self.specs[0].device

    def restore(self, restored_tensors: list[Any], restored_shapes: list[Any] | None) -> Any:
        """The node that restores from tensors, one for each spec; shapes where they are to be reshaped."""
        raise ValueError("Calling an abstract method.")


