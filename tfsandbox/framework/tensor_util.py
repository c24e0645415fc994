"""Constants as arrays and as TensorProto messages, and the way between the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import array_conversion, dtypes
from tfsandbox.framework.array_conversion import as_ndarray, as_ndarray_and_dtype
from tfsandbox.framework.tensor_proto import (
    is_shape_proto,
    is_tensor_proto,
    ndarray_to_proto,
    proto_to_ndarray,
    values_to_proto,
)

__all__ = [
    "MakeNdarray",
    "ShapeEquals",
    "as_ndarray",
    "as_ndarray_and_dtype",
    "constant_value",
    "is_tensor",
    "make_ndarray",
    "make_tensor_proto",
    "ndarray_to_proto",
    "proto_to_ndarray",
]


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """Return the TensorProto of a constant: the conversion of `as_ndarray_and_dtype`, encoded as TensorFlow does.

    A TensorProto is returned as it is. If `shape` asks for more elements than there are values, the message holds
    only the values; whoever reads it repeats the last one.
    """
    if is_tensor_proto(values):
        return values
    if shape is None:
        return ndarray_to_proto(*as_ndarray_and_dtype(values, dtype))
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    array, found = array_conversion.converted(values, wanted, tuple(int(size) for size in shape))
    sizes = array_conversion.checked_sizes(array, shape, verify_shape, allow_broadcast)
    return values_to_proto(array, found, sizes)


def make_ndarray(tensor: Any) -> np.ndarray:
    """Return the value of a TensorProto as an array of its own; ValueError if the message is malformed.

    Strings become an object array of `bytes`; bfloat16 and quantized values are structured arrays (see `dtypes`).
    """
    return np.array(proto_to_ndarray(tensor), order="C")


MakeNdarray = make_ndarray


def ShapeEquals(tensor_proto: Any, shape: Any) -> bool:
    """True if a TensorProto has `shape`: a list or tuple of ints, or a TensorShapeProto. TypeError for other things."""
    if not is_tensor_proto(tensor_proto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if is_shape_proto(shape):
        wanted = [dim.size for dim in shape.dim]
    elif isinstance(shape, list | tuple):
        wanted = list(shape)
    else:
        raise TypeError("shape is not a list or tuple")
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == wanted


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor: dense, sparse, slices of one, or a variable."""
    from tfsandbox.framework.indexed_slices import IndexedSlices
    from tfsandbox.framework.operation import Tensor
    from tfsandbox.framework.sparse_tensor import SparseTensor

    return isinstance(x, Tensor | SparseTensor | IndexedSlices) or hasattr(x, "_as_graph_element")


# The ops that TensorFlow's Python code looks through. Gradients depend on it: what they build differs where the
# axes of a reduction, say, are known.
_LOOKS_THROUGH = {"Range", "Cast", "Concat", "ConcatV2", "Pack", "Fill", "Equal", "NotEqual"}


def constant_value(tensor: Any) -> np.ndarray | None:
    """The value of a tensor built in simple ways from constants and known shapes, else None.

    `shape_inference.constant_value` knows more: this is what `tensorflow.python`'s function of the name knows.
    """
    from tfsandbox.framework import shape_inference

    if isinstance(tensor, np.ndarray | np.generic):
        return np.asarray(tensor)
    if not hasattr(tensor, "op"):
        return None
    return shape_inference.constant_value(tensor) if _is_simple(tensor, 0) else None


def _is_simple(tensor: Any, depth: int) -> bool:
    kind = tensor.op.type
    if kind in ("Const", "Shape", "Size", "Rank"):
        return True
    return kind in _LOOKS_THROUGH and depth < 20 and all(_is_simple(t, depth + 1) for t in tensor.op.inputs)
