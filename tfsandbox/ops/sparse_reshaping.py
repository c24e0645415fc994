"""SparseTensors in another order or shape: reorder, reshape, transpose, concat, split, slice, retain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, tensor_util
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.static_values import constant_value_as_shape
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import text_of_sizes
from tfsandbox.ops.sparse_conversion import as_sparse

__all__ = [
    "sparse_concat", "sparse_fill_empty_rows", "sparse_merge", "sparse_reorder", "sparse_reset_shape",
    "sparse_reshape", "sparse_retain", "sparse_slice", "sparse_split", "sparse_transpose",
]

_OUT = "output_indices: int64, output_values: T, output_shape: int64"


def _vector_size(shape: TensorShape) -> int | None:
    sizes = with_rank(shape, 1).sizes
    assert sizes is not None
    return sizes[0]


# ------------------------------------------------------------ reorder

reorder_op = register_op(
    "SparseReorder", "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, "
    "output_values: T", "T: type")


@reorder_op.shape
def _reorder_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(2), 1)
    return [with_rank(c.shape(0), 2), with_rank(c.shape(1), 1)]


@reorder_op.kernel
def _reorder(input_indices: Any, input_values: Any, input_shape: Any) -> tuple[Any, Any]:
    order = np.lexsort(input_indices.T[::-1]) if input_indices.shape[1] else np.arange(len(input_indices))
    return input_indices[order], input_values[order]


@reorder_op.gradient
def _reorder_grad(op: Operation, unused: Any, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import math_ops
    indices, shape = op.inputs[0], op.inputs[2]
    count = array_ops.shape(indices)[0]
    ordered = sparse_reorder(SparseTensor(indices, math_ops.range(count), shape))
    return [None, array_ops.gather(grad, array_ops.invert_permutation(ordered.values)), None]


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same SparseTensor with its elements in row-major order."""
    sp_input = as_sparse(sp_input)
    indices, values = apply_op("SparseReorder", input_indices=sp_input.indices, input_values=sp_input.values,
                               input_shape=sp_input.dense_shape, name=name)
    static = sp_input.get_shape()
    shape = static.as_list() if static.is_fully_defined() else array_ops.identity(sp_input.dense_shape)
    return SparseTensor(indices, values, shape)


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor with its axes in the order `perm`; reversed where none is given."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = array_ops.rank(sp_input)
            perm = (rank - 1) - math_ops.range(0, rank, 1)
        indices = array_ops.transpose(array_ops.gather(array_ops.transpose(sp_input.indices), perm))
        known = tensor_util.constant_value(ops.convert_to_tensor(perm))
        static = sp_input.get_shape()
        shape: Any
        if known is not None and static.is_fully_defined():
            shape = [static.as_list()[axis] for axis in known]
        else:
            shape = array_ops.gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, shape))


# ------------------------------------------------------------ reshape

reshape_op = register_op("SparseReshape", "input_indices: int64, input_shape: int64, new_shape: int64 -> "
                         "output_indices: int64, output_shape: int64")


@reshape_op.shape
def _reshape_shape(c: ShapeContext) -> list[TensorShape]:
    indices = with_rank(c.shape(0), 2).sizes
    with_rank(c.shape(1), 1)
    assert indices is not None
    return [TensorShape([indices[0], _vector_size(c.shape(2))]), with_rank(c.shape(2), 1)]


