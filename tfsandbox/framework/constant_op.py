"""Constants, and how Python values become them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import conversion, dtypes, tensor_util
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import Dimension, TensorShape

const_op = register_op("Const", "-> output: dtype", "value: tensor; dtype: type")
const_op.no_gradient()

_MOST_BYTES = (1 << 31) - 1
"""What a protobuf message can hold."""


@const_op.shape
def _const_shape(c: Any) -> TensorShape:
    return TensorShape(c.attr("value").shape)


@const_op.kernel(view=True)
def _const(*, value: np.ndarray) -> np.ndarray:
    return value


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const",
             verify_shape: bool = False) -> Tensor:
    """A constant tensor. With `shape`, the last element of `value` fills what is missing.

    Raises `TypeError` where an element does not fit `dtype`, `ValueError` where the values do not fit `shape`.
    """
    return _constant(value, dtype, shape, name, verify_shape, allow_broadcast=False)


def _constant(value: Any, dtype: Any, shape: Any, name: str, verify_shape: bool, allow_broadcast: bool) -> Tensor:
    graph = get_default_graph()
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    _check_size(value)
    array, found = tensor_util.as_ndarray_and_dtype(value, dtype, shape, verify_shape, allow_broadcast)
    _check_size(array)
    return graph.create_op("Const", [], name=name, attrs={"value": array, "dtype": found}).outputs[0]


def _check_size(value: Any) -> None:
    if isinstance(value, np.ndarray) and value.nbytes > _MOST_BYTES:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB. Feed it through a "
                         "tf.placeholder instead.")


def _from_value(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return constant(value, dtype, name=name or "Const")


def _from_shape(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.as_list()
    if dtype is None:
        dtype = dtypes.int64 if any(size > np.iinfo(np.int32).max for size in sizes) else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype.name}")
    return constant(sizes, dtype, name=name or "shape_as_tensor")


def _from_dimension(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype {dtype.name}")
    return constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


conversion.register_tensor_conversion_function((list, tuple), _from_value, 100)
conversion.register_tensor_conversion_function(object, _from_value, 200)
conversion.register_tensor_conversion_function(TensorShape, _from_shape, 100)
conversion.register_tensor_conversion_function(Dimension, _from_dimension, 100)
