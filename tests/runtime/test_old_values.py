"""What a run computes from a variable, or in a buffer, stays what it is when the variable or the buffer changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.framework import dtypes

START = np.arange(1, 7, dtype=np.float32).reshape(2, 3)

# Results that are new values in TensorFlow, though numpy (or a simplification) would give the variable's own memory.
VIEWS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "times one": lambda v: v * 1.0,
    "over one": lambda v: v / 1.0,
    "transpose": tf.transpose,
    "transpose of last two": tf.matrix_transpose,
    "strided slice": lambda v: v[:, 1:],
    "slice": lambda v: tf.slice(v, [0, 1], [2, 2]),
    "reverse": lambda v: tf.reverse(v, [0]),
    "split": lambda v: tf.split(v, 3, 1)[1],
    "unstack": lambda v: tf.unstack(v)[1],
    "gather": lambda v: tf.gather(v, 0),
    "through a reshape": lambda v: tf.reshape(tf.reshape(v, [-1]) * 1.0, [3, 2]),
    "view of a reshape": lambda v: tf.reshape(v, [3, 2])[1:],
    "reshape of a view": lambda v: tf.expand_dims(tf.transpose(v), 0),
    "depth to space": lambda v: tf.depth_to_space(tf.reshape(v, [1, 1, 1, 6])[:, :, :, 1:5], 2),
    "in a branch": lambda v: tf.cond(tf.constant(True), lambda: v * 1.0, lambda: v * 2.0),
    "in a branch of the run": lambda v: tf.cond(tf.reduce_sum(v) > 0.0, lambda: tf.transpose(v), lambda: v * 2.0),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("shared", [False, True])
def test_what_was_computed_from_a_variable_stays_when_it_changes(name: str, shared: bool) -> None:
    v = tf.get_variable("v", initializer=START)
    old = VIEWS[name](v)
    with tf.control_dependencies([old]):
        update = tf.assign_add(v, np.full((2, 3), 10.0, np.float32))
    with tf.control_dependencies([update]):
        again = old + 0.0
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(old)
        got = sess.run([old, again, update])
        np.testing.assert_array_equal(got[0], before)
        np.testing.assert_array_equal(got[1], before)
        np.testing.assert_array_equal(sess.run(v), START + 10)


def test_a_gradient_that_is_another_variable() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(v * w))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        np.testing.assert_array_equal(sess.run([v, w]), [[-2, -2], [2, 2]])


def test_a_gradient_that_is_another_variable_transposed() -> None:
    v, w = tf.Variable([[1.0, 2.0]]), tf.Variable([[3.0], [4.0]])
    train = tf.train.MomentumOptimizer(1.0, 0.9).minimize(tf.reduce_sum(tf.transpose(v) * w))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        got = sess.run([v, w])
        np.testing.assert_array_equal(got[0], [[-2, -2]])
        np.testing.assert_array_equal(got[1], [[2], [2]])


def test_two_nodes_with_one_storage() -> None:
    first = tf.get_default_graph().create_op("VariableV2", [], [dtypes.float32_ref], name="a", attrs={
        "shape": tf.TensorShape([2]), "dtype": tf.float32, "shared_name": b"same"}).outputs[0]
    second = tf.get_default_graph().create_op("VariableV2", [], [dtypes.float32_ref], name="b", attrs={
        "shape": tf.TensorShape([2]), "dtype": tf.float32, "shared_name": b"same"}).outputs[0]
    old = tf.reverse(first, [0])
    with tf.control_dependencies([old]):
        update = tf.assign(second, [5.0, 6.0])
    with tf.control_dependencies([update]):
        kept = old + 0.0
    with tf.Session() as sess:
        sess.run(tf.assign(first, [1.0, 2.0]))
        np.testing.assert_array_equal(sess.run(kept), [2, 1])


def test_no_copy_where_the_update_comes_last() -> None:
    v = tf.get_variable("v", initializer=START)
    loss = tf.reduce_sum(tf.square(tf.transpose(v)[1:]))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    assert "own(" not in tf.sandbox.source([train, loss])


@pytest.mark.parametrize("size", [4, 300])
@pytest.mark.parametrize("steps", ["+*", "*e", "ee", "-e*"])
def test_a_view_of_what_was_computed_in_place(size: int, steps: str) -> None:
    """A buffer that was taken over is not taken over again while a view of its second value is in use."""
    x = tf.placeholder(tf.float32, [size, size])
    data = np.random.RandomState(0).randn(size, size).astype(np.float32)

    def step(value, symbol, exp):
        return {"+": lambda: value + 1.5, "-": lambda: value - 0.5, "*": lambda: value * 2.5,
                "e": lambda: exp(value)}[symbol]()
    a, expected = tf.tanh(x), np.tanh(data)
    a, expected = step(a, steps[0], tf.sin), step(expected, steps[0], np.sin)
    view, expected_view = tf.transpose(a), expected.T
    for symbol in steps[1:]:
        a, expected = step(a, symbol, tf.sin), step(expected, symbol, np.sin)
    out = a + view
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(out, {x: data}), expected + expected_view)


def test_a_large_value_used_in_a_decided_branch_and_after_it() -> None:
    x = tf.placeholder(tf.float32, [300, 300])
    a = tf.tanh(x)
    out = a + tf.cond(tf.constant(True), lambda: a * 2.0, lambda: a * 3.0)
    with tf.Session() as sess:
        data = np.ones((300, 300), np.float32)
        np.testing.assert_array_equal(sess.run(out, {x: data}), np.tanh(data) + np.tanh(data) * 2)


def test_results_that_share_memory_are_each_the_callers_own() -> None:
    x = tf.placeholder(tf.float32, [2, 2])
    a = tf.exp(x)
    with tf.Session() as sess:
        first, second, third = sess.run([a, tf.transpose(a), tf.reshape(a, [4])], {x: np.zeros((2, 2))})
        first[...] = 7
        assert (second == 1).all() and (third == 1).all()


@pytest.mark.parametrize("view", [False, True])
def test_a_flag_that_its_own_branch_sets(view: bool) -> None:
    """The usual initialisation from data: the predicate is a variable, and one branch changes it."""
    done = tf.Variable([False, False] if view else False, trainable=False)
    x = tf.placeholder(tf.float32, [])
    scale = tf.Variable(0.0)

    def first() -> tf.Tensor:
        with tf.control_dependencies([tf.assign(done, [True, True] if view else True), tf.assign(scale, x)]):
            return x * 10.0
    y = tf.cond(done[1] if view else done, lambda: x * scale, first)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run([y, done], {x: 2.0})[0], sess.run(y, {x: 3.0}), sess.run(scale)] == [20.0, 6.0, 2.0]