@reshape_op.kernel
def _reshape(input_indices: Any, input_shape: Any, new_shape: Any) -> tuple[Any, Any]:
    total = int(np.multiply.reduce(input_shape))
    target = np.array(new_shape)
    unknown = np.flatnonzero(target == -1)
    if unknown.size > 1:
        raise errors.InvalidArgumentError(None, None, f"only one output dimension may be -1, not both {unknown[0]} and "
                                                      f"{unknown[1]}")
    if unknown.size:
        known = int(np.multiply.reduce(target[target != -1]))
        if not known or total % known:
            raise errors.InvalidArgumentError(
                None, None, f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape "
                            f"requires a multiple of {known}. input_shape={text_of_sizes(input_shape)} "
                            f"output_shape={text_of_sizes(target)}")
        target[unknown[0]] = total // known
    if int(np.multiply.reduce(target)) != total:
        raise errors.InvalidArgumentError(
            None, None, f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
                        f"{int(np.multiply.reduce(target))}. input_shape={text_of_sizes(input_shape)} "
                        f"output_shape={text_of_sizes(target)}")
    flat = np.ravel_multi_index(tuple(input_indices.T), tuple(input_shape)) if len(input_shape) else \
        np.zeros(len(input_indices), np.int64)
    indices = np.array(np.unravel_index(flat, tuple(target)), np.int64).T if len(target) else \
        np.zeros((len(flat), 0), np.int64)
    return indices.reshape(len(input_indices), len(target)), target


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """A SparseTensor with the same elements in row-major order in another shape; one size may be -1."""
    from tfsandbox.ops import math_ops
    sp_input = as_sparse(sp_input)
    shape = math_ops.cast(shape, dtype=dtypes.int64)
    with ops.name_scope(name, "SparseReshape", [sp_input]) as name:
        indices, new_shape = apply_op("SparseReshape", input_indices=sp_input.indices, input_shape=sp_input.dense_shape,
                                      new_shape=shape, name=name)
        static = constant_value_as_shape(shape)
        source = constant_value_as_shape(sp_input.dense_shape)
        if static.ndims is not None and source.is_fully_defined():
            static = _with_rest(static, source)
        if static.is_fully_defined():
            new_shape = ops.convert_to_tensor(np.array(static.as_list(), np.int64))
        return SparseTensor(indices, array_ops.identity(sp_input.values), new_shape)


def _with_rest(target: TensorShape, source: TensorShape) -> TensorShape:
    """`target` with its one unknown size worked out; `ValueError` where the numbers of elements differ."""
    sizes, total = target.as_list(), source.num_elements()
    assert total is not None
    if sizes.count(None) > 1:
        return target
    known = int(np.prod([size for size in sizes if size is not None], dtype=np.int64))
    rest = total // known if known else 0
    if (known * rest if None in sizes else known) != total:
        raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {sizes} "
                         f"({known * rest if None in sizes else known} elements).")
    return TensorShape([rest if size is None else size for size in sizes])


# ------------------------------------------------------------ concat and split

concat_op = register_op("SparseConcat", f"indices: N*int64, values: N*T, shapes: N*int64 -> {_OUT}",
                        "concat_dim: int; N: int >= 2; T: type").no_gradient()


@concat_op.shape
def _concat_shape(c: ShapeContext) -> list[TensorShape]:
    count = c.attr("N")
    total: int | None = 0
    rank = None
    for i in range(count):
        rows = with_rank(c.shape(i), 2).sizes
        assert rows is not None
        values = _vector_size(c.shape(count + i))
        size = rows[0] if rows[0] is not None else values
        total = None if total is None or size is None else total + size
        for found in (rows[1], _vector_size(c.shape(2 * count + i))):
            rank = found if rank is None else rank
    return [TensorShape([total, rank]), TensorShape([total]), TensorShape([rank])]


@concat_op.kernel
def _concat(indices: list[Any], values: list[Any], shapes: list[Any], *, concat_dim: int) -> tuple[Any, Any, Any]:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise errors.InvalidArgumentError(None, None, f"Concat dimension must be in range [{-rank}, {rank}), got "
                                                      f"{concat_dim}")
    axis = concat_dim % rank
    total = np.array(shapes[0])
    moved, offset = [], 0
    for i, (places, shape) in enumerate(zip(indices, shapes)):
        if len(shape) != rank:
            raise errors.InvalidArgumentError(None, None, f"Ranks of all input tensors must match: expected {rank} but "
                                                          f"got {len(shape)} at position {i}")
        for k in range(rank):
            if k != axis and shape[k] != total[k]:
                raise errors.InvalidArgumentError(
                    None, None, f"Input shapes must match: expected {total[k]} for dimension {k} but got {shape[k]} at "
                                f"position {i}")
        shifted = np.array(places)
        shifted[:, axis] += offset
        moved.append(shifted)
        offset += shape[axis]
    total[axis] = offset
    return (*_reorder(np.concatenate(moved), np.concatenate(values), total), total)


