"""Reductions: sums, means, products, extremes, logic and norms over axes, and the index of an extreme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes, errors, ops, shape_inference, tensor_util
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, casts, comparison_ops, complex_ops

__all__ = [
    "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
]


def _reduction(name: str, types: str | None = "{numbertype}") -> OpDef:
    kind, attr = ("T", f"T: type in {types}; ") if types else ("bool", "")
    op_def = register_op(name, f"input: {kind}, reduction_indices: Tidx -> output: {kind}",
                         f"keep_dims: bool = false; {attr}Tidx: type in {{int32, int64}} = int32")
    op_def.shape(_reduction_shape)
    return op_def


def _reduction_shape(c: Any) -> TensorShape:
    axes = c.value(1)
    found = None if axes is None else np.asarray(axes).ravel().tolist()
    return shape_inference.reduced(c.shape(0), found, c.attr("keep_dims"))


def axes_of(input: Any, reduction_indices: Any) -> tuple[int, ...]:
    """Axes as numpy wants them, counted from the front; `InvalidArgumentError` where they do not fit."""
    rank = input.ndim
    axes = []
    for axis in np.asarray(reduction_indices).ravel().tolist():
        if not -rank <= axis < rank:
            raise errors.InvalidArgumentError(None, None, f"Invalid reduction dimension ({axis} for input with {rank} "
                                                          f"dimension(s)")
        axes.append(axis % rank)
    # An axis named twice is reduced once.
    return tuple(dict.fromkeys(axes))


def _fold(function: Any, input: Any, axes: tuple[int, ...], keep_dims: bool, dtype: Any = None) -> Any:
    """numpy's reduction. Sums and products need the type said: numpy widens small integers."""
    if function is np.add and all(input.shape[axis] == 1 for axis in axes):
        # Nothing is added: -0.0 stays -0.0, as in TensorFlow.
        return np.array(input if keep_dims else np.squeeze(input, axes))
    return function.reduce(input, axis=axes, dtype=dtype, keepdims=keep_dims)


def _emit_reduce(node: Any, function: str) -> str | None:
    """`function.reduce({0}, axis=...)` where the axes are constant and the type is one numpy does not widen."""
    axes, shape = node.value(1), node.shape(0)
    if axes is None or shape.ndims is None or node.dtype(0) not in (dtypes.float32, dtypes.float64, dtypes.bool):
        return None
    found = np.asarray(axes).ravel().tolist()
    if not all(-shape.ndims <= axis < shape.ndims for axis in found):
        return None
    counted = sorted({axis % shape.ndims for axis in found})
    if len(counted) != len(found) or not counted:
        return None
    keep = ", keepdims=True" if node.attr("keep_dims") else ""
    if len(counted) == shape.ndims and not keep:
        text = "None"
    else:
        text = str(counted[0]) if len(counted) == 1 else f"({', '.join(map(str, counted))})"
    return f"{function}.reduce({{0}}, axis={text}{keep})"


# ------------------------------------------------------------ Sum

sum_op = _reduction("Sum")


