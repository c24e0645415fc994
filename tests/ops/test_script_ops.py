"""Python functions as nodes; types, errors and nodes as TensorFlow 1.15.5 has them."""

import gc
import threading
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def new_graph() -> None:
    tf.reset_default_graph()


def run(tensor: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feed)


def test_arguments_are_numpy_values() -> None:
    seen = []

    def look(*values: Any) -> np.float32:
        seen.extend(values)
        return np.float32(0)
    values = [1.0, [1.0], "s", ["a"], True]
    run(tf.py_func(look, [tf.constant(v) for v in values], tf.float32))
    assert [type(v) for v in seen] == [np.float32, np.ndarray, bytes, np.ndarray, np.bool_]
    assert seen[2] == b"s" and seen[3].tolist() == [b"a"]


@pytest.mark.parametrize("result, types, expected", [
    (None, [], None), (1, tf.int64, 1), ([np.float32(1)], [tf.float32], [1.0]), ("é", tf.string, "é".encode()),
    (np.array(["a", "bc"]), tf.string, [b"a", b"bc"]), (np.array([b"a"]), tf.string, [b"a"]),
    (np.array(["a", b"b"], object), tf.string, [b"a", b"b"]),
    ((np.float32(1), np.int64([2])), [tf.float32, tf.int64], [1.0, [2]]),
])
def test_results(result: Any, types: Any, expected: Any) -> None:
    values = run(tf.py_func(lambda: result, [], types))
    if isinstance(values, list):
        values = [np.asarray(v).tolist() for v in values]
    elif isinstance(values, np.ndarray):
        values = values.tolist()
    assert values == expected


