"""Train ops, losses and the loops of tf.contrib. Graphs and values are in tests/fidelity (32, 79, 80)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf

training, layers, slim, losses = tf.contrib.training, tf.contrib.layers, tf.contrib.slim, tf.contrib.losses


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def problem() -> tuple[Any, Any]:
    """(loss, w): the square of w - 3."""
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    return tf.reduce_sum(tf.square(w - 3.0)), w


def optimizer() -> Any:
    return tf.train.GradientDescentOptimizer(0.25)


def test_train_op_gives_the_loss_and_counts() -> None:
    loss, w = problem()
    train_op = training.create_train_op(loss, optimizer())
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP)[-1] is train_op
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(train_op) == 18.0
        assert sess.run([w, tf.train.get_global_step()])[0].tolist() == [1.5, 1.5]


def test_loss_that_is_not_finite() -> None:
    loss, w = problem()
    train_op = training.create_train_op(loss / 0.0, optimizer())
    unchecked = training.create_train_op(loss / 0.0, optimizer(), check_numerics=False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
            sess.run(train_op)
        assert sess.run(unchecked) == np.inf or np.isnan(sess.run(unchecked))


def test_train_op_errors() -> None:
    loss, w = problem()
    other = tf.get_variable("other", [1])
    frozen = tf.get_variable("frozen", [1], trainable=False)
    for chosen in ([frozen], []):
        with pytest.raises(AssertionError):
            training.create_train_op(loss, optimizer(), variables_to_train=chosen)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        training.create_train_op(loss, optimizer(), variables_to_train=[other])
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.no_op())
    training.create_train_op(loss, optimizer(), update_ops=[])


def test_multiplied_and_clipped() -> None:
    loss, w = problem()
    pairs = optimizer().compute_gradients(loss)
    by_variable = training.multiply_gradients(pairs, {w: 0.5})
    by_name = training.multiply_gradients(pairs, {"w": tf.constant(0.25)})
    clipped = training.clip_gradient_norms_fn(1.0)(pairs)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([by_variable[0][0], by_name[0][0], clipped[0][0]])
    assert [v.tolist() for v in values[:2]] == [[-3.0, -3.0], [-1.5, -1.5]]
    assert np.linalg.norm(values[2]) == pytest.approx(1.0)
    assert training.clip_gradient_norms([(None, w)], 1.0) == [(None, w)]
    assert training.multiply_gradients([(None, w)], {"other": 1.0}) == [(None, w)]


def pairs() -> Any:
    return optimizer().compute_gradients(problem()[0])


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: training.multiply_gradients(pairs(), {}), "`gradient_multipliers` is empty."),
    (lambda: training.multiply_gradients(pairs(), [1]), "`gradient_multipliers` must be a dict."),
    (lambda: training.multiply_gradients(tuple(pairs()), {"w": 1.0}), "`grads_and_vars` must be a list."),
    (lambda: training.multiply_gradients([(None, problem()[1])], {"w": 1.0}),
     "Requested multiple of `None` gradient."),
    (lambda: training.train(None, None), "logdir cannot be None when save_summaries_steps is not None"),
    (lambda: training.train(None, None, save_summaries_steps=None),
     "logdir cannot be None when save_checkpoint_secs is not None"),
    (lambda: slim.learning.train(None, None), "train_op cannot be None."),
    (lambda: slim.learning.train(tf.no_op(), None, number_of_steps=0),
     "`number_of_steps` must be either None or a positive number."),
    (lambda: slim.learning.train(tf.no_op(), None, trace_every_n_steps=1),
     "Cannot provide trace_every_n_steps because logdir=None"),
    (lambda: slim.learning.train(tf.no_op(), None, saver=1), "Cannot provide saver because logdir=None"),
    (lambda: layers.optimize_loss(problem()[0], None, "x", "SGD"),
     "Learning rate should be 0d Tensor or float. Got x of type <class 'str'>"),
    (lambda: layers.optimize_loss(problem()[0], None, 1, "SGD"),
     "Learning rate should be 0d Tensor or float. Got 1 of type <class 'int'>"),
    (lambda: layers.optimize_loss(problem()[0], None, -0.1, "SGD"), "('Invalid learning_rate %s.', -0.1)"),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, "Magic"), "Optimizer name should be one of "
     "[Adagrad, Adam, Ftrl, Momentum, RMSProp, SGD], you provided Magic."),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, 3), "Unrecognized optimizer: should be string, subclass of "
     "Optimizer, instance of subclass of Optimizer or function with one argument. Got 3."),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, lambda rate: 3),
     "Unrecognized optimizer: function should return subclass of Optimizer. Got 3."),
    (lambda: layers.optimize_loss(problem()[0], None, None, "SGD"),
     "Learning rate is None, but should be specified if optimizer is string (SGD)."),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, "SGD", clip_gradients=1),
     "Unknown type <class 'int'> for clip_gradients"),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, "SGD", learning_rate_decay_fn=lambda rate, step: rate),
     "global_step is required for learning_rate_decay_fn."),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, "SGD", summaries=["x"]), "Summaries should be one of "
     "[learning_rate, loss, gradients, gradient_norm, global_gradient_norm], you provided x."),
    (lambda: layers.optimize_loss(problem()[0], None, 0.1, "SGD", variables=[]), "No variables to optimize."),
    (lambda: layers.optimize_loss(tf.constant([1.0], name="c"), None, 0.1, "SGD"),
     "Expected scalar shape for c:0, saw shape: (1,)."),
    (lambda: losses.compute_weighted_loss(tf.placeholder(tf.float32)), "losses.get_shape().ndims cannot be None"),
    (lambda: losses.compute_weighted_loss(tf.ones([2]), tf.placeholder(tf.float32)),
     "weights.get_shape().ndims cannot be None"),
    (lambda: losses.cosine_distance(tf.ones([2]), tf.ones([2])), "You must specify 'axis'."),
]


@pytest.mark.parametrize(("function", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(function: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        function()
    assert text in str(error.value)


@pytest.mark.parametrize("name", sorted(layers.OPTIMIZER_CLS_NAMES))
def test_optimize_loss_by_name(name: str) -> None:
    loss, w = problem()
    step = tf.train.get_or_create_global_step()
    train_op = layers.optimize_loss(loss, step, 0.1, name)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, second = sess.run(train_op), sess.run(train_op)
        assert second < first == 18.0 and sess.run(step) == 2


def test_adaptive_clipping_keeps_the_usual_and_clips_the_rest() -> None:
    w = tf.get_variable("w", [1], initializer=tf.zeros_initializer())
    size = tf.placeholder(tf.float32, [])
    clip = slim.adaptive_clipping_fn(decay=0.9, static_max_norm=50.0)
    (gradient, _), = clip([(tf.reshape(size, [1]), w), (None, w)])[:1]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        usual = [float(sess.run(gradient, {size: 2.0})[0]) for _ in range(200)][-1]
        assert usual == pytest.approx(2.0)
        assert sess.run(gradient, {size: 1e6})[0] < 50.0


# ------------------------------------------------------------ loops


def trained(folder: str | None, steps: int, **options: Any) -> Any:
    """The last loss of `slim.learning.train` on the problem, in a graph of its own."""
    with tf.Graph().as_default():
        loss, _ = problem()
        train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        tf.summary.scalar("loss", loss)
        return slim.learning.train(train_op, folder, number_of_steps=steps, log_every_n_steps=0, **options)


def expected(step: int) -> float:
    """The loss of that step, from 1: the distance shrinks by 0.8 each time."""
    return float(18.0 * 0.8 ** (2 * (step - 1)))


def test_slim_train_saves_and_goes_on(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert trained(folder, 5) == pytest.approx(expected(5), rel=1e-5)
    assert tf.train.latest_checkpoint(folder) == f"{folder}/model.ckpt-5"
    assert trained(folder, 7) == pytest.approx(expected(7), rel=1e-5)
    assert tf.train.latest_checkpoint(folder) == f"{folder}/model.ckpt-7"
    assert any(path.name.startswith("events.out.tfevents") for path in tmp_path.iterdir())


def test_slim_train_without_a_folder() -> None:
    seen: list[Any] = []

    def step(sess: Any, train_op: Any, global_step: Any, options: dict[str, Any]) -> tuple[Any, bool]:
        seen.append(sorted(options))
        return sess.run(train_op), sess.run(global_step) >= 3

    loss = trained(None, 100, train_step_fn=step, train_step_kwargs={"mine": 1},
                   init_fn=lambda sess: seen.append("init"))
    assert loss == pytest.approx(expected(3), rel=1e-5)
    assert seen == ["init"] + [["mine", "summary_writer"]] * 3


def test_slim_train_ends_with_an_error() -> None:
    loss, _ = problem()
    train_op = slim.learning.create_train_op(tf.log(-loss), optimizer())
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        slim.learning.train(train_op, None, number_of_steps=3)
    with pytest.raises(NotImplementedError):
        slim.learning.train(train_op, None, sync_optimizer=[1])


def test_contrib_train(tmp_path: Path) -> None:
    loss, _ = problem()
    train_op = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    last = training.train(train_op, str(tmp_path), hooks=[tf.train.StopAtStepHook(num_steps=4)])
    assert last == pytest.approx(expected(4), rel=1e-5)
    assert tf.train.latest_checkpoint(str(tmp_path)) == f"{tmp_path}/model.ckpt-4"


def test_util() -> None:
    util = tf.contrib.util
    graph_def = (tf.constant([1.0]) + 2.0).graph.as_graph_def()
    assert util.ops_used_by_graph_def(graph_def) == ["AddV2", "Const"]
    assert [op.name for op in util.stripped_op_list_for_graph(graph_def).op][-1] == "Const"
    graph_def.node[0].op = "Nope"
    with pytest.raises(ValueError, match="Op Nope is used by the graph, but is not registered"):
        util.stripped_op_list_for_graph(graph_def)
    assert util.make_ndarray(util.make_tensor_proto([1, 2])).tolist() == [1, 2]
    assert util.constant_value(tf.constant(3)) == 3