@sum_op.kernel
def _sum(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _fold(np.add, input, axes_of(input, reduction_indices), keep_dims, input.dtype)


@sum_op.emit
def _sum_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.add")


@sum_op.gradient
def _sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, axes = op.inputs
    sizes = x.shape.as_list() if x.shape.ndims is not None else None
    if sizes is not None:
        axis_values = tensor_util.constant_value(axes)
        if axis_values is not None:
            rank = len(sizes)
            if np.array_equal(axis_values, np.arange(rank)):
                # Everything was added up: the gradient is spread over the whole shape.
                grad = array_ops.reshape(grad, [1] * rank)
                if None not in sizes:
                    shape: Any = constant_op.constant(sizes, dtype=dtypes.int32)
                else:
                    shape = array_ops.shape(x)
                return [array_ops.tile(grad, shape), None]
            if None not in sizes:
                once, times = _static_spread(op, sizes, axis_values)
                return [array_ops.tile(array_ops.reshape(grad, once), times), None]
    shape = array_ops.shape(x)
    with ops.colocate_with(shape):
        kept = reduced_shape(shape, axes)
        multiples = _safe_shape_div(shape, kept)
    grad = array_ops.reshape(grad, kept)
    return [array_ops.tile(grad, multiples), None]


def _static_spread(op: Operation, sizes: Sequence[int | None], axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The reduced shape with ones and how often to repeat along each axis; the nodes are made once in a graph."""
    axes = np.ravel(axes)
    cache = op.graph._caches.setdefault("reduced_shape", {})
    key = (tuple(sizes), tuple(axes.tolist()))
    found = cache.get(key)
    if found is None:
        # A tuple, as in TensorFlow: with no axes it converts to floats, and a Cast is made.
        kept = shape_inference.constant_value(reduced_shape(sizes, tuple(axes)))
        multiples = shape_inference.constant_value(_safe_shape_div(np.array(sizes, np.int32), kept))
        assert kept is not None and multiples is not None
        found = cache[key] = (kept, multiples)
    return found


def _safe_shape_div(x: Any, y: Any) -> Tensor:
    """x // y where sizes of 0 do not divide by zero."""
    from tfsandbox.ops import binary_ops
    return x // binary_ops.maximum(y, 1)


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape of a reduction that keeps its axes, as nodes: `input_shape` with 1 at `axes`."""
    from tfsandbox.ops import data_flow_ops, sequences
    input_shape = casts.cast(input_shape, dtypes.int32)
    axes = casts.cast(axes, dtypes.int32)
    rank = array_ops.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = array_ops.shape(axes)
    return data_flow_ops.dynamic_stitch([sequences.range(rank), axes],
                                        [input_shape, array_ops.fill(axes_shape, 1)])


# ------------------------------------------------------------ Mean

mean_op = _reduction("Mean")


@mean_op.kernel
def _mean(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    axes = axes_of(input, reduction_indices)
    total = _fold(np.add, input, axes, keep_dims, input.dtype)
    count = 1
    for axis in axes:
        count *= input.shape[axis]
    if input.dtype.kind not in "iu":
        return total / input.dtype.type(count)
    if count == 0:
        raise errors.InvalidArgumentError(None, None, "Integer division by zero")
    # Integers are divided as in C.
    return (np.sign(total) * (np.absolute(total) // count)).astype(input.dtype)


@mean_op.emit
def _mean_emit(node: Any) -> str | None:
    total = _emit_reduce(node, "np.add")
    sizes = node.shape(0).as_list() if node.shape(0).ndims is not None else [None]
    if total is None or None in sizes:
        return None
    count = 1
    for axis in np.asarray(node.value(1)).ravel().tolist():
        count *= sizes[axis]
    return f"{total} / np.{node.dtype(0).name}({count})"


@mean_op.gradient
def _mean_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    spread = _sum_grad(op, grad)[0]
    assert spread is not None
    before, after = op.inputs[0].shape, op.outputs[0].shape
    if before.is_fully_defined() and after.is_fully_defined():
        count = (before.num_elements() or 0) // max(after.num_elements() or 0, 1)
        factor = constant_op.constant(count, dtype=spread.dtype)
    else:
        input_shape, output_shape = array_ops.shape(op.inputs[0]), array_ops.shape(op.outputs[0])
        factor = _safe_shape_div(reduce_prod(input_shape), reduce_prod(output_shape))
    from tfsandbox.ops import binary_ops
    return [binary_ops.truediv(spread, casts.cast(factor, spread.dtype)), None]


# ------------------------------------------------------------ Prod

prod_op = _reduction("Prod")


@prod_op.kernel
def _prod(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _fold(np.multiply, input, axes_of(input, reduction_indices), keep_dims, input.dtype)


@prod_op.emit
def _prod_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.multiply")


@prod_op.gradient
def _prod_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Each element's gradient is the product of all others: of those before it and those after it.

    (The product divided by the element would fail where it is 0.)
    """
    from tfsandbox.ops import sequences, sums
    x = op.inputs[0]
    shape = array_ops.shape(x)
    axes = array_ops.reshape(op.inputs[1], [-1])
    kept = reduced_shape(shape, op.inputs[1])
    multiples = _safe_shape_div(shape, kept)
    grad = array_ops.tile(array_ops.reshape(grad, kept), multiples)
    # The reduced axes go to the front and become one, the others become one behind it.
    with ops.device("/cpu:0"):
        rank = array_ops.rank(x)
        reduced = casts.cast((axes + rank) % rank, dtypes.int32)
        others, _ = array_ops.setdiff1d(sequences.range(0, rank), reduced)
        order = array_ops.concat([reduced, others], 0)
        rows = reduce_prod(array_ops.gather(shape, reduced))
        columns = reduce_prod(array_ops.gather(shape, others))
    turned = array_ops.transpose(x, order)
    turned_shape = array_ops.shape(turned)
    flat = array_ops.reshape(turned, (rows, columns))
    before = sums.cumprod(flat, axis=0, exclusive=True)
    after = sums.cumprod(flat, axis=0, exclusive=True, reverse=True)
    rest = array_ops.reshape(complex_ops.conj(before) * complex_ops.conj(after), turned_shape)
    result = grad * array_ops.transpose(rest, array_ops.invert_permutation(order))
    return [array_ops.reshape(result, shape), None]


# ------------------------------------------------------------ Max, Min

max_op = _reduction("Max")
min_op = _reduction("Min")


def _extreme(function: Any, lowest: bool, input: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    if input.size:
        return function.reduce(input, axis=axes, keepdims=keep_dims)
    if input.dtype.kind in "iu":
        limits = np.iinfo(input.dtype)
        start: Any = limits.min if lowest else limits.max
    else:
        start = -np.inf if lowest else np.inf
    return function.reduce(input, axis=axes, keepdims=keep_dims, initial=start)


@max_op.kernel
def _max(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _extreme(np.maximum, True, input, axes_of(input, reduction_indices), keep_dims)


@min_op.kernel
def _min(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _extreme(np.minimum, False, input, axes_of(input, reduction_indices), keep_dims)


@max_op.emit
def _max_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.maximum") if node.shape(0).num_elements() else None


@min_op.emit
def _min_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.minimum") if node.shape(0).num_elements() else None


@max_op.gradient
@min_op.gradient
def _extreme_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The gradient goes to every element that equals the extreme, in equal parts."""
    from tfsandbox.ops import binary_ops
    x, y = op.inputs[0], op.outputs[0]
    kept = reduced_shape(array_ops.shape(x), op.inputs[1])
    y = array_ops.reshape(y, kept)
    grad = array_ops.reshape(grad, kept)
    chosen = casts.cast(comparison_ops.equal(y, x), grad.dtype)
    count = array_ops.reshape(reduce_sum(chosen, op.inputs[1]), kept)
    return [binary_ops.divide(chosen, count) * grad, None]


# ------------------------------------------------------------ All, Any

all_op = _reduction("All", None).no_gradient()
any_op = _reduction("Any", None).no_gradient()


@all_op.kernel
def _all(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _fold(np.logical_and, input, axes_of(input, reduction_indices), keep_dims)


@any_op.kernel
def _any(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    return _fold(np.logical_or, input, axes_of(input, reduction_indices), keep_dims)


@all_op.emit
def _all_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.logical_and")


@any_op.emit
def _any_emit(node: Any) -> str | None:
    return _emit_reduce(node, "np.logical_or")


# ------------------------------------------------------------ EuclideanNorm

euclidean_norm_op = _reduction("EuclideanNorm").no_gradient()


@euclidean_norm_op.kernel
def _euclidean_norm(input: Any, reduction_indices: Any, *, keep_dims: bool) -> Any:
    squares = (input * np.conjugate(input)).astype(input.dtype)
    total = _fold(np.add, squares, axes_of(input, reduction_indices), keep_dims, input.dtype)
    return np.sqrt(total).astype(input.dtype)


# ------------------------------------------------------------ the public functions


def renamed(keepdims: bool | None, keep_dims: bool | None, axis: Any, reduction_indices: Any) -> tuple[bool, Any]:
    """The arguments under their new names. `ValueError` where old and new are both given."""
    if keep_dims is not None:
        if keepdims is not None:
            raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
        keepdims = keep_dims
    if reduction_indices is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'reduction_indices' and 'axis'")
        axis = reduction_indices
    return bool(keepdims), axis


def reduction_dims(x: Any, axis: Any) -> Any:
    """`axis` as it is, or all axes of x: a constant where the rank is known, else a range as nodes."""
    from tfsandbox.ops import sequences
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x.shape.ndims is not None:
        return constant_op.constant(np.arange(x.shape.ndims, dtype=np.int32))
    if isinstance(x, SparseTensor) and x.dense_shape.shape.is_fully_defined():
        return constant_op.constant(np.arange(x.dense_shape.shape.num_elements() or 0, dtype=np.int32))
    return sequences.range(0, array_ops.rank(x))


def reduce(op_type: str, input_tensor: Any, axis: Any, keepdims: bool, name: str | None) -> Tensor:
    result = apply_op(op_type, input=input_tensor, reduction_indices=reduction_dims(input_tensor, axis),
                      keep_dims=keepdims, name=name)
    if axis is None and not keepdims:
        result.set_shape(())
    return result


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """The sum over `axis` (an int, a list of them, a tensor; None: all). `keepdims` leaves reduced axes with size 1.

    `reduction_indices` and `keep_dims` are older names.
    """
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Sum", input_tensor, axis, keepdims, name)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
                reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """The mean over `axis`, arguments as in `reduce_sum`. The mean of integers is an integer."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Mean", input_tensor, axis, keepdims, name)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
                reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """The product over `axis`, arguments as in `reduce_sum`."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Prod", input_tensor, axis, keepdims, name)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """The maximum over `axis`, arguments as in `reduce_sum`."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Max", input_tensor, axis, keepdims, name)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """The minimum over `axis`, arguments as in `reduce_sum`."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Min", input_tensor, axis, keepdims, name)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """Whether all elements over `axis` are true, arguments as in `reduce_sum`."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("All", input_tensor, axis, keepdims, name)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Any = None, keep_dims: bool | None = None) -> Tensor:
    """Whether any element over `axis` is true, arguments as in `reduce_sum`."""
    keepdims, axis = renamed(keepdims, keep_dims, axis, reduction_indices)
    return reduce("Any", input_tensor, axis, keepdims, name)
