"""make_train_op, Gradients and TrainingGraphManager, as documented."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.training import training_util
from tfsandbox.training.training_scope import training_scope

RNG = np.random.RandomState(3)
X, Y = RNG.randn(12, 3).astype(np.float32), RNG.randn(12, 1).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class Line:
    """A linear model on fed data."""

    def __init__(self) -> None:
        self.x = tf.placeholder(tf.float32, [None, 3], name="x")
        self.w = tf.get_variable("w", initializer=np.ones((3, 1), np.float32))
        self.b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        self.output = tf.matmul(self.x, self.w) + self.b
        self.loss = tf.reduce_mean(tf.square(self.output - Y), name="loss")
        self.feed = {self.x: X}


# ------------------------------------------------------------ make_train_op


def test_it_trains_and_gives_the_loss_of_the_step() -> None:
    line = Line()
    train = training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(line.loss, line.feed)
        assert sess.run(train, line.feed) == before
        assert sess.run(train, line.feed) < before
        assert sess.run(tf.train.get_global_step()) == 2
    assert train in tf.get_collection(tf.GraphKeys.TRAIN_OP)


def test_no_global_step_when_none_is_asked_for() -> None:
    line = Line()
    training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1), global_step=None)
    assert tf.train.get_global_step() is None


def test_update_ops_run_first_by_default_or_as_named() -> None:
    line = Line()
    normal = tf.layers.batch_normalization(line.x, training=True)
    loss = line.loss + tf.reduce_mean(normal)
    mean = next(v for v in tf.global_variables() if "moving_mean" in v.op.name)
    train = training_util.make_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    without = training_util.make_train_op(loss, tf.train.GradientDescentOptimizer(0.1), update_ops=[])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(without, line.feed)
        assert not sess.run(mean).any()
        sess.run(train, line.feed)
        assert sess.run(mean).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_changes_no_variable(bad) -> None:
    line = Line()
    normal = tf.layers.batch_normalization(line.x, training=True)
    loss = tf.add(line.loss, tf.reduce_mean(normal), name="the_loss")
    train = training_util.make_train_op(loss, tf.train.AdamOptimizer(0.1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, line.feed)
        before = sess.run(tf.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"the_loss:0 is inf or nan at step\] \[1\]"):
            sess.run(train, {line.x: np.full((12, 3), bad)})
        for a, b in zip(before, sess.run(tf.global_variables())):
            np.testing.assert_array_equal(a, b)
        assert np.isfinite(sess.run(train, line.feed))


def test_numerics_are_not_checked_when_not_asked_for() -> None:
    line = Line()
    train = training_util.make_train_op(line.loss, tf.train.AdamOptimizer(0.1), check_numerics=False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert np.isnan(sess.run(train, {line.x: np.full((12, 3), np.nan)}))


def test_gradients_can_be_transformed_and_clipped() -> None:
    line = Line()
    seen = []

    def zeros(pairs):
        seen.extend(v.op.name for _, v in pairs)
        return [(g * 0.0 if v is line.w else g, v) for g, v in pairs]
    train = training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(1.0), transform_grads_fn=zeros,
                                        clip_gradient_norm=0.001)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, line.feed)
        np.testing.assert_array_equal(sess.run(line.w), np.ones((3, 1)))
        assert np.abs(sess.run(line.b)) == pytest.approx(0.001, rel=1e-3)
    assert seen == ["w", "b"]


def test_only_the_named_variables_train() -> None:
    line = Line()
    train = training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1), var_list=[line.b])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, line.feed)
        np.testing.assert_array_equal(sess.run(line.w), np.ones((3, 1)))


def test_bad_arguments_are_named() -> None:
    line = Line()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with tf.Graph().as_default():
        foreign = tf.get_variable("foreign", [1])
    make = training_util.make_train_op
    for arguments, error, message in [
            ((3.0, optimizer), TypeError, "loss must be a scalar Tensor, but is float"),
            ((line.output, optimizer), ValueError, "loss must be a scalar.*shape"),
            ((tf.constant(1), optimizer), TypeError, "loss must be of a floating type"),
            ((line.loss, 0.1), TypeError, "optimizer must be a tf.train.Optimizer, but is float")]:
        with pytest.raises(error, match=message):
            make(*arguments)
    for options, error, message in [
            ({"var_list": []}, ValueError, "var_list"), ({"var_list": [3]}, TypeError, "var_list"),
            ({"var_list": [foreign]}, ValueError, "var_list.*another graph"),
            ({"clip_gradient_norm": -1}, ValueError, "clip_gradient_norm"),
            ({"clip_gradient_norm": "1"}, TypeError, "clip_gradient_norm")]:
        with pytest.raises(error, match=message):
            make(line.loss, optimizer, **options)


# ------------------------------------------------------------ Gradients


def test_gradients_are_those_of_an_optimizer_and_built_once() -> None:
    line = Line()
    gradients = training_util.Gradients(line.loss, [line.b, line.w])
    pairs = gradients.compute_gradients()
    nodes = len(tf.get_default_graph().get_operations())
    assert [v for _, v in pairs] == [line.b, line.w]
    assert gradients.compute_gradients() == pairs
    assert len(tf.get_default_graph().get_operations()) == nodes
    expected = tf.train.GradientDescentOptimizer(0.1).compute_gradients(line.loss, [line.b, line.w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for (a, v), (b, _) in zip(sess.run(pairs, line.feed), sess.run(expected, line.feed)):
            np.testing.assert_array_equal(a, b)
            assert isinstance(v, np.ndarray)


@pytest.mark.parametrize("form", [lambda a: a.w, lambda a: {"k": a.w}, lambda a: {"k": [a.w]}, lambda a: "w$"])
def test_the_ways_to_name_variables(form) -> None:
    line = Line()
    assert [v for _, v in training_util.Gradients(line.loss, form(line)).compute_gradients()] == [line.w]


def test_by_default_all_that_the_active_scope_trains() -> None:
    line = Line()
    assert training_util.Gradients(line.loss).variables == [line.w, line.b]
    with training_scope(trainable_variables=[line.b]):
        assert training_util.Gradients(line.loss).variables == [line.b]


def test_what_the_loss_does_not_depend_on_has_none() -> None:
    line = Line()
    lonely = tf.get_variable("lonely", [2])
    gradients = training_util.Gradients(line.loss, [line.w, lonely])
    pairs = gradients.compute_gradients()
    assert pairs[1] == (None, lonely)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(TypeError, match="NoneType.*lonely"):
            sess.run(pairs, line.feed)
        norms = gradients.norms(sess, line.feed)
        assert norms["lonely"] is None and norms["w"] > 0
        report = gradients.check(sess, line.feed)
        assert not report["lonely"].connected and report["lonely"].max_abs_error == 0


def test_check_agrees_with_differences_and_puts_variables_back() -> None:
    line = Line()
    gradients = training_util.Gradients(tf.reduce_mean(tf.sigmoid(line.output)) + line.loss)
    seen = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([line.w, line.b])
        report = gradients.check(sess, line.feed, progress=lambda done, total: seen.append((done, total)))
        assert report.ok() and report["w"].entries == 3 and report["w"].max_abs_error < 1e-3
        for a, b in zip(before, sess.run([line.w, line.b])):
            assert a.tobytes() == b.tobytes()
    assert seen == [(3, 4), (4, 4)] and "largest" in repr(report)


def test_check_finds_a_wrong_gradient() -> None:
    line = Line()

    @tf.RegisterGradient("WrongSquare")
    def _wrong(op, grad):
        return grad * op.inputs[0]
    with tf.get_default_graph().gradient_override_map({"Square": "WrongSquare"}):
        loss = tf.reduce_mean(tf.square(line.output))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert not training_util.Gradients(loss).check(sess, line.feed).ok()


def test_check_refuses_a_random_loss() -> None:
    line = Line()
    loss = tf.reduce_mean(tf.nn.dropout(line.output, 0.5))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="dropout"):
            training_util.Gradients(loss).check(sess, line.feed)


# ------------------------------------------------------------ TrainingGraphManager


def test_states_and_counts() -> None:
    line = Line()
    idle = tf.get_variable("idle", [2], initializer=tf.ones_initializer())
    train = tf.train.GradientDescentOptimizer(0.1).minimize(line.loss)
    manager = training_util.TrainingGraphManager([line.w])
    manager.add_variables([line.w, line.b, idle])
    manager.add_variables(line.b)
    assert [v.op.name for v in manager.variables] == ["w", "b", "idle"]
    assert manager.state("w") == "new"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        manager.begin()
        sess.run(train, line.feed)
        manager.end()
        assert [manager.state(v) for v in ("w:0", line.b, idle)] == ["training", "training", "idle"]
        with training_scope(trainable_variables=[line.b, idle]), manager.step():
            sess.run(train, line.feed)
        assert [manager.state(v) for v in ("w:0", line.b, idle)] == ["frozen", "training", "idle"]
        with manager.step():
            with training_scope(trainable_variables=[line.w]):
                sess.run(train, line.feed)
        assert manager.state("b") == "frozen"
    records = [r for r in manager.history if r.variable == "w"]
    assert [r.state for r in records] == ["training", "frozen", "training"]
    assert records[0].delta_norm > 0 and records[1].delta_norm == 0 and records[0].value_norm > 0
    text = repr(manager.table())
    assert "training" in text and "<table>" in manager.table()._repr_html_()
    assert manager.plot().axes[0].lines


def test_wrong_order_says_what_to_call() -> None:
    line = Line()
    manager = training_util.TrainingGraphManager([line.w])
    with pytest.raises(ValueError, match="needs a session"):
        manager.begin()
    with tf.Session() as sess:
        with pytest.raises(RuntimeError, match=r"call begin\(\)"):
            manager.end()
        with pytest.raises(tf.errors.FailedPreconditionError, match="global_variables_initializer"):
            manager.begin()
        sess.run(tf.global_variables_initializer())
        manager.begin()
        with pytest.raises(RuntimeError, match=r"Call end\(\)"):
            manager.begin()
        manager.end()
        with pytest.raises(ZeroDivisionError), manager.step():
            raise ZeroDivisionError
        with manager.step():
            pass
        assert manager.steps == 2
    with tf.Graph().as_default(), tf.Session() as other, pytest.raises(ValueError, match="another graph"):
        manager.begin(session=other)


def test_a_step_that_raised_leaves_the_manager_ready() -> None:
    line = Line()
    train = training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1))
    manager = training_util.TrainingGraphManager([line.w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for bad in (np.full((12, 3), np.nan), np.ones((12, 5))):
            manager.begin()
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                sess.run(train, {line.x: bad})
            manager.begin()
            sess.run(train, line.feed)
            manager.end()
        assert manager.steps == 2
        manager.begin()
        sess.run(train, line.feed)
        with pytest.raises(RuntimeError, match=r"Call end\(\)"):
            manager.begin()


def test_what_is_no_variable_is_refused() -> None:
    line = Line()
    with tf.Graph().as_default():
        foreign = tf.get_variable("foreign", [1])
    manager = training_util.TrainingGraphManager()
    for bad, error in ((3, TypeError), ([line.loss], TypeError), ([foreign], ValueError), (None, TypeError)):
        with pytest.raises(error):
            manager.add_variables(bad)
    with pytest.raises(TypeError):
        training_util.TrainingGraphManager(graph=3)
    assert manager.variables == []


def test_a_snapshot_reuses_its_buffers() -> None:
    line = Line()
    manager = training_util.TrainingGraphManager([line.w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with manager.step():
            pass
        buffer = manager._buffers["w"]
        with manager.step():
            pass
        assert manager._buffers["w"] is buffer


def test_a_restored_manager_goes_on_counting(tmp_path) -> None:
    line = Line()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(line.loss)
    manager = training_util.TrainingGraphManager([line.w, line.b])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            with manager.step():
                sess.run(train, line.feed)
            path = manager.save(str(tmp_path / "model"), global_step=i)
        saved = sess.run([line.w, line.b])
    assert os.path.basename(path) == "model-2"
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert dict(tf.train.list_variables(path)) == {"w": [3, 1], "b": [1]}
    again = training_util.TrainingGraphManager([line.w, line.b])
    saver = tf.train.Saver([line.w, line.b])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        again.restore(str(tmp_path))
        for a, b in zip(saved, sess.run([line.w, line.b])):
            assert a.tobytes() == b.tobytes()
        assert again.steps == 3 and len(again.history) == 6 and again.state("w") == "training"
        with again.step():
            sess.run(train, line.feed)
        assert again.history[-1].step == 4
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        assert sess.run(line.w).tobytes() == saved[0].tobytes()


def test_damaged_or_other_checkpoints_change_nothing(tmp_path) -> None:
    line = Line()
    manager = training_util.TrainingGraphManager([line.w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="no checkpoint in the folder"):
            manager.restore(str(tmp_path))
        with pytest.raises(tf.errors.NotFoundError):
            manager.restore(str(tmp_path / "nothing"))
        with pytest.raises(ValueError, match="Parent directory"):
            manager.save(str(tmp_path / "no" / "model"))
        path = manager.save(str(tmp_path / "model"))
        before = sess.run(line.w)
        with pytest.raises(tf.errors.NotFoundError, match="b"):
            training_util.TrainingGraphManager([line.w, line.b]).restore(path)
        (tmp_path / "model.tracking.json").write_text(json.dumps({"steps": "many"}))
        with pytest.raises(tf.errors.DataLossError, match="tracking"):
            manager.restore(path)
        data = tmp_path / "model.data-00000-of-00001"
        data.write_bytes(data.read_bytes()[:-3])
        with pytest.raises(tf.errors.DataLossError, match="model"):
            manager.restore(path)
        assert sess.run(line.w).tobytes() == before.tobytes()
    with tf.Graph().as_default(), tf.Session() as sess:
        other = tf.get_variable("w", [5], initializer=tf.ones_initializer())
        wrong = training_util.TrainingGraphManager([other])
        sess.run(tf.global_variables_initializer())
        good = tmp_path / "good"
        good.mkdir()
        wrong.save(str(good / "model"))
        assert sess.run(other).all()


def test_the_documented_names_are_in_training_util() -> None:
    for name in ("make_train_op", "Gradients", "TrainingGraphManager", "get_global_step", "create_global_step",
                 "get_or_create_global_step", "global_step", "assert_global_step"):
        assert hasattr(training_util, name)


def test_the_check_beside_the_updates_is_tensorflows() -> None:
    from tfsandbox.training.train_op import build_train_op
    line = Line()
    train = build_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1), None, None, None, [], True,
                           check_after=True)
    assert [op.type for op in tf.get_default_graph().get_operations() if op.name.startswith("train_op/")] == [
        "CheckNumerics", "Identity"]
    assert any(op.type == "HistogramSummary" for op in tf.get_default_graph().get_operations())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
            sess.run(train, {line.x: np.full((12, 3), np.nan)})


@pytest.mark.parametrize("name, value", [("global_step", "step"), ("global_step", 3), ("transform_grads_fn", 3),
                                         ("global_step", tf.float32), ("clip_gradient_norm", "x")])
def test_arguments_that_do_not_fit_are_named(name: str, value: object) -> None:
    line = Line()
    with pytest.raises(TypeError, match=f"{name} must be a "):
        training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1), **{name: value})


def test_what_is_no_session_or_a_closed_one() -> None:
    line = Line()
    gradients, manager = training_util.Gradients(line.loss), training_util.TrainingGraphManager([line.w])
    for wrong in (None, 3, tf.Session):
        with pytest.raises(TypeError, match="norms.. takes a tf.Session|missing"):
            gradients.norms(wrong)
    with pytest.raises(TypeError, match="check.. takes a tf.Session"):
        gradients.check(None)
    with pytest.raises(TypeError, match="begin.. takes a tf.Session, but got int"):
        manager.begin(session=3)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    manager.begin(session=sess)
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        manager.end()
    with pytest.raises(RuntimeError, match="closed Session"):
        manager.begin(session=sess)
    with tf.Session() as other:
        other.run(tf.global_variables_initializer())
        with manager.step():
            pass
    assert manager.steps == 1


def test_a_monitored_session_is_a_session_for_the_manager() -> None:
    line = Line()
    manager = training_util.TrainingGraphManager([line.w])
    train = training_util.make_train_op(line.loss, tf.train.GradientDescentOptimizer(0.1))
    with tf.train.MonitoredSession() as sess:
        with manager.step(session=sess):
            sess.run(train, {line.x: np.ones((12, 3))})
    assert manager.steps == 1
