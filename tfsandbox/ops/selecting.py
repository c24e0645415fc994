"""Ops that choose elements by a condition: where, boolean_mask, sequence_mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge, text
from tfsandbox.framework.tensor_shape import TensorShape

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
    return merge(condition, shape)


@select_op.kernel
def _select(condition: Any, t: Any, e: Any) -> Any:
    if np.shape(t) != np.shape(e):
        raise errors.InvalidArgumentError(None, None, f"'then' and 'else' must have the same size.  but received: "
                                                      f"{_listed(t)} vs. {_listed(e)}")
    shape, picked = np.shape(condition), np.shape(t)
    if shape != picked and shape:
        if len(shape) != 1 or not picked or shape[0] != picked[0]:
            raise errors.InvalidArgumentError(
                None, None, f"Inputs to operation Select of type Select must have the same size and shape.  Input 0: "
                            f"{_listed(condition)} != input 1: {_listed(t)}")
        condition = condition.reshape(shape + (1,) * (len(picked) - 1))
    return np.where(condition, t, e)


def _listed(value: Any) -> str:
    return "[" + ",".join(map(str, np.shape(value))) + "]"


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
