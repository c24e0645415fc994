"""Ops that arrange the same elements in another shape: reshape, transpose, expand_dims, squeeze."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import known_product, text, unknown_of_rank, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array, text_of_shape

reshape_op = register_op("Reshape", "tensor: T, shape: Tshape -> output: T",
                         "T: type; Tshape: type in {int32, int64} = int32")


@reshape_op.shape
def _reshape_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 1)
    target = c.value_as_shape(1)
    source = c.shape(0)
    if target.sizes is None:
        return UNKNOWN
    count = source.num_elements()
    unknown = [i for i, size in enumerate(target.sizes) if size is None]
    known = known_product([size for size in target.sizes if size is not None])
    assert known is not None
    if count is None:
        # One unknown size on each side, and the rest agreeing, is the same unknown size; numbers do not change.
        return target
    if not unknown:
        if known != count:
            raise ValueError(f"Cannot reshape a tensor with {count} elements to shape {text(target)} "
                             f"({known} elements)")
        return target
    if known == 0 and count != 0:
        raise ValueError(f"Cannot reshape a tensor with {count} elements to shape {text(target)} (0 elements)")
    if known == 0:
        return target
    if len(unknown) == 1:
        if count % known:
            raise ValueError(f"Dimension size must be evenly divisible by {known} but is {count}")
        return TensorShape.from_sizes(tuple(count // known if size is None else size for size in target.sizes))
    return target


@reshape_op.kernel(view=True)
def _reshape(tensor: Any, shape: Any) -> Any:
    if np.ndim(shape) != 1:
        raise errors.InvalidArgumentError(None, None, f"sizes input must be 1-D, not {text_of_shape(shape)}")
    sizes = tuple(shape.tolist())
    tensor = as_array(tensor)
    count = tensor.size
    if sizes.count(-1) > 1:
        first = sizes.index(-1)
        raise errors.InvalidArgumentError(None, None, f"Only one input size may be -1, not both {first} and "
                                                      f"{sizes.index(-1, first + 1)}")
    known = 1
    for i, size in enumerate(sizes):
        if size < -1:
            raise errors.InvalidArgumentError(None, None, f"Size {i} must be non-negative, not {size}")
        known *= 1 if size == -1 else size
    if -1 in sizes:
        if known == 0 and count == 0:
            return tensor.reshape(tuple(0 if size == -1 else size for size in sizes))
        if known == 0:
            raise errors.InvalidArgumentError(
                None, None, f"Input to reshape is a tensor with {count} values, but the requested shape has 0")
        if count % known:
            raise errors.InvalidArgumentError(
                None, None, f"Input to reshape is a tensor with {count} values, but the requested shape requires a "
                            f"multiple of {known}")
    elif known != count:
        raise errors.InvalidArgumentError(
            None, None, f"Input to reshape is a tensor with {count} values, but the requested shape has {known}")
    return tensor.reshape(sizes)


@reshape_op.emit
def _reshape_emit(node: Any) -> str | None:
    sizes = node.value(1)
    # Known shapes have been checked against each other; what is open is checked by the kernel, with its messages.
    if sizes is None or not node.shape(0).is_fully_defined() or not node.output_shape().is_fully_defined():
        return None
    if node.dtype(0) == dtypes.string or (np.asarray(sizes) == -1).sum() > 1 or node.output_shape().num_elements() == 0:
        return None
    listed = [int(size) for size in np.asarray(sizes)]
    return "{0}.reshape(" + (", ".join(map(str, listed)) if listed else "()") + ")"


@reshape_op.gradient
def _reshape_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    return [reshape(grad, array_ops.shape(op.inputs[0])), None]


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The elements of `tensor`, in order, in another shape; one size may be -1: what is left."""
    return apply_op("Reshape", tensor=tensor, shape=shape, name=name)


expand_dims_op = register_op("ExpandDims", "input: T, dim: Tdim -> output: T",
                             "T: type; Tdim: type in {int32, int64} = int32")


@expand_dims_op.shape
def _expand_dims_shape(c: ShapeContext) -> TensorShape:
    sizes, axis = c.shape(0).sizes, c.value(1)
    if sizes is None:
        return UNKNOWN
    if axis is None:
        return UNKNOWN
    if np.size(axis) != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    place = int(np.ravel(axis)[0])
    rank = len(sizes)
    if not -1 - rank <= place <= rank:
        raise ValueError(f"dim {place} not in the interval [{-1 - rank}, {rank}].")
    place += rank + 1 if place < 0 else 0
    return TensorShape.from_sizes((*sizes[:place], 1, *sizes[place:]))


