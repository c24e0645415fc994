"""Functions of matrices built from the factorizations: the names of `tensorflow.python.ops.linalg.linalg_impl`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import (
    array_ops,
    casts,
    complex_ops,
    diagonals,
    elementwise,
    factorizations,
    linear_systems,
    matmul,
    reductions,
)
from tfsandbox.ops.factorizations import TYPES, square_unchanged, wide


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Matrices [..., m, n] conjugated and transposed."""
    with ops.name_scope(name, "adjoint", [matrix]):
        matrix = ops.convert_to_tensor(matrix, name="matrix")
        return array_ops.matrix_transpose(matrix, conjugate=True)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of hermitian positive definite matrices, by their Cholesky factors."""
    with ops.name_scope(name, "logdet", [matrix]):
        chol = factorizations.cholesky(matrix)
        diagonal = complex_ops.real(diagonals.matrix_diag_part(chol))
        return 2.0 * reductions.reduce_sum(elementwise.log(diagonal), axis=[-1])


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values of a matrix lie above `tol`; by default the rounding error of the largest."""
    with ops.name_scope(name, "matrix_rank", [a]):
        a = ops.convert_to_tensor(a, dtype_hint=np.float32, name="a")
        values = factorizations.svd(a, compute_uv=False)
        if tol is None:
            known = a.shape.ndims is not None and None not in a.shape.as_list()[-2:]
            size: Any = np.int64(max(a.shape.as_list()[-2:])) if known else \
                reductions.reduce_max(array_ops.shape(a)[-2:])
            epsilon = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = epsilon * casts.cast(size, a.dtype) * reductions.reduce_max(values, axis=-1, keepdims=True)
        return reductions.reduce_sum(casts.cast(values > tol, np.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse [..., n, m] of matrices [..., m, n].

    Singular values up to `rcond` times the largest count as 0; by default 10 max(m, n) times the rounding error.
    """
    with ops.name_scope(name or "pinv"):
        a = ops.convert_to_tensor(a, name="a")
        if not a.dtype.is_floating:
            raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
        if a.shape.ndims is not None and a.shape.ndims < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.ndims}).")
        if rcond is None:
            sizes = a.shape.as_list()[-2:] if a.shape.ndims is not None else [None]
            largest: Any = casts.cast(reductions.reduce_max(array_ops.shape(a)[-2:]), a.dtype) if None in sizes \
                else float(max(sizes))  # type: ignore[type-var, arg-type]
            rcond = 10.0 * largest * np.finfo(a.dtype.as_numpy_dtype).eps
        rcond = ops.convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        s, u, v = factorizations.svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reductions.reduce_max(s, axis=-1)
        infinity = np.array(np.inf, a.dtype.as_numpy_dtype)
        s = array_ops.where_v2(s > array_ops.expand_dims(cutoff, -1), s, infinity)
        inverse = matmul.matmul(v / array_ops.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.ndims is not None:
            rows, columns = a.shape.as_list()[-2:]
            inverse.set_shape([*a.shape.as_list()[:-2], columns, rows])
        return inverse


# ------------------------------------------------------------ functions of square matrices

matrix_exponential_op = register_op("MatrixExponential", "input: T -> output: T", f"T: type in {{{TYPES}}}")
matrix_logarithm_op = register_op("MatrixLogarithm", "input: T -> output: T", "T: type in {complex64, complex128}")
matrix_square_root_op = register_op("MatrixSquareRoot", "input: T -> output: T", f"T: type in {{{TYPES}}}")
for _op in (matrix_exponential_op, matrix_logarithm_op, matrix_square_root_op):
    _op.shape(square_unchanged)


def _each(function: Any, input: Any) -> Any:
    result = np.empty_like(input)
    for index in np.ndindex(*input.shape[:-2]):
        value = function(wide(input[index]))
        result[index] = value if result.dtype.kind == "c" else value.real
    return result


@matrix_exponential_op.kernel
def _matrix_exponential(input: Any) -> Any:
    from scipy import linalg
    return _each(linalg.expm, input)


@matrix_logarithm_op.kernel
def _matrix_logarithm(input: Any) -> Any:
    from scipy import linalg
    return _each(linalg.logm, input)


@matrix_square_root_op.kernel
def _matrix_square_root(input: Any) -> Any:
    from scipy import linalg
    return _each(linalg.sqrtm, input)


@matrix_square_root_op.gradient
def _matrix_square_root_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """The solution X of the Sylvester equation R X + X R = grad, by Kronecker products."""
    root = op.outputs[0]
    shape = array_ops.shape(root)
    size = shape[-1]
    batch = shape[:-2]
    identity = linear_systems.eye(size, batch_shape=batch, dtype=root.dtype)

    def kronecker(a: Tensor, b: Tensor) -> Tensor:
        spread = array_ops.expand_dims(array_ops.expand_dims(a, -2), -1) * array_ops.expand_dims(
            array_ops.expand_dims(b, -3), -2)
        # [..., i, k, j, l]: row i, k and column j, l.
        return array_ops.reshape(spread, array_ops.concat([batch, [size * size, size * size]], 0))

    system = kronecker(identity, array_ops.matrix_transpose(root)) + kronecker(root, identity)
    right = array_ops.reshape(grad, array_ops.concat([batch, [size * size, 1]], 0))
    solution = linear_systems.matrix_solve(system, right, adjoint=True)
    return [array_ops.reshape(solution, shape)]


@matrix_exponential_op.gradient
def _matrix_exponential_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """The upper right block of exp([[A, G], [0, A]]), with A the adjoint of the input and G the gradient."""
    a = adjoint(op.inputs[0])
    above = array_ops.concat([a, grad], -1)
    below = array_ops.concat([array_ops.zeros_like(a), a], -1)
    whole = matrix_exponential(array_ops.concat([above, below], -2))
    size = array_ops.shape(a)[-1]
    return [array_ops.reshape(whole[..., :size, size:], array_ops.shape(a))]


def matrix_exponential(input: Any, name: str | None = None) -> Tensor:
    """exp of square matrices: the sum of their powers divided by factorials."""
    return apply_op("MatrixExponential", input=input, name=name)


def matrix_logarithm(input: Any, name: str | None = None) -> Tensor:
    """The logarithms of complex square matrices."""
    return apply_op("MatrixLogarithm", input=input, name=name)


def matrix_square_root(input: Any, name: str | None = None) -> Tensor:
    """Matrices whose squares are the given ones."""
    return apply_op("MatrixSquareRoot", input=input, name=name)


# ------------------------------------------------------------ tridiagonal systems

tridiagonal_solve_op = register_op(
    "TridiagonalSolve", "diagonals: T, rhs: T -> output: T",
    "partial_pivoting: bool = true; T: type in {float64, float32, complex64, complex128}")
tridiagonal_matmul_op = register_op(
    "TridiagonalMatMul", "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    "T: type in {float64, float32, complex64, complex128}")


@tridiagonal_solve_op.shape
def _tridiagonal_solve_shape(c: Any) -> TensorShape:
    return c.shape(1)


@tridiagonal_matmul_op.shape
def _tridiagonal_matmul_shape(c: Any) -> TensorShape:
    return c.shape(3)


def _full(superdiag: Any, maindiag: Any, subdiag: Any) -> Any:
    n = maindiag.shape[-1]
    matrix = np.zeros((*maindiag.shape, n), maindiag.dtype)
    at = np.arange(n)
    matrix[..., at, at] = maindiag
    matrix[..., at[:-1], at[1:]] = superdiag[..., :n - 1]
    matrix[..., at[1:], at[:-1]] = subdiag[..., 1:]
    return matrix


@tridiagonal_solve_op.kernel
def _tridiagonal_solve(diagonals: Any, rhs: Any, *, partial_pivoting: bool) -> Any:
    try:
        return np.linalg.solve(_full(*np.moveaxis(diagonals, -2, 0)), rhs).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        raise errors.InvalidArgumentError(None, None, "The first element of diagonal is zero.") from None


@tridiagonal_matmul_op.kernel
def _tridiagonal_matmul(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    rows = [np.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag)]
    result = rows[1] * rhs
    result[..., :-1, :] += rows[0][..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += rows[2][..., 1:, :] * rhs[..., :-1, :]
    return result


@tridiagonal_solve_op.gradient
def _tridiagonal_solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    bands, x = op.inputs[0], op.outputs[0]
    # The adjoint exchanges the outer diagonals, each shifted to its own rows.
    above, main, below = (bands[..., i, :] for i in (0, 1, 2))
    zero = array_ops.zeros_like(main[..., :1])
    turned = array_ops.stack([array_ops.concat([below[..., 1:], zero], -1), main,
                              array_ops.concat([zero, above[..., :-1]], -1)], axis=-2)
    grad_rhs = apply_op("TridiagonalSolve", diagonals=turned, rhs=grad,
                        partial_pivoting=op.get_attr("partial_pivoting"))
    none = array_ops.zeros_like(grad_rhs[..., :1, :])
    up = array_ops.concat([x[..., 1:, :], none], -2)
    down = array_ops.concat([none, x[..., :-1, :]], -2)
    parts = [-reductions.reduce_sum(grad_rhs * neighbour, -1) for neighbour in (up, x, down)]
    return [array_ops.stack(parts, axis=-2), grad_rhs]


@tridiagonal_matmul_op.gradient
def _tridiagonal_matmul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    above, main, below, rhs = op.inputs
    none = array_ops.zeros_like(rhs[..., :1, :])
    up = array_ops.concat([rhs[..., 1:, :], none], -2)
    down = array_ops.concat([none, rhs[..., :-1, :]], -2)
    bands = [array_ops.expand_dims(reductions.reduce_sum(grad * neighbour, -1), -2) for neighbour in (up, rhs, down)]
    zero = array_ops.zeros_like(main[..., :1])
    turned_above = array_ops.concat([below[..., 1:], zero], -1)
    turned_below = array_ops.concat([zero, above[..., :-1]], -1)
    return [*bands, apply_op("TridiagonalMatMul", superdiag=turned_above, maindiag=main, subdiag=turned_below,
                             rhs=grad)]


def _bands(diagonals_: Any, diagonals_format: str, name: str) -> list[Tensor]:
    """The upper, main and lower diagonal, all of the matrix's length."""
    if diagonals_format == "compact":
        whole = ops.convert_to_tensor(diagonals_, name=name)
        return [whole[..., i, :] for i in (0, 1, 2)]
    if diagonals_format == "sequence":
        upper, main, lower = (ops.convert_to_tensor(d) for d in diagonals_)
        size = main.shape.as_list()[-1]

        def padded(band: Tensor, before: int, after: int) -> Tensor:
            if band.shape.as_list()[-1] == size:
                return band
            zero = array_ops.zeros_like(main[..., :1])
            return array_ops.concat([zero] * before + [band] + [zero] * after, -1)

        return [padded(upper, 0, 1), main, padded(lower, 1, 0)]
    if diagonals_format == "matrix":
        matrix = ops.convert_to_tensor(diagonals_, name=name)
        main = diagonals.matrix_diag_part(matrix)
        zero = array_ops.zeros_like(main[..., :1])
        upper = diagonals.matrix_diag_part(matrix[..., :-1, 1:])
        lower = diagonals.matrix_diag_part(matrix[..., 1:, :-1])
        return [array_ops.concat([upper, zero], -1), main, array_ops.concat([zero, lower], -1)]
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def tridiagonal_solve(diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False,
                      conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True) -> Tensor:
    """x with t x = rhs for tridiagonal matrices t, given as their three diagonals [..., 3, n] ("compact"), as a list of
    the three ("sequence") or whole ("matrix"). `rhs` is [..., n] or [..., n, k].
    """
    with ops.name_scope(name or "tridiagonal_solve"):
        bands = array_ops.stack(_bands(diagonals, diagonals_format, "diagonals"), axis=-2)
        rhs = ops.convert_to_tensor(rhs, name="rhs")
        if bands.shape.ndims is None or rhs.shape.ndims is None:
            raise ValueError("The ranks of diagonals and rhs must be known while the graph is built.")
        vector = rhs.shape.ndims == bands.shape.ndims - 1
        if conjugate_rhs:
            rhs = complex_ops.conj(rhs)
        if vector:
            rhs = array_ops.expand_dims(rhs, -1)
        elif transpose_rhs:
            rhs = array_ops.matrix_transpose(rhs)
        result = apply_op("TridiagonalSolve", diagonals=bands, rhs=rhs, partial_pivoting=partial_pivoting)
        return array_ops.squeeze(result, -1) if vector else result


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """t times rhs for tridiagonal matrices t, given as in `tridiagonal_solve`."""
    with ops.name_scope(name or "tridiagonal_matmul"):
        bands = [array_ops.expand_dims(band, -2) for band in _bands(diagonals, diagonals_format, "diagonals")]
        return apply_op("TridiagonalMatMul", superdiag=bands[0], maindiag=bands[1], subdiag=bands[2], rhs=rhs)
