"""SelectV2: a choice between two tensors by a condition, all three broadcast together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape

select_v2_op = register_op("SelectV2", "condition: bool, t: T, e: T -> output: T", "T: type")


@select_v2_op.shape
def _select_v2_shape(c: Any) -> TensorShape:
    return shape_inference.broadcast_shapes(c.shape(0), shape_inference.broadcast_shapes(c.shape(1), c.shape(2)))


@select_v2_op.kernel
def _select_v2(condition: Any, t: Any, e: Any) -> Any:
    return np.where(condition, t, e)


@select_v2_op.gradient
def _select_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops, broadcasting, reductions
    condition, x, y = op.inputs
    zeros = array_ops.zeros([], dtype=grad.dtype.base_dtype)
    grads: list[Tensor | None] = [None]
    whole: Tensor | None = None
    for source, t, e in ((x, grad, zeros), (y, zeros, grad)):
        part = where_v2(condition, t, e)
        shape = array_ops.shape(source)
        whole = array_ops.shape(op.outputs[0]) if whole is None else whole
        axes, _ = broadcasting.broadcast_gradient_args(shape, whole)
        part = reductions.reduce_sum(part, keepdims=True, axis=axes)
        grads.append(array_ops.reshape(part, shape))
    return grads


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where `condition` is true and y where not, with broadcasting; without both, the indices of what is true.

    `ValueError` where only one of them is given.
    """
    if x is None and y is None:
        with ops.name_scope(name, "Where", [condition]) as name:
            condition = ops.convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
            return apply_op("Where", input=condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return apply_op("SelectV2", condition=condition, t=x, e=y, name=name)
