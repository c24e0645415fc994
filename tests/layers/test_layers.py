"""Layers as objects: scopes and names, sharing, variables, losses and updates, what does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.layers.base import Layer


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def matrix(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape or (None, 3))


def names(variables: Any) -> list[str]:
    return [variable.op.name for variable in variables]


def test_the_first_call_decides_the_scope() -> None:
    layer = tf.layers.Dense(2)
    assert layer.name == "dense_1" and not layer.built
    with pytest.raises(ValueError, match="has not been used yet"):
        layer.scope_name  # noqa: B018
    with tf.variable_scope("outer"):
        layer(matrix())
    layer(matrix())
    assert layer.scope_name == "outer/dense" and names(layer.variables) == ["outer/dense/kernel", "outer/dense/bias"]
    assert names(tf.global_variables()) == names(layer.variables)
    assert layer.dtype == "float32" and layer.count_params() == 8


def test_functions_share_by_name_and_reuse() -> None:
    x = matrix()
    tf.layers.dense(x, 2, name="d")
    tf.layers.dense(x, 2, name="d", reuse=True)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 2, name="d")
    assert names(tf.global_variables()) == ["d/kernel", "d/bias"]
    with pytest.raises(ValueError, match="Variable d/kernel already exists"):
        tf.layers.dense(x, 2, name="d")
    with pytest.raises(ValueError, match="Variable e/kernel does not exist"):
        tf.layers.dense(x, 2, name="e", reuse=True)
    with pytest.raises(ValueError, match="shape mismatch|share variable"):
        tf.layers.dense(x, 5, name="d", reuse=True)


def test_a_layer_of_ones_own() -> None:
    class Scale(Layer):
        def build(self, input_shape: Any) -> None:
            self.factor = self.add_weight("factor", [input_shape[-1].value], initializer=tf.ones_initializer(),
                                          regularizer=lambda v: 0.5 * tf.reduce_sum(v))
            self.calls = self.add_weight("calls", [], initializer=tf.zeros_initializer(), trainable=False)
            self.built = True

        def call(self, inputs: Any, more: float = 1.0) -> Any:
            self.add_update(self.calls.assign_add(1.0))
            self.add_loss(tf.reduce_mean(inputs), inputs=inputs)
            return inputs * self.factor * more

    layer = Scale(name="scale")
    x = matrix()
    y = layer(x, more=3.0)
    assert names(layer.trainable_variables) == ["scale/factor"] and names(layer.variables)[1] == "scale/calls"
    assert len(layer.losses) == 2 and len(layer.get_losses_for(None)) == 1 and len(layer.get_losses_for(x)) == 1
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == layer.losses
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == layer.updates
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        value, regularization, _ = sess.run([y, layer.losses[0], layer.updates], {x: [[1.0, 2.0, 3.0]]})
        assert sess.run(layer.calls) == 1
    np.testing.assert_array_equal(value, [[3, 6, 9]])
    assert regularization == 1.5


def test_trainable_false_leaves_nothing_to_train() -> None:
    layer = tf.layers.Dense(2, trainable=False)
    layer(matrix())
    assert layer.trainable_variables == [] and len(layer.non_trainable_variables) == 2 == len(layer.variables)
    assert tf.trainable_variables() == []


def test_weights_are_read_and_set() -> None:
    layer = tf.layers.Dense(2)
    y = layer(tf.ones([1, 3]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        layer.set_weights([np.full((3, 2), 2.0), np.array([1.0, -1.0])])
        np.testing.assert_array_equal(layer.get_weights()[1], [1, -1])
        np.testing.assert_array_equal(sess.run(y), [[7, 5]])
        with pytest.raises(ValueError, match="expecting 2 weights"):
            layer.set_weights([np.zeros((3, 2))])


def test_a_layer_belongs_to_its_graph() -> None:
    layer = tf.layers.Dense(2)
    layer(matrix())
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Input graph and Layer graph are not the same"):
        layer(matrix())


def test_inputs_must_fit_the_layer() -> None:
    layer = tf.layers.Dense(2)
    layer(matrix(4, 3))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        layer(matrix(4, 5))
    with pytest.raises(ValueError, match="expected ndim=4, found ndim=2"):
        tf.layers.Conv2D(2, 3)(matrix())
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        tf.layers.Dense(2, colour="red")


def test_batch_normalization_learns_its_moments_in_training_only() -> None:
    x, training = matrix(), tf.placeholder(tf.bool, [])
    layer = tf.layers.BatchNormalization(momentum=0.5)
    y = layer(x, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert names(layer.trainable_variables) == ["batch_normalization/gamma", "batch_normalization/beta"]
    batch = np.array([[1.0, 2.0, 3.0], [3.0, 6.0, 3.0]], np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            value, _ = sess.run([y, updates], {x: batch, training: True})
        np.testing.assert_allclose(value[:, 0], [-1, 1], atol=1e-3)
        np.testing.assert_allclose(sess.run(layer.moving_mean), [1.5, 3.0, 2.25])
        sess.run(updates, {x: batch, training: False})
        np.testing.assert_allclose(sess.run(layer.moving_mean), [1.5, 3.0, 2.25])
        np.testing.assert_allclose(sess.run(y, {x: batch, training: False})[0, 0], -0.5 / np.sqrt(0.25 + 0.75 + 1e-3),
                                   rtol=1e-5)


def test_dropout_follows_a_tensor() -> None:
    x, training = tf.ones([100, 100]), tf.placeholder_with_default(False, [])
    y = tf.layers.dropout(x, 0.25, training=training, seed=1)
    with tf.Session() as sess:
        assert (sess.run(y) == 1).all()
        value = sess.run(y, {training: True})
    assert set(np.unique(value)) == {np.float32(0), np.float32(4 / 3)} and 0.2 < (value == 0).mean() < 0.3


def test_transposed_convolutions_undo_the_shape() -> None:
    x = matrix(2, 7, 6, 3)
    for padding in ("same", "valid"):
        small = tf.layers.conv2d(x, 4, 3, strides=(2, 1), padding=padding)
        back = tf.layers.conv2d_transpose(small, 3, 3, strides=(2, 1), padding=padding)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            assert sess.run(back, {x: np.zeros((2, 7, 6, 3))}).shape[1:] == tuple(back.shape.as_list()[1:])


@pytest.mark.parametrize("function,kwargs", [
    (tf.layers.conv2d, {"filters": 2, "kernel_size": 3}),
    (tf.layers.conv2d_transpose, {"filters": 2, "kernel_size": 3}),
    (tf.layers.max_pooling2d, {"pool_size": 2, "strides": 2}), (tf.layers.batch_normalization, {}),
    (tf.layers.separable_conv2d, {"filters": 2, "kernel_size": 3}),
])
def test_channels_first_is_the_same_with_axes_moved(function: Any, kwargs: dict[str, Any]) -> None:
    data = np.random.RandomState(0).normal(size=(2, 6, 5, 3)).astype(np.float32)
    more = {"axis": 1} if function is tf.layers.batch_normalization else {"data_format": "channels_first"}
    last = function(tf.constant(data), name="layer", **kwargs)
    first = function(tf.constant(data.transpose(0, 3, 1, 2)), name="layer", reuse=True, **kwargs, **more) \
        if function is not tf.layers.max_pooling2d else \
        function(tf.constant(data.transpose(0, 3, 1, 2)), **kwargs, **more)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        one, other = sess.run([last, first])
    np.testing.assert_allclose(one, other.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


def test_losses_of_activities() -> None:
    x = tf.ones([2, 3])
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), activity_regularizer=tf.reduce_sum)
    layer(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(layer.losses) == [6.0]
