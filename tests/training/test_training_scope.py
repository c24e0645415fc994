"""training_scope, at run time and at build time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.training.training_scope import current_scope, is_chief, training_scope

RNG = np.random.RandomState(0)
DATA = {"x": RNG.randn(16, 4).astype(np.float32), "y": RNG.randn(16, 1).astype(np.float32)}

OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01),
    "centered": lambda: tf.train.RMSPropOptimizer(0.01, centered=True),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "proximal": lambda: tf.train.ProximalGradientDescentOptimizer(0.1),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
}


class Model:
    """Two layers and a table of embeddings, so that dense and sparse updates both happen."""

    def __init__(self, sparse: bool = False) -> None:
        rng = np.random.RandomState(1)
        self.x = tf.placeholder(tf.float32, [None, 4], name="x")
        self.y = tf.placeholder(tf.float32, [None, 1], name="y")
        with tf.variable_scope("first"):
            self.w = tf.get_variable("w", initializer=rng.randn(4, 3).astype(np.float32))
        with tf.variable_scope("second"):
            self.v = tf.get_variable("w", initializer=rng.randn(3, 1).astype(np.float32))
        output = tf.matmul(tf.tanh(tf.matmul(self.x, self.w)), self.v)
        if sparse:
            self.table = tf.get_variable("table", initializer=rng.randn(5, 1).astype(np.float32))
            output += tf.reduce_sum(tf.gather(self.table, [1, 3, 1]))
        self.loss = tf.reduce_mean(tf.square(output - self.y), name="loss")
        self.feed = {self.x: DATA["x"], self.y: DATA["y"]}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def snapshot(sess: tf.Session) -> dict[str, bytes]:
    return {v.op.name: np.asarray(sess.run(v)).tobytes() for v in tf.global_variables()}


def belongs(name: str, variable: str) -> bool:
    return name == variable or name.startswith(variable + "/")


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_is_masked_keeps_every_bit_with_its_slots(name: str, sparse: bool) -> None:
    model = Model(sparse)
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name]().minimize(model.loss, global_step=step)
    held = "table" if sparse else "second/w"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, model.feed)
        before = snapshot(sess)
        with training_scope(trainable_variables="first"):
            for _ in range(3):
                sess.run(train, model.feed)
        inside = snapshot(sess)
        for key in before:
            if belongs(key, "first/w"):
                continue
            if belongs(key, held) or belongs(key, "second/w"):
                assert inside[key] == before[key], f"{key} moved"
        assert inside["first/w"] != before["first/w"]
        assert sess.run(step) == 4
        sess.run(train, model.feed)
        assert snapshot(sess)[held] != inside[held], "outside the scope it moves again"


def test_the_loss_is_that_of_the_same_step_without_a_scope() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        _, plain = sess.run([train, model.loss], model.feed)
        sess.run(tf.global_variables_initializer())
        with training_scope(trainable_variables=[model.w]):
            _, masked = sess.run([train, model.loss], model.feed)
        assert plain == masked


def test_batch_norm_updates_go_on() -> None:
    model = Model()
    normal = tf.layers.batch_normalization(model.x, training=True)
    loss = model.loss + tf.reduce_mean(tf.square(normal))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    mean = next(v for v in tf.global_variables() if "moving_mean" in v.op.name)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with training_scope(trainable_variables=[model.w]):
            sess.run(train, model.feed)
        assert np.abs(sess.run(mean)).sum() > 0


@pytest.mark.parametrize("selection", [
    lambda m: [m.w], lambda m: {"any": m.w}, lambda m: {"any": [m.w]}, lambda m: m.w, lambda m: "first",
    lambda m: "first/w", lambda m: (m.w,), lambda m: [m.w, m.w]])
def test_the_ways_to_name_variables(selection) -> None:
    model = Model()
    with training_scope(trainable_variables=selection(model)) as scope:
        assert scope.mask() == {"first/w": True, "second/w": False}


def test_none_means_all() -> None:
    Model()
    with training_scope() as scope:
        assert scope.mask() == {"first/w": True, "second/w": True}


@pytest.mark.parametrize(("selection", "error", "message"), [
    ([], ValueError, "selects no variable.*first/w, second/w"),
    ({}, ValueError, "selects no variable"),
    ("frist", ValueError, "matches the name of no trainable variable.*first/w, second/w"),
    ([3], TypeError, "tf.Variable objects, but holds int"),
    (3, TypeError, "must be a list or dict of variables"),
    ({"a": 3}, TypeError, r"trainable_variables\['a'\]"),
    ([None], TypeError, "NoneType")])
def test_bad_selections(selection, error, message) -> None:
    Model()
    with pytest.raises(error, match=message), training_scope(trainable_variables=selection):
        pass
    assert current_scope() is None


def test_variables_of_another_graph_are_refused() -> None:
    with tf.Graph().as_default():
        other = tf.Variable(1.0, name="other")
    Model()
    with pytest.raises(ValueError, match="another graph"), training_scope(trainable_variables=[other]):
        pass


@pytest.mark.parametrize(("options", "error"), [
    ({"learning_rte_multiplier": 2}, TypeError), ({"clip_norm": -1}, ValueError), ({"clip_norm": "1"}, TypeError),
    ({"clip_value": 0}, ValueError), ({"learning_rate_multiplier": "2"}, TypeError),
    ({"learning_rate_multiplier": {"w": 2}}, TypeError), ({"gradient_transform": 3}, TypeError),
    ({"regularizer": 3}, TypeError), ({"is_chief": "no"}, TypeError)])
def test_bad_options(options, error) -> None:
    Model()
    with pytest.raises(error), training_scope(**options):
        pass


def test_an_unknown_option_is_answered_with_the_ones_there_are() -> None:
    with pytest.raises(TypeError, match="Did you mean 'clip_norm'.*learning_rate_multiplier, clip_norm, clip_value, "
                                        "gradient_transform"), training_scope(clip_nrm=1.0):
        pass


def run_once(model: Model, train: tf.Operation, **options) -> dict[str, np.ndarray]:
    """The variables after one step in a scope."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with training_scope(**options):
            sess.run(train, model.feed)
        return {v.op.name: sess.run(v) for v in tf.trainable_variables()}


