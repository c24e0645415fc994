"""tf.contrib.layers: errors in TensorFlow's words, regularizers, end points. Graphs: tests/fidelity (31, 78, 81)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf

layers, slim = tf.contrib.layers, tf.contrib.slim
utils = slim.utils


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def x() -> Any:
    return tf.placeholder(tf.float32, [None, 4], name="x")


def images() -> Any:
    return tf.placeholder(tf.float32, [None, 6, 6, 2], name="images")


def unknown() -> Any:
    return tf.placeholder(tf.float32, name="u")


def open_channels() -> Any:
    return tf.placeholder(tf.float32, [3, None], name="o")


NO_DATA_FORMAT = "data_format has to be either NCHW or NHWC."
RENORM = "renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean"
ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: layers.fully_connected(x(), 3.0),
     "num_outputs type should be one of [<class 'int'>], got <class 'float'>."),
    (lambda: layers.fully_connected(unknown(), 3), "Input 0 of layer fully_connected is incompatible with the layer: "
     "its rank is undefined, but the layer requires a defined rank."),
    (lambda: layers.fully_connected(x(), 3, reuse=True), "reuse=True cannot be used without a name_or_scope"),
    (lambda: [layers.fully_connected(x(), 3, scope="d") for _ in range(2)],
     "Variable d/weights already exists, disallowed."),
    (lambda: layers.conv2d(images(), 3, 3, data_format="X"), "Invalid data_format: 'X'"),
    (lambda: layers.conv2d(x(), 3, 3), "Convolution expects input with rank 4, got 2"),
    (lambda: layers.convolution(x(), 3, 3), "('Convolution not supported for input with rank', 2)"),
    (lambda: layers.conv2d(images(), 3, 3, stride=2, rate=2),
     "strides > 1 not supported in conjunction with dilation_rate > 1"),
    (lambda: layers.conv2d_transpose(images(), 3, 3, data_format="X"), NO_DATA_FORMAT),
    (lambda: layers.conv3d_transpose(images(), 3, 3, data_format="X"),
     "data_format has to be either NCDHW or NDHWC."),
    (lambda: layers.separable_conv2d(images(), 3, 3, data_format="X"), NO_DATA_FORMAT),
    (lambda: layers.max_pool2d(images(), 3, data_format="X"), NO_DATA_FORMAT),
    (lambda: layers.bias_add(unknown()), "Dims of shape must be known but is None"),
    (lambda: layers.bias_add(x(), data_format="NCHW"), "Data format NCHW only supports 4D Tensor"),
    (lambda: layers.bias_add(open_channels()), "`C` dimension must be known but is None"),
    (lambda: layers.unit_norm(unknown(), 0), "The input rank must be known."),
    (lambda: layers.unit_norm(x(), -1), "dim must be positive but smaller than the input rank."),
    (lambda: layers.softmax(tf.constant([1.0])), "rank of shape must be at least 2 not: 1"),
    (lambda: layers.layer_norm(unknown()), "Inputs u:0 has undefined rank."),
    (lambda: layers.layer_norm(x(), begin_norm_axis=2),
     "begin_params_axis (-1) and begin_norm_axis (2) must be < rank(inputs) (2)"),
    (lambda: layers.layer_norm(open_channels()), "Inputs o:0: shape(inputs)[-1:] is not fully defined: (3, ?)"),
    (lambda: layers.maxout(x(), 3), "number of features(4) is not a multiple of num_units(3)"),
    (lambda: layers.batch_norm(unknown()), "('Input has undefined rank:', TensorShape(None))"),
    (lambda: layers.batch_norm(x(), data_format="X"), NO_DATA_FORMAT),
    (lambda: layers.batch_norm(open_channels()), "`C` dimension must be known but is None"),
    (lambda: layers.batch_norm(x(), renorm=True, zero_debias_moving_mean=True), RENORM),
    (lambda: layers.batch_norm(x(), renorm=True, updates_collections=None), RENORM),
    (lambda: layers.group_norm(images()), "Invalid groups 32 for 2 channels."),
    (lambda: layers.group_norm(images(), groups=2, channels_axis=7), "Axis is out of bounds."),
    (lambda: layers.group_norm(images(), groups=2, reduction_axes=(-1, -2)),
     "reduction_axis must be mutually exclusive with channels_axis"),
    (lambda: layers.instance_norm(unknown()), "Inputs u:0 has undefined rank."),
    (lambda: layers.embed_sequence([[1]]), "Must specify vocab size and embedding dimension when not reusing. Got "
     "vocab_size=None and embed_dim=None"),
    (lambda: layers.legacy_fully_connected(open_channels(), 2), "last dimension of x must be known but is None"),
    (lambda: layers.legacy_fully_connected(unknown(), 2), "dims of x must be known but is None"),
    (lambda: layers.l1_regularizer(1), "scale cannot be an integer: 1"),
    (lambda: layers.l2_regularizer(-0.1), "Setting a scale less than 0 on a regularizer: -0.1"),
    (lambda: layers.l1_l2_regularizer(0.1, 1), "scale_l2 cannot be an integer: 1"),
    (lambda: layers.apply_regularization(layers.l2_regularizer(0.1)), "No weights to regularize."),
    (lambda: layers.apply_regularization(lambda w: w, [x()]),
     "regularizer must return a scalar Tensor instead of a Tensor with rank 2."),
    (lambda: utils.two_element_tuple([1]), "Must be a list with 2 elements: [1]"),
    (lambda: utils.two_element_tuple("ab"), "Must be an int, a list with 2 elements or a TensorShape of length 2"),
    (lambda: utils.n_positive_integers(2, -1), "expected positive integer, but received -1"),
    (lambda: utils.n_positive_integers(2, [1]), "Expected sequence of 2 positive integers, but received [1]"),
    (lambda: utils.n_positive_integers(0, 1), "n must be a positive integer"),
    (lambda: utils.last_dimension(tf.TensorShape([2, None])),
     "dimension -1 of shape must be known but is None: (2, ?)"),
    (lambda: utils.last_dimension(tf.TensorShape(None)), "dims of shape must be known but is None"),
]


@pytest.mark.parametrize(("function", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(function: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        function()
    assert text in str(error.value)


def test_types_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="Unable to build `Dense` layer with non-floating point dtype"):
        layers.fully_connected(tf.constant([[1, 2]]), 3)
    with pytest.raises(TypeError, match="Cannot create initializer for non-floating point type."):
        layers.variance_scaling_initializer(dtype=tf.int32)
    with pytest.raises(TypeError, match="Unknown mode X"):
        layers.variance_scaling_initializer(mode="X")
    with pytest.raises(TypeError, match="fn1 must be callable."):
        utils.smart_cond(True, 1, lambda: 2)


def test_regularizers() -> None:
    w = tf.constant([[1.0, -2.0], [3.0, 0.0]])
    with tf.Session() as sess:
        assert sess.run(layers.l1_regularizer(0.5)(w)) == 3.0
        assert sess.run(layers.l2_regularizer(0.5)(w)) == 3.5
        assert sess.run(layers.l1_l2_regularizer(0.5, 0.5)(w)) == 6.5
        both = layers.sum_regularizer([None, layers.l2_regularizer(0.5), layers.l1_regularizer(0.0)])
        assert sess.run(both(w)) == 3.5
        assert sess.run(layers.apply_regularization(both, [w, w])) == 7.0
        assert sess.run(layers.apply_regularization(layers.l2_regularizer(0.0), [w])) == 0.0
    assert layers.l2_regularizer(0.0)(w) is None and layers.l1_l2_regularizer(0.0, 0.0)(w) is None
    assert layers.sum_regularizer([None]) is None
    assert layers.l1_l2_regularizer(0.1, 0.0)(w).op.name == "l1_l2_regularizer_1"


@pytest.mark.parametrize(("mode", "n"), [("FAN_IN", 3 * 3 * 8), ("FAN_OUT", 3 * 3 * 64), ("FAN_AVG", 3 * 3 * 36)])
@pytest.mark.parametrize("uniform", [True, False])
def test_variance_scaling(mode: str, n: int, uniform: bool) -> None:
    initializer = layers.variance_scaling_initializer(2.0, mode, uniform, seed=1)
    with tf.Session() as sess:
        values = sess.run(initializer([3, 3, 8, 64]))
    # Cut off at two standard deviations, a normal keeps 0.774 of its variance; 1.3 of it is the factor of TensorFlow.
    assert np.var(values) == pytest.approx(2.0 / n * (1.0 if uniform else 1.3 * 0.774), rel=0.05)


def test_a_layer_with_tf_layers_batch_normalization() -> None:
    """As the document on training_scope prints it."""
    with slim.arg_scope([layers.fully_connected], activation_fn=tf.nn.relu,
                        normalizer_fn=tf.layers.batch_normalization,
                        weights_regularizer=layers.l2_regularizer(scale=0.01)):
        layers.fully_connected(layers.fully_connected(x(), 20), 2, activation_fn=None)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "fully_connected/weights", "fully_connected/batch_normalization/gamma",
        "fully_connected/batch_normalization/beta", "fully_connected_1/weights",
        "fully_connected_1/batch_normalization/gamma", "fully_connected_1/batch_normalization/beta"]
    assert len(tf.losses.get_regularization_losses()) == 2


def test_variables_are_reused_and_model_variables() -> None:
    first = layers.fully_connected(x(), 3, scope="d", variables_collections={"weights": ["w"], "biases": ["b"]})
    second = layers.fully_connected(x(), 3, scope="d", reuse=True, variables_collections=["w"])
    assert [v.op.name for v in tf.model_variables()] == ["d/weights", "d/biases"]
    assert [v.op.name for v in tf.get_collection("w")] == ["d/weights", "d/biases"]
    assert [v.op.name for v in tf.get_collection("b")] == ["d/biases"]
    assert first.op.name == "d/Relu" and second.op.name == "d_1/Relu"


def test_partitioned_variables() -> None:
    inputs = tf.ones([2, 4])
    with tf.variable_scope("v", partitioner=tf.fixed_size_partitioner(2)):
        output = layers.fully_connected(inputs, 3, variables_collections=["parts"])
    names = [f"v/fully_connected/{name}/part_{i}" for name in ("weights", "biases") for i in (0, 1)]
    assert [v.op.name for v in tf.get_collection("parts")] == names
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(output).shape == (2, 3)


def test_stack_and_repeat_name_their_layers() -> None:
    assert layers.repeat(x(), 0, layers.fully_connected, 3).op.name == "x"
    assert layers.stack(images(), slim.conv2d, [(3, 1), (4, [1, 2])], stride=1).op.name == "Stack/convolution2d_2/Relu"
    assert layers.repeat(x(), 2, layers.relu, 3).op.name == "Repeat_1/fully_connected_2/Relu"

    class Doubled:
        def __call__(self, inputs: Any, scope: str) -> Any:
            return tf.multiply(inputs, 2.0, name=scope)

    assert layers.repeat(x(), 2, Doubled()).op.name == "Repeat_2/repeat_2"
    assert layers.stack(x(), Doubled(), [[], []]).op.name == "Stack_1/stack_2"


def test_end_points() -> None:
    t, u, v = tf.constant(1.0, name="t"), tf.constant(2.0, name="s/u"), tf.Variable(3.0, name="v")
    assert utils.collect_named_outputs("c", "first", t) is t
    utils.collect_named_outputs(["c", "d"], "second/", u)
    utils.collect_named_outputs(None, "no", t)
    assert [utils.get_tensor_aliases(item) for item in (t, u, v, v.value())] == [
        ["first"], ["second"], ["v"], ["v/read"]]
    assert utils.append_tensor_alias(t, "third").aliases == ["first", "third"]
    assert utils.gather_tensors_aliases([t, v]) == ["first", "third", "v"]
    assert list(utils.convert_collection_to_dict("c").items()) == [("first", t), ("third", t), ("second", u)]
    assert len(utils.convert_collection_to_dict("c", clear_collection=True)) == 3
    assert tf.get_collection("c") == []


def test_arguments_in_one_form() -> None:
    shape = tf.TensorShape([3, 4])
    assert utils.two_element_tuple(3) == (3, 3) and utils.two_element_tuple(shape) == (3, 4)
    assert utils.n_positive_integers(2, shape) == (3, 4) and utils.n_positive_integers(3, 2) == (2, 2, 2)
    assert utils.last_dimension(shape) == 4 and utils.channel_dimension(shape, "NHWC") == 4
    assert utils.get_variable_collections({"a": ["b"]}, "c") is None
    fed = tf.placeholder(tf.bool)
    assert utils.constant_value(True) is True and utils.constant_value(fed) is None
    assert bool(utils.constant_value(tf.constant(True))) and utils.constant_value(tf.Variable(True)) is None
    assert utils.smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    assert utils.smart_cond(fed, lambda: tf.constant(1), lambda: tf.constant(2), name="c").op.name == "c/Merge"


def test_batch_norm_moves_its_averages() -> None:
    inputs = tf.constant(np.random.RandomState(0).normal(3.0, 2.0, (50, 2)).astype("float32"))
    training = tf.placeholder(tf.bool)
    output = layers.batch_norm(inputs, decay=0.5, is_training=training, updates_collections=None, scope="bn")
    mean = slim.get_unique_variable("bn/moving_mean")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(output, {training: False})
        for _ in range(30):
            normalized = sess.run(output, {training: True})
        assert np.allclose(normalized.mean(0), 0.0, atol=1e-5)
        assert np.allclose(sess.run(mean), sess.run(inputs).mean(0), rtol=1e-4)
        assert np.allclose(before, sess.run(inputs), rtol=1e-2)
        assert np.allclose(sess.run(output, {training: False}), normalized, atol=0.05)


def test_contrib_modules_stand_where_tensorflow_has_them() -> None:
    import importlib

    for path, name in [("layers.python.layers", "utils"), ("layers.python.layers", "layers"),
                       ("framework.python.ops", "variables"), ("framework.python.framework", "tensor_util"),
                       ("slim.python.slim", "learning"), ("training.python.training", "training"),
                       ("losses.python.losses", "loss_ops")]:
        assert hasattr(importlib.import_module(f"tfsandbox.contrib.{path}"), name)
    assert tf.contrib.slim.losses is tf.contrib.losses
    with pytest.raises(AttributeError):
        tf.contrib.nowhere  # noqa: B018
