"""IndexedSlices: a sparse tensor as rows and their indices along the first axis, what a gather's gradient is."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape


class IndexedSlices:
    """`values[i]` is a slice of a larger tensor at row `indices[i]`; rows may repeat, their sum is meant.

    `dense_shape` is the shape of the larger tensor, as a tensor, or None where nobody knows.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        """[n, ...]: the rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """[n], int32 or int64: the row numbers."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the tensor these are slices of, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        from tfsandbox.framework import shape_inference
        return shape_inference.partial_shape_value(self._dense_shape)

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> list[Operation]:
        return self._values.consumers()

    def __str__(self) -> str:
        shape = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)
