"""Random ops and initializers: seeds, streams, shapes, errors. Their numbers are compared in tests/fidelity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_seeded_graph_begins_again_in_every_session() -> None:
    tf.set_random_seed(42)
    x = tf.random_normal([10, 1])
    with tf.Session() as one, tf.Session() as other:
        first, second = one.run(x), one.run(x)
        np.testing.assert_array_equal(other.run(x), first)
        assert not np.array_equal(first, second)
    # What TensorFlow 1.15 prints for this program.
    np.testing.assert_allclose(first[:3, 0], [0.8021455, 0.505679, 1.8120127], rtol=1e-6)


def test_unseeded_draws_differ() -> None:
    x, y = tf.random_uniform([20]), tf.random_uniform([20])
    with tf.Session() as sess:
        a, b = sess.run([x, y])
        assert not np.array_equal(a, b)


@pytest.mark.parametrize("make,dtype", [
    (lambda: tf.random_uniform([2, 3], -1, 1), np.float32),
    (lambda: tf.random_uniform([2, 3], 0, 9, tf.int64), np.int64),
    (lambda: tf.random_normal([2, 3], dtype=tf.float64), np.float64), (lambda: tf.truncated_normal([2, 3]), np.float32),
    (lambda: tf.random_gamma([2], [1.0, 2.0, 3.0]), np.float32),
    (lambda: tf.random_poisson([1.0, 2.0, 3.0], [2], tf.int32), np.int32),
    (lambda: tf.random_shuffle(np.arange(6).reshape(2, 3)), np.int64),
    (lambda: tf.multinomial(np.zeros((2, 4), np.float32), 3), np.int64),
    (lambda: tf.random.categorical(np.zeros((2, 4), np.float32), 3, tf.int32), np.int32),
    (lambda: tf.random_crop(np.zeros((5, 5)), [2, 3]), np.float64),
    (lambda: tf.random.stateless_normal([2, 3], [1, 2]), np.float32),
    (lambda: tf.random.stateless_uniform([2, 3], [1, 2], maxval=5, dtype=tf.int32), np.int32),
    (lambda: tf.random_uniform((tf.Dimension(2), 3)), np.float32),
])
def test_shape_and_type(make: Any, dtype: Any) -> None:
    tensor = make()
    assert tensor.shape.as_list() in ([2, 3], [2, 3, 3][1:])
    with tf.Session() as sess:
        value = sess.run(tensor)
    assert value.shape == (2, 3) and value.dtype == dtype


@pytest.mark.parametrize("make,kind,text", [
    (lambda: tf.random_uniform([2], dtype=tf.int32), ValueError, "Must specify maxval for integer dtype tf.int32"),
    (lambda: tf.random_uniform([2], dtype=tf.string), ValueError, "Invalid dtype tf.string"),
    (lambda: tf.random_uniform(3), ValueError, "Shape must be rank 1 but is rank 0"),
    (lambda: tf.random_normal([2], dtype=tf.int32), TypeError, "Expected int32, got 0.0 of type 'float'"),
    (lambda: tf.multinomial([1.0], 2), ValueError, "Shape must be rank 2 but is rank 1"),
    (lambda: tf.variance_scaling_initializer(-1.0), ValueError, "`scale` must be positive float."),
    (lambda: tf.variance_scaling_initializer(mode="x"), ValueError, "Invalid `mode` argument:"),
    (lambda: tf.constant_initializer(tf.zeros([])), TypeError, "Invalid type for initial value"),
    (lambda: tf.orthogonal_initializer()([3]), ValueError, "must be at least two-dimensional"),
    (lambda: tf.initializers.identity()([3]), ValueError, "can only be used for 2D matrices"),
    (lambda: tf.random_normal_initializer(dtype=tf.int32), ValueError, "Expected floating point type"),
])
def test_errors(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        make()


def test_empty_range_is_an_error_of_the_run() -> None:
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 2"):
        sess.run(tf.random_uniform([3], 5, 2, tf.int32))


@pytest.mark.parametrize("name", ["glorot_uniform", "glorot_normal", "he_normal", "he_uniform", "lecun_normal",
                                  "lecun_uniform", "orthogonal", "random_normal", "truncated_normal",
                                  "variance_scaling", "uniform_unit_scaling", "zeros", "ones", "constant"])
def test_initializers_are_made_again_from_their_configuration(name: str) -> None:
    initializer = getattr(tf.initializers, name)()
    again = type(initializer).from_config(initializer.get_config())
    assert again.get_config() == initializer.get_config()
    with tf.Session() as sess:
        assert sess.run(again([4, 5])).shape == (4, 5)


def test_variance_of_scaling_initializers() -> None:
    with tf.Session() as sess:
        for distribution in ("truncated_normal", "untruncated_normal", "uniform"):
            init = tf.variance_scaling_initializer(2.0, "fan_out", distribution, seed=1)
            value = sess.run(init([100, 400]))
            assert abs(value.var() * 400 / 2.0 - 1) < 0.02


def test_gradient_of_gamma_samples() -> None:
    alpha = tf.constant([0.5, 2.0, 10.0])
    sample = tf.random_gamma([20000], alpha, seed=3)
    # The mean of a gamma distribution is alpha: so is the mean of the slope 1.
    slope = tf.gradients(tf.reduce_mean(sample, axis=0), alpha)[0]
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(slope), [1, 1, 1], rtol=0.05)
