"""Placeholders: tensors whose values are given with each run."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape

placeholder_op = register_op("Placeholder", "-> output: dtype", "dtype: type; shape: shape = unknown")
placeholder_op.foldable = False
placeholder_v2_op = register_op("PlaceholderV2", "-> output: dtype", "dtype: type; shape: shape")
placeholder_v2_op.foldable = False


@placeholder_op.shape
@placeholder_v2_op.shape
def _placeholder_shape(c: ShapeContext) -> TensorShape:
    return c.attr("shape")


@placeholder_op.kernel
@placeholder_v2_op.kernel
def _placeholder(*, dtype: dtypes.DType, shape: TensorShape) -> Any:
    raise errors.InvalidArgumentError(
        None, None, f"You must feed a value for placeholder tensor with dtype {dtype.name}")


placeholder_op.no_gradient()
placeholder_v2_op.no_gradient()


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor to be fed with each run, `session.run(..., feed_dict={placeholder: value})`.

    `shape` is what is known of the shape of the values: None, or sizes of which some may be None. A run that needs
    the tensor and does not feed it raises `InvalidArgumentError`.
    """
    return apply_op("Placeholder", dtype=dtype, shape=shape, name=name)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor to be fed, with a SparseTensorValue or a tuple (indices, values, dense_shape).

    `shape` is that of the dense tensor: None, sizes of which some may be None, or a tensor [rank].
    """
    def part(suffix: str) -> str | None:
        return None if name is None else f"{name}/{suffix}"

    rank = None
    if shape is None:
        dense_shape = placeholder(dtypes.int64, [None], part("shape"))
    elif isinstance(shape, Tensor):
        rank = shape.shape[0].value
        dense_shape = shape
    else:
        sizes = TensorShape(shape).as_list()
        rank = len(sizes)
        if None in sizes:
            dense_shape = placeholder(dtypes.int64, [rank], part("shape"))
        else:
            dense_shape = constant(sizes, dtypes.int64, name=part("shape") or "Const")
    values = placeholder(dtype, [None], part("values"))
    indices = placeholder(dtypes.int64, [None, rank], part("indices"))
    return SparseTensor(indices, values, dense_shape)


with_default_op = register_op("PlaceholderWithDefault", "input: dtype -> output: dtype", "dtype: type; shape: shape")
# A fed value may differ from the default: nothing that depends on it is a constant while building.
with_default_op.foldable = False


@with_default_op.shape
def _with_default_shape(c: ShapeContext) -> TensorShape:
    c.shape(0).assert_is_compatible_with(c.attr("shape"))
    return c.attr("shape")


@with_default_op.kernel(view=True)
def _with_default(value: Any) -> Any:
    return value


@with_default_op.gradient
def _with_default_grad(op: Operation, grad: Tensor) -> Tensor:
    return grad


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that is `input` unless it is fed. `shape` may know less than the shape of `input`."""
    return apply_op("PlaceholderWithDefault", input=input, shape=shape, name=name)
