"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, binary_ops, complex_ops, elementwise, factorizations, reductions

__all__ = ["norm"]

_ORDERS = ["euclidean", "fro", 1, 2, np.inf]


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None,
         keep_dims: bool | None = None) -> Tensor:
    """The norm of vectors (`axis` an int or None: all elements) or of matrices (`axis` a pair).

    `ord`: "euclidean", "fro" (matrices), 1, 2, np.inf, or any positive number for vectors. `ValueError` for others.
    """
    if keep_dims is not None:
        if keepdims is not None:
            raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'")
        keepdims = keep_dims
    keepdims = bool(keepdims)
    of_matrices = isinstance(axis, (tuple, list)) and len(axis) == 2
    if of_matrices:
        axis = tuple(axis)
        if axis[0] is None or axis[1] is None or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord not in _ORDERS:
            raise ValueError(f"'ord' must be a supported matrix norm in {_ORDERS}, got {ord}")
    else:
        if not isinstance(axis, (int, np.integer)) and axis is not None:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        axis = None if axis is None else (axis,)
        if ord == "fro":
            raise ValueError("'ord' must be a supported vector norm, got fro")
        if ord != "euclidean" and (not np.isreal(ord) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with ops.name_scope(name, "norm", [tensor]):
        tensor = ops.convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            if of_matrices and ord in (2, 2.0):
                result = _spectral_norm(tensor, axis)
            else:
                squares = tensor * complex_ops.conj(tensor)
                result = elementwise.sqrt(reductions.reduce_sum(squares, axis, keepdims=True))
        else:
            result = elementwise.abs(tensor)
            if ord == 1:
                result = reductions.reduce_sum(result, None if axis is None else axis[0], keepdims=True)
                if of_matrices:
                    result = reductions.reduce_max(result, axis[-1], keepdims=True)
            elif ord == np.inf:
                if of_matrices:
                    result = reductions.reduce_sum(result, axis[1], keepdims=True)
                result = reductions.reduce_max(result, None if axis is None else axis[0], keepdims=True)
            else:
                result = binary_ops.pow(reductions.reduce_sum(binary_ops.pow(result, ord), axis, keepdims=True),
                                        1.0 / ord)
        return result if keepdims else array_ops.squeeze(result, axis)


def _spectral_norm(tensor: Tensor, axis: tuple[int, int]) -> Tensor:
    """The largest singular value, with the two axes kept as 1."""
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError("The norm of order 2 of matrices needs a tensor of known rank.")
    places = [a % rank for a in axis]
    order = [i for i in range(rank) if i not in places] + places
    turned = array_ops.transpose(tensor, perm=order)
    values = factorizations.svd(turned, compute_uv=False)
    largest = array_ops.expand_dims(reductions.reduce_max(values, -1, keepdims=True), axis=-1)
    return array_ops.transpose(largest, perm=np.argsort(order).astype(np.int32))


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(tensor divided by its norm, the norm with its axes kept as 1), arguments as in `norm`."""
    from tfsandbox.ops import casts
    with ops.name_scope(name, "normalize", [tensor]):
        tensor = ops.convert_to_tensor(tensor)
        size = casts.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size