def gradients_at_start(model: Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(list(zip(tf.gradients(model.loss, [model.w, model.v]), [model.w, model.v])), model.feed)
    return dict(zip(["first/w", "second/w"], found))


def test_regularizer_at_run_time_adds_the_slope_of_the_penalty() -> None:
    model = Model()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
    got = run_once(model, train, regularizer=lambda v: 0.5 * tf.reduce_sum(v * v))
    for name, (gradient, value) in gradients_at_start(model).items():
        np.testing.assert_allclose(got[name], value - np.float32(0.1) * (gradient + value), rtol=1e-5, atol=1e-6)


def test_regularizer_at_build_time_is_counted_once() -> None:
    model = Model()
    scope = training_scope(regularizer=lambda v: 0.5 * tf.reduce_sum(v * v))
    expected = {n: v - np.float32(0.1) * (g + v) for n, (g, v) in gradients_at_start(model).items()}
    with scope, tf.Session() as sess:
        train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
        sess.run(tf.global_variables_initializer())
        sess.run(train, model.feed)
        for variable in tf.trainable_variables():
            np.testing.assert_allclose(sess.run(variable), expected[variable.op.name], rtol=1e-5, atol=1e-6)


def test_a_regularizer_may_leave_variables_out() -> None:
    model = Model()
    all_but_v = lambda v: None if v is model.v else tf.reduce_sum(v)
    with training_scope(regularizer=all_but_v) as scope, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(scope.penalty) == pytest.approx(sess.run(model.w).sum(), rel=1e-5)


def test_a_penalty_that_is_no_scalar_is_refused() -> None:
    Model()
    with training_scope(regularizer=lambda v: v * v) as scope, pytest.raises(ValueError, match="scalar"):
        _ = scope.penalty


@pytest.mark.parametrize("built_inside", [False, True])
def test_modifiers_do_the_same_at_run_time_and_at_build_time(built_inside: bool) -> None:
    model = Model()
    options = {"clip_value": 0.05, "learning_rate_multiplier": {model.w: 0.5},
               "gradient_transform": lambda g, v: g * 3.0}
    expected = {n: v - np.float32(0.1 * (0.5 if n == "first/w" else 1.0)) * np.clip(3 * g, -0.05, 0.05)
                for n, (g, v) in gradients_at_start(model).items()}
    if built_inside:
        with training_scope(**options), tf.Session() as sess:
            train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
            sess.run(tf.global_variables_initializer())
            sess.run(train, model.feed)
            got = {v.op.name: sess.run(v) for v in tf.trainable_variables()}
    else:
        got = run_once(model, tf.train.GradientDescentOptimizer(0.1).minimize(model.loss), **options)
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, atol=1e-6)


