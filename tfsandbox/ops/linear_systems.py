"""Systems of linear equations, inverses and determinants, identity matrices."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, binary_ops, diagonals, factorizations, matmul
from tfsandbox.ops.factorizations import TYPES, check_square, matrix_sizes, square_unchanged, wide

__all__ = [
    "cholesky_solve", "eye", "matrix_determinant", "matrix_inverse", "matrix_solve", "matrix_solve_ls",
    "matrix_triangular_solve",
]


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> Tensor:
    """Identity matrices [*batch_shape, num_rows, num_columns]; square without `num_columns`."""
    with ops.name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor):
            size: Any = binary_ops.minimum(num_rows, num_columns)
        else:
            num_rows, num_columns = int(num_rows), int(num_columns)
            square = square or num_rows == num_columns
            size = min(num_rows, num_columns)
        if isinstance(batch_shape, Tensor) or isinstance(size, Tensor):
            batch_shape = ops.convert_to_tensor(batch_shape, name="shape", dtype=dtypes.int32)
            diagonal_shape: Any = array_ops.concat([batch_shape, [size]], axis=0)
            shape: Any = None if square else array_ops.concat([batch_shape, [num_rows, num_columns]], axis=0)
        else:
            batch_shape = TensorShape(batch_shape).as_list()
            diagonal_shape, shape = [*batch_shape, size], [*batch_shape, num_rows, num_columns]
        ones = array_ops.ones(diagonal_shape, dtype=dtype)
        if square:
            return diagonals.matrix_diag(ones)
        return diagonals.matrix_set_diag(array_ops.zeros(shape, dtype=dtype), ones)


def _turned(a: Any, adjoint: bool) -> Any:
    return np.conjugate(np.swapaxes(a, -1, -2)) if adjoint else a


# ------------------------------------------------------------ inverse and determinant

matrix_inverse_op = register_op("MatrixInverse", "input: T -> output: T",
                                f"adjoint: bool = false; T: type in {{{TYPES}}}")
matrix_inverse_op.shape(square_unchanged)


@matrix_inverse_op.kernel
def _matrix_inverse(input: Any, *, adjoint: bool) -> Any:
    check_square(input)
    try:
        return np.linalg.inv(_turned(wide(input), adjoint)).astype(input.dtype)
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "Input is not invertible.") from None


@matrix_inverse_op.gradient
def _matrix_inverse_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    inverse = op.outputs[0]
    inner = matmul.matmul(grad, inverse, adjoint_b=True)
    return [-matmul.matmul(inverse, inner, adjoint_a=True)]


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices, or of their adjoints; `InvalidArgumentError` for a singular one."""
    return apply_op("MatrixInverse", input=input, adjoint=adjoint, name=name)


matrix_determinant_op = register_op("MatrixDeterminant", "input: T -> output: T",
                                    "T: type in {float16, float32, float64, complex64, complex128}")


@matrix_determinant_op.shape
def _determinant_shape(c: Any) -> TensorShape:
    shape = square_unchanged(c)
    return shape if shape.ndims is None else TensorShape(shape.as_list()[:-2])


@matrix_determinant_op.kernel
def _matrix_determinant(input: Any) -> Any:
    check_square(input)
    return np.linalg.det(wide(input)).astype(input.dtype)


@matrix_determinant_op.gradient
def _matrix_determinant_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    determinant = op.outputs[0]
    factors = array_ops.reshape(grad * determinant, array_ops.concat([array_ops.shape(determinant), [1, 1]], 0))
    return [factors * inverse]


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """The determinants [...] of square matrices [..., n, n]."""
    return apply_op("MatrixDeterminant", input=input, name=name)


log_matrix_determinant_op = register_op("LogMatrixDeterminant", "input: T -> sign: T, log_abs_determinant: T",
                                        "T: type in {float16, float32, float64, complex64, complex128}")


@log_matrix_determinant_op.shape
def _log_matrix_determinant_shape(c: Any) -> list[TensorShape]:
    return [_determinant_shape(c)] * 2


@log_matrix_determinant_op.kernel
def _log_matrix_determinant(input: Any) -> tuple[Any, Any]:
    check_square(input)
    sign, size = np.linalg.slogdet(wide(input))
    return sign.astype(input.dtype), size.astype(input.dtype)


@log_matrix_determinant_op.gradient
def _log_matrix_determinant_grad(op: Operation, grad_sign: Tensor, grad: Tensor) -> list[Tensor]:
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    shape = array_ops.concat([array_ops.shape(op.outputs[1]), [1, 1]], 0)
    return [array_ops.reshape(grad, shape) * inverse]


LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def log_matrix_determinant(input: Any, name: str | None = None) -> Any:
    """(sign, log of the absolute value) of the determinants of square matrices."""
    return LogMatrixDeterminant(*apply_op("LogMatrixDeterminant", input=input, name=name))


# ------------------------------------------------------------ solving


def _solution_shape(c: Any) -> TensorShape:
    """The shape of x in a x = b for square matrices."""
    left, right = matrix_sizes(c.shape(0), square=True), matrix_sizes(c.shape(1))
    if left is None or right is None:
        return shape_inference.UNKNOWN
    batch = TensorShape(left[0]).merge_with(TensorShape(right[0]))
    size = next((s for s in (left[1], left[2], right[1]) if s is not None), None)
    if size is not None and right[1] is not None and right[1] != size:
        raise ValueError(f"Dimensions must be equal, but are {size} and {right[1]}")
    return TensorShape([*batch.as_list(), size, right[2]])


matrix_solve_op = register_op("MatrixSolve", "matrix: T, rhs: T -> output: T",
                              f"adjoint: bool = false; T: type in {{{TYPES}}}")
matrix_solve_op.shape(_solution_shape)


@matrix_solve_op.kernel
def _matrix_solve(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    check_square(matrix)
    try:
        return np.linalg.solve(_turned(wide(matrix), adjoint), wide(rhs)).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "Input matrix is not invertible.") from None


@matrix_solve_op.gradient
def _matrix_solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs[0], op.outputs[0]
    adjoint = op.get_attr("adjoint")
    grad_b = matrix_solve(a, grad, adjoint=not adjoint)
    return [_grad_of_matrix(x, grad_b, adjoint), grad_b]


def _grad_of_matrix(x: Tensor, grad_b: Tensor, adjoint: bool) -> Tensor:
    first, second = (x, grad_b) if adjoint else (grad_b, x)
    return -matmul.matmul(first, second, adjoint_b=True)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """x with matrix x = rhs (or matrix^H x = rhs), for [..., n, n] and [..., n, k]."""
    return apply_op("MatrixSolve", matrix=matrix, rhs=rhs, adjoint=adjoint, name=name)


matrix_triangular_solve_op = register_op("MatrixTriangularSolve", "matrix: T, rhs: T -> output: T",
                                         f"lower: bool = true; adjoint: bool = false; T: type in {{{TYPES}}}")
matrix_triangular_solve_op.shape(_solution_shape)


