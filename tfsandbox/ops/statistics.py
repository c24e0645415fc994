"""Reductions built from others: log-sum-exp, variance, standard deviation, counts; and the index of an extreme."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, casts, comparison_ops, elementwise, reductions

__all__ = ["arg_max", "arg_min", "argmax", "argmin", "count_nonzero", "reduce_logsumexp"]


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
                     reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """log(sum(exp(x))) over `axis`, arguments as in `reduce_sum`; large x do not overflow."""
    keepdims, axis = reductions.renamed(keepdims, keep_dims, axis, reduction_indices)
    input_tensor = ops.convert_to_tensor(input_tensor)
    with ops.name_scope(name, "ReduceLogSumExp", [input_tensor]) as name:
        largest = reductions.reduce_max(input_tensor, axis=axis, keepdims=True)
        largest = array_ops.stop_gradient(array_ops.where(comparison_ops.is_finite(largest), largest,
                                                          array_ops.zeros_like(largest)))
        shifted = elementwise.exp(binary_ops.subtract(input_tensor, largest))
        result = elementwise.log(reductions.reduce_sum(shifted, axis=axis, keepdims=keepdims))
        if not keepdims:
            largest = array_ops.reshape(largest, array_ops.shape(result))
        result = binary_ops.add(result, largest)
        if axis is None and not keepdims:
            result.set_shape(())
        return result


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean squared distance from the mean over `axis`."""
    with ops.name_scope(name if name else "reduce_variance"):
        mean = reductions.reduce_mean(input_tensor, axis=axis, keepdims=True)
        squares = elementwise.square(input_tensor - mean)
        return reductions.reduce_mean(squares, axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The standard deviation over `axis`: the square root of the variance."""
    with ops.name_scope(name if name else "reduce_std"):
        return elementwise.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False,
                          name: str | None = None) -> Tensor:
    """The square root of the sum of squares over `axis`."""
    return reductions.reduce("EuclideanNorm", input_tensor, axis, bool(keepdims), name)


def count_nonzero(input_tensor: Any = None, axis: Any = None, keepdims: bool | None = None,
                  dtype: Any = dtypes.int64, name: str | None = None, reduction_indices: Any = None,
                  keep_dims: bool | None = None, input: Any = None) -> Tensor:
    """How many elements over `axis` are not zero (not empty, for strings), arguments as in `reduce_sum`."""
    keepdims, axis = reductions.renamed(keepdims, keep_dims, axis, reduction_indices)
    if input is not None:
        if input_tensor is not None:
            raise ValueError("Cannot specify both 'input_tensor' and 'input'")
        input_tensor = input
    with ops.name_scope(name, "count_nonzero", [input_tensor]):
        input_tensor = ops.convert_to_tensor(input_tensor, name="input")
        zero = array_ops.zeros([], dtype=input_tensor.dtype)
        nonzero = casts.cast(comparison_ops.not_equal(input_tensor, zero), dtypes.int64)
        return casts.cast(reductions.reduce_sum(nonzero, axis=axis, keepdims=keepdims), dtype=dtype)


# ------------------------------------------------------------ the index of an extreme


def _arg(name: str) -> OpDef:
    op_def = register_op(name, "input: T, dimension: Tidx -> output: output_type",
                         "T: type in {numbertype}; Tidx: type in {int32, int64} = int32; "
                         "output_type: type in {int32, int64} = int64").no_gradient()
    op_def.shape(_arg_shape)
    return op_def


def _arg_shape(c: Any) -> TensorShape:
    shape, axis = c.shape(0), c.value(1)
    if shape.ndims is None:
        return shape_inference.UNKNOWN
    if shape.ndims <= 1:
        return TensorShape([])
    if axis is None:
        return TensorShape([None] * (shape.ndims - 1))
    axis = int(axis)
    if not -shape.ndims <= axis < shape.ndims:
        raise ValueError(f"Dimension ({axis}) must be in the range [{-shape.ndims}, {shape.ndims}), where "
                         f"{shape.ndims} is the number of dimensions in the input.")
    sizes = shape.as_list()
    del sizes[axis]
    return TensorShape(sizes)


argmax_op = _arg("ArgMax")
argmin_op = _arg("ArgMin")


def _arg_kernel(function: Any, input: Any, dimension: Any, output_type: Any) -> Any:
    axis = int(dimension)
    if not -input.ndim <= axis < input.ndim:
        raise errors.InvalidArgumentError(None, None, f"Expected dimension in the range [{-input.ndim}, {input.ndim}), "
                                                      f"but got {axis}")
    if not input.shape[axis]:
        raise errors.InvalidArgumentError(None, None, f"Reduction axis {axis} is empty in shape "
                                                      f"[{','.join(map(str, input.shape))}]")
    return function(input, axis).astype(output_type.as_numpy_dtype)


@argmax_op.kernel
def _argmax(input: Any, dimension: Any, *, output_type: Any) -> Any:
    return _arg_kernel(np.argmax, input, dimension, output_type)


@argmin_op.kernel
def _argmin(input: Any, dimension: Any, *, output_type: Any) -> Any:
    return _arg_kernel(np.argmin, input, dimension, output_type)


def _emit_arg(node: Any, method: str) -> str | None:
    shape, axis = node.shape(0), node.value(1)
    if shape.ndims is None or axis is None or not -shape.ndims <= int(axis) < shape.ndims \
            or not shape.as_list()[int(axis)]:
        return None
    return f"{{0}}.{method}({int(axis)}).astype(np.{node.attr('output_type').name})"


@argmax_op.emit
def _argmax_emit(node: Any) -> str | None:
    return _emit_arg(node, "argmax")


@argmin_op.emit
def _argmin_emit(node: Any) -> str | None:
    return _emit_arg(node, "argmin")


def _one_axis(axis: Any, dimension: Any) -> Any:
    if dimension is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dimension' and 'axis'")
        return dimension
    return 0 if axis is None else axis


def argmax(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
           output_type: Any = dtypes.int64) -> Tensor:
    """The index of the largest element along `axis` (default 0); of the first, if there are several."""
    return arg_max(input, _one_axis(axis, dimension), output_type=output_type, name=name)


def argmin(input: Any, axis: Any = None, name: str | None = None, dimension: Any = None,
           output_type: Any = dtypes.int64) -> Tensor:
    """The index of the smallest element along `axis` (default 0); of the first, if there are several."""
    return arg_min(input, _one_axis(axis, dimension), output_type=output_type, name=name)


def arg_max(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """Older form of `argmax`."""
    return apply_op("ArgMax", input=input, dimension=dimension, output_type=output_type, name=name)


def arg_min(input: Any, dimension: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Tensor:
    """Older form of `argmin`."""
    return apply_op("ArgMin", input=input, dimension=dimension, output_type=output_type, name=name)