def test_clip_norm_is_per_gradient() -> None:
    model = Model()
    train = tf.train.GradientDescentOptimizer(1.0).minimize(model.loss)
    got = run_once(model, train, clip_norm=0.01)
    for name, (_, value) in gradients_at_start(model).items():
        assert np.linalg.norm(got[name] - value) == pytest.approx(0.01, rel=1e-3)


def test_modifiers_reach_sparse_updates() -> None:
    model = Model(sparse=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(model.table)
        with training_scope(learning_rate_multiplier=0.0):
            sess.run(train, model.feed)
        np.testing.assert_array_equal(sess.run(model.table), before)


def test_a_transform_that_gives_nothing_is_refused() -> None:
    model = Model()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
    with pytest.raises(TypeError, match="gradient_transform must give a gradient"):
        run_once(model, train, gradient_transform=lambda g, v: None)


def test_build_calls_take_the_scopes_variables() -> None:
    model = Model()
    with training_scope(trainable_variables=[model.v]):
        assert [v for _, v in tf.train.AdamOptimizer().compute_gradients(model.loss)] == [model.v]
        assert tf.train.GradientDescentOptimizer(0.1).compute_gradients(model.loss, [model.w])[0][1] is model.w
    assert len(tf.train.AdamOptimizer().compute_gradients(model.loss)) == 2


def test_scopes_nest_and_only_narrow() -> None:
    model = Model()
    with training_scope(trainable_variables=[model.w]):
        with training_scope() as inner:
            assert inner.mask() == {"first/w": True, "second/w": False}
        with training_scope(trainable_variables=[model.w, model.v]) as inner:
            assert inner.mask() == {"first/w": True, "second/w": False}
        with pytest.raises(ValueError, match="narrows"), training_scope(trainable_variables=[model.v]):
            pass


def test_modifiers_of_nested_scopes_add_up() -> None:
    model = Model()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        start = sess.run(model.w)
        with training_scope(learning_rate_multiplier=0.5), training_scope(learning_rate_multiplier=0.5):
            sess.run(train, model.feed)
        quarter = sess.run(model.w) - start
        sess.run(tf.global_variables_initializer())
        sess.run(train, model.feed)
        np.testing.assert_allclose(quarter * 4, sess.run(model.w) - start, rtol=1e-4, atol=1e-6)


def test_an_exception_restores_the_outer_state() -> None:
    model = Model()
    with training_scope(trainable_variables=[model.w]) as outer:
        with pytest.raises(RuntimeError), training_scope():
            raise RuntimeError
        assert current_scope() is outer
    assert current_scope() is None


def test_scopes_are_per_thread() -> None:
    model = Model()
    seen = []
    with training_scope(trainable_variables=[model.w]):
        thread = threading.Thread(target=lambda: seen.append(current_scope()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_assignments_and_initialisers_are_no_training() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        start = sess.run(model.v)
        sess.run(train, model.feed)
        with training_scope(trainable_variables=[model.w]):
            sess.run(tf.assign(model.v, model.v * 2.0))
            assert not np.array_equal(sess.run(model.v), start)
            sess.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(model.v), start)


def test_the_plan_is_made_once() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with training_scope(trainable_variables=[model.w], clip_norm=1.0):
            sess.run(train, model.feed)
            nodes, calls = len(tf.get_default_graph().get_operations()), len(sess._calls)
            for _ in range(5):
                sess.run(train, model.feed)
            assert (len(tf.get_default_graph().get_operations()), len(sess._calls)) == (nodes, calls)


def test_a_graph_from_a_file_is_masked_too() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    saver = tf.train.Saver()
    meta = saver.export_meta_graph()
    del train
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(meta)
        graph = tf.get_default_graph()
        sess.run(tf.global_variables_initializer())
        feed = {"x:0": DATA["x"], "y:0": DATA["y"]}
        before = snapshot(sess)
        with training_scope(trainable_variables="first"):
            sess.run(graph.get_operation_by_name("Adam"), feed)
        after = snapshot(sess)
        assert after["first/w"] != before["first/w"] and after["second/w"] == before["second/w"]
        assert after["second/w/Adam"] == before["second/w/Adam"]


def test_report_says_what_moved() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with training_scope(trainable_variables=[model.w]) as scope:
            with pytest.raises(ValueError, match="nothing has run"):
                scope.report(sess)
            sess.run(train, model.feed)
            report = scope.report(sess)
    assert report.moved == ["first/w"] and report.held == ["second/w"]
    first, second = report.changes
    assert set(first.slots) == {"first/w/Adam", "first/w/Adam_1"} and all(d > 0 for d in first.slots.values())
    assert all(d == 0 for d in second.slots.values())
    assert "frozen" in str(report) and report.to_json()[0]["name"] == "first/w"


def test_report_when_the_scope_is_around_the_initialiser_too() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with training_scope(trainable_variables=[model.w]) as scope, tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, model.feed)
        report = scope.report(sess)
    assert report.moved == ["first/w"] and report.held == ["second/w"]


def test_report_of_what_became_no_number() -> None:
    weight = tf.get_variable("weight", initializer=[1.0])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(weight * float("nan")))
    with tf.Session() as sess, training_scope() as scope:
        sess.run(weight.initializer)
        sess.run(train)
        report = scope.report(sess)
    assert report.moved == ["weight"] and np.isnan(report.changes[0].delta_norm)