@expand_dims_op.kernel(view=True)
def _expand_dims(value: Any, dim: Any) -> Any:
    if np.size(dim) != 1:
        raise errors.InvalidArgumentError(None, None, "'dim' must be a tensor with a single value")
    rank, place = np.ndim(value), int(np.ravel(dim)[0])
    if not -1 - rank <= place <= rank:
        raise errors.InvalidArgumentError(None, None, f"Tried to expand dim index {place} for tensor with {rank} "
                                                      "dimensions.")
    return np.expand_dims(as_array(value), place)


@expand_dims_op.emit
def _expand_dims_emit(node: Any) -> str | None:
    axis, rank = node.value(1), node.shape(0).ndims
    if axis is None or not rank or np.size(axis) != 1:
        return None
    place = int(np.ravel(axis)[0])
    if not -1 - rank <= place <= rank:
        return None
    place += rank + 1 if place < 0 else 0
    if place == rank:
        return "{0}[..., None]"
    return "{0}[" + ":, " * place + "None]"


@expand_dims_op.gradient
def _expand_dims_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_back_to_input_shape(op, grad), None]


def _back_to_input_shape(op: Operation, grad: Tensor) -> Tensor:
    from tfsandbox.ops import array_ops
    return reshape(grad, array_ops.shape(op.inputs[0]))


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`input` with a new axis of size 1 before axis `axis`; -1 puts it last."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return apply_op("ExpandDims", input=input, dim=axis, name=name)


squeeze_op = register_op("Squeeze", "input: T -> output: T", "T: type; squeeze_dims: list(int) >= 0 = []")


@squeeze_op.shape
def _squeeze_shape(c: ShapeContext) -> TensorShape:
    sizes, axes = c.shape(0).sizes, c.attr("squeeze_dims")
    if sizes is None:
        return UNKNOWN
    if not axes:
        if None in sizes:
            return UNKNOWN
        return TensorShape.from_sizes(tuple(size for size in sizes if size != 1))
    rank = len(sizes)
    gone = set()
    for i, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(f"squeeze_dims[{i}] not in [{-rank},{rank}).")
        gone.add(axis % rank)
    for axis in sorted(gone):
        if sizes[axis] not in (1, None):
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {sizes[axis]}")
    return TensorShape.from_sizes(tuple(size for i, size in enumerate(sizes) if i not in gone))


@squeeze_op.kernel(view=True)
def _squeeze(value: Any, *, squeeze_dims: list[int]) -> Any:
    value = as_array(value)
    sizes = value.shape
    if not squeeze_dims:
        return value.reshape([size for size in sizes if size != 1])
    rank = len(sizes)
    gone = set()
    for axis in squeeze_dims:
        if not -rank <= axis < rank:
            raise errors.InvalidArgumentError(None, None, f"Tried to squeeze dim index {axis} for tensor with {rank} "
                                                          "dimensions.")
        if sizes[axis] != 1:
            raise errors.InvalidArgumentError(None, None, f"Can not squeeze dim[{axis % rank}], expected a dimension "
                                                          f"of 1, got {sizes[axis]}")
        gone.add(axis % rank)
    return value.reshape([size for i, size in enumerate(sizes) if i not in gone])


@squeeze_op.emit
def _squeeze_emit(node: Any) -> str | None:
    axes, rank = node.attr("squeeze_dims"), node.shape(0).ndims
    if not node.shape(0).is_fully_defined() or node.dtype(0) == dtypes.string:
        return None
    gone = sorted({axis % rank for axis in axes}) if axes else [i for i, d in enumerate(node.shape(0).sizes) if d == 1]
    if not gone:
        return None
    return "{0}.squeeze(" + (str(gone[0]) if len(gone) == 1 else f"({', '.join(map(str, gone))})") + ")"


@squeeze_op.gradient
def _squeeze_grad(op: Operation, grad: Tensor) -> Tensor:
    return _back_to_input_shape(op, grad)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """`input` without its axes of size 1, or without those of `axis`; `ValueError` where one of these is larger."""
    if axis is not None and squeeze_dims is not None:
        raise ValueError("Cannot specify both 'squeeze_dims' and 'axis'")
    axis = squeeze_dims if axis is None else axis
    if axis is not None and np.isscalar(axis):
        axis = [axis]
    return apply_op("Squeeze", input=input, squeeze_dims=axis, name=name)


transpose_op = register_op("Transpose", "x: T, perm: Tperm -> y: T", "T: type; Tperm: type in {int32, int64} = int32")
conjugate_transpose_op = register_op("ConjugateTranspose", "x: T, perm: Tperm -> y: T",
                                     "T: type; Tperm: type in {int32, int64} = int32")


