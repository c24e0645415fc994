"""SparseTensor: a tensor as the indices and values of its elements that are not zero."""

from __future__ import annotations

import collections
from typing import Any

from tfsandbox.framework import conversion, dtypes, static_values
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """`indices` [n, rank] int64, `values` [n], `dense_shape` [rank] int64."""

    _is_composite_tensor = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        from tfsandbox.framework import ops
        with ops.name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = conversion.convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = conversion.convert_to_tensor(values, name="values")
            self._dense_shape = conversion.convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        rank = self._indices.shape.with_rank(2)[1]
        self._values.shape.with_rank(1)[0].merge_with(self._indices.shape[0])
        self._dense_shape.shape.with_rank(1)[0].merge_with(rank)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensor:
        """A SparseTensor from a SparseTensorValue (or a SparseTensor, as it is)."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, SparseTensorValue):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {value}.")
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def dtype(self) -> dtypes.DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._indices.graph

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def shape(self) -> TensorShape:
        return static_values.constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        return self.shape

    def consumers(self) -> list[Operation]:
        return self._values.consumers()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """A SparseTensorValue from the given or the default session."""
        from tfsandbox.framework import stacks
        session = stacks.session_for(self.graph, session, "evaluate tensor", "`eval()`", "`eval(session=sess)`")
        return SparseTensorValue(*session.run([self.indices, self.values, self.dense_shape], feed_dict))

    @staticmethod
    def _override_operator(operator: str, function: Any) -> None:
        setattr(SparseTensor, operator, function)

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor as it is, anything else as a Tensor."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and dtypes.as_dtype(dtype) != value.dtype:
            raise RuntimeError(f"Sparse dtype: requested = {dtypes.as_dtype(dtype).name}, actual = {value.dtype.name}")
        return value
    return conversion.convert_to_tensor(value, dtype=dtype, name=name)


def is_sparse(value: Any) -> bool:
    """Whether `value` is a SparseTensor or the value of one."""
    return isinstance(value, (SparseTensor, SparseTensorValue))