@matrix_triangular_solve_op.kernel
def _matrix_triangular_solve(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    check_square(matrix)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    if not np.all(np.diagonal(triangle, axis1=-2, axis2=-1)):
        raise errors.InvalidArgumentError(None, None, "Input matrix is not invertible.")
    return np.linalg.solve(_turned(wide(triangle), adjoint), wide(rhs)).astype(rhs.dtype)


@matrix_triangular_solve_op.gradient
def _matrix_triangular_solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs[0], op.outputs[0]
    adjoint, lower = op.get_attr("adjoint"), op.get_attr("lower")
    grad_b = matrix_triangular_solve(a, grad, lower=lower, adjoint=not adjoint)
    grad_a = _grad_of_matrix(x, grad_b, adjoint)
    band = (-1, 0) if lower else (0, -1)
    return [diagonals.matrix_band_part(grad_a, *band), grad_b]


def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                            name: str | None = None) -> Tensor:
    """x with matrix x = rhs, where only the lower (or the upper) triangle of the matrix counts."""
    return apply_op("MatrixTriangularSolve", matrix=matrix, rhs=rhs, lower=lower, adjoint=adjoint, name=name)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x with a x = rhs, given the Cholesky factor `chol` of a."""
    with ops.name_scope(name, "cholesky_solve", [chol, rhs]):
        forward = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, forward, adjoint=True, lower=True)


# ------------------------------------------------------------ least squares

matrix_solve_ls_op = register_op("MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64 -> output: T",
                                 f"T: type in {{{TYPES}}}; fast: bool = true")


@matrix_solve_ls_op.shape
def _matrix_solve_ls_shape(c: Any) -> TensorShape:
    left, right = matrix_sizes(c.shape(0)), matrix_sizes(c.shape(1))
    if left is None or right is None:
        return shape_inference.UNKNOWN
    if left[1] is not None and right[1] is not None and left[1] != right[1]:
        raise ValueError(f"Dimensions must be equal, but are {left[1]} and {right[1]}")
    return TensorShape([*TensorShape(left[0]).merge_with(TensorShape(right[0])).as_list(), left[2], right[2]])


@matrix_solve_ls_op.kernel
def _matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    a, b = wide(matrix), wide(rhs)
    regularizer = float(l2_regularizer)
    if not fast:
        if regularizer == 0:
            return (np.linalg.pinv(a) @ b).astype(rhs.dtype)
    m, n = a.shape[-2:]
    adjoint = _turned(a, True)
    identity = np.eye(min(m, n), dtype=a.dtype) * np.asarray(regularizer, a.dtype)
    try:
        if m >= n:
            return np.linalg.solve(adjoint @ a + identity, adjoint @ b).astype(rhs.dtype)
        return (adjoint @ np.linalg.solve(a @ adjoint + identity, b)).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "Input matrix was rank deficient or ill-conditioned. Try setting "
                                                      "fast=False or provide a larger l2_regularizer > 0.") from None


@matrix_solve_ls_op.gradient
def _matrix_solve_ls_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    sizes = op.inputs[0].shape.as_list()[-2:] if op.inputs[0].shape.ndims is not None else [None, None]
    if sizes[0] is None or sizes[1] is None:
        raise ValueError("The gradient of matrix_solve_ls needs the shape of the matrices while the graph is built.")
    a, b = op.inputs[0], op.inputs[1]
    x = op.outputs[0]
    regularizer = array_ops.reshape(op.inputs[2], [])
    if sizes[0] >= sizes[1]:
        chol = _gramian_cholesky(a, regularizer, first_kind=True)
        z = cholesky_solve(chol, grad)
        xz = matmul.matmul(x, z, adjoint_b=True)
        sym = xz + factorizations.adjoint(xz)
        grad_a = -matmul.matmul(a, sym) + matmul.matmul(b, z, adjoint_b=True)
        return [grad_a, matmul.matmul(a, z), None]
    chol = _gramian_cholesky(a, regularizer, first_kind=False)
    grad_b = cholesky_solve(chol, matmul.matmul(a, grad))
    tmp = cholesky_solve(chol, b)
    a1 = -matmul.matmul(tmp, matmul.matmul(grad_b, a, adjoint_a=True))
    a2 = matmul.matmul(cholesky_solve(chol, b), grad - matmul.matmul(a, grad_b, adjoint_a=True), adjoint_b=True)
    return [a1 + a2, grad_b, None]


def _gramian_cholesky(matrix: Tensor, l2_regularizer: Any, first_kind: bool) -> Tensor:
    """The Cholesky factor of A^H A (first kind) or A A^H, plus the regularizer times the identity."""
    gramian = matmul.matmul(matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        shape = array_ops.shape(matrix)
        batch_shape = shape[:-2]
        size = shape[-1] if first_kind else shape[-2]
        identity = eye(size, batch_shape=batch_shape, dtype=matrix.dtype)
        small = matrix.shape.as_list()[-1 if first_kind else -2] if matrix.shape.ndims is not None else None
        if matrix.shape.ndims is not None:
            identity.set_shape([*matrix.shape.as_list()[:-2], small, small])
        gramian += _as_type(l2_regularizer, matrix.dtype) * identity
    return factorizations.cholesky(gramian)


def _as_type(value: Any, dtype: Any) -> Any:
    from tfsandbox.ops import casts
    return casts.cast(value, dtype) if isinstance(value, Tensor) else value


def _overdetermined(a: Tensor, b: Tensor, l2_regularizer: Any) -> Tensor:
    chol = _gramian_cholesky(a, l2_regularizer, first_kind=True)
    return cholesky_solve(chol, matmul.matmul(a, b, adjoint_a=True))


def _underdetermined(a: Tensor, b: Tensor, l2_regularizer: Any) -> Tensor:
    chol = _gramian_cholesky(a, l2_regularizer, first_kind=False)
    return matmul.matmul(a, cholesky_solve(chol, b), adjoint_a=True)


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True,
                    name: str | None = None) -> Tensor:
    """The least squares solution of matrix x = rhs, for [..., m, n] and [..., m, k].

    `l2_regularizer` is the weight of a penalty on x. `fast` solves the normal equations by a Cholesky factor, good
    where the matrix has full rank and is well conditioned; otherwise a complete orthogonal decomposition is used, and
    for m < n the solution of least norm is given.
    """
    matrix = ops.convert_to_tensor(matrix, name="matrix")
    if fast and _dimensions_known(matrix.shape):
        with ops.name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
            rhs = ops.convert_to_tensor(rhs, name="rhs")
            m, n = matrix.shape.as_list()[-2:]
            solve = _overdetermined if m >= n else _underdetermined
            return solve(matrix, rhs, l2_regularizer)
    return apply_op("MatrixSolveLs", matrix=matrix, rhs=rhs, l2_regularizer=l2_regularizer, fast=fast, name=name)


def _dimensions_known(shape: TensorShape) -> bool:
    sizes: Sequence[int | None] = shape.as_list()[-2:] if shape.ndims is not None else [None]
    return None not in sizes
