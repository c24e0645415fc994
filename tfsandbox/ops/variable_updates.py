"""The frame of the ops that update variables in training: schemas, shape rules, and their arguments as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib import row_updates
from tfsandbox.ops.kernel_values import text_of_sizes

Array = Any

_GRADIENTS = ("grad", "delta")


def _apply_shape(c: ShapeContext) -> TensorShape:
    """The variable's shape: its slots and the gradient have it too, all else is scalar."""
    shape = c.shape(0)
    for i, arg in enumerate(c.op_def.inputs):
        if arg.is_ref or arg.name in _GRADIENTS:
            shape = merge(shape, c.shape(i))
        else:
            with_rank(c.shape(i), 0)
    return shape


def _sparse_shape(c: ShapeContext) -> TensorShape:
    """The variable's shape: the gradient has rows of it, one for each index."""
    shape = c.shape(0)
    places = {arg.name: i for i, arg in enumerate(c.op_def.inputs)}
    for i, arg in enumerate(c.op_def.inputs):
        if arg.is_ref:
            shape = merge(shape, c.shape(i))
        elif arg.name not in ("grad", "indices"):
            with_rank(c.shape(i), 0)
    indices = with_rank(c.shape(places["indices"]), 1)
    if shape.ndims:
        merge(c.shape(places["grad"]), indices.concatenate(shape[1:]))
    return shape


def dense_op(name: str, inputs: str, attrs: str = "") -> OpDef:
    """Register an op that updates whole variables; `inputs` is "variables | other arguments", of type T if not said."""
    refs, _, others = inputs.partition("|")
    signature = ", ".join([f"{r.strip()}: ref(T)" for r in refs.split(",")]
                          + [o.strip() if ":" in o else f"{o.strip()}: T" for o in others.split(",")])
    definition = register_op(name, f"{signature} -> out: ref(T)",
                             f"T: type in {{numbertype}}; use_locking: bool = false{attrs}")
    definition.shape(_apply_shape)
    return definition


def sparse_op(name: str, inputs: str, attrs: str = "") -> OpDef:
    """Register an op that updates rows of variables; `inputs` as in `dense_op`."""
    refs, _, others = inputs.partition("|")
    signature = ", ".join([f"{r.strip()}: ref(T)" for r in refs.split(",")]
                          + [o.strip() if ":" in o else f"{o.strip()}: T" for o in others.split(",")])
    definition = register_op(name, f"{signature} -> out: ref(T)",
                             "T: type in {numbertype}; Tindices: type in {int32, int64}; "
                             f"use_locking: bool = false{attrs}")
    definition.shape(_sparse_shape)
    return definition


def arrays(grad: Array, *refs: Any, what: str = "grad") -> list[Array]:
    """The gradient and the variables' arrays; a scalar variable as a vector of one, which can be written into."""
    found = [ref.value for ref in refs]
    if grad.shape != found[0].shape:
        raise errors.InvalidArgumentError(
            None, None, f"var and {what} do not have the same shape{text_of_sizes(found[0].shape)} "
                        f"{text_of_sizes(grad.shape)}")
    if not grad.ndim:
        return [np.reshape(array, 1) for array in (grad, *found)]
    return [grad, *found]


def rows(rule: Callable[..., tuple[Array, ...]], refs: list[Any], grad: Array, indices: Array) -> None:
    """Update rows of variables in order by `rule(*rows of variables, rows of the gradient)`."""
    found = [ref.value for ref in refs]
    grad, indices = np.asarray(grad), np.asarray(indices)
    limit = found[0].shape[0] if found[0].ndim else 0
    if grad.shape[:1] != indices.shape:
        raise errors.InvalidArgumentError(
            None, None, "grad must be the same size as indices in the first dimension.")
    if indices.size and (indices.min() < 0 or indices.max() >= limit):
        at = int(np.flatnonzero((indices < 0) | (indices >= limit))[0])
        raise errors.InvalidArgumentError(
            None, None, f"Index {indices[at]} at offset {at} in indices is out of range")
    if indices.size:
        row_updates.update_each(rule, found, indices, grad)