@transpose_op.shape
@conjugate_transpose_op.shape
def _transpose_shape(c: ShapeContext) -> TensorShape:
    source, order, perm = c.shape(0), c.shape(1), c.value(1)
    with_rank(order, 1)
    count = order.sizes[0] if order.sizes else None
    rank = source.ndims if source.ndims is not None else count
    if perm is not None:
        rank = len(perm)
    if rank is None:
        return UNKNOWN
    source = with_rank(source, rank) if perm is None or source.ndims is None else source
    if source.ndims != rank or (count is not None and count != rank):
        raise ValueError(f"Dimension must be {source.ndims} but is {count if count is not None else rank}")
    if perm is None:
        sizes = source.sizes
        # All sizes equal, or a single one: any order gives the same.
        return source if rank <= 1 else unknown_of_rank(rank)
    sizes = source.sizes
    assert sizes is not None
    result = []
    for axis in perm.tolist():
        if not -rank <= axis < rank:
            raise ValueError(f"perm dim {axis} is out of range of input rank {rank}")
        result.append(sizes[axis])
    return TensorShape.from_sizes(tuple(result))


def _checked_perm(value: Any, perm: Any) -> list[int]:
    rank = np.ndim(value)
    order = perm.tolist()
    if len(order) != rank:
        raise errors.InvalidArgumentError(None, None, f"transpose expects a vector of size {rank}. But input(1) is a "
                                                      f"vector of size {len(order)}")
    for axis in order:
        if not 0 <= axis < rank:
            raise errors.InvalidArgumentError(None, None, f"{axis} is out of range [0 .. {rank})")
    for i in range(rank):
        if i not in order:
            raise errors.InvalidArgumentError(None, None, f"{i} is missing from {{{','.join(map(str, order))}}}.")
    return order


@transpose_op.kernel(view=True)
def _transpose(x: Any, perm: Any) -> Any:
    return as_array(x).transpose(_checked_perm(x, perm))


@conjugate_transpose_op.kernel
def _conjugate_transpose(x: Any, perm: Any) -> Any:
    return np.conj(np.transpose(x, _checked_perm(x, perm)))


@transpose_op.emit
def _transpose_emit(node: Any) -> str | None:
    perm, rank = node.value(1), node.shape(0).ndims
    if perm is None or rank is None:
        return None
    order = [int(axis) for axis in perm]
    if rank < 2 or sorted(order) != list(range(rank)):
        return None
    if order == list(range(rank))[::-1]:
        return "{0}.T"
    return "{0}.transpose(" + ", ".join(map(str, order)) + ")"


@transpose_op.gradient
def _transpose_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [transpose(grad, invert_permutation(op.inputs[1])), None]


@conjugate_transpose_op.gradient
def _conjugate_transpose_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [transpose(grad, invert_permutation(op.inputs[1]), conjugate=True), None]


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """`a` with its axes in the order `perm`; reversed where none is given. `conjugate` conjugates complex values."""
    with ops.name_scope(name, "transpose", [a]) as name:
        a = ops.convert_to_tensor(a, name="a")
        if perm is None:
            rank = a.shape.ndims
            if rank is not None:
                perm = np.arange(rank - 1, -1, -1, dtype=np.int32)
            else:
                from tfsandbox.ops import array_ops
                count = array_ops.rank(a)
                perm = (count - 1) - apply_op("Range", start=0, limit=count, delta=1)
        op_type = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        return apply_op(op_type, x=a, perm=perm, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """`a` with its last two axes exchanged; `ValueError` for a tensor of rank less than 2."""
    with ops.name_scope(name, values=[a]):
        a = ops.convert_to_tensor(a, name="a")
        rank = a.shape.ndims
        if rank is not None:
            if rank < 2:
                raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}")
            perm: Any = [*range(rank - 2), rank - 1, rank - 2]
        else:
            from tfsandbox.ops import array_ops
            count = array_ops.rank(a)
            perm = array_ops.concat((apply_op("Range", start=0, limit=count - 2, delta=1), [count - 1, count - 2]), 0)
        return transpose(a, perm=perm, conjugate=conjugate)


invert_permutation_op = register_op(
    "InvertPermutation", "x: T -> y: T", "T: type in {int32, int64} = int32").no_gradient()


@invert_permutation_op.shape
def _invert_permutation_shape(c: ShapeContext) -> TensorShape:
    return with_rank(c.shape(0), 1)


@invert_permutation_op.kernel
def _invert_permutation(x: Any) -> Any:
    if np.ndim(x) != 1:
        raise errors.InvalidArgumentError(None, None, "invert_permutation expects a 1D vector.")
    count = len(x)
    result = np.full(count, -1, x.dtype)
    for i, place in enumerate(x.tolist()):
        if not 0 <= place < count:
            raise errors.InvalidArgumentError(None, None, f"{place} is not between 0 and {count}")
        if result[place] != -1:
            raise errors.InvalidArgumentError(None, None, f"{place} is duplicated in the input.")
        result[place] = i
    return result


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The inverse of a permutation [n]: `y[x[i]] = i`."""
    return apply_op("InvertPermutation", x=x, name=name)
