"""Ops that choose elements by a condition: where, boolean_mask, sequence_mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import text_of_shape

select_op = register_op("Select", "condition: bool, t: T, e: T -> output: T", "T: type")


@select_op.shape
def _select_shape(c: ShapeContext) -> TensorShape:
    condition, shape = c.shape(0), merge(c.shape(1), c.shape(2))
    if condition.sizes is None or shape.sizes is None or not condition.sizes:
        return shape
    if len(condition.sizes) == 1 and len(shape.sizes) > 1:
        # A vector chooses whole rows.
        first = merge(condition, TensorShape.from_sizes(shape.sizes[:1]))
        return first.concatenate(TensorShape.from_sizes(shape.sizes[1:]))
    return merge(shape, condition)


@select_op.kernel
def _select(condition: Any, t: Any, e: Any) -> Any:
    if np.shape(t) != np.shape(e):
        raise errors.InvalidArgumentError(None, None, f"'then' and 'else' must have the same size.  but received: "
                                                      f"{text_of_shape(t)} vs. {text_of_shape(e)}")
    shape, picked = np.shape(condition), np.shape(t)
    if shape != picked and shape:
        if len(shape) == 1 and picked and shape[0] != picked[0]:
            raise errors.InvalidArgumentError(None, None, f"Number of batches of 'then' must match size of 'cond', but "
                                                          f"saw: {picked[0]} vs. {shape[0]}")
        if len(shape) != 1 or not picked:
            raise errors.InvalidArgumentError(
                None, None, f"Inputs to operation Select of type Select must have the same size and shape.  Input 0: "
                            f"{text_of_shape(condition)} != input 1: {text_of_shape(t)}")
        condition = condition.reshape(shape + (1,) * (len(picked) - 1))
    return np.where(condition, t, e)


@select_op.emit
def _select_emit(node: Any) -> str | None:
    shapes = [node.shape(i) for i in range(3)]
    if all(s.is_fully_defined() for s in shapes) and shapes[0].sizes == shapes[1].sizes == shapes[2].sizes \
            and node.dtype(1) != dtypes.string:
        return "np.where({0}, {1}, {2})"
    return None


@select_op.gradient
def _select_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    condition, chosen = op.inputs[0], op.inputs[1]
    zeros = array_ops.zeros_like(chosen)
    return [None, apply_op("Select", condition=condition, t=grad, e=zeros),
            apply_op("Select", condition=condition, t=zeros, e=grad)]


where_op = register_op("Where", "input: T -> index: int64", "T: type in {numbertype, bool} = bool").no_gradient()


@where_op.shape
def _where_shape(c: ShapeContext) -> TensorShape:
    return TensorShape.from_sizes((None, c.shape(0).ndims))


@where_op.kernel
def _where(value: Any) -> Any:
    return np.argwhere(value)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Without `x` and `y` the indices of the true elements, [n, rank] int64, in row-major order.

    With both, the elements of `x` where `condition` is true and of `y` where not, all of one shape; a vector
    `condition` chooses whole rows. `ValueError` where only one of them is given.
    """
    if x is None and y is None:
        with ops.name_scope(name, "Where", [condition]) as name:
            condition = ops.convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
            return apply_op("Where", input=condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return apply_op("Select", condition=condition, t=x, e=y, name=name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """The elements, or slices, of `tensor` for which `mask` is true.

    `mask` has a known rank of at least one and the shape of `tensor` from `axis` (0) on; its axes become one.
    """
    from tfsandbox.ops import array_ops, math_ops
    with ops.name_scope(name, values=[tensor, mask]):
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        mask = ops.convert_to_tensor(mask, name="mask")
        depth = mask.shape.ndims
        if depth == 0:
            raise ValueError("mask cannot be scalar.")
        if depth is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.  "
                             "E.g. shape=[None] is ok, but shape=None is not.")
        axis = 0 if axis is None else axis
        masked = tensor.shape[axis:axis + depth]
        masked.assert_is_compatible_with(mask.shape)
        count = math_ops.reduce_prod(array_ops.shape(tensor)[axis:axis + depth], [0])
        flat = array_ops.reshape(tensor, array_ops.concat([
            array_ops.shape(tensor)[:axis], [count], array_ops.shape(tensor)[axis + depth:]], 0))
        flat.set_shape(tensor.shape[:axis].concatenate([masked.num_elements()]).concatenate(
            tensor.shape[axis + depth:]))
        chosen = array_ops.squeeze(where(array_ops.reshape(mask, [-1])), axis=[1])
        return array_ops.gather(flat, chosen, axis=axis)


def boolean_mask_v2(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> Tensor:
    """`boolean_mask` with TensorFlow 2's order of arguments."""
    return boolean_mask(tensor, mask, name, axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """`lengths` with a new last axis of size `maxlen`: true (or 1 of type `dtype`) at the first `length` places.

    `maxlen` is the greatest length where None.
    """
    from tfsandbox.ops import array_ops, math_ops
    with ops.name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = ops.convert_to_tensor(lengths)
        if maxlen is None:
            most = apply_op("Max", input=lengths, reduction_indices=_all_axes(lengths))
            maxlen = math_ops.maximum(constant(0, most.dtype), most)
        else:
            maxlen = ops.convert_to_tensor(maxlen)
        if maxlen.shape.ndims is not None and maxlen.shape.ndims != 0:
            raise ValueError("maxlen must be scalar for sequence_mask")
        places = apply_op("Range", start=constant(0, maxlen.dtype), limit=maxlen, delta=constant(1, maxlen.dtype))
        ends = apply_op("Cast", x=array_ops.expand_dims(lengths, -1), DstT=maxlen.dtype)
        result = places < ends
        if dtype is None or dtypes.as_dtype(dtype).base_dtype == dtypes.bool:
            return result
        return apply_op("Cast", x=result, DstT=dtype)


def _all_axes(tensor: Tensor) -> Tensor:
    from tfsandbox.ops import array_ops, math_ops
    if tensor.shape.ndims is not None:
        return constant(np.arange(tensor.shape.ndims), dtype=dtypes.int32)
    return math_ops.range(0, array_ops.rank(tensor))
