"""TensorArray: values, errors with TensorFlow's words, gradients, and arrays that pass through branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf

X = np.arange(6, dtype=np.float32).reshape(3, 2) + 1


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def array(size: int = 3, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


def run(fetches: Any, feed: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feed)


@pytest.mark.parametrize("make,value", [
    (lambda: array().write(0, 1.0).write(1, 2.0).write(2, 3.0).stack(), [1, 2, 3]),
    (lambda: array().write(0, 1.0).write(2, 3.0).stack(), [1, 0, 3]),
    (lambda: array(1, dynamic_size=True).write(3, 1.0).stack(), [0, 0, 0, 1]),
    (lambda: array(1, dynamic_size=True).write(3, 1.0).size(), 4),
    (lambda: array().unstack(X).gather([2, 0]), X[[2, 0]]), (lambda: array().unstack(X).read(1), X[1]),
    (lambda: array().unstack(X).concat(), X.ravel()), (lambda: array(4).unstack(X).size(), 4),
    (lambda: array(3).scatter([2, 0, 1], X).stack(), X[[1, 2, 0]]),
    (lambda: array(3, infer_shape=False).split(X.ravel(), [1, 2, 3]).read(2), X.ravel()[3:]),
    (lambda: array(2, infer_shape=False).split(X, [2, 1]).concat(), X),
    (lambda: array(0, element_shape=[2]).stack(), np.zeros((0, 2))),
    (lambda: array(element_shape=[2]).read(1), [0, 0]),
    (lambda: array(clear_after_read=False).write(0, 2.0).gather([0, 0]), [2, 2]),
    (lambda: tf.TensorArray(tf.string, 2).write(0, "a").read(0), b"a"),
])
def test_values(make: Callable[[], Any], value: Any) -> None:
    result = run(make())
    assert np.array_equal(result, value) and np.shape(result) == np.shape(value)


@pytest.mark.parametrize("make,text", [
    (lambda: array().write(0, 1.0).write(0, 2.0).flow, "index 0 because it has already been written to."),
    (lambda: array().write(3, 1.0).flow, "Tried to write to index 3 but array is not resizeable and size is: 3"),
    (lambda: array().read(5), "Tried to read from index 5 but array size is: 3"),
    (lambda: array().write(0, 1.0).gather([0, 0]), "Could not read index 0 twice because it was cleared"),
    (lambda: array().read(0), "the element shape is not fully defined: <unknown>"),
    (lambda: array(2, infer_shape=False).write(0, [1.0]).write(1, 2.0).stack(),
     "TensorArray has inconsistent shapes.  Index 0 has shape: [1] but index 1 has shape: []"),
    (lambda: array(2).unstack([1.0, 2.0]).concat(), "Concat saw a scalar shape at index 0"),
    (lambda: array(2).unstack(X).stack(), "Max scatter index must be < array size (2 vs. 2)"),
    (lambda: array(2).split(X, [1, 1]).flow, "sum of lengths is 2 and value's shape is: [3,2]"),
    (lambda: array(-1).size(), "Size should be >= 0."),
    (lambda: array().write(0, tf.constant(1)).flow, "dtype is float but Op is trying to write dtype int32."),
])
def test_errors_in_the_run(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(make())
    assert text in str(caught.value)


def test_a_closed_array_cannot_be_read() -> None:
    one = array().write(0, 1.0)
    with tf.control_dependencies([one.close()]):
        read = one.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has already been closed"):
        run(read)


def test_shapes_are_compared_while_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match=r"Inconsistent shapes: saw \(\) but expected \(1,\)"):
        array().write(0, [1.0]).write(1, 2.0)
    assert array().unstack(X).read(0).shape.as_list() == [2]
    assert array().write(0, X).stack().shape.as_list() == [None, 3, 2]


@pytest.mark.parametrize("function", [
    lambda x: array().unstack(x).read(1), lambda x: array().unstack(x).gather([2, 0]),
    lambda x: array(2, infer_shape=False).split(x, [1, 2]).read(1), lambda x: array().unstack(x).stack(),
    lambda x: array().write(1, x).write(0, x * 2).gather([1, 0]), lambda x: array(2).unstack([x, x * x]).concat(),
    lambda x: array().write(0, x[0]).read(0) + array().write(2, x[0]).read(2), lambda x: array(3).scatter(
        [1, 0, 2], x).identity().read(0),
    lambda x: (lambda one: one.read(0) + one.read(0))(array(clear_after_read=False).write(0, x)),
])
def test_gradients(function: Callable[[Any], Any]) -> None:
    x = tf.placeholder(tf.float32, [3, 2])
    result = function(x)
    loss = tf.reduce_sum(result * tf.cast(tf.reshape(tf.range(tf.size(result)), tf.shape(result)), tf.float32))
    with tf.Session() as sess:
        found = sess.run(tf.gradients(loss, x)[0], {x: X})
        slope = np.zeros_like(X)
        for place in np.ndindex(X.shape):
            step = np.zeros_like(X)
            step[place] = 0.25
            slope[place] = (sess.run(loss, {x: X + step}) - sess.run(loss, {x: X - step})) / 0.5
    np.testing.assert_allclose(found, slope, rtol=1e-4, atol=1e-4)


def test_each_call_of_gradients_has_its_own_array() -> None:
    x = tf.placeholder(tf.float32, [3, 2])
    part = array().unstack(x).read(1)
    first, second = tf.gradients(part, x)[0], tf.gradients(part * 2, x)[0]
    one, other = run([first, second], {x: X})
    np.testing.assert_array_equal(other, one * 2)


def test_gradients_need_a_scope_of_that_name() -> None:
    x = tf.placeholder(tf.float32, [3, 2])
    with pytest.raises(ValueError, match="start with gradients"):
        tf.gradients(array().unstack(x).read(1), x, name="other")


def test_arrays_pass_through_branches() -> None:
    p = tf.placeholder(tf.bool, [])
    before = array(2)
    after = tf.cond(p, lambda: before.write(0, 1.0), lambda: before.write(0, 2.0))
    assert isinstance(after, tf.TensorArray)
    assert run(after.read(0), {p: True}) == 1 and run(after.read(0), {p: False}) == 2


def test_what_is_written_stays_as_it_was() -> None:
    variable = tf.Variable([1.0, 2.0])
    written = array().write(0, variable)
    with tf.control_dependencies([written.flow]):
        changed = variable.assign([5.0, 6.0])
    with tf.control_dependencies([changed]):
        read = tf.identity(written.read(0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        value, _ = sess.run([read, changed])
    np.testing.assert_array_equal(value, [1.0, 2.0])
