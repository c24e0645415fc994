"""The largest elements: top_k and in_top_k."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops.nn_shapes import invalid

__all__: list[str] = []

top_k_op = register_op("TopK", "input: T -> values: T, indices: int32",
                       "k: int >= 0; sorted: bool = true; T: type in {realnumbertype}")
top_k_v2_op = register_op("TopKV2", "input: T, k: int32 -> values: T, indices: int32",
                          "sorted: bool = true; T: type in {realnumbertype}")


def _kept_shape(shape: TensorShape, k: int | None) -> list[TensorShape]:
    shape = with_rank_at_least(shape, 1)
    if shape.ndims is None:
        return [shape, shape]
    *front, last = shape.as_list()
    if k is not None and last is not None and last < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {last}")
    result = TensorShape([*front, k])
    return [result, result]


@top_k_op.shape
def _top_k_shape(c: Any) -> list[TensorShape]:
    return _kept_shape(c.shape(0), c.attr("k"))


@top_k_v2_op.shape
def _top_k_v2_shape(c: Any) -> list[TensorShape]:
    k_shape = c.shape(1)
    if k_shape.ndims not in (None, 0):
        raise ValueError(f"Input must be scalar but has rank {k_shape.ndims}")
    value = c.value(1)
    k = None if value is None else int(value)
    if k is not None and k < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {k}")
    return _kept_shape(c.shape(0), k)


def _largest(value: Any, k: int) -> tuple[Any, Any]:
    if value.ndim < 1:
        raise invalid("input must be >= 1-D, got shape []")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if value.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {value.shape[-1]}, needed {k}")
    if k == 1:
        at = np.argmax(value, axis=-1)[..., None]
    else:
        # The largest first, of equal ones the first: a stable sort of what falls where the values rise.
        falling = -value if value.dtype.kind == "f" else ~value
        at = np.argsort(falling, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(value, at, axis=-1), at.astype(np.int32)


@top_k_op.kernel
def _top_k(value: Any, *, k: int) -> tuple[Any, Any]:
    return _largest(value, k)


@top_k_v2_op.kernel
def _top_k_v2(value: Any, k: Any) -> tuple[Any, Any]:
    return _largest(value, int(k))


@top_k_op.gradient
@top_k_v2_op.gradient
def _top_k_gradient(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    # The gradients go back to where the values came from: scattered over the flat input.
    shape, kept_shape = array_ops.shape(op.inputs[0]), array_ops.shape(op.outputs[1])
    kept = array_ops.gather(math_ops.cast(kept_shape, dtypes.int64), array_ops.size(kept_shape) - 1)
    rows = array_ops.reshape(op.outputs[1], array_ops.stack([-1, kept]))
    width = array_ops.gather(math_ops.cast(shape, dtypes.int64), array_ops.size(shape) - 1)
    count = array_ops.shape(rows)[0]
    starts = math_ops.range(0, math_ops.cast(count, dtypes.int64) * width, width)
    flat = array_ops.reshape(rows + math_ops.cast(array_ops.expand_dims(starts, -1), dtypes.int32), [-1])
    scattered = array_ops.scatter_nd(array_ops.expand_dims(flat, -1), array_ops.reshape(grad, [-1]),
                                     [math_ops.reduce_prod(shape)])
    result = [array_ops.reshape(scattered, shape), array_ops.zeros([], dtype=dtypes.int32)]
    return result[:len(op.inputs)]


TopKV2 = namedtuple("TopKV2", ["values", "indices"])


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> TopKV2:  # noqa: A002
    """(the k largest along the last axis, their indices), the largest first, of equal ones the first."""
    return TopKV2(*apply_op("TopKV2", input=input, k=k, sorted=sorted, name=name))


# ------------------------------------------------------------ in_top_k

in_top_k_op = register_op("InTopK", "predictions: float32, targets: T -> precision: bool",
                          "k: int; T: type in {int32, int64} = int32")
in_top_k_v2_op = register_op("InTopKV2", "predictions: float32, targets: T, k: T -> precision: bool",
                             "T: type in {int32, int64} = int32")
in_top_k_op.no_gradient()
in_top_k_v2_op.no_gradient()


@in_top_k_op.shape
@in_top_k_v2_op.shape
def _in_top_k_shape(c: Any) -> TensorShape:
    rows = merge_sizes(with_rank(c.shape(0), 2).as_list()[0], with_rank(c.shape(1), 1).as_list()[0])
    return TensorShape([rows])


def _is_in_largest(predictions: Any, targets: Any, k: int) -> Any:
    if predictions.ndim != 2:
        raise invalid("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise invalid("targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        raise invalid(f"First dimension of predictions {predictions.shape[0]} must match length of targets "
                      f"{targets.shape[0]}")
    rows, classes = predictions.shape
    there = (targets >= 0) & (targets < classes)
    if not predictions.size:
        return np.zeros(rows, bool)
    chosen = predictions[np.arange(rows), np.where(there, targets, 0)]
    larger = np.add.reduce(predictions > chosen[:, None], axis=1)
    # A row that is not finite cannot be ranked.
    return there & np.logical_and.reduce(np.isfinite(predictions), axis=1) & (larger < k)


@in_top_k_op.kernel
def _in_top_k(predictions: Any, targets: Any, *, k: int) -> Any:
    return _is_in_largest(predictions, targets, k)


@in_top_k_v2_op.kernel
def _in_top_k_v2(predictions: Any, targets: Any, k: Any) -> Any:
    return _is_in_largest(predictions, targets, int(k))


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether each target is among the k largest predictions of its row: [n, c], [n] -> [n] of bool."""
    with ops.name_scope(name, "in_top_k"):
        return apply_op("InTopKV2", predictions=predictions, targets=targets, k=k, name=name)
