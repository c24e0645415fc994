"""Arithmetic on SparseTensors: sums, products, maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array, text_of_shape
from tfsandbox.ops.sparse_conversion import as_sparse

__all__ = [
    "sparse_add", "sparse_maximum", "sparse_minimum", "sparse_tensor_dense_matmul",
]

_A = "a_indices: int64, a_values: T, a_shape: int64"
_B = "b_indices: int64, b_values: T, b_shape: int64"
_SP = "sp_indices: int64, sp_values: T, sp_shape: int64"


def element_keys(indices: np.ndarray, sizes: Any) -> np.ndarray:
    """One number an index vector, in the order of the elements."""
    if not indices.shape[1]:
        return np.zeros(len(indices), np.int64)
    return np.ravel_multi_index(tuple(indices.T), tuple(int(size) for size in sizes))


# ------------------------------------------------------------ sums

sparse_add_op = register_op(
    "SparseAdd", f"{_A}, {_B}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    "T: type in {numbertype}; Treal: type in {realnumbertype}")
sparse_add_grad_op = register_op(
    "SparseAddGrad", "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> a_val_grad: T, "
    "b_val_grad: T", "T: type in {numbertype}").no_gradient()


@sparse_add_op.shape
def _sparse_add_shape(c: ShapeContext) -> list[TensorShape]:
    rank = with_rank(c.shape(2), 1).sizes
    assert rank is not None
    return [TensorShape([None, rank[0]]), TensorShape([None]), TensorShape([rank[0]])]


@sparse_add_op.kernel
def _sparse_add(a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any,
                thresh: Any) -> tuple[Any, Any, Any]:
    if len(a_shape) != len(b_shape):
        raise errors.InvalidArgumentError(None, None, f"Operands do not have the same ranks; got shapes: "
                                                      f"{a_shape.tolist()} and {b_shape.tolist()}")
    if not np.array_equal(a_shape, b_shape):
        raise errors.InvalidArgumentError(None, None, "Operands' shapes do not match: got "
                                                      f"{a_shape.tolist()} and {b_shape.tolist()}")
    keys = np.concatenate([element_keys(a_indices, a_shape), element_keys(b_indices, b_shape)])
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    values = np.zeros(len(first), a_values.dtype)
    np.add.at(values, places, np.concatenate([a_values, b_values]))
    kept = thresh <= np.abs(values)
    return np.concatenate([a_indices, b_indices])[first][kept], values[kept], np.array(a_shape)


@sparse_add_op.gradient
def _sparse_add_gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    a_grad, b_grad = apply_op("SparseAddGrad", backprop_val_grad=grads[1], a_indices=op.inputs[0],
                              b_indices=op.inputs[3], sum_indices=op.outputs[0])
    a_grad.set_shape(op.inputs[1].shape)
    b_grad.set_shape(op.inputs[4].shape)
    return [None, a_grad, None, None, b_grad, None, None]


@sparse_add_grad_op.shape
def _sparse_add_grad_shape(c: ShapeContext) -> list[TensorShape]:
    a, b = with_rank(c.shape(1), 2).sizes, with_rank(c.shape(2), 2).sizes
    assert a is not None and b is not None
    return [TensorShape([a[0]]), TensorShape([b[0]])]


@sparse_add_grad_op.kernel
def _sparse_add_grad(backprop_val_grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any) -> tuple[Any, Any]:
    places = {tuple(index): i for i, index in enumerate(sum_indices.tolist())}
    found = []
    for indices in (a_indices, b_indices):
        grad = np.zeros(len(indices), backprop_val_grad.dtype)
        for i, index in enumerate(indices.tolist()):
            if tuple(index) in places:
                grad[i] = backprop_val_grad[places[tuple(index)]]
        found.append(grad)
    return found[0], found[1]


dense_add_op = register_op(
    "SparseTensorDenseAdd", "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    "T: type in {numbertype}; Tindices: type in {int32, int64}")
dense_add_op.shape(lambda c: c.shape(3))


@dense_add_op.kernel
def _dense_add(a_indices: Any, a_values: Any, a_shape: Any, b: Any) -> Any:
    if tuple(a_shape.tolist()) != b.shape:
        raise errors.InvalidArgumentError(None, None, f"Dimensions of a_shape {a_shape.tolist()} and b "
                                                      f"{text_of_shape(b)} do not match")
    result = np.array(b)
    np.add.at(result, tuple(a_indices.T), a_values)
    return result


@dense_add_op.gradient
def _dense_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, array_ops.gather_nd(grad, op.inputs[0]), None, grad]


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """a + b: a Tensor; of two SparseTensors of one shape a SparseTensor, without the sums below `threshold`."""
    if threshold is not None and thresh is not None:
        raise ValueError("Cannot specify both 'thresh' and 'threshold'")
    threshold = thresh if threshold is None else threshold
    threshold = 0 if threshold is None else threshold
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = as_sparse(a), as_sparse(b)
        limit = ops.convert_to_tensor(threshold, dtype=a.values.dtype.real_dtype.base_dtype, name="threshold")
        indices, values, shape = apply_op(
            "SparseAdd", a_indices=a.indices, a_values=a.values, a_shape=a.dense_shape, b_indices=b.indices,
            b_values=b.values, b_shape=b.dense_shape, thresh=limit)
        a.get_shape().assert_is_compatible_with(b.get_shape())
        static = array_ops.broadcast_static_shape(a.get_shape(), b.get_shape())
        return SparseTensor(indices, values, static.as_list() if static.is_fully_defined() else shape)
    if isinstance(b, kinds):
        a, b = b, a
    a = as_sparse(a)
    return apply_op("SparseTensorDenseAdd", a_indices=a.indices, a_values=a.values, a_shape=a.dense_shape, b=b)


# ------------------------------------------------------------ elementwise with a dense tensor


def _cwise_op(name: str) -> OpDef:
    op_def = register_op(name, f"{_SP}, dense: T -> output: T", "T: type in {numbertype}")
    op_def.shape(lambda c: with_rank(c.shape(1), 1))
    return op_def


cwise_add_op, cwise_mul_op, cwise_div_op = (
    _cwise_op(name) for name in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"))


def _dense_at(sp_indices: Any, sp_shape: Any, dense: Any) -> Any:
    """The elements of `dense`, broadcast to the sparse tensor's shape, at its indices."""
    dense = as_array(dense)
    sizes = sp_shape.tolist()
    extra = len(sizes) - dense.ndim
    if extra < 0 or any(n not in (1, m) for m, n in zip(sizes[extra:], dense.shape)):
        raise errors.InvalidArgumentError(
            None, None, "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                        f"[{','.join(map(str, sizes))}] vs. {text_of_shape(dense)}")
    return np.broadcast_to(dense, sizes)[tuple(sp_indices.T)]


@cwise_add_op.kernel
def _cwise_add(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
    return sp_values + _dense_at(sp_indices, sp_shape, dense)


@cwise_mul_op.kernel
def _cwise_mul(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
    return sp_values * _dense_at(sp_indices, sp_shape, dense)


@cwise_div_op.kernel
def _cwise_div(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
    other = _dense_at(sp_indices, sp_shape, dense)
    if sp_values.dtype.kind in "iu":
        down = sp_values // other
        return (down + ((sp_values % other != 0) & ((sp_values < 0) != (other < 0)))).astype(sp_values.dtype)
    return sp_values / other


@cwise_add_op.gradient
def _cwise_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


def _cwise_gradient(op: Operation, grad: Tensor, is_mul: bool) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    indices, shape, dense = op.inputs[0], op.inputs[2], op.inputs[3]
    sizes = math_ops.cast(array_ops.shape(dense), dtypes.int64)
    extra = array_ops.expand_dims(array_ops.size(shape) - array_ops.size(sizes), 0)
    full = array_ops.concat([array_ops.ones(extra, dtypes.int64), sizes], 0)
    # An axis of size one of the dense tensor is stretched: its index there is always zero.
    scaled = indices // (shape // full)
    scaled = array_ops.slice(scaled, array_ops.concat([[0], extra], 0), [-1, -1])
    picked = array_ops.gather_nd(dense, scaled)
    if is_mul:
        dx, dy = grad * picked, grad * op.inputs[1]
    else:
        dx, dy = grad / picked, grad * (-op.inputs[1] / math_ops.square(picked))
    return [None, dx, None, sparse_add(array_ops.zeros_like(dense), SparseTensor(scaled, dy, sizes))]


cwise_mul_op.gradient(lambda op, grad: _cwise_gradient(op, grad, True))
cwise_div_op.gradient(lambda op, grad: _cwise_gradient(op, grad, False))


def _cwise(op_type: str, sp: SparseTensor, dense: Any, name: str | None) -> SparseTensor:
    values = apply_op(
        op_type, sp_indices=sp.indices, sp_values=sp.values, sp_shape=sp.dense_shape, dense=dense, name=name)
    return SparseTensor(sp.indices, values, sp.dense_shape)


def sparse_times_dense(sp: SparseTensor, dense: Any, name: str | None = None) -> SparseTensor:
    """The elements of a SparseTensor times those of a dense tensor, which is broadcast to its shape."""
    return _cwise("SparseDenseCwiseMul", sp, dense, name)


def sparse_dense_cwise_add(sp: SparseTensor, dense: Any, name: str | None = None) -> SparseTensor:
    """The elements of a SparseTensor plus those of a dense tensor at the same places."""
    return _cwise("SparseDenseCwiseAdd", sp, dense, name)


def _sparse_operator(name: str, op_type: str) -> Any:
    def operator(sp: SparseTensor, dense: Any) -> SparseTensor:
        with ops.name_scope(None, name, [sp, dense]) as scope:
            dense = ops.convert_to_tensor(dense, dtype=sp.dtype.base_dtype, name="y")
            return _cwise(op_type, sp, dense, scope)
    return operator


SparseTensor._override_operator("__mul__", _sparse_operator("mul", "SparseDenseCwiseMul"))
SparseTensor._override_operator("__truediv__", _sparse_operator("truediv", "SparseDenseCwiseDiv"))
SparseTensor._override_operator("__div__", _sparse_operator("div", "SparseDenseCwiseDiv"))

# ------------------------------------------------------------ products

matmul_op = register_op(
    "SparseTensorDenseMatMul", "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    "T: type; Tindices: type in {int32, int64} = int64; adjoint_a: bool = false; adjoint_b: bool = false")


@matmul_op.shape
def _matmul_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 2)
    with_rank(c.shape(1), 1)
    a, b = with_rank(c.value_as_shape(2), 2).sizes, with_rank(c.shape(3), 2).sizes
    assert a is not None and b is not None
    rows, inner = (a[1], a[0]) if c.attr("adjoint_a") else a
    other, columns = (b[1], b[0]) if c.attr("adjoint_b") else b
    merge_sizes(inner, other)
    return TensorShape.from_sizes((rows, columns))


@matmul_op.kernel
def _matmul(a_indices: Any, a_values: Any, a_shape: Any, b: Any, *, adjoint_a: bool, adjoint_b: bool) -> Any:
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    sizes = a_shape.tolist()
    if adjoint_a:
        rows, columns, sizes, a_values = columns, rows, sizes[::-1], np.conj(a_values)
    if adjoint_b:
        b = np.conj(b.T)
    if sizes[1] != b.shape[0]:
        raise errors.InvalidArgumentError(
            None, None, "Cannot multiply A and B because inner dimension does not match: "
                        f"{sizes[1]} vs. {b.shape[0]}.  Did you forget a transpose?  Dimensions of A: "
                        f"[{a_shape[0]}, {a_shape[1]}).  Dimensions of B: {text_of_shape(b)}")
    for i, (limit, places) in enumerate(zip(sizes, (rows, columns))):
        if places.size and (places.min() < 0 or places.max() >= limit):
            raise errors.InvalidArgumentError(None, None, f"{'mk'[i]} ({places.max()}) is out of bounds (>= {limit})")
    from scipy import sparse
    return np.asarray(sparse.csr_matrix((a_values, (rows, columns)), shape=sizes) @ b, b.dtype)


@matmul_op.gradient
def _matmul_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    if values.dtype.is_complex:
        raise NotImplementedError("SparseTensorDenseMatMul op does not support complex gradients.")
    b_grad = apply_op("SparseTensorDenseMatMul", a_indices=indices, a_values=values, a_shape=shape, b=grad,
                      adjoint_a=not adjoint_a)
    if adjoint_b:
        b_grad = array_ops.transpose(b_grad)
    rows, columns = indices[:, 0], indices[:, 1]
    left = array_ops.gather(grad, columns if adjoint_a else rows)
    right = array_ops.gather(array_ops.transpose(b) if adjoint_b else b, rows if adjoint_a else columns)
    return [None, math_ops.reduce_sum(left * right, axis=1), None, b_grad]


def sparse_tensor_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False,
                               name: str | None = None) -> Tensor:
    """The product [m, n] of a SparseTensor [m, k] and a matrix [k, n], either conjugated and transposed first."""
    sp_a = as_sparse(sp_a)
    with ops.name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = ops.convert_to_tensor(b, name="b")
        return apply_op("SparseTensorDenseMatMul", a_indices=sp_a.indices, a_values=sp_a.values,
                        a_shape=sp_a.dense_shape, b=b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


# ------------------------------------------------------------ maximum, minimum

maximum_op = register_op("SparseSparseMaximum", f"{_A}, {_B} -> output_indices: int64, output_values: T",
                         "T: type in {realnumbertype}")
minimum_op = register_op("SparseSparseMinimum", f"{_A}, {_B} -> output_indices: int64, output_values: T",
                         "T: type in {numbertype}")


@maximum_op.shape
@minimum_op.shape
def _extreme_shape(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([None, None]), TensorShape([None])]


def _extreme(function: np.ufunc, a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any,
             b_values: Any) -> tuple[Any, Any]:
    a_keys, b_keys = element_keys(a_indices, a_shape), element_keys(b_indices, a_shape)
    keys, first = np.unique(np.concatenate([a_keys, b_keys]), return_index=True)
    left, right = np.zeros(len(keys), a_values.dtype), np.zeros(len(keys), a_values.dtype)
    left[np.searchsorted(keys, a_keys)] = a_values
    right[np.searchsorted(keys, b_keys)] = b_values
    return np.concatenate([a_indices, b_indices])[first], function(left, right)


@maximum_op.kernel
def _maximum(a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any) -> Any:
    return _extreme(np.maximum, a_indices, a_values, a_shape, b_indices, b_values)


@minimum_op.kernel
def _minimum(a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any) -> Any:
    return _extreme(np.minimum, a_indices, a_values, a_shape, b_indices, b_values)


@maximum_op.gradient
@minimum_op.gradient
def _extreme_gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    raise NotImplementedError(f"Gradient for {op.type} is currently not implemented yet.")


def _sparse_extreme(op_type: str, sp_a: SparseTensor, sp_b: SparseTensor, name: str | None) -> SparseTensor:
    with ops.name_scope(name, op_type, [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]) as name:
        indices, values = apply_op(
            op_type, a_indices=sp_a.indices, a_values=sp_a.values, a_shape=sp_a.dense_shape, b_indices=sp_b.indices,
            b_values=sp_b.values, b_shape=sp_b.dense_shape, name=name)
    return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of the elements of two SparseTensors of one shape; where one has none it counts as zero."""
    return _sparse_extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The lesser of the elements of two SparseTensors of one shape; where one has none it counts as zero."""
    return _sparse_extreme("SparseSparseMinimum", sp_a, sp_b, name)
