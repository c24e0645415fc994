"""Ops that join tensors: concat, stack, and lists of tensors that are taken as one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import conversion, dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import (
    merge,
    unknown_of_rank,
    with_rank,
    with_rank_at_least,
)
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array, text_of_sizes

concat_op = register_op("Concat", "concat_dim: int32, values: N*T -> output: T", "N: int >= 2; T: type")
concat_v2_op = register_op("ConcatV2", "values: N*T, axis: Tidx -> output: T",
                           "N: int >= 2; T: type; Tidx: type in {int32, int64} = int32")


@concat_op.shape
def _concat_shape(c: ShapeContext) -> TensorShape:
    return _joined_shape(c, 0, range(1, c.num_inputs))


@concat_v2_op.shape
def _concat_v2_shape(c: ShapeContext) -> TensorShape:
    return _joined_shape(c, c.num_inputs - 1, range(c.num_inputs - 1))


def _joined_shape(c: ShapeContext, axis_input: int, values: range) -> TensorShape:
    with_rank(c.shape(axis_input), 0)
    axis = c.value(axis_input)
    if axis is None:
        rank = next((c.shape(i).ndims for i in values if c.shape(i).ndims is not None), None)
        if rank is None:
            return UNKNOWN
        if rank == 0:
            raise ValueError("Can't concatenate scalars (use tf.stack instead)")
        for i in values:
            with_rank(c.shape(i), rank)
        return unknown_of_rank(rank)
    place = int(axis)
    least = -place if place < 0 else place + 1
    before = after = UNKNOWN
    middle: int | None = 0
    for i in values:
        shape = with_rank_at_least(c.shape(i), least) if c.shape(i).ndims != 0 else c.shape(i)
        if shape.sizes == ():
            raise ValueError("Can't concatenate scalars (use tf.stack instead)")
        if shape.sizes is None:
            middle = None
            continue
        if before.sizes is not None and after.sizes is not None:
            with_rank(shape, len(before.sizes) + 1 + len(after.sizes))
        at = place % len(shape.sizes)
        before = merge(before, TensorShape.from_sizes(shape.sizes[:at]))
        after = merge(after, TensorShape.from_sizes(shape.sizes[at + 1:]))
        size = shape.sizes[at]
        middle = None if middle is None or size is None else middle + size
    if before.sizes is None or after.sizes is None:
        return UNKNOWN
    return TensorShape.from_sizes((*before.sizes, middle, *after.sizes))


@concat_op.kernel
def _concat(concat_dim: Any, values: list[Any]) -> Any:
    return _concat_v2(values, concat_dim)


@concat_v2_op.kernel
def _concat_v2(values: list[Any], axis: Any) -> Any:
    first = values[0]
    rank = first.ndim
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(None, None, f"ConcatOp : Expected concatenating dimensions in the range "
                                                      f"[{-rank}, {rank}), but got {axis}")
    try:
        return np.concatenate(values, axis)
    except ValueError:
        raise _unequal_parts(values, int(axis) % rank) from None


def _unequal_parts(values: list[Any], axis: int) -> Exception:
    first = values[0].shape
    for i, value in enumerate(values):
        if value.ndim != len(first):
            return errors.InvalidArgumentError(
                None, None, f"ConcatOp : Ranks of all input tensors should match: shape[0] = {text_of_sizes(first)} "
                            f"vs. shape[{i}] = {text_of_sizes(value.shape)}")
        if value.shape[:axis] + value.shape[axis + 1:] != first[:axis] + first[axis + 1:]:
            return errors.InvalidArgumentError(
                None, None, f"ConcatOp : Dimensions of inputs should match: shape[0] = {text_of_sizes(first)} vs. "
                            f"shape[{i}] = {text_of_sizes(value.shape)}")
    return errors.InternalError(None, None, "ConcatOp: the inputs cannot be joined")


@concat_v2_op.emit
def _concat_v2_emit(node: Any) -> str | None:
    count = node.attr("N")
    axis = node.value(count)
    if axis is None or not node.output_shape().is_fully_defined():
        return None
    parts = ", ".join(f"{{{i}}}" for i in range(count))
    return f"np.concatenate(({parts}), {int(axis)})"


@concat_v2_op.gradient
def _concat_v2_grad(op: Operation, grad: Any) -> list[Any]:
    return [*_concat_parts(op, grad, op.inputs[:-1], op.inputs[-1]), None]


@concat_op.gradient
def _concat_grad(op: Operation, grad: Any) -> list[Any]:
    return [None, *_concat_parts(op, grad, op.inputs[1:], op.inputs[0])]


def _concat_parts(op: Operation, grad: Any, values: Sequence[Tensor], axis: Tensor) -> list[Any]:
    from tfsandbox.ops import concat_gradient
    return concat_gradient.parts(grad, values, axis)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors `values` one after the other along `axis`. A single tensor is given on by an Identity."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with ops.name_scope(name):
            ops.convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32).shape.assert_has_rank(0)
            return apply_op("Identity", input=values[0], name=name)
    return apply_op("ConcatV2", values=values, axis=axis, name=name)


concat_offset_op = register_op("ConcatOffset", "concat_dim: int32, shape: N*int32 -> offset: N*int32",
                               "N: int >= 2").no_gradient()


@concat_offset_op.shape
def _concat_offset_shape(c: ShapeContext) -> list[TensorShape]:
    return [with_rank(c.shape(i), 1) for i in range(1, c.num_inputs)]


@concat_offset_op.kernel
def _concat_offset(concat_dim: Any, shapes: list[Any]) -> tuple[Any, ...]:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise errors.InvalidArgumentError(None, None, f"Concat dim is out of range: {concat_dim} vs. {rank}")
    offset, results = 0, []
    for shape in shapes:
        begin = np.zeros(rank, np.int32)
        begin[concat_dim] = offset
        results.append(begin)
        offset += shape[concat_dim]
    return tuple(results)


def concat_offset(concat_dim: Any, shape: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Where each of the tensors of these shapes begins in their concatenation, one [rank] vector each."""
    return apply_op("ConcatOffset", concat_dim=concat_dim, shape=shape, name=name)