def sparse_concat(axis: Any, sp_inputs: Sequence[Any], name: str | None = None, expand_nonconcat_dim: bool = False,
                  concat_dim: Any = None, expand_nonconcat_dims: bool | None = None) -> SparseTensor:
    """SparseTensors one after the other along `axis`; the other sizes must agree, or grow to the greatest."""
    axis = concat_dim if concat_dim is not None else axis
    expand = bool(expand_nonconcat_dims if expand_nonconcat_dims is not None else expand_nonconcat_dim)
    inputs = [as_sparse(value) for value in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [sp.dense_shape for sp in inputs]
    if expand:
        from tfsandbox.ops import math_ops
        most = math_ops.reduce_max(array_ops.concat([array_ops.reshape(shape, [1, -1]) for shape in shapes], 0), 0)
        shapes = [array_ops.concat([most[:axis], shape[-1:] if axis == -1 else shape[axis:axis + 1],
                                    [] if axis == -1 else most[axis + 1:]], 0) for shape in shapes]
    indices, values, shape = apply_op(
        "SparseConcat", indices=[sp.indices for sp in inputs], values=[sp.values for sp in inputs], shapes=shapes,
        concat_dim=axis, name=name)
    static = [constant_value_as_shape(part) for part in shapes]
    if not expand and all(part.is_fully_defined() for part in static):
        sizes = static[0].as_list()
        sizes[axis] = sum(part.as_list()[axis] for part in static)  # type: ignore[misc]
        shape = ops.convert_to_tensor(np.array(sizes, np.int64))
    return SparseTensor(indices, values, shape)


split_op = register_op(
    "SparseSplit", "split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split*int64, "
    "output_values: num_split*T, output_shape: num_split*int64", "num_split: int >= 1; T: type")


@split_op.shape
def _split_shape(c: ShapeContext) -> list[TensorShape]:
    count, rank = c.attr("num_split"), _vector_size(c.shape(3))
    return [TensorShape([None, rank])] * count + [TensorShape([None])] * count + [TensorShape([rank])] * count


@split_op.kernel
def _split(split_dim: Any, indices: Any, values: Any, shape: Any, *, num_split: int) -> tuple[Any, ...]:
    axis = int(split_dim)
    if not 0 <= axis < len(shape):
        raise errors.InvalidArgumentError(
            None, None, f"Input split_dim should be between 0 and rank ({len(shape)}), got {axis}")
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise errors.InvalidArgumentError(
            None, None, f"Input num_split should be between 1 and the splitting dimension size ({size}), "
                        f"got {num_split}")
    # The first parts are one longer where it does not come out even.
    whole, longer = divmod(size, num_split)
    bounds = np.cumsum([0] + [whole + (i < longer) for i in range(num_split)])
    parts: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for begin, end in zip(bounds[:-1], bounds[1:]):
        inside = (indices[:, axis] >= begin) & (indices[:, axis] < end)
        places = indices[inside]
        places[:, axis] -= begin
        sizes = np.array(shape)
        sizes[axis] = end - begin
        for part, value in zip(parts, (places, values[inside], sizes)):
            part.append(value)
    return (*parts[0], *parts[1], *parts[2])


def sparse_split(keyword_required: Any = None, sp_input: Any = None, num_split: int | None = None, axis: Any = None,
                 name: str | None = None, split_dim: Any = None) -> list[SparseTensor]:
    """A SparseTensor cut along `axis` into `num_split` parts, the first ones larger where it is uneven. By keywords."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = split_dim if axis is None else axis
    if axis is None:
        raise ValueError("axis is required")
    sp_input = as_sparse(sp_input)
    indices, values, shapes = apply_op("SparseSplit", split_dim=axis, indices=sp_input.indices, values=sp_input.values,
                                       shape=sp_input.dense_shape, num_split=num_split, name=name)
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes)]


# ------------------------------------------------------------ slice

slice_op = register_op("SparseSlice", f"indices: int64, values: T, shape: int64, start: int64, size: int64 -> {_OUT}",
                       "T: type")
slice_grad_op = register_op(
    "SparseSliceGrad", "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> "
    "val_grad: T", "T: type in {numbertype}")


@slice_op.shape
def _slice_shape(c: ShapeContext) -> list[TensorShape]:
    rank = _vector_size(c.shape(2))
    return [TensorShape([None, rank]), TensorShape([None]), with_rank(c.shape(2), 1)]


@slice_op.kernel
def _slice(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> tuple[Any, Any, Any]:
    for name, vector in (("start", start), ("size", size)):
        if len(vector) != len(shape):
            raise errors.InvalidArgumentError(None, None, f"Expected {name} to be a vector of length {len(shape)} but "
                                                          f"got length {len(vector)}")
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    # A slice that reaches over the end is shorter.
    return indices[inside] - start, values[inside], np.maximum(np.minimum(size, shape - start), 0)


@slice_op.gradient
def _slice_gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    result = apply_op("SparseSliceGrad", backprop_val_grad=grads[1], input_indices=op.inputs[0],
                      input_start=op.inputs[3], output_indices=op.outputs[0])
    result.set_shape(op.inputs[1].shape)
    return [None, result, None, None, None]


@slice_grad_op.shape
def _slice_grad_shape(c: ShapeContext) -> TensorShape:
    sizes = with_rank(c.shape(1), 2).sizes
    assert sizes is not None
    return TensorShape([sizes[0]])


@slice_grad_op.kernel
def _slice_grad(backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any) -> Any:
    places = {tuple(index): i for i, index in enumerate((output_indices + input_start).tolist())}
    result = np.zeros(len(input_indices), backprop_val_grad.dtype)
    for i, index in enumerate(input_indices.tolist()):
        if tuple(index) in places:
            result[i] = backprop_val_grad[places[tuple(index)]]
    return result


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The block of a SparseTensor that begins at `start` and has the sizes `size`."""
    sp_input = as_sparse(sp_input)
    start = ops.convert_to_tensor(start, dtypes.int64)
    size = ops.convert_to_tensor(size, dtypes.int64)
    with ops.name_scope(name, "SparseSlice", [sp_input]) as name:
        return SparseTensor(*apply_op("SparseSlice", indices=sp_input.indices, values=sp_input.values,
                                      shape=sp_input.dense_shape, start=start, size=size, name=name))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """A SparseTensor with only the elements for which the vector `to_retain` is true."""
    sp_input = as_sparse(sp_input)
    to_retain = ops.convert_to_tensor(to_retain)
    to_retain.shape.assert_has_rank(1)
    sp_input.values.shape.dims[0].merge_with(to_retain.shape.dims[0])
    kept = array_ops.reshape(array_ops.where(to_retain), [-1])
    return SparseTensor(array_ops.gather(sp_input.indices, kept), array_ops.gather(sp_input.values, kept),
                        array_ops.identity(sp_input.dense_shape))


# ------------------------------------------------------------ other shapes

fill_op = register_op(
    "SparseFillEmptyRows", "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64", "T: type")
fill_grad_op = register_op(
    "SparseFillEmptyRowsGrad", "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T", "T: type")


@fill_op.shape
def _fill_shape(c: ShapeContext) -> list[TensorShape]:
    indices, values = with_rank(c.shape(0), 2), with_rank(c.shape(1), 1)
    with_rank(c.shape(3), 0)
    shape = c.value_as_shape(2)
    rows = shape.sizes[0] if shape.sizes else None
    assert indices.sizes is not None and values.sizes is not None
    count = indices.sizes[0] if indices.sizes[0] is not None else values.sizes[0]
    return [TensorShape([None, indices.sizes[1]]), TensorShape([None]), TensorShape([rows]), TensorShape([count])]


@fill_op.kernel
def _fill(indices: Any, values: Any, dense_shape: Any, default_value: Any) -> tuple[Any, Any, Any, Any]:
    rows = int(dense_shape[0])
    if len(indices) and (indices[:, 0].min() < 0 or indices[:, 0].max() >= rows):
        bad = int(np.flatnonzero((indices[:, 0] < 0) | (indices[:, 0] >= rows))[0])
        raise errors.InvalidArgumentError(None, None, f"indices({bad}, 0) is invalid: {indices[bad, 0]} >= {rows}")
    counts = np.bincount(indices[:, 0], minlength=rows) if len(indices) else np.zeros(rows, int)
    empty = counts == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    filler = np.empty(len(added), values.dtype)
    filler[:] = default_value
    joined = np.concatenate([indices, added])
    order = np.argsort(joined[:, 0], kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return joined[order], np.concatenate([values, filler])[order], empty, back[:len(indices)]


@fill_op.gradient
def _fill_gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    d_values, d_default = apply_op("SparseFillEmptyRowsGrad", reverse_index_map=op.outputs[3], grad_values=grads[1])
    return [None, d_values, None, d_default]


@fill_grad_op.shape
def _fill_grad_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(1), 1)
    return [with_rank(c.shape(0), 1), TensorShape([])]


@fill_grad_op.kernel
def _fill_grad(reverse_index_map: Any, grad_values: Any) -> tuple[Any, Any]:
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    return grad_values[reverse_index_map], np.add.reduce(grad_values[rest])


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Tensor]:
    """The SparseTensor with an element `default_value` at [row, 0, ...] of every empty row, and which those are."""
    sp_input = as_sparse(sp_input)
    with ops.name_scope(name, "SparseFillEmptyRows", [sp_input]):
        default_value = ops.convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        indices, values, empty, _ = apply_op(
            "SparseFillEmptyRows", indices=sp_input.indices, values=sp_input.values, dense_shape=sp_input.dense_shape,
            default_value=default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """A SparseTensor with the same elements and the shape `new_shape`, or the smallest that holds them."""
    from tfsandbox.ops import check_ops, control_flow_ops, math_ops
    sp_input = as_sparse(sp_input)
    indices, values, old = (array_ops.identity(part) for part in (
        sp_input.indices, sp_input.values, sp_input.dense_shape))
    if new_shape is None:
        most = math_ops.reduce_max(indices, 0)
        zero = ops.convert_to_tensor(0, dtypes.int64)
        tight = math_ops.maximum(zero, math_ops.add(most, array_ops.ones_like(old)))
        return SparseTensor(indices, values, tight)
    output = math_ops.cast(ops.convert_to_tensor(new_shape), dtypes.int64)
    output.shape.assert_has_rank(1)
    wanted, found = constant_value_as_shape(output), sp_input.get_shape()
    if wanted.is_fully_defined() and found.is_fully_defined():
        if len(wanted.as_list()) != len(found.as_list()) or any(
                n < m for n, m in zip(wanted.as_list(), found.as_list())):  # type: ignore[operator]
            raise ValueError("Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                             f"({_listed(found)}), sp_input.shape ({_listed(wanted)}).")
        return SparseTensor(indices, values, wanted.as_list())
    checks = [check_ops.assert_equal(array_ops.shape(old), array_ops.shape(output))]
    output = control_flow_ops.with_dependencies(checks, output)
    checks = [check_ops.assert_less_equal(old, output)]
    return SparseTensor(indices, values, control_flow_ops.with_dependencies(checks, output))


def _listed(shape: TensorShape) -> str:
    return str(np.array(shape.as_list()))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A SparseTensor with a new axis of size 1 before axis `axis` (the last one by default)."""
    from tfsandbox.ops import math_ops
    rank = sp_input.dense_shape.shape.as_list()[0]
    axis = -1 if axis is None else axis
    with ops.name_scope(name, "expand_dims", [sp_input]):
        axis = ops.convert_to_tensor(axis, name="axis")
        from tfsandbox.ops.select_v2 import where_v2
        axis = where_v2(math_ops.greater_equal(axis, 0), axis, axis + rank + 1)
        column = array_ops.zeros([array_ops.shape(sp_input.indices)[0], 1], dtype=dtypes.int64)
        before = array_ops.slice(sp_input.indices, [0, 0], [-1, axis])
        after = array_ops.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = array_ops.concat([before, column, after], axis=1)
        shape_before = array_ops.slice(sp_input.dense_shape, [0], [axis])
        shape_after = array_ops.slice(sp_input.dense_shape, [axis], [-1])
        one = ops.convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        return SparseTensor(indices, sp_input.values, array_ops.concat([shape_before, one, shape_after], axis=0))


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                 already_sorted: bool = False) -> SparseTensor:
    """A SparseTensor whose last axis is indexed by the values of `sp_ids`, with the elements of `sp_values`."""
    return sparse_merge_impl(sp_ids, sp_values, vocab_size, name, already_sorted)


def sparse_merge_impl(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                      already_sorted: bool = False) -> SparseTensor:
    """See `sparse_merge`; `sp_ids` and `vocab_size` may be lists, for several axes."""
    from tfsandbox.ops import math_ops
    if not isinstance(sp_ids, (list, tuple)) or hasattr(sp_ids, "dense_shape"):
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    elif not isinstance(vocab_size, (list, tuple)):
        raise TypeError("vocab_size has to be a list of Tensors or Python ints. Found "
                        f"{type(vocab_size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    ids, sp_values = [as_sparse(part) for part in sp_ids], as_sparse(sp_values)
    with ops.name_scope(name, "SparseMerge", [*ids, sp_values]):
        columns = [array_ops.expand_dims(math_ops.cast(part.values, dtypes.int64), axis=1) for part in ids]
        sizes = [math_ops.cast(size, dtypes.int64) for size in vocab_size]
        kept = ids[0].indices[:, :-1]
        indices = array_ops.concat([kept, *columns], 1)
        shape = array_ops.concat([ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, sp_values.values, shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, shape)
