"""Products of vectors and tensors: tensordot, cross product; trace and polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, diagonals, matmul, reductions, sequences

__all__ = ["cross", "tensordot", "trace"]

# ------------------------------------------------------------ tensordot


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products of a and b over pairs of axes.

    `axes`: a number n (the last n axes of a with the first n of b) or a pair of lists of axes, or a tensor [2, k].
    `ValueError` where the axes do not fit.
    """
    with ops.name_scope(name, "Tensordot", [a, b, axes]) as name:
        a = ops.convert_to_tensor(a, name="a")
        b = ops.convert_to_tensor(b, name="b")
        a_axes, b_axes = _contracted_axes(a, axes)
        left, left_sizes, left_static = _as_matrix(a, a_axes, contracted_first=False)
        right, right_sizes, right_static = _as_matrix(b, b_axes, contracted_first=True)
        product = matmul.matmul(left, right)
        if isinstance(left_sizes, list) and isinstance(right_sizes, list):
            return array_ops.reshape(product, left_sizes + right_sizes, name=name)
        sizes = array_ops.concat([ops.convert_to_tensor(left_sizes, dtype=dtypes.int32),
                                  ops.convert_to_tensor(right_sizes, dtype=dtypes.int32)], 0)
        result = array_ops.reshape(product, sizes, name=name)
        if left_static is not None and right_static is not None:
            result.set_shape(left_static + right_static)
        return result


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    rank = a.shape.ndims
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if rank is None:
            whole = array_ops.rank(a)
            return (sequences.range(whole - axes, whole, dtype=dtypes.int32),
                    sequences.range(axes, dtype=dtypes.int32))
        if axes > rank:
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(rank - axes, rank)), list(range(axes))
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            raise ValueError("'axes' must be an integer or have length 2.")
        first, second = ([x] if isinstance(x, (int, np.integer)) else x for x in axes)
        if len(first) != len(second):
            raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}.")
        return first, second
    axes = ops.convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
    return axes[0], axes[1]


def _as_matrix(a: Tensor, axes: Any, contracted_first: bool) -> tuple[Tensor, Any, list[int | None] | None]:
    """a as a matrix of free by contracted axes (or the other way round), the free sizes, and what is known of them."""

    def ordered(free: Any, contracted: Any) -> list[Any]:
        return [contracted, free] if contracted_first else [free, contracted]

    listed = isinstance(axes, (list, tuple))
    if listed and a.shape.ndims is not None:
        sizes = a.shape.as_list()
        axes = [i if i >= 0 else i + len(sizes) for i in axes]
        free: Any = [i for i in range(len(sizes)) if i not in axes]
        free_sizes = [sizes[i] for i in free]
        if a.shape.is_fully_defined():
            first, second = ordered(free, axes)
            shape = ordered(int(np.prod(free_sizes)), int(np.prod([sizes[i] for i in axes])))
            return array_ops.reshape(array_ops.transpose(a, first + second), shape), free_sizes, free_sizes
        known: list[int | None] | None = free_sizes
        axes = ops.convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        free = ops.convert_to_tensor(free, dtype=dtypes.int32, name="free")
        whole = array_ops.shape(a)
    else:
        known = None
        whole = array_ops.shape(a)
        rank = array_ops.rank(a)
        axes = ops.convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        axes = array_ops.where(axes >= 0, axes, axes + rank)
        free, _ = array_ops.setdiff1d(sequences.range(rank), axes)
    free_dims, axis_dims = array_ops.gather(whole, free), array_ops.gather(whole, axes)
    count_free, count_axes = reductions.reduce_prod(free_dims), reductions.reduce_prod(axis_dims)
    order = array_ops.concat(ordered(free, axes), 0)
    new_shape = array_ops.stack(ordered(count_free, count_axes))
    return array_ops.reshape(array_ops.transpose(a, order), new_shape), free_dims, known


# ------------------------------------------------------------ Cross

cross_op = register_op("Cross", "a: T, b: T -> product: T", "T: type in {realnumbertype}")


@cross_op.shape
def _cross_shape(c: Any) -> TensorShape:
    shape = shape_inference.merged(c)
    if shape.ndims is not None:
        if shape.ndims < 1:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
        last = shape.as_list()[-1]
        if last not in (None, 3):
            raise ValueError(f"Dimension must be 3 but is {last}")
    return shape


@cross_op.kernel
def _cross(a: Any, b: Any) -> Any:
    if a.shape != b.shape or not a.ndim or a.shape[-1] != 3:
        raise errors.FailedPreconditionError(None, None, "Cross-products are only defined for 3-element vectors.")
    result = np.empty_like(a)
    for i in (0, 1, 2):
        j, k = (i + 1) % 3, (i + 2) % 3
        result[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return result


@cross_op.gradient
def _cross_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    u, v = op.inputs
    return [cross(v, grad), cross(grad, u)]


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross products of vectors [..., 3]."""
    return apply_op("Cross", a=a, b=b, name=name)


# ------------------------------------------------------------ trace, polynomials


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums [...] of the main diagonals of matrices [..., m, n]."""
    with ops.name_scope(name, "Trace", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        return reductions.reduce_sum(diagonals.matrix_diag_part(x), [-1], name=name)


def polyval(coeffs: Sequence[Any], x: Any, name: str | None = None) -> Tensor:
    """The polynomial with the listed coefficients (of the highest power first) at x, by Horner's rule.

    `ValueError` where `coeffs` is no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type found {type(coeffs)}.")
    with ops.name_scope(name, "polyval", [*coeffs, x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if not coeffs:
            return array_ops.zeros_like(x, name=name)
        parts = [ops.convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        value = parts[0]
        for part in parts[1:]:
            value = part + value * x
        return value
