"""Tensors of one value: fill, zeros, ones, and one_hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, unchanged
from tfsandbox.framework.shape_rules import size_of_scalar, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array, text_of_shape

SMALL = 1000
"""`zeros` and `ones` of fewer elements than this are constants; larger ones are a Fill, which keeps graphs small."""

fill_op = register_op(
    "Fill", "dims: index_type, value: T -> output: T", "T: type; index_type: type in {int32, int64} = int32")


@fill_op.shape
def _fill_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 1)
    with_rank(c.shape(1), 0)
    sizes = c.value(0)
    if sizes is not None and np.any(sizes < 0):
        raise ValueError("Fill dimensions must be >= 0")
    return c.value_as_shape(0)


@fill_op.kernel
def _fill(dims: Any, value: Any) -> Any:
    if np.ndim(dims) != 1:
        raise errors.InvalidArgumentError(None, None, f"dims must be a vector, got shape {text_of_shape(dims)}")
    if np.ndim(value):
        raise errors.InvalidArgumentError(None, None, f"value must be a scalar, got shape {text_of_shape(value)}")
    if np.any(dims < 0):
        raise errors.InvalidArgumentError(None, None, f"Dimension {dims.min()} must be >= 0")
    return np.full(dims, value, as_array(value).dtype)


@fill_op.gradient
def _fill_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    return [None, math_ops.reduce_sum(grad)]


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` filled with the scalar `value`."""
    return apply_op("Fill", dims=dims, value=value, name=name)


zeros_like_op = register_op("ZerosLike", "x: T -> y: T", "T: type").no_gradient()
zeros_like_op.shape(unchanged)


@zeros_like_op.kernel
def _zeros_like(x: Any) -> Any:
    if x.__class__ is bytes or x.dtype == object:
        return np.full(np.shape(x), b"", object)
    return np.zeros(x.shape, x.dtype)


ones_like_op = register_op("OnesLike", "x: T -> y: T",
                           "T: type in {bfloat16, float16, float32, float64, int8, uint8, int16, uint16, int32, int64, "
                           "complex64, complex128, bool}").no_gradient()
ones_like_op.shape(unchanged)
ones_like_op.kernel(lambda x: np.ones(x.shape, x.dtype))


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of that shape with all elements zero (False, empty strings)."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    zero: Any = False if dtype == dtypes.bool else "" if dtype == dtypes.string else 0
    return _filled(zero, shape, dtype, name, "zeros")


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of that shape with all elements one (True)."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    one: Any = True if dtype == dtypes.bool else 1
    return _filled(one, shape, dtype, name, "ones")


def _filled(value: Any, shape: Any, dtype: dtypes.DType, name: str | None, default_name: str) -> Tensor:
    with ops.name_scope(name, default_name, [shape]) as name:
        if not isinstance(shape, Tensor):
            if _is_small(shape):
                try:
                    return constant(value, dtype, shape, name=name)
                except (TypeError, ValueError):
                    pass
            shape = _as_shape_tensor(shape)
        if shape.shape.ndims == 0:
            from tfsandbox.ops import array_ops
            shape = array_ops.reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=name)


def _is_small(shape: Any) -> bool:
    """Whether a shape is known and small. Sizes that are tensors are multiplied in the graph, as TensorFlow does."""
    if isinstance(shape, TensorShape):
        count = shape.num_elements()
        return count is not None and count < SMALL
    try:
        product: Any = 1
        for i, size in enumerate(shape):
            product = product * size if i else size
        # Comparing a tensor gives a tensor, which has no truth value while building.
        return bool(product < SMALL)
    except (TypeError, ValueError):
        return False


def _as_shape_tensor(shape: Any) -> Tensor:
    try:
        known: Any = TensorShape(shape)
    except (TypeError, ValueError):
        return ops.convert_to_tensor(shape, dtype=dtypes.int32)
    return ops.convert_to_tensor(known)


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Zeros in the shape and type of `tensor`, or of type `dtype`."""
    with ops.name_scope(name, "zeros_like", [tensor]) as name:
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, dtype=dtype or tensor.dtype, name=name)
        if dtype is not None and dtypes.as_dtype(dtype) != tensor.dtype and dtypes.as_dtype(dtype) != dtypes.variant:
            from tfsandbox.ops.shape_ops import shape_internal
            return zeros(shape_internal(tensor, optimize=optimize), dtype=dtype, name=name)
        return apply_op("ZerosLike", x=tensor, name=name)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Ones in the shape and type of `tensor`, or of type `dtype`."""
    with ops.name_scope(name, "ones_like", [tensor]) as name:
        from tfsandbox.ops.shape_ops import shape_internal
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        sizes = shape_internal(tensor, optimize=optimize)
        result = ones(sizes, dtype=tensor.dtype if dtype is None else dtype, name=name)
        result.set_shape(tensor.shape)
        return result


one_hot_op = register_op("OneHot", "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
                         "axis: int = -1; T: type; TI: type in {uint8, int32, int64} = int64").no_gradient()


@one_hot_op.shape
def _one_hot_shape(c: ShapeContext) -> TensorShape:
    axis = c.attr("axis")
    if axis < -1:
        raise ValueError("axis must be >= -1")
    depth = size_of_scalar(c, 1)
    sizes = c.shape(0).sizes
    if sizes is None:
        return UNKNOWN
    if axis == -1:
        axis = len(sizes)
    return TensorShape.from_sizes((*sizes[:axis], depth, *sizes[axis:]))


@one_hot_op.kernel
def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    if depth < 0:
        raise errors.InvalidArgumentError(None, None, f"depth must be non-negative, got: {depth}")
    if not -1 <= axis <= np.ndim(indices):
        raise errors.InvalidArgumentError(
            None, None, f"Expected axis to be -1 or between [0, {np.ndim(indices) + 1}).  But received: {axis}")
    if axis == -1:
        axis = np.ndim(indices)
    places = np.expand_dims(indices, axis)
    classes = np.arange(depth).reshape((-1,) + (1,) * (np.ndim(indices) - axis))
    hits = places == classes
    if on_value.__class__ is not bytes and on_value.dtype != object and on_value == 1 and off_value == 0:
        return hits.astype(on_value.dtype)
    return np.where(hits, on_value, off_value)


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """`indices` with a new axis (last, or `axis`) of size `depth`, which is `on_value` at the index, else `off_value`.

    An index outside [0, depth) gives only `off_value`. The values are 1 and 0 of type float32 where nothing is said;
    `TypeError` where their types or `dtype` disagree.
    """
    with ops.name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as name:
        on_dtype = off_dtype = None
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        # What is given is only asked for its type here; the node converts it again.
        if on_value is not None:
            on_dtype = ops.convert_to_tensor(on_value).dtype.base_dtype
        if off_value is not None:
            off_dtype = ops.convert_to_tensor(off_value).dtype.base_dtype
        if dtype is not None:
            for what, found in (("on_value", on_dtype), ("off_value", off_dtype)):
                if found is not None and found != dtype:
                    raise TypeError(f"dtype {found} of {what} does not match dtype parameter {dtype}")
        else:
            dtype = on_dtype or off_dtype or dtypes.float32
        if on_value is None:
            on_value = ops.convert_to_tensor(1, dtype, name="on_value")
            on_dtype = dtype
        if off_value is None:
            off_value = ops.convert_to_tensor(0, dtype, name="off_value")
            off_dtype = dtype
        if on_dtype != off_dtype:
            raise TypeError(f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value")
        return apply_op("OneHot", indices=indices, depth=depth, on_value=on_value, off_value=off_value, axis=axis,
                        name=name)
