"""Sums, maxima and softmax along the axes of SparseTensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext, reduced
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.sparse_math import element_keys, sparse_dense_cwise_add

__all__ = ["sparse_reduce_max", "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse",
           "sparse_softmax"]

_REDUCE = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> "
_SPARSE_RESULT = "output_indices: int64, output_values: T, output_shape: int64"
reduce_sum_op = register_op(
    "SparseReduceSum", _REDUCE + "output: T", "keep_dims: bool = false; T: type in {numbertype}")
reduce_max_op = register_op(
    "SparseReduceMax", _REDUCE + "output: T", "keep_dims: bool = false; T: type in {realnumbertype}")
reduce_sum_sparse_op = register_op("SparseReduceSumSparse", _REDUCE + _SPARSE_RESULT,
                                   "keep_dims: bool = false; T: type in {numbertype}")
reduce_max_sparse_op = register_op("SparseReduceMaxSparse", _REDUCE + _SPARSE_RESULT,
                                   "keep_dims: bool = false; T: type in {realnumbertype}")


@reduce_sum_op.shape
@reduce_max_op.shape
def _sparse_reduce_shape(c: ShapeContext) -> TensorShape:
    axes, shape = c.value(3), c.value_as_shape(2)
    return reduced(shape, None if axes is None else [int(a) for a in np.ravel(axes)], c.attr("keep_dims"))


def _groups(indices: Any, sizes: Any, axes: Any,
            keep_dims: bool) -> tuple[list[int], list[int], np.ndarray, np.ndarray]:
    """(kept axes, result sizes, key of the group of each element, indices of the elements along the kept axes)."""
    rank = len(sizes)
    gone = set()
    for axis in np.ravel(axes).tolist():
        if not -rank <= axis < rank:
            raise errors.InvalidArgumentError(None, None, f"Invalid reduction dimension {axis}, for input with {rank} "
                                                          "dimensions.")
        gone.add(axis % rank)
    kept = [axis for axis in range(rank) if axis not in gone]
    result = [1 if axis in gone else int(sizes[axis]) for axis in range(rank)] if keep_dims else \
        [int(sizes[axis]) for axis in kept]
    along = indices[:, kept]
    return kept, result, element_keys(along, [sizes[axis] for axis in kept]), along


def _reduced_dense(indices: Any, values: Any, sizes: Any, axes: Any, keep_dims: bool, function: np.ufunc) -> Any:
    kept, result, keys, _ = _groups(indices, sizes, axes, keep_dims)
    # Where a group has no element the result is zero, for a maximum too.
    out = np.zeros(int(np.prod(result, dtype=np.int64)), values.dtype)
    present, places = np.unique(keys, return_inverse=True)
    found = np.zeros(len(present), values.dtype)
    first = np.full(len(present), -1)
    first[places[::-1]] = np.arange(len(keys))[::-1]
    found[:] = values[first] if len(present) else found
    rest = np.ones(len(keys), bool)
    rest[first] = False
    function.at(found, places[rest], values[rest])
    out[present] = found
    return out.reshape(result)


@reduce_sum_op.kernel
def _sparse_reduce_sum(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
                       keep_dims: bool) -> Any:
    return _reduced_dense(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.add)


@reduce_max_op.kernel
def _sparse_reduce_max(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
                       keep_dims: bool) -> Any:
    return _reduced_dense(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.maximum)


def _reduced_sparse(indices: Any, values: Any, sizes: Any, axes: Any, keep_dims: bool,
                    function: np.ufunc) -> tuple[Any, Any, Any]:
    kept, result, keys, _ = _groups(indices, sizes, axes, keep_dims)
    dense = _reduced_dense(indices, values, sizes, axes, keep_dims, function).ravel()
    present = np.unique(keys)
    found = np.array(np.unravel_index(present, result), np.int64).T if result else np.zeros((len(present), 0), np.int64)
    return found.reshape(len(present), len(result)), dense[present], np.array(result, np.int64)


@reduce_sum_sparse_op.kernel
def _sparse_reduce_sum_sparse(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
                              keep_dims: bool) -> Any:
    return _reduced_sparse(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.add)


@reduce_max_sparse_op.kernel
def _sparse_reduce_max_sparse(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *,
                              keep_dims: bool) -> Any:
    return _reduced_sparse(input_indices, input_values, input_shape, reduction_axes, keep_dims, np.maximum)


@reduce_sum_op.gradient
def _sparse_reduce_sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    indices, shape = op.inputs[0], op.inputs[2]
    kept = math_ops.reduced_shape(shape, op.inputs[3])
    spread = array_ops.reshape(grad, kept)
    scale = shape // math_ops.cast(kept, dtypes.int64)
    return [None, array_ops.gather_nd(spread, indices // scale), None, None]


def _reduction_axes(sp_input: SparseTensor, axis: Any, reduction_axes: Any) -> Any:
    if axis is not None and reduction_axes is not None:
        raise ValueError("Cannot specify both 'axis' and 'reduction_axes'")
    axis = reduction_axes if axis is None else axis
    if axis is not None:
        return axis
    rank = sp_input.get_shape().ndims
    if rank is not None and sp_input.dense_shape.shape.is_fully_defined():
        return constant(np.arange(rank), dtype=dtypes.int32)
    from tfsandbox.ops import math_ops
    return math_ops.range(0, array_ops.rank(sp_input))


def _sparse_reduce(op_type: str, sp_input: Any, axis: Any, keepdims: bool | None, reduction_axes: Any,
                   keep_dims: bool | None) -> Any:
    if keepdims is not None and keep_dims is not None:
        raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
    keep = keep_dims if keepdims is None else keepdims
    return apply_op(op_type, input_indices=sp_input.indices, input_values=sp_input.values,
                    input_shape=sp_input.dense_shape, reduction_axes=_reduction_axes(sp_input, axis, reduction_axes),
                    keep_dims=bool(keep))


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                      keep_dims: bool | None = None) -> Tensor:
    """The sum over some or all axes of a SparseTensor, dense."""
    return _sparse_reduce("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                      keep_dims: bool | None = None) -> Tensor:
    """The greatest element along some or all axes of a SparseTensor, dense; zero where there is none."""
    return _sparse_reduce("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                             keep_dims: bool | None = None) -> SparseTensor:
    """As `sparse_reduce_sum`, sparse."""
    return SparseTensor(*_sparse_reduce("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None,
                             keep_dims: bool | None = None) -> SparseTensor:
    """As `sparse_reduce_max`, sparse."""
    return SparseTensor(*_sparse_reduce("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims))


softmax_op = register_op(
    "SparseSoftmax", "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T", "T: type in {float32, float64}")


@softmax_op.shape
def _softmax_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 2)
    with_rank(c.shape(2), 1)
    return with_rank(c.shape(1), 1)


@softmax_op.kernel
def _softmax(sp_indices: Any, sp_values: Any, sp_shape: Any) -> Any:
    if len(sp_shape) < 2:
        raise errors.InvalidArgumentError(None, None, "Input should have rank >= 2")
    _, rows = np.unique(element_keys(sp_indices[:, :-1], sp_shape[:-1]), return_inverse=True)
    most = np.full(rows.max() + 1 if len(rows) else 0, -np.inf, sp_values.dtype)
    np.maximum.at(most, rows, sp_values)
    powers = np.exp(sp_values - most[rows])
    sums = np.zeros(most.shape, sp_values.dtype)
    np.add.at(sums, rows, powers)
    return powers / sums[rows]


@softmax_op.gradient
def _softmax_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    indices, shape, out = op.inputs[0], op.inputs[2], op.outputs[0]
    output, incoming = SparseTensor(indices, out, shape), SparseTensor(indices, grad, shape)
    product = SparseTensor(indices, output.values * incoming.values, shape)
    summed = -sparse_reduce_sum(product, [-1], keepdims=True)
    moved = sparse_dense_cwise_add(incoming, summed)
    return [None, moved.values * output.values, None]


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the last axis, over the elements there are."""
    with ops.name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = apply_op("SparseSoftmax", sp_indices=sp_input.indices, sp_values=sp_input.values,
                          sp_shape=sp_input.dense_shape)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)