pack_op = register_op("Pack", "values: N*T -> output: T", "N: int >= 1; T: type; axis: int = 0")


@pack_op.shape
def _pack_shape(c: ShapeContext) -> TensorShape:
    shape = c.shape(c.num_inputs - 1)
    for i in range(c.num_inputs - 2, -1, -1):
        try:
            shape = merge(c.shape(i), shape)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    if shape.sizes is None:
        return UNKNOWN
    axis, rank = c.attr("axis"), len(shape.sizes) + 1
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    axis %= rank
    return TensorShape.from_sizes((*shape.sizes[:axis], c.num_inputs, *shape.sizes[axis:]))


@pack_op.kernel
def _pack(values: list[Any], *, axis: int) -> Any:
    arrays = [as_array(value) for value in values]
    first = arrays[0].shape
    for i, array in enumerate(arrays):
        if array.shape != first:
            texts = [text_of_sizes(sizes) for sizes in (first, array.shape)]
            raise errors.InvalidArgumentError(None, None, f"Shapes of all inputs must match: values[0].shape = "
                                                          f"{texts[0]} != values[{i}].shape = {texts[1]}")
    if not first and arrays[0].dtype != object:
        return np.array(values, arrays[0].dtype)
    return np.stack(arrays, axis)


@pack_op.emit
def _pack_emit(node: Any) -> str | None:
    if not node.output_shape().is_fully_defined() or node.dtype(0) == dtypes.string:
        return None
    parts = ", ".join(f"{{{i}}}" for i in range(node.attr("N")))
    axis = node.attr("axis")
    if node.output_shape().ndims == 1:
        return f"np.array([{parts}])"
    return f"np.stack([{parts}])" if axis == 0 else f"np.stack([{parts}], {axis})"


@pack_op.gradient
def _pack_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    from tfsandbox.ops import array_ops
    return array_ops.unstack(grad, num=op.get_attr("N"), axis=op.get_attr("axis"))


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """The tensors `values`, all of one shape, along a new axis. A list of constants becomes one constant."""
    if axis == 0:
        try:
            return ops.convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    rank = ops.convert_to_tensor(values[0], name=name).shape.ndims
    if rank is not None and not -rank - 1 <= axis < rank + 1:
        raise ValueError(f"axis = {axis} not in [{-rank - 1}, {rank + 1})")
    return apply_op("Pack", values=values, axis=axis, name=name)


