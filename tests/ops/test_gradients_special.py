"""Gradients of complex ops, and of ops that take only some matrices, against finite differences.

The gradient of a real loss with respect to a complex z is dL/d(Re z) + i dL/d(Im z), as TensorFlow defines it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf

RNG = np.random.RandomState(7)


def complex_numbers(*shape: int) -> np.ndarray:
    """Away from 0 and from the negative real axis, where logarithms and roots jump."""
    return RNG.uniform(0.4, 1.4, shape) + 1j * RNG.uniform(-0.8, 0.8, shape)


Z, W = complex_numbers(2, 3), complex_numbers(3)

COMPLEX: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    **{name: (getattr(tf, name), [Z]) for name in
       "exp log sqrt rsqrt square reciprocal sigmoid tanh sin cos tan sinh cosh negative conj abs angle real imag "
       "log1p expm1 asin acos atan asinh acosh".split()},
    **{name: (getattr(tf, name), [Z, W]) for name in "add subtract multiply divide pow".split()},
    "div_no_nan": (tf.div_no_nan, [Z, W]),
    "reduce_sum": (lambda z: tf.reduce_sum(z, 1), [Z]),
    "reduce_mean": (lambda z: tf.reduce_mean(z, 0), [Z]),
    "reduce_prod": (lambda z: tf.reduce_prod(z, 1), [Z]),
    "cumsum": (lambda z: tf.cumsum(z, 1), [Z]),
    "matmul": (lambda a, b: tf.matmul(a, b, adjoint_a=True), [complex_numbers(3, 2), complex_numbers(3, 4)]),
    "batches": (lambda a, b: tf.matmul(a, b, adjoint_b=True), [complex_numbers(2, 3, 2), complex_numbers(2, 4, 2)]),
    "inverse": (tf.matrix_inverse, [complex_numbers(2, 3, 3) + 2 * np.eye(3)]),
    "solve": (tf.matrix_solve, [complex_numbers(3, 3) + 2 * np.eye(3), complex_numbers(3, 2)]),
}


def loss_of(function: Callable[..., Any], inputs: list[Any]) -> Any:
    result = function(*inputs)
    size = int(np.prod(result.shape.as_list()))
    weights = np.linspace(0.5, 1.5, size).reshape(result.shape.as_list())
    if result.dtype.is_complex:
        return tf.reduce_sum(tf.real(result) * weights + tf.imag(result) * weights[::-1])
    return tf.reduce_sum(result * weights)


def slopes(sess: Any, loss: Any, fed: list[Any], values: list[np.ndarray], index: int, step: complex) -> np.ndarray:
    found = np.zeros(values[index].shape)
    for place in np.ndindex(*values[index].shape):
        sides = []
        for sign in (1, -1):
            moved = [v.copy() for v in values]
            moved[index][place] += sign * step
            sides.append(sess.run(loss, dict(zip(fed, moved))))
        found[place] = (sides[0] - sides[1]) / (2 * abs(step))
    return found


@pytest.mark.parametrize("name", list(COMPLEX))
def test_complex_gradient_is_the_slope(name: str) -> None:
    function, values = COMPLEX[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = [tf.placeholder(tf.complex128, v.shape) for v in values]
        loss = loss_of(function, fed)
        gradients = sess.run(tf.gradients(loss, fed), dict(zip(fed, values)))
        for i, gradient in enumerate(gradients):
            wanted = slopes(sess, loss, fed, values, i, 1e-6) + 1j * slopes(sess, loss, fed, values, i, 1e-6j)
            np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-7)


def test_complex_of_parts() -> None:
    real, imag = RNG.rand(2, 3), RNG.rand(3)
    with tf.Graph().as_default(), tf.Session() as sess:
        fed = [tf.placeholder(tf.float64, v.shape) for v in (real, imag)]
        loss = tf.reduce_sum(tf.abs(tf.complex(*fed)))
        gradients = sess.run(tf.gradients(loss, fed), dict(zip(fed, (real, imag))))
        for i, gradient in enumerate(gradients):
            np.testing.assert_allclose(gradient, slopes(sess, loss, fed, [real, imag], i, 1e-6), rtol=1e-6)


def symmetrised(x: Any) -> Any:
    return (x + tf.matrix_transpose(x)) / 2.0


A = RNG.uniform(-1, 1, (2, 3, 3))
MATRICES: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: tf.cholesky(symmetrised(x) + 4.0 * np.eye(3)),
    "logdet": lambda x: tf.linalg.logdet(symmetrised(x) + 4.0 * np.eye(3)),
    "eigenvalues": lambda x: tf.self_adjoint_eigvals(symmetrised(x)),
    "projection": lambda x: (lambda v: tf.matmul(v, v, transpose_b=True))(
        tf.self_adjoint_eig(symmetrised(x))[1][..., :2]),
    "qr": lambda x: tf.qr(x)[1],
    "qr of a tall one": lambda x: tf.qr(x[..., :2])[0],
    "singular values": lambda x: tf.svd(x, compute_uv=False),
    "tall svd": lambda x: (lambda s, u, v: tf.matmul(u, v, transpose_b=True))(*tf.svd(x[..., :2])),
    "wide svd": lambda x: (lambda s, u, v: tf.matmul(u, v, transpose_b=True))(*tf.svd(x[:, :2, :])),
    "exponential": tf.linalg.expm,
    "square root": lambda x: tf.linalg.sqrtm(symmetrised(x) + 4.0 * np.eye(3)),
    "least squares": lambda x: tf.matrix_solve_ls(x[..., :2], np.ones((2, 3, 1)), l2_regularizer=0.1),
    "slow least squares": lambda x: tf.matrix_solve_ls(x[..., :2], np.ones((2, 3, 1)), fast=False),
    "pseudo-inverse": lambda x: tf.linalg.pinv(x[..., :2]),
    "tridiagonal solve": lambda x: tf.linalg.tridiagonal_solve(x + np.array([[0.0], [4.0], [0.0]]), np.ones((2, 3, 1))),
    "tridiagonal matmul": lambda x: tf.linalg.tridiagonal_matmul(x, x),
    "diag_part of rectangles": lambda x: tf.matrix_diag_part(x[:, :2, :]),
    "set_diag": lambda x: tf.matrix_set_diag(x, tf.square(x[:, 0, :])),
    "spectral norm": lambda x: tf.norm(x, ord=2, axis=[-2, -1]),
    "norm of order 3": lambda x: tf.norm(x, ord=3, axis=1),
}


@pytest.mark.parametrize("name", list(MATRICES))
def test_gradient_of_matrices_is_the_slope(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, A.shape)
        loss = loss_of(MATRICES[name], [x])
        gradient = sess.run(tf.gradients(loss, x)[0], {x: A})
        np.testing.assert_allclose(gradient, slopes(sess, loss, [x], [A], 0, 1e-6), rtol=1e-4, atol=1e-6)


DIAGONALS: dict[str, Callable[[Any], Any]] = {
    "one above": lambda x: tf.matrix_diag(x[:, 0, :], k=1),
    "a band": lambda x: tf.matrix_diag(x[:, :2, :], k=(-1, 0)),
    "of a rectangle": lambda x: tf.matrix_diag(x[:, 0, :], num_rows=3, num_cols=5),
    "part of a band": lambda x: tf.matrix_diag_part(x, k=(-1, 1)),
    "part below": lambda x: tf.matrix_diag_part(x, k=-1),
    "set above": lambda x: tf.matrix_set_diag(x, tf.square(x[:, 0, :2]), k=1),
}


@pytest.mark.parametrize("name", list(DIAGONALS))
def test_diagonals_off_the_main_one(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, A.shape)
        result = DIAGONALS[name](x)
        assert sess.run(result, {x: A}).shape == tuple(result.shape.as_list())
        loss = tf.reduce_sum(tf.square(result))
        gradient = sess.run(tf.gradients(loss, x)[0], {x: A})
        np.testing.assert_allclose(gradient, slopes(sess, loss, [x], [A], 0, 1e-6), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("taken", [True, False])
def test_rows_looked_up_in_a_branch(index: type, taken: bool) -> None:
    """The gradient of a lookup is slices; in the branch that was not taken it is a whole tensor of zeros."""
    p = tf.placeholder(tf.bool, [])
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    y = tf.cond(p, lambda: tf.gather(table, np.array([0, 0], index)), lambda: tf.zeros([2, 2]))
    z = tf.cond(p, lambda: table[1:] * 2.0, lambda: tf.gather(table, np.array([2, 1], index)) * 3.0)
    slices, = tf.gradients(y, table)
    assert isinstance(slices, tf.IndexedSlices)
    both, = tf.gradients(y + z, table)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, second = sess.run([tf.convert_to_tensor(slices), tf.convert_to_tensor(both)], {p: taken})
    np.testing.assert_array_equal(first, [[2, 2], [0, 0], [0, 0]] if taken else np.zeros((3, 2)))
    np.testing.assert_array_equal(second, [[2, 2], [2, 2], [2, 2]] if taken else [[0, 0], [3, 3], [3, 3]])
