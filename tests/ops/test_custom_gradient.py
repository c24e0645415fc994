"""custom_gradient: nodes and errors as in TensorFlow 1.15.5."""

from typing import Any

import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def new_graph() -> None:
    tf.reset_default_graph()


def test_nodes_and_gradient() -> None:
    @tf.custom_gradient
    def product(a: Any, b: Any) -> Any:
        """What it computes."""
        return (a * b, a + b), lambda first, second: (first * 10.0, second * 20.0)
    assert product.__name__ == "product" and product.__doc__ == "What it computes."
    x, y = tf.constant(1.0), tf.constant(2.0)
    first, second = product(x, y)
    assert (first.name, second.name) == ("IdentityN:0", "IdentityN:1")
    assert [t.name for t in first.op.inputs] == ["mul:0", "add:0", "Const:0", "Const_1:0"]
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "Const", "Const_1", "mul", "add", "Identity", "Identity_1", "IdentityN"]
    with tf.Session() as session:
        assert session.run(tf.gradients(first, [x, y])) == [10.0, 0.0]


def test_structures() -> None:
    @tf.custom_gradient
    def nested(a: Any) -> Any:
        return {"u": a * 2.0, "w": [a]}, lambda u, w: u
    result = nested(tf.constant(1.0))
    assert sorted(result) == ["u", "w"] and result["w"][0].op.type == "IdentityN"


def test_variables() -> None:
    v = tf.get_variable("v", [], initializer=tf.ones_initializer())

    @tf.custom_gradient
    def scaled(a: Any) -> Any:
        def grad(d: Any, variables: Any = None) -> Any:
            assert variables == [v]
            return d * 3.0, [d * 5.0]
        return a * v, grad
    x = tf.constant(2.0)
    gradients = tf.gradients(scaled(x), [x, v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(gradients) == [3.0, 5.0]


def test_refused() -> None:
    x = tf.constant(1.0)
    v = tf.get_variable("v", [])
    with pytest.raises(ValueError, match="currently supports keywords arguments only when eager"):
        tf.custom_gradient(lambda a: (a, lambda d: d))(a=x)
    with pytest.raises(TypeError, match="grad_fn must accept a keyword argument 'variables'"):
        tf.custom_gradient(lambda a: (a * v, lambda d: d))(x)
    with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        tf.custom_gradient(lambda a: (a * tf.get_variable("w", []), lambda d: d))(x)
    with pytest.raises(ValueError, match="Num gradients 3 generated for op"):
        tf.gradients(tf.custom_gradient(lambda a: (a * 2.0, lambda d: (d, d)))(x), x)
