"""Factorizations of matrices: QR, singular values, eigenvalues of symmetric matrices, Cholesky, LU."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, diagonals, elementwise, matmul

__all__ = ["cholesky", "qr", "self_adjoint_eig", "self_adjoint_eigvals", "svd"]

TYPES = "float64, float32, float16, complex64, complex128"


def matrix_sizes(shape: TensorShape, square: bool = False) -> tuple[list[int | None], int | None, int | None] | None:
    """(batch, rows, columns) of a shape of matrices, None if nothing is known; `ValueError` where it is none."""
    if shape.ndims is None:
        return None
    if shape.ndims < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {shape.ndims}")
    *batch, rows, columns = shape.as_list()
    if square and rows is not None and columns is not None and rows != columns:
        raise ValueError(f"Dimensions must be equal, but are {rows} and {columns}")
    return batch, rows, columns


def square_unchanged(c: Any) -> TensorShape:
    """Shape rule: square matrices in, square matrices out."""
    found = matrix_sizes(c.shape(0), square=True)
    if found is None:
        return shape_inference.UNKNOWN
    batch, rows, columns = found
    side = rows if columns is None else columns
    return TensorShape([*batch, side, side])


def wide(x: Any) -> Any:
    """numpy's linear algebra knows no float16."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def check_square(x: Any) -> None:
    """`InvalidArgumentError` where the matrices are not square."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise errors.InvalidArgumentError(None, None, "Input matrix must be square.")


def _least(m: int | None, n: int | None) -> int | None:
    return 0 if m == 0 or n == 0 else None if m is None or n is None else min(m, n)


def adjoint(x: Tensor) -> Tensor:
    """Matrices conjugated and transposed, inside a scope `adjoint`."""
    with ops.name_scope(None, "adjoint", [x]):
        return array_ops.matrix_transpose(x, conjugate=True)


# ------------------------------------------------------------ QR

qr_op = register_op("Qr", "input: T -> q: T, r: T", f"full_matrices: bool = false; T: type in {{{TYPES}}}")


@qr_op.shape
def _qr_shape(c: Any) -> list[TensorShape]:
    found = matrix_sizes(c.shape(0))
    if found is None:
        return [shape_inference.UNKNOWN] * 2
    batch, m, n = found
    inner = m if c.attr("full_matrices") else _least(m, n)
    return [TensorShape([*batch, m, inner]), TensorShape([*batch, inner, n])]


@qr_op.kernel
def _qr(input: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    m, n = input.shape[-2:]
    inner = m if full_matrices else min(m, n)
    if input.ndim == 2:
        q, r = np.linalg.qr(wide(input), "complete" if full_matrices else "reduced")
        return q.astype(input.dtype), r.astype(input.dtype)
    q = np.empty((*input.shape[:-2], m, inner), input.dtype)
    r = np.empty((*input.shape[:-2], inner, n), input.dtype)
    for index in np.ndindex(*input.shape[:-2]):
        q[index], r[index] = np.linalg.qr(wide(input[index]), "complete" if full_matrices else "reduced")
    return q, r


@qr_op.gradient
def _qr_grad(op: Operation, grad_q: Tensor, grad_r: Tensor) -> list[Tensor]:
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    sizes = r.shape.as_list()[-2:] if r.shape.ndims is not None else [None, None]
    if None in sizes:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if sizes[0] != sizes[1]:
        raise NotImplementedError("QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != "
                                  "nrows.")
    turned = matmul.matmul(q, grad_q, adjoint_a=True)
    skew_q = turned - adjoint(turned)
    right = matmul.matmul(r, grad_r, adjoint_b=True)
    skew_r = right - adjoint(right)
    lower = diagonals.matrix_band_part(skew_q + skew_r, -1, 0)
    first = matmul.matmul(q, grad_r + _over_triangle(lower, r))
    return [first + _over_triangle(grad_q - matmul.matmul(q, turned), r)]


def _over_triangle(x: Tensor, r: Tensor) -> Tensor:
    """x times the adjoint of the inverse of the upper triangular r."""
    from tfsandbox.ops import linear_systems
    return adjoint(linear_systems.matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))


Qr = namedtuple("Qr", ["q", "r"])


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r): q with orthonormal columns, r upper triangular, q r = input, for matrices [..., m, n]."""
    return Qr(*apply_op("Qr", input=input, full_matrices=full_matrices, name=name))


# ------------------------------------------------------------ singular values

svd_op = register_op("Svd", "input: T -> s: T, u: T, v: T",
                     f"compute_uv: bool = true; full_matrices: bool = false; T: type in {{{TYPES}}}")


