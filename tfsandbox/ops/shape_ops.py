"""The shape, size and rank of tensors, as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext, scalar
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue
from tfsandbox.framework.tensor_shape import TensorShape

_OUT_TYPE = "out_type: type in {int32, int64} = int32"

shape_op = register_op("Shape", "input: T -> output: out_type", f"T: type; {_OUT_TYPE}").no_gradient()
shape_n_op = register_op(
    "ShapeN", "input: N*T -> output: N*out_type", f"N: int >= 1; T: type; {_OUT_TYPE}").no_gradient()
size_op = register_op("Size", "input: T -> output: out_type", f"T: type; {_OUT_TYPE}").no_gradient()
rank_op = register_op("Rank", "input: T -> output: int32", "T: type").no_gradient()
size_op.shape(scalar)
rank_op.shape(scalar)


@shape_op.shape
@shape_n_op.shape
def _shape_shape(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([c.shape(i).ndims]) for i in range(c.num_inputs)]


@shape_op.kernel
def _shape(value: Any, *, out_type: dtypes.DType) -> Any:
    return np.array(np.shape(value), out_type.as_numpy_dtype)


@shape_n_op.kernel
def _shape_n(values: list[Any], *, out_type: dtypes.DType) -> tuple[Any, ...]:
    return tuple(np.array(np.shape(value), out_type.as_numpy_dtype) for value in values)


@size_op.kernel
def _size(value: Any, *, out_type: dtypes.DType) -> Any:
    return out_type.as_numpy_dtype(np.size(value))


@rank_op.kernel
def _rank(value: Any) -> Any:
    return np.int32(np.ndim(value))


def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """[rank], `out_type`: the shape of `input`; a constant if it is known already."""
    return shape_internal(input, name, optimize=True, out_type=out_type)


def shape_v2(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """`shape` with TensorFlow 2's order of arguments."""
    return shape(input, name, out_type)


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """As `shape`; `optimize=False` makes a Shape node even where the shape is known."""
    with ops.name_scope(name, "Shape", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            from tfsandbox.ops import math_ops
            return math_ops.cast(input.dense_shape, out_type)
        tensor = ops.convert_to_tensor(input)
        if optimize and tensor.shape.is_fully_defined():
            return constant(tensor.shape.as_list(), out_type, name=name)
        return apply_op("Shape", input=tensor, out_type=out_type, name=name)


def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors of one type, as one node."""
    return apply_op("ShapeN", input=input, out_type=out_type, name=name)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """[], `out_type`: the number of elements of `input`; a constant if it is known already."""
    return size_internal(input, name, optimize=True, out_type=out_type)


def size_v2(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """`size` with TensorFlow 2's order of arguments."""
    return size(input, name, out_type)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """As `size`; `optimize=False` makes a Size node even where the size is known."""
    with ops.name_scope(name, "Size", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            from tfsandbox.ops import math_ops
            return math_ops.reduce_prod(math_ops.cast(input.dense_shape, out_type), 0, name=name)
        tensor = ops.convert_to_tensor(input)
        if optimize and tensor.shape.is_fully_defined():
            return constant(tensor.shape.num_elements(), out_type, name=name)
        return apply_op("Size", input=tensor, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """[], int32: the number of dimensions of `input`; a constant if it is known already."""
    return rank_internal(input, name, optimize=True)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """As `rank`; `optimize=False` makes a Rank node even where the rank is known."""
    with ops.name_scope(name, "Rank", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return apply_op("Size", input=input.dense_shape, name=name)
        tensor = ops.convert_to_tensor(input)
        if optimize and tensor.shape.ndims is not None:
            return constant(tensor.shape.ndims, dtypes.int32, name=name)
        return apply_op("Rank", input=tensor, name=name)