def test_not_being_chief_skips_saving(tmp_path) -> None:
    Model()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with training_scope(is_chief=False):
            assert not is_chief()
            assert saver.save(sess, str(tmp_path / "model")) is None
            with training_scope():
                assert not is_chief()
        assert list(tmp_path.iterdir()) == []
        assert is_chief()


def test_a_finalized_graph_can_still_be_scoped() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    init = tf.global_variables_initializer()
    tf.get_default_graph().finalize()
    with tf.Session() as sess:
        sess.run(init)
        with training_scope(clip_norm=1.0, regularizer=lambda v: tf.nn.l2_loss(v)):
            sess.run(train, model.feed)
    assert tf.get_default_graph().finalized


@pytest.mark.parametrize("name", ["descent", "momentum", "adagrad", "rmsprop", "adam", "ftrl"])
def test_sparse_updates_are_changed_as_dense_ones_are(name: str) -> None:
    """With every row in the batch once, an update by rows is the dense update of the same gradient."""
    results = []
    for sparse in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            table = tf.get_variable("table", initializer=np.arange(6, dtype=np.float32).reshape(3, 2) / 5)
            rows = tf.gather(table, [2, 0, 1]) if sparse else tf.stack([table[2], table[0], table[1]])
            loss = tf.reduce_sum(tf.square(rows - 0.5) * [[1.0], [2.0], [3.0]])
            train = OPTIMIZERS[name]().minimize(loss)
            sess.run(tf.global_variables_initializer())
            with training_scope(regularizer=lambda v: 0.1 * tf.reduce_sum(v * v), clip_value=0.8,
                                learning_rate_multiplier=0.5, gradient_transform=lambda g, v: g * 0.7):
                for _ in range(3):
                    sess.run(train)
            results.append(sess.run(table))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_a_scope_can_be_changed_while_it_is_active() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess, training_scope([model.w]) as scope:
        sess.run(tf.global_variables_initializer())
        sess.run(train, model.feed)
        for wanted, moved in (([model.v], ["second/w"]), (None, ["first/w", "second/w"]), ([], []),
                              ("first", ["first/w"])):
            scope.change(trainable_variables=wanted)
            before = snapshot(sess)
            sess.run(train, model.feed)
            after = snapshot(sess)
            assert [name for name in scope.mask() if before[name] != after[name]] == moved
            assert [name for name, trains in scope.mask().items() if trains] == moved
            frozen = [name for name in scope.mask() if name not in moved]
            assert all(before[name] == after[name] for name in before if any(belongs(name, f) for f in frozen))


