"""Sessions: errors, interrupts, threads, state."""

from __future__ import annotations

import gc
import signal
import threading
import warnings

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_errors_name_the_node_and_the_line_that_made_it() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 3])
    total = tf.add(x, y, name="the_sum")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(total, {x: np.ones((2, 3)), y: np.ones((4, 3))})
    assert "the_sum" in str(caught.value) and "test_session.py" in str(caught.value)
    assert caught.value.op is total.op


def test_the_session_is_usable_after_an_error() -> None:
    v = tf.Variable(1.0)
    bad = tf.assign(v, tf.check_numerics(tf.log(v - 1.0), "minus infinity"))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(bad)
        assert sess.run(v) == 1.0


def test_placeholders_must_be_fed() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for "
                                             "placeholder tensor 'x' with dtype float and shape"):
        sess.run(x * 2.0)


@pytest.mark.parametrize(("value", "error"), [
    (np.ones((2, 4)), "Cannot feed value of shape"), ("text", None), ([[1, 2], [3]], None)])
def test_bad_feeds(value, error) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.Session() as sess, pytest.raises((ValueError, TypeError), match=error):
        sess.run(x * 2.0, {x: value})


def test_feeding_a_tensor_is_refused() -> None:
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises(TypeError, match="cannot be a tf.Tensor object"):
        sess.run(x, {x: tf.constant(1.0)})


@pytest.mark.parametrize("fetch", [None, 3, object(), "nowhere:0"])
def test_bad_fetches(fetch) -> None:
    tf.constant(1.0)
    with tf.Session() as sess, pytest.raises((TypeError, ValueError)):
        sess.run(fetch)


def test_a_none_gradient_says_whose_it_is() -> None:
    v = tf.Variable(1.0, name="lonely")
    with tf.Session() as sess, pytest.raises(TypeError, match="lonely"):
        sess.run([(None, v)])


def test_a_closed_session_says_so() -> None:
    c = tf.constant(1.0)
    sess = tf.Session()
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(c)


def test_uninitialized_variables_are_named() -> None:
    tf.Variable(1.0, name="first")
    v = tf.Variable(2.0, name="second")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value second"):
            sess.run(v + 1.0)
        sess.run(v.initializer)
        assert sess.run(v + 1.0) == 3.0


def test_an_interrupt_leaves_every_variable_before_or_after_its_update() -> None:
    a = tf.Variable(np.zeros(1000, np.float32))
    b = tf.Variable(np.zeros(1000, np.float32))
    stop = {"at": -1, "count": 0}

    def maybe_stop(value):
        stop["count"] += 1
        if stop["count"] == stop["at"]:
            raise KeyboardInterrupt
        return value
    first = tf.assign_add(a, tf.ones([1000]))
    with tf.control_dependencies([first]):
        gate = tf.py_func(maybe_stop, [tf.ones([1000])], tf.float32)
        gate.set_shape([1000])
    second = tf.assign_add(b, gate)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        stop["at"] = 3
        with pytest.raises(KeyboardInterrupt):
            for _ in range(5):
                sess.run([first, second])
        values = sess.run([a, b])
        assert (values[0] == 3).all() and (values[1] == 2).all()
        sess.run([first, second])
        assert (sess.run(b) == 3).all()


def test_numpy_warnings_stay_silent_in_runs_only() -> None:
    x = tf.placeholder(tf.float32, [])
    y = 1.0 / x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.Session() as sess:
            assert np.isinf(sess.run(y, {x: 0.0}))
        with pytest.raises(RuntimeWarning):
            np.float32(1.0) / np.float32(0.0)


def test_a_function_of_the_users_may_run_the_session() -> None:
    v = tf.Variable(5.0)
    doubled = v * 2.0
    sess = tf.Session()
    nested = tf.py_func(lambda: np.float32(sess.run(doubled)), [], tf.float32)
    sess.run(tf.global_variables_initializer())
    assert sess.run(nested + 1.0) == 11.0


def test_threads_share_a_session() -> None:
    v = tf.Variable(np.zeros(10, np.float32))
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x)
    add = tf.assign_add(v, tf.ones([10]))
    failures: list[BaseException] = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def work(n: int) -> None:
            try:
                for i in range(50):
                    assert sess.run(total, {x: np.arange(n + i % 5 + 1)}) == sum(range(n + i % 5 + 1))
                    sess.run(add.op)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert (sess.run(v) == 200).all()


def test_variables_live_in_their_session() -> None:
    v = tf.Variable(1.0)
    with tf.Session() as one, tf.Session() as two:
        for sess in (one, two):
            sess.run(tf.global_variables_initializer())
        one.run(v.assign(5.0))
        assert one.run(v) == 5.0 and two.run(v) == 1.0


def test_a_dropped_graph_is_freed() -> None:
    import weakref
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        y = x * 2.0
        with tf.Session() as sess:
            sess.run(y, {x: [1, 2]})
    ref = weakref.ref(graph)
    del graph, x, y, sess
    gc.collect()
    assert ref() is None


def test_ten_thousand_nodes_deep() -> None:
    x = tf.placeholder(tf.float32, [2])
    y = x
    for _ in range(5000):
        y = y + 1.0
    gradient, = tf.gradients(y, x)
    with tf.Session() as sess:
        got = sess.run([y, gradient], {x: [0.0, 1.0]})
        np.testing.assert_array_equal(got[0], [5000.0, 5001.0])
        np.testing.assert_array_equal(got[1], [1.0, 1.0])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_a_signal_handler_may_run_the_session() -> None:
    """As one does that saves the variables when the machine is to be shut down."""
    v = tf.Variable(3.0)
    x = tf.placeholder(tf.float32, [100, 100])
    y = x
    for _ in range(50):
        y = tf.exp(-y)
    got: list[float] = []
    with tf.Session() as sess:
        sess.run(v.initializer)
        data = np.ones((100, 100), np.float32)
        sess.run(v)
        before = signal.signal(signal.SIGALRM, lambda *_: got.append(sess.run(v)))
        signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
        try:
            while len(got) < 50:
                sess.run(y, {x: data})
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert set(got) == {3.0}