@pytest.mark.parametrize("result, types, kind, text", [
    (None, tf.float32, tf.errors.InvalidArgumentError, "returns 0 values, but expects to see 1 values"),
    ([1.0, 2.0], tf.float32, tf.errors.InvalidArgumentError, "returns 2 values, but expects to see 1 values"),
    (1.0, tf.float32, tf.errors.InvalidArgumentError, "0-th value returned by pyfunc_.* is double, but expects float"),
    (1, tf.int32, tf.errors.InvalidArgumentError, "is int64, but expects int32"),
    ({}, tf.float32, tf.errors.InternalError, "Unsupported object type dict"),
    (np.array([1], object), tf.string, tf.errors.InternalError, "Unsupported object type int"),
])
def test_results_refused(result: Any, types: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        run(tf.py_func(lambda: result, [], types))


@pytest.mark.parametrize("error, kind", [
    (TypeError("t"), tf.errors.InvalidArgumentError), (ValueError("t"), tf.errors.InvalidArgumentError),
    (StopIteration("t"), tf.errors.OutOfRangeError), (MemoryError("t"), tf.errors.ResourceExhaustedError),
    (NotImplementedError("t"), tf.errors.UnimplementedError), (RuntimeError("t"), tf.errors.UnknownError),
    (tf.errors.NotFoundError(None, None, "t"), tf.errors.UnknownError),
])
def test_errors_of_the_function(error: Exception, kind: type) -> None:
    def fail() -> None:
        raise error
    with pytest.raises(kind) as caught:
        run(tf.py_func(fail, [], tf.float32, name="fails"))
    assert type(caught.value) is kind
    assert caught.value.message.startswith(f"{type(error).__name__}: t\nTraceback (most recent call last):\n\n  File")
    assert __file__ in caught.value.message and caught.value.op.name == "fails"


def test_what_cannot_be_a_node() -> None:
    with pytest.raises(ValueError, match="Expected func to be callable, got func of type <class 'int'>"):
        tf.py_func(3, [], tf.float32)
    with pytest.raises(TypeError, match="Expected list for 'input'"):
        tf.py_func(len, tf.constant(1.0), tf.float32)


def test_node_types_and_shapes() -> None:
    x = tf.constant([1.0])
    assert tf.py_func(lambda a: a, [x], []).type == "PyFunc"
    first, second = tf.py_func(lambda a: (a, a), [x], (tf.float32, tf.int32))
    assert first.op is second.op and first.shape.ndims is None and second.dtype == tf.int32
    assert tf.py_func(lambda a: a, [x], tf.float32, stateful=False).op.type == "PyFuncStateless"
    assert tf.numpy_function(lambda a: a, [x], tf.float32).op.type == "PyFunc"
    assert tf.gradients(first, x) == [None]


def test_called_once_a_run_and_never_before() -> None:
    calls = []
    node = tf.py_func(lambda: np.int64(calls.append(0) or len(calls)), [], tf.int64, stateful=False)
    doubled = node * 2
    assert calls == []
    with tf.Session() as session:
        assert session.run([node, doubled, node + 1]) == [1, 2, 2]
        assert session.run(doubled) == 4


def test_values_are_the_functions_own() -> None:
    """It may keep and change its arguments and results without a change of what the graph computes."""
    kept: list[np.ndarray] = []
    buffer = np.ones(3, np.float32)

    def keep(value: np.ndarray) -> np.ndarray:
        value += 10
        kept.append(value)
        return buffer
    x = tf.placeholder(tf.float32, [3])
    result = tf.exp(tf.py_func(keep, [x * 1.0], tf.float32) - 1.0)
    fed = np.zeros(3, np.float32)
    np.testing.assert_array_equal(run([result, x + 0.0], {x: fed})[0], np.ones(3))
    assert fed.tolist() == [0, 0, 0] and buffer.tolist() == [1, 1, 1] and kept[0].tolist() == [10, 10, 10]


def test_a_function_may_use_the_session() -> None:
    with tf.Session() as session:
        y = tf.constant(2.0) * 3.0
        inner = tf.py_func(lambda: session.run(y), [], tf.float32)
        assert session.run(inner + 1.0) == 7.0


def test_functions_live_as_long_as_their_graph() -> None:
    with tf.Graph().as_default() as graph:
        tf.py_func(lambda: np.float32(1), [], tf.float32, name="f")
    definition = graph.as_graph_def()
    with tf.Graph().as_default():
        node, = tf.import_graph_def(definition, return_elements=["f:0"])
        assert run(node) == 1.0
        del graph
        gc.collect()
        with pytest.raises(tf.errors.InvalidArgumentError, match="callback pyfunc_.* is not found"):
            run(node)


def test_threads() -> None:
    x = tf.placeholder(tf.int64, [])
    node = tf.py_func(lambda a: a * a, [x], tf.int64)
    results = {}
    with tf.Session() as session:
        def work(i: int) -> None:
            results[i] = [int(session.run(node, {x: i})) for _ in range(20)]
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {i: [i * i] * 20 for i in range(4)}


def test_py_function_has_gradients() -> None:
    x = tf.placeholder(tf.float32, [2])
    seen = []

    def both(a: Any) -> Any:
        seen.append(a.numpy())
        if tf.reduce_sum(a) > 100.0:
            return a, a
        return a * a, a + 1.0
    first, second = tf.py_function(both, [x], [tf.float32, tf.float32], name="both")
    gradient, = tf.gradients([first, second], x)
    assert gradient.op.type == "EagerPyFunc" and gradient.op.name.endswith("both_grad/EagerPyFunc")
    assert [op.name for op in gradient.op.control_inputs] == ["both"]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(gradient, {x: [1.0, 2.0]}), [3.0, 5.0])
        np.testing.assert_array_equal(session.run([first, gradient], {x: [100.0, 2.0]})[1], [2.0, 2.0])
    assert seen[0].tolist() == [1.0, 2.0]


def test_py_function_without_a_way_to_an_input() -> None:
    x, n = tf.constant([1.0, 2.0]), tf.constant(3)
    y = tf.py_function(lambda a, b: a * float(b), [x, n], tf.float32)
    np.testing.assert_array_equal(run(tf.gradients(y, x)[0]), [3.0, 3.0])


@pytest.mark.parametrize("function, types, text", [
    (lambda a: None, tf.float32, "returns 0 values"),
    (lambda a: a, tf.float64, "Tensor conversion requested dtype float64 for Tensor with dtype float32"),
    (lambda a: a[{}], tf.float32, "TypeError"),
])
def test_py_function_refused(function: Any, types: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf.py_function(function, [tf.constant([1.0, 2.0])], types))


def test_py_function_takes_numpy_and_random_ops() -> None:
    assert run(tf.py_function(lambda a: a.numpy() * 2, [tf.constant(2.0)], tf.float32)) == 4.0
    assert run(tf.py_function(lambda a: 3, [tf.constant(2.0)], tf.float32)) == 3.0
    assert run(tf.py_function(lambda: tf.random_uniform([4]), [], tf.float32)).shape == (4,)
    with pytest.raises(tf.errors.UnknownError, match="variables, loops and queues live in a session"):
        run(tf.py_function(lambda: tf.Variable(1.0), [], tf.float32))