@pytest.mark.parametrize("built_inside", [False, True])
def test_changed_modifiers_act_as_those_given_at_first(built_inside: bool) -> None:
    settings = {"learning_rate_multiplier": 0.5, "clip_norm": 0.1, "clip_value": 0.05,
                "regularizer": lambda v: 0.1 * tf.nn.l2_loss(v)}
    results = []
    for first in (True, False):
        with tf.Graph().as_default(), tf.Session() as sess:
            model = Model()
            given = dict(settings) if first else {}
            regularizer = given.pop("regularizer", None)
            train = None if built_inside and not first else tf.train.MomentumOptimizer(0.1, 0.9).minimize(model.loss)
            with training_scope(None, regularizer, **given) as scope:
                train = train or tf.train.MomentumOptimizer(0.1, 0.9).minimize(model.loss)
                sess.run(tf.global_variables_initializer())
                if not first:
                    assert not scope.in_graph
                    scope.change(**settings)
                for _ in range(3):
                    sess.run(train, model.feed)
                results.append(snapshot(sess))
    assert results[0] == results[1]


def test_going_back_to_a_setting_builds_nothing_anew() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess, training_scope() as scope:
        sess.run(tf.global_variables_initializer())
        counts = []
        for multiplier in (0.1, 2.0, 0.1, 2.0, 0.1):
            scope.change(learning_rate_multiplier=multiplier, clip_norm=multiplier)
            sess.run(train, model.feed)
            counts.append(len(sess.graph.get_operations()))
    assert len(set(counts[1:])) == 1


def test_a_change_that_is_refused_changes_nothing() -> None:
    model = Model()
    with training_scope([model.w], clip_norm=1.0) as scope:
        for settings, error in (({"trainable_variables": "nothing"}, ValueError), ({"clip_norm": -1.0}, ValueError),
                                ({"regularizer": 3}, TypeError), ({"clipnorm": 3}, TypeError),
                                ({"learning_rate_multiplier": 2.0, "clip_value": "x"}, TypeError)):
            with pytest.raises(error):
                scope.change(**settings)
        assert scope.mask() == {"first/w": True, "second/w": False}
        assert (scope.clip_norm, scope.learning_rate_multiplier) == (1.0, 1.0)


def test_what_was_built_with_the_scopes_settings_is_said_to_be_in_the_graph() -> None:
    model = Model()
    with training_scope([model.w], clip_norm=1.0) as scope:
        assert not scope.in_graph
        tf.train.AdamOptimizer(0.1).minimize(model.loss)
        assert scope.in_graph


def test_the_report_can_start_again() -> None:
    model = Model()
    train = tf.train.AdamOptimizer(0.1).minimize(model.loss)
    with tf.Session() as sess, training_scope([model.w]) as scope:
        sess.run(tf.global_variables_initializer())
        assert scope.sessions == [sess]
        sess.run(train, model.feed)
        scope.restart_report(sess)
        np.testing.assert_array_equal(scope.baseline(sess)["first/w"], sess.run(model.w))
        assert scope.report(sess).moved == []
        sess.run(train, model.feed)
        assert scope.report(sess).moved == ["first/w"]
    assert scope.sessions == []
