"""SparseTensors and dense tensors: one made of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank_at_most
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array

__all__ = ["sparse_mask", "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator"]


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor, or a SparseTensorValue as one; `TypeError` for anything else."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def ordering_error(indices: np.ndarray, sizes: Any) -> errors.InvalidArgumentError | None:
    """What is wrong with the indices of a sparse tensor: out of bounds, repeated, or not in order."""
    outside = (indices < 0) | (indices >= np.asarray(sizes))
    if outside.any():
        i = int(np.argwhere(outside.any(axis=1))[0, 0])
        return errors.InvalidArgumentError(
            None, None, f"indices[{i}] = [{','.join(map(str, indices[i]))}] is out of bounds: need 0 <= index < "
                        f"[{','.join(map(str, np.asarray(sizes)))}]")
    if not len(indices):
        return None
    keys = np.ravel_multi_index(tuple(indices.T), tuple(sizes)) if indices.shape[1] else np.zeros(len(indices), int)
    steps = np.diff(keys)
    bad = np.flatnonzero(steps <= 0)
    if not bad.size:
        return None
    i = int(bad[0]) + 1
    place = f"indices[{i}] = [{','.join(map(str, indices[i]))}]"
    if steps[i - 1] == 0:
        return errors.InvalidArgumentError(None, None, f"{place} is repeated")
    return errors.InvalidArgumentError(
        None, None, f"{place} is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to "
                    "create a correctly ordered copy.\n\n")


sparse_to_dense_op = register_op(
    "SparseToDense", "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    "validate_indices: bool = true; T: type; Tindices: type in {int32, int64}")


@sparse_to_dense_op.shape
def _sparse_to_dense_shape(c: ShapeContext) -> TensorShape:
    with_rank_at_most(c.shape(0), 2)
    return c.value_as_shape(1)


@sparse_to_dense_op.kernel
def _sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, *,
                     validate_indices: bool) -> Any:
    indices, values = np.asarray(sparse_indices), as_array(sparse_values)
    if indices.ndim > 2:
        raise errors.InvalidArgumentError(None, None, "sparse_indices should be a scalar, vector, or matrix, got shape "
                                                      f"[{','.join(map(str, indices.shape))}]")
    if indices.ndim < 2:
        indices = indices.reshape(-1, 1)
    if indices.shape[1] != len(output_shape):
        raise errors.InvalidArgumentError(None, None, "output_shape has incorrect number of elements: "
                                                      f"{len(output_shape)} should be: {indices.shape[1]}")
    if values.ndim and values.size != len(indices):
        raise errors.InvalidArgumentError(
            None, None, f"sparse_values has incorrect shape [{values.size}], should be [] or [{len(indices)}]")
    if validate_indices:
        error = ordering_error(indices, output_shape)
        if error is not None:
            raise error
    result = np.full(output_shape, default_value, values.dtype)
    inside = ((indices >= 0) & (indices < output_shape)).all(axis=1)
    if not inside.all():
        raise errors.InvalidArgumentError(None, None, "Indices are not valid (out of bounds).  Shape: "
                                                      f"[{','.join(map(str, output_shape))}]")
    result[tuple(indices.T)] = values
    return result


@sparse_to_dense_op.gradient
def _sparse_to_dense_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    values_grad = array_ops.gather_nd(grad, op.inputs[0])
    default_grad = math_ops.reduce_sum(grad) - math_ops.reduce_sum(values_grad)
    return [array_ops.zeros_like(op.inputs[0]), array_ops.zeros_like(op.inputs[1]), values_grad, default_grad]


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """A dense tensor of shape `output_shape`: `sparse_values` at `sparse_indices` [n, rank], else `default_value`.

    With `validate_indices` indices that are not sorted or repeat raise `InvalidArgumentError` in a run.
    """
    return apply_op("SparseToDense", sparse_indices=sparse_indices, output_shape=output_shape,
                    sparse_values=sparse_values, default_value=default_value, validate_indices=validate_indices,
                    name=name)


def sparse_tensor_to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True,
                           name: str | None = None) -> Tensor:
    """The dense tensor of a SparseTensor, `default_value` (zero) where it has no element."""
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sp_input.dtype)
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value, validate_indices, name)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """sp_input.dense_shape[:-1] + [vocab_size], bool: true at the values (ids) that each row holds."""
    from tfsandbox.ops import sparse_ops
    sp_input = as_sparse(sp_input)
    with ops.name_scope(name, "SparseToIndicator", [sp_input]) as name:
        count = array_ops.shape(sp_input.indices)[0]
        flags = array_ops.fill(array_ops.expand_dims(count, 0), True)
        marked = SparseTensor(sp_input.indices, flags, sp_input.dense_shape)
        merged = sparse_ops.sparse_merge_impl(sp_input, marked, vocab_size, name)
        # An id may stand in a row twice.
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=name)


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The SparseTensor of the elements that are not zero."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "dense_to_sparse"):
        tensor = ops.convert_to_tensor(tensor)
        zero = ops.convert_to_tensor("" if tensor.dtype == dtypes.string else 0, tensor.dtype)
        places = array_ops.where(math_ops.not_equal(tensor, zero))
        return SparseTensor(places, array_ops.gather_nd(tensor, places),
                            array_ops.shape(tensor, out_type=dtypes.int64))


def sparse_eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32,
               name: str | None = None) -> SparseTensor:
    """A SparseTensor with ones on the diagonal."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "eye", [num_rows, num_columns]):
        num_rows = _int64(num_rows, "num_rows")
        num_columns = num_rows if num_columns is None else _int64(num_columns, "num_columns")
        count = math_ops.minimum(num_rows, num_columns)
        diagonal = math_ops.range(count, dtype=dtypes.int64)
        return SparseTensor(array_ops.stack([diagonal, diagonal], axis=1), array_ops.ones(count, dtype=dtype),
                            [num_rows, num_columns])


def _int64(value: Any, name: str) -> Tensor:
    from tfsandbox.ops import math_ops
    if isinstance(value, Tensor):
        return math_ops.cast(value, dtypes.int64)
    return ops.convert_to_tensor(value, dtype=dtypes.int64, name=name)


def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """The IndexedSlices `a` without the rows whose index is in `mask_indices`."""
    from tfsandbox.framework.indexed_slices import IndexedSlices
    with ops.name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        kept, places = array_ops.setdiff1d(a.indices, mask_indices)
        return IndexedSlices(array_ops.gather(a.values, places, name=name), kept, a.dense_shape)
