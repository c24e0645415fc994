"""Moving averages against their formula."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.training import moving_averages


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_average_follows_the_variable() -> None:
    w = tf.Variable([0.0, 10.0], name="w")
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([w.assign_add([1.0, -1.0])]):
        update = average.apply([w])
    assert average.average_name(w) == "w/ExponentialMovingAverage" == average.average(w).op.name
    expected = value = np.array([0.0, 10.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(update)
            value = value + [1, -1]
            expected = 0.9 * expected + 0.1 * value
        np.testing.assert_allclose(sess.run(average.average(w)), expected, rtol=1e-6)


def test_zero_debias_divides_by_what_was_seen() -> None:
    x = tf.placeholder(tf.float32, [])
    average = tf.train.ExponentialMovingAverage(0.8, zero_debias=True)
    update = average.apply([x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in (5.0, 5.0):
            sess.run(update, {x: value})
            np.testing.assert_allclose(sess.run(average.average(x)), 5.0, rtol=1e-6)
        sess.run(update, {x: 1.0})
        np.testing.assert_allclose(sess.run(average.average(x)),
                                   0.2 * (0.64 * 5 + 0.8 * 5 + 1.0) / (1 - 0.8 ** 3), rtol=1e-6)


def test_few_updates_lower_the_decay() -> None:
    w = tf.Variable(0.0)
    average = tf.train.ExponentialMovingAverage(0.99, num_updates=2)
    with tf.control_dependencies([w.assign(8.0)]):
        update = average.apply([w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        assert sess.run(average.average(w)) == 6.0  # (1 + 2) / (10 + 2) = 1/4 stays


def test_restoring_averages_in_place_of_variables() -> None:
    w, fixed = tf.Variable(1.0, name="w"), tf.Variable(2.0, trainable=False, name="fixed")
    average = tf.train.ExponentialMovingAverage(0.9)
    average.apply()
    assert average.variables_to_restore() == {"w/ExponentialMovingAverage": w, "fixed": fixed}


def test_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="The variables must be half, float, or double: i:0"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1, name="i")])


def test_assign_moving_average_casts_the_decay() -> None:
    v = tf.Variable(np.float64(1.0))
    update = moving_averages.assign_moving_average(v, tf.constant(2.0, tf.float64), 0.75, zero_debias=False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(update) == 1.25
