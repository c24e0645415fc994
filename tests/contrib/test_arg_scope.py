"""arg_scope: TensorFlow's, and what it takes beyond. Whole networks under it are in tests/fidelity (32)."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfsandbox as tf

slim = tf.contrib.slim
arg_scope, add_arg_scope = slim.arg_scope, slim.add_arg_scope


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@add_arg_scope
def f(a: Any, b: Any, c: Any = 3, **kwargs: Any) -> Any:
    """Doc of f."""
    return a, b, c, kwargs


@add_arg_scope
def g(a: Any, b: Any, c: Any = 3) -> Any:
    return a, b, c


def test_scope_fills_in_what_the_call_does_not_give() -> None:
    with arg_scope([f, g], c=5) as scope:
        assert f(1, 2) == (1, 2, 5, {}) and g(1, 2) == (1, 2, 5)
        assert f(1, 2, c=7) == (1, 2, 7, {})
        with arg_scope([f], b=9):
            assert f(1) == (1, 9, 5, {})
            assert set(slim.current_arg_scope()) == set(scope)
        assert slim.current_arg_scope() is scope
        with arg_scope([]):
            assert f(1, 2) == (1, 2, 5, {})
        with arg_scope({}):
            assert f(1, 2) == (1, 2, 3, {})
    assert f(1, 2) == (1, 2, 3, {}) and slim.current_arg_scope() == {}


def test_scope_is_used_again() -> None:
    with arg_scope([g], c=5) as outer, arg_scope([f], c=6) as inner:
        pass
    with arg_scope(inner):
        assert (g(1, 2)[2], f(1, 2)[2]) == (5, 6)
        with arg_scope(outer) as again:
            assert (g(1, 2)[2], f(1, 2)[2]) == (5, 3)
            assert again == outer and again is not outer


def test_scope_as_a_decorator() -> None:
    @arg_scope([g], c=11)
    def scoped() -> Any:
        return g(1, 2)

    assert scoped() == scoped() == (1, 2, 11)


def test_scope_is_left_by_an_error_and_is_of_its_thread() -> None:
    seen = []
    with pytest.raises(ZeroDivisionError), arg_scope([g], c=5):
        thread = threading.Thread(target=lambda: seen.append(g(1, 2)))
        thread.start()
        thread.join()
        raise ZeroDivisionError
    assert seen == [(1, 2, 3)] and g(1, 2) == (1, 2, 3)


def test_methods() -> None:
    class A:
        @add_arg_scope
        def method(self, x: Any, y: Any = 2) -> Any:
            return x, y

    a = A()
    for named in (A.method, a.method):
        with arg_scope([named], y=4):
            assert a.method(1) == (1, 4)
    assert a.method(1) == (1, 2)


def test_what_a_decorated_function_shows() -> None:
    assert f.__name__ == "f" and f.__doc__ == "Doc of f."
    assert slim.arg_scoped_arguments(f) == ("c",)
    assert slim.arg_scoped_arguments(slim.conv2d)[:3] == ("stride", "padding", "data_format")
    assert slim.has_arg_scope(slim.conv2d) and not slim.has_arg_scope(len) and not slim.has_arg_scope(slim.linear)
    assert slim.arg_scope_func_key(len) == str(len) and slim.arg_scope_func_key(f).startswith("<function f at")
    with pytest.raises(AssertionError):
        slim.arg_scoped_arguments(len)


def enter(*args: Any, **kwargs: Any) -> None:
    with arg_scope(*args, **kwargs):
        pass


@pytest.mark.parametrize(("targets", "kind", "text"), [
    (3, TypeError, "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)"),
    (g, TypeError, "list_ops_or_scope must either be a list/tuple"),
    ({"a": {}}, ValueError, "When attempting to re-use a scope by suppling adictionary, kwargs must be empty."),
    ([len], ValueError, "('builtins', 'len') is not decorated with @add_arg_scope"),
    ([functools.partial(g, 1)], ValueError, "is not decorated with @add_arg_scope"),
    ([3], ValueError, "is not decorated with @add_arg_scope"),
    ([dict], ValueError, "('builtins', 'dict') is not decorated with @add_arg_scope"),
])
def test_errors(targets: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind) as error:
        enter(targets, c=1)
    assert text in str(error.value)
    assert slim.current_arg_scope() == {}


def test_arguments_that_do_not_fit() -> None:
    enter([g], z=1)  # as in TensorFlow, only the call is an error
    with arg_scope([g, f], z=1):
        assert f(1, 2) == (1, 2, 3, {"z": 1})
        with pytest.raises(TypeError, match=r"g\(\) got an unexpected keyword argument 'z'.*It takes: a, b, c"):
            g(1, 2)
    with arg_scope([g], c=1), pytest.raises(TypeError, match=r"g\(\) got multiple values for argument 'c'"):
        g(1, 2, 3)
    with arg_scope([slim.fully_connected], rate=1), \
            pytest.raises(TypeError, match=r"fully_connected\(\) got an unexpected keyword argument 'rate'"):
        slim.fully_connected(tf.ones([2, 3]), 4)


# ------------------------------------------------------------ beyond TensorFlow


def test_losses() -> None:
    labels, logits = tf.constant([0, 1]), tf.ones([2, 3])
    with arg_scope([tf.losses.sparse_softmax_cross_entropy], scope="Loss", reduction=tf.losses.Reduction.NONE):
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    assert loss.op.name.startswith("Loss/") and loss.shape.as_list() == [2]
    with arg_scope([tf.losses.compute_weighted_loss], weights=3.0):
        tf.losses.mean_squared_error(logits, logits)  # it is not what the scope names
        assert tf.losses.compute_weighted_loss(logits).shape.ndims == 0


def test_optimizers() -> None:
    with arg_scope([tf.train.AdamOptimizer, tf.train.MomentumOptimizer], learning_rate=0.3):
        with arg_scope([tf.train.MomentumOptimizer], momentum=0.8):
            momentum = tf.train.MomentumOptimizer(use_nesterov=True)
        adam = tf.train.AdamOptimizer(beta1=0.5)
        assert (adam._lr, adam._beta1, adam._beta2) == (0.3, 0.5, 0.999)
        assert (momentum._learning_rate, momentum._momentum, momentum._use_nesterov) == (0.3, 0.8, True)
        assert tf.train.AdamOptimizer(learning_rate=0.1)._lr == 0.1
        with pytest.raises(TypeError, match=r"AdamOptimizer\(\) got multiple values for argument 'learning_rate'"):
            tf.train.AdamOptimizer(0.1)
    assert tf.train.AdamOptimizer()._lr == 0.001
    assert str(inspect.signature(tf.train.AdamOptimizer)).startswith("(learning_rate: ")


def test_a_class_is_not_its_subclass() -> None:
    class Mine(tf.train.AdamOptimizer):
        def __init__(self, rate: float) -> None:
            super().__init__(rate)

    class Plain(tf.train.AdamOptimizer):
        pass

    with arg_scope([tf.train.AdamOptimizer], beta1=0.5):
        assert (Mine(0.1)._beta1, Plain()._beta1, tf.train.AdamOptimizer()._beta1) == (0.9, 0.9, 0.5)
    with arg_scope([Mine], rate=0.7), arg_scope([Plain], beta2=0.6):
        assert (Mine()._lr, Plain()._beta2) == (0.7, 0.6)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Mine\(\) got an unexpected keyword argument 'beta1'"):
        enter([Mine], beta1=0.5)


def test_a_class_that_no_scope_names_is_as_it_was() -> None:
    before = tf.train.FtrlOptimizer.__init__
    assert slim.has_arg_scope(tf.train.FtrlOptimizer) and not slim.has_arg_scope(dict)
    assert tf.train.FtrlOptimizer.__init__ is before
    with arg_scope([tf.truncated_normal_initializer], stddev=0.5), arg_scope([tf.Variable], trainable=False):
        assert tf.truncated_normal_initializer().stddev == 0.5
        assert tf.Variable(1.0).trainable is False and tf.Variable(1.0, trainable=True).trainable is True


def test_layers_and_nn() -> None:
    images = tf.ones([1, 4, 4, 2])
    with arg_scope([tf.layers.conv2d, tf.layers.max_pooling2d], padding="same"), \
            arg_scope([tf.layers.batch_normalization], training=True), \
            arg_scope([tf.layers.Dense], use_bias=False), \
            arg_scope([tf.nn.conv2d], strides=[1, 2, 2, 1], padding="SAME"):
        assert tf.layers.conv2d(images, 3, 3).shape.as_list() == [1, 4, 4, 3]
        assert tf.layers.max_pooling2d(images, 2, 1).shape.as_list() == [1, 4, 4, 2]
        tf.layers.batch_normalization(images)
        assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
        assert tf.layers.Dense(3).use_bias is False
        assert tf.nn.conv2d(images, tf.ones([1, 1, 2, 3])).shape.as_list() == [1, 2, 2, 3]
    assert tf.layers.conv2d(images, 3, 3).shape.as_list() == [1, 2, 2, 3]
    assert tf.nn.tanh is tf.tanh and tf.nn.sigmoid is tf.sigmoid


@pytest.mark.parametrize(("target", "name"), [
    (tf.losses.sparse_softmax_cross_entropy, "sparse_softmax_cross_entropy"),
    (tf.train.AdamOptimizer, "AdamOptimizer"),
    (tf.layers.dense, "dense"),
    (tf.nn.relu, "relu"),
])
def test_an_unknown_argument_is_an_error_at_once(target: Callable[..., Any], name: str) -> None:
    with pytest.raises(TypeError) as error:
        enter([target], nonsense=1)
    assert f"{name}() got an unexpected keyword argument 'nonsense'" in str(error.value)


def test_a_scope_leaves_the_graph_as_it_is() -> None:
    def nodes(scoped: bool) -> list[str]:
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [None, 3])
            with arg_scope([tf.layers.dense] if scoped else [], **({"units": 2} if scoped else {})):
                loss = tf.reduce_mean(tf.layers.dense(x, units=2))
            tf.train.AdamOptimizer().minimize(loss)
            return [str(node) for node in graph.as_graph_def().node]

    assert nodes(True) == nodes(False)