parallel_concat_op = register_op("ParallelConcat", "values: N*T -> output: T",
                                 "N: int >= 1; T: type; shape: shape")


@parallel_concat_op.shape
def _parallel_concat_shape(c: ShapeContext) -> TensorShape:
    shape = c.attr("shape")
    if not shape.is_fully_defined():
        raise ValueError("shape attr must be fully defined.")
    rest = TensorShape.from_sizes((1, *shape.sizes[1:]))
    for i in range(c.num_inputs):
        if not c.shape(i).is_fully_defined():
            raise ValueError("All input shapes must be fully defined.")
        merge(c.shape(i), rest)
    return shape


@parallel_concat_op.kernel
def _parallel_concat(values: list[Any]) -> Any:
    return np.concatenate(values, 0)


def parallel_stack(values: Sequence[Any], name: str = "parallel_stack") -> Tensor:
    """`stack` along a new first axis; all shapes must be known while building. Not differentiable."""
    with ops.name_scope(name):
        shape = ops.convert_to_tensor(values[0]).shape
        output = TensorShape([len(values)]).concatenate(shape)
        return apply_op("ParallelConcat", values=[apply_op("ExpandDims", input=v, dim=0) for v in values],
                        shape=output)


# ------------------------------------------------------------ lists that hold tensors


def _packed(elements: Sequence[Any], dtype: dtypes.DType, name: str) -> Any:
    """`elements`, nested lists with tensors somewhere in them, as a Pack node of the given name (a scope to reuse)."""
    if not _holds_tensor(elements):
        return elements
    with ops.name_scope(name) as scope:
        parts: list[Any] = []
        for i, element in enumerate(elements):
            if _is_tensor_like(element):
                if element.dtype.base_dtype != dtype:
                    raise TypeError(f"Cannot convert a list containing a tensor of dtype {element.dtype} to {dtype} "
                                    f"(Tensor is: {element!r})")
                parts.append(element)
            elif isinstance(element, (list, tuple)):
                parts.append(_packed_or_elements(element, dtype, str(i)))
            else:
                parts.append(element)
        tensors = [part if _is_tensor_like(part) else constant(part, dtype=dtype, name=str(i))
                   for i, part in enumerate(parts)]
        return apply_op("Pack", values=tensors, name=scope)


def _packed_or_elements(elements: Sequence[Any], dtype: dtypes.DType, name: str) -> Any:
    # A nested list takes its name even where it stays a plain list: its constant is then called `name_1`.
    if _holds_tensor(elements):
        return _packed(elements, dtype, name)
    with ops.name_scope(name):
        return elements


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Tensor) or (hasattr(value, "_as_graph_element") and hasattr(value, "dtype"))


def _holds_tensor(values: Any) -> bool:
    return any(_is_tensor_like(v) or (isinstance(v, (list, tuple)) and _holds_tensor(v)) for v in values)


def _dtype_in(values: Sequence[Any]) -> dtypes.DType | None:
    for value in values:
        if _is_tensor_like(value):
            return value.dtype.base_dtype
        if isinstance(value, (list, tuple)):
            found = _dtype_in(value)
            if found is not None:
                return found
    return None


def _cast_tensors(values: Any, dtype: dtypes.DType) -> Any:
    from tfsandbox.ops import math_ops
    return [_cast_tensors(v, dtype) if isinstance(v, (list, tuple)) else
            math_ops.cast(v, dtype) if _is_tensor_like(v) and v.dtype.base_dtype != dtype else v for v in values]


def _from_list_with_tensors(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    """Conversion of a list or tuple that holds tensors, however deep: they are packed into one."""
    if as_ref:
        return NotImplemented
    found = _dtype_in(value)
    if found is None:
        return NotImplemented
    if dtype is None:
        dtype = found
    elif dtype != found:
        value = _cast_tensors(value, dtype)
    return _packed(value, dtype, name or "packed")


conversion.register_tensor_conversion_function((list, tuple), _from_list_with_tensors, 99)