@svd_op.shape
def _svd_shape(c: Any) -> list[TensorShape]:
    found = matrix_sizes(c.shape(0))
    if found is None:
        return [shape_inference.UNKNOWN] * 3
    batch, m, n = found
    p = _least(m, n)
    values = TensorShape([*batch, p])
    if not c.attr("compute_uv"):
        return [values, TensorShape([0]), TensorShape([0])]
    if c.attr("full_matrices"):
        return [values, TensorShape([*batch, m, m]), TensorShape([*batch, n, n])]
    return [values, TensorShape([*batch, m, p]), TensorShape([*batch, n, p])]


@svd_op.kernel
def _svd(input: Any, *, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    if not compute_uv:
        nothing = np.zeros(0, input.dtype)
        return np.linalg.svd(wide(input), compute_uv=False).astype(input.real.dtype), nothing, nothing
    u, s, vh = np.linalg.svd(wide(input), full_matrices=full_matrices)
    v = np.ascontiguousarray(np.conjugate(np.swapaxes(vh, -1, -2)))
    return s.astype(input.dtype), u.astype(input.dtype), v.astype(input.dtype)


@svd_op.gradient
def _svd_grad(op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> list[Tensor]:
    """From "An extended collection of matrix derivative results", M. Giles 2008."""
    if op.get_attr("compute_uv") is False:
        _, u, v = svd(op.inputs[0], compute_uv=True)
        sized = diagonals.matrix_diag(grad_s)
        return [matmul.matmul(matmul.matmul(u, sized), v, adjoint_b=True)]
    s, u, v = op.outputs
    if s.dtype.is_complex:
        raise NotImplementedError("SVD gradient for complex matrices is not implemented.")
    rows, columns = op.inputs[0].shape.as_list()[-2:] if op.inputs[0].shape.ndims is not None else (None, None)
    if rows is None or columns is None:
        raise NotImplementedError("SVD gradient has not been implemented for input with unknown inner matrix shape.")
    if op.get_attr("full_matrices") and abs(rows - columns) > 1:
        raise NotImplementedError("svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True")
    p = min(rows, columns)
    with ops.control_dependencies([grad_s, grad_u, grad_v]):
        u, v = u[..., :p], v[..., :p]
        grad_u, grad_v = grad_u[..., :p], grad_v[..., :p]
        squares = elementwise.square(s)
        gaps = array_ops.expand_dims(squares, -2) - array_ops.expand_dims(squares, -1)
        f = diagonals.matrix_set_diag(elementwise.reciprocal(gaps), array_ops.zeros_like(s))
        turn_u = matmul.matmul(u, grad_u, adjoint_a=True)
        turn_v = matmul.matmul(v, grad_v, adjoint_a=True)
        sized = diagonals.matrix_diag(s)
        middle = (matmul.matmul(f * (turn_u - adjoint(turn_u)), sized)
                  + matmul.matmul(sized, f * (turn_v - adjoint(turn_v))) + diagonals.matrix_diag(grad_s))
        grad = matmul.matmul(matmul.matmul(u, middle), v, adjoint_b=True)
        inverse = elementwise.reciprocal(s)
        if rows > p:
            outside = grad_u - matmul.matmul(u, turn_u)
            grad += matmul.matmul(outside * array_ops.expand_dims(inverse, -2), v, adjoint_b=True)
        if columns > p:
            outside = grad_v - matmul.matmul(v, turn_v)
            grad += matmul.matmul(u * array_ops.expand_dims(inverse, -2), outside, adjoint_b=True)
        return [grad]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v) with tensor = u diag(s) v^H for matrices [..., m, n], singular values s sorted from the largest.

    Without `compute_uv` it is s alone. (numpy gives v^H, not v.)
    """
    s, u, v = apply_op("Svd", input=tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    from tfsandbox.ops import complex_ops
    if not compute_uv:
        return complex_ops.real(s)
    return complex_ops.real(s), u, v


# ------------------------------------------------------------ eigenvalues of symmetric matrices

self_adjoint_eig_op = register_op("SelfAdjointEigV2", "input: T -> e: T, v: T",
                                  f"compute_v: bool = true; T: type in {{{TYPES}}}")


@self_adjoint_eig_op.shape
def _self_adjoint_eig_shape(c: Any) -> list[TensorShape]:
    shape = square_unchanged(c)
    if shape.ndims is None:
        return [shape_inference.UNKNOWN] * 2
    values = TensorShape(shape.as_list()[:-1])
    return [values, shape if c.attr("compute_v") else TensorShape([0])]


@self_adjoint_eig_op.kernel
def _self_adjoint_eig(input: Any, *, compute_v: bool) -> tuple[Any, Any]:
    check_square(input)
    try:
        if not compute_v:
            return np.linalg.eigvalsh(wide(input)).astype(input.dtype), np.zeros(0, input.dtype)
        e, v = np.linalg.eigh(wide(input))
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "Self-adjoint eigen decomposition was not successful. The input "
                                                      "might not be valid.") from None
    return e.astype(input.dtype), v.astype(input.dtype)


@self_adjoint_eig_op.gradient
def _self_adjoint_eig_grad(op: Operation, grad_e: Tensor, grad_v: Tensor) -> list[Tensor]:
    e, v = op.outputs
    with ops.control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            gaps = array_ops.expand_dims(e, -2) - array_ops.expand_dims(e, -1)
            f = diagonals.matrix_set_diag(elementwise.reciprocal(gaps), array_ops.zeros_like(e))
            middle = diagonals.matrix_diag(grad_e) + f * matmul.matmul(v, grad_v, adjoint_a=True)
        else:
            _, v = self_adjoint_eig(op.inputs[0])
            middle = diagonals.matrix_diag(grad_e)
        grad = matmul.matmul(v, matmul.matmul(middle, v, adjoint_b=True))
        # Only the lower triangle of the input is read.
        grad = diagonals.matrix_band_part(grad + adjoint(grad), -1, 0)
        return [diagonals.matrix_set_diag(grad, 0.5 * diagonals.matrix_diag_part(grad))]


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(e, v) of symmetric (hermitian) matrices [..., n, n]: eigenvalues, smallest first, and eigenvectors as columns.

    Only the lower triangle is read.
    """
    e, v = apply_op("SelfAdjointEigV2", input=tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues [..., n] of symmetric (hermitian) matrices [..., n, n], smallest first."""
    return apply_op("SelfAdjointEigV2", input=tensor, compute_v=False, name=name)[0]


# ------------------------------------------------------------ Cholesky

cholesky_op = register_op("Cholesky", "input: T -> output: T", f"T: type in {{{TYPES}}}")
cholesky_op.shape(square_unchanged)


@cholesky_op.kernel
def _cholesky(input: Any) -> Any:
    check_square(input)
    try:
        return np.linalg.cholesky(wide(input)).astype(input.dtype)
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "Cholesky decomposition was not successful. The input might not "
                                                      "be valid.") from None


@cholesky_op.gradient
def _cholesky_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    from tfsandbox.ops import linear_systems
    lower = op.outputs[0]
    size = array_ops.shape(lower)[-1]
    batch_shape = array_ops.shape(lower)[:-2]
    inverse = linear_systems.matrix_triangular_solve(
        lower, linear_systems.eye(size, batch_shape=batch_shape, dtype=lower.dtype))
    middle = matmul.matmul(lower, grad, adjoint_a=True)
    middle = diagonals.matrix_set_diag(middle, 0.5 * diagonals.matrix_diag_part(middle))
    middle = diagonals.matrix_band_part(middle, -1, 0)
    half = matmul.matmul(matmul.matmul(inverse, middle, adjoint_a=True), inverse)
    half += adjoint(half)
    return [half * 0.5]


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular l with l l^H = input, for symmetric positive definite matrices [..., n, n].

    Only the lower triangle is read. A matrix that is not positive definite raises `InvalidArgumentError` in the run.
    """
    return apply_op("Cholesky", input=input, name=name)


# ------------------------------------------------------------ LU

lu_op = register_op("Lu", "input: T -> lu: T, p: output_idx_type",
                    f"T: type in {{{TYPES}}}; output_idx_type: type in {{int32, int64}} = int32")


@lu_op.shape
def _lu_shape(c: Any) -> list[TensorShape]:
    shape = square_unchanged(c)
    if shape.ndims is None:
        return [shape_inference.UNKNOWN] * 2
    return [shape, TensorShape(shape.as_list()[:-1])]


@lu_op.kernel
def _lu(input: Any, *, output_idx_type: Any) -> tuple[Any, Any]:
    check_square(input)
    factors = np.array(wide(input))
    order = np.empty(input.shape[:-1], output_idx_type.as_numpy_dtype)
    for index in np.ndindex(*input.shape[:-2]):
        order[index] = _eliminate(factors[index])
    return factors.astype(input.dtype), order


def _eliminate(a: np.ndarray) -> np.ndarray:
    """Gaussian elimination with row exchanges, in place; gives the order of the rows."""
    n = len(a)
    order = np.arange(n)
    for k in range(n):
        pivot = k + int(np.argmax(np.absolute(a[k:, k])))
        if a[pivot, k] == 0:
            raise errors.InvalidArgumentError(None, None, "Input is not invertible.")
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
        a[k + 1:, k] /= a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return order


Lu = namedtuple("Lu", ["lu", "p"])


def lu(input: Any, output_idx_type: Any = None, name: str | None = None) -> Any:
    """(lu, p): both triangles of an LU factorization in one matrix, and the order of the rows."""
    return Lu(*apply_op("Lu", input=input, output_idx_type=output_idx_type, name=name))

