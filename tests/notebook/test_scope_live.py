"""The scope mask view as an instrument, without a browser."""

import json
import math

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.notebook import engine_records
from tfsandbox.notebook.interactive.scope import CELLS, cells, reduced
from tfsandbox.notebook.labels import LABELS, set_language
from tfsandbox.notebook.labels_scope import SCOPE_LABELS
from tfsandbox.notebook.scope_trainer import ScopeTrainer
from tfsandbox.notebook.series import LONGEST, Series, number
from tfsandbox.notebook.train_ops import find_losses, find_train_ops, needed_placeholders
from tfsandbox.notebook.views.scope_code import scope_code
from tfsandbox.training.training_scope import training_scope

RNG = np.random.RandomState(0)
DATA = RNG.randn(32, 4).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


class Program:
    """Two layers under Adam, and a session."""

    def __init__(self, optimizer=None):
        tf.set_random_seed(1)
        self.x = tf.placeholder(tf.float32, [None, 4], name="x")
        self.y = tf.placeholder(tf.float32, [None, 1], name="y")
        hidden = tf.layers.dense(self.x, 6, tf.nn.relu, name="hidden")
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1, name="output") - self.y), name="loss")
        self.train = (optimizer or tf.train.AdamOptimizer(0.05)).minimize(self.loss)
        self.feeds = {self.x: DATA, self.y: DATA[:, :1]}
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def view(self, scope=None, **step):
        step.setdefault("feeds", self.feeds)
        return engine_records.scope_view(scope, self.sess, tf.get_default_graph(), **step)

    def values(self):
        return {v.op.name: self.sess.run(v).tobytes() for v in tf.global_variables()}


@pytest.fixture
def program():
    return Program()


def asked(view, request, /, **content):
    """What the page is answered; an error fails the test."""
    answer = view.live.answer({"ask": request, "id": "1", "content": content})
    json.dumps(answer, allow_nan=False)
    assert "error" not in answer, answer
    return answer["content"]


def refused(view, request, /, **content):
    return view.live.answer({"ask": request, "id": "1", "content": content})["error"]


def heard(view):
    """The states that pages are told."""
    said = []
    view.live.join(lambda message: said.append(message["scope"]))
    return said


def test_the_tree_of_the_payload(program):
    payload = program.view().payload()
    json.dumps(payload, allow_nan=False)
    rows = {row["id"]: row for row in payload["rows"]}
    assert rows["hidden/"]["members"] == ["hidden/kernel", "hidden/bias"] and rows["hidden/"]["depth"] == 0
    assert rows["hidden/kernel"]["shape"] == [4, 6] and rows["hidden/kernel"]["bytes"] == 96
    assert rows["hidden/kernel/Adam"]["of"] == "hidden/kernel" and rows["hidden/kernel/Adam"]["depth"] == 2
    assert payload["now"]["variables"]["hidden/kernel"][0] is True
    assert payload == program.view().payload(), "the same program gives the same payload"


def test_a_layer_is_switched_and_the_steps_keep_to_it(program):
    with training_scope() as scope:
        pass
    view = program.view(scope)
    said = heard(view)
    asked(view, "switch", names=["hidden/kernel", "hidden/bias"], trains=False)
    assert scope.mask() == {"hidden/kernel": False, "hidden/bias": False, "output/kernel": True, "output/bias": True}
    assert said[-1]["variables"]["hidden/kernel"][0] is False
    before = program.values()
    done = 0
    while done < 10:
        done += asked(view, "train", steps=10 - done)["done"]
    after = program.values()
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {name for name in before if name.startswith(("output/", "beta"))}
    asked(view, "now")
    variables = said[-1]["variables"]
    assert variables["hidden/kernel"][2] == variables["hidden/kernel/Adam"][2] == 0 < variables["output/kernel"][2]
    assert variables["output/kernel/Adam"][2] > 0
    assert len(said[-1]["runs"][0]["points"]) == 10 and said[-1]["runs"][0]["marks"] == [[0, "2 of 4 train"]]
    asked(view, "switch", names=["hidden/kernel", "hidden/bias"], trains=True)
    assert scope._chosen is None, "all is no choice: variables that are made later train, too"


def test_nothing_may_train(program):
    view = program.view()
    asked(view, "switch", names=list(view.trainer.scope.mask()), trains=False)
    before = program.values()
    asked(view, "train", steps=2)
    assert {name for name, value in program.values().items() if value != before[name]} <= {"beta1_power", "beta2_power"}


def test_what_an_outer_scope_leaves_out_stays_out(program):
    with training_scope("output") as _, training_scope() as inner:
        pass
    view = program.view(inner)
    assert view.payload()["now"]["fixed"] == ["hidden/bias", "hidden/kernel"]
    before = program.values()
    asked(view, "switch", names=["hidden/kernel", "output/bias"], trains=True)
    asked(view, "train", steps=2)
    after = program.values()
    assert before["hidden/kernel"] == after["hidden/kernel"] and before["output/kernel"] != after["output/kernel"]


def test_modifiers_act(program):
    view = program.view()
    said = heard(view)
    asked(view, "set", name="learning_rate_multiplier", value=0.0001)
    asked(view, "train", steps=1)
    asked(view, "now")
    small = said[-1]["variables"]["output/kernel"][2]
    asked(view, "rewind")
    assert said[-1]["variables"]["output/kernel"][2] == 0
    asked(view, "set", name="learning_rate_multiplier", value=1)
    asked(view, "train", steps=1)
    asked(view, "now")
    assert said[-1]["variables"]["output/kernel"][2] > 1000 * small
    assert [len(run["points"]) for run in said[-1]["runs"]] == [1, 1]
    assert said[-1]["runs"][1]["marks"] == [[0, "learning rate × 1"]]
    asked(view, "set", name="clip_norm", value=0.5)
    asked(view, "penalty", kind="l2", strength=0.1)
    assert view.trainer.scope.clip_norm == 0.5 and view.trainer.scope.regularizer is not None
    assert "regularizer=tf.contrib.layers.l2_regularizer(0.1)" in view.code() and "clip_norm=0.5" in view.code()
    asked(view, "set", name="clip_norm", value=None)
    asked(view, "penalty", kind="none", strength=0.1)
    assert view.trainer.expressions() == {}
    assert "no modifier" in refused(view, "set", name="clipnorm", value=1)


def test_the_penalty_pulls_as_it_would_in_code(program):
    view = program.view()
    asked(view, "penalty", kind="l2", strength=0.5)
    for _ in range(3):
        view.trainer.train(1)
    after = program.values()
    view.trainer.rewind()
    with training_scope(regularizer=tf.contrib.layers.l2_regularizer(0.5)):
        for _ in range(3):
            program.sess.run([program.train, program.loss], program.feeds)
    assert program.values() == after


def test_the_scopes_own_regularizer_comes_back(program):
    with training_scope(regularizer=tf.nn.l2_loss) as scope:
        pass
    view = program.view(scope)
    assert view.trainer.settings()["own"] == "l2_loss" and view.trainer.penalty == "own"
    asked(view, "penalty", kind="none", strength=1)
    assert scope.regularizer is None
    asked(view, "penalty", kind="own", strength=1)
    assert scope.regularizer is tf.nn.l2_loss


def test_what_was_built_with_modifiers_cannot_be_slid():
    with training_scope(clip_norm=1.0) as scope:
        program = Program()
    view = program.view(scope)
    assert view.payload()["now"]["settings"]["fixed"] is True
    assert "part of the graph" in refused(view, "set", name="clip_norm", value=2)
    asked(view, "switch", names=["hidden/bias"], trains=False)
    assert scope.mask()["hidden/bias"] is False


def test_comparing_from_here(program):
    view = program.view()
    asked(view, "train", steps=3)
    asked(view, "restart")
    before = program.values()
    asked(view, "train", steps=3)
    asked(view, "rewind")
    assert program.values() == before


def test_values_before_and_after(program):
    view = program.view()
    asked(view, "train", steps=1)
    found = asked(view, "value", name="hidden/kernel")
    assert np.shape(found["after"]) == (4, 6) == np.shape(found["change"]) and found["block"] == 1
    np.testing.assert_allclose(np.subtract(found["after"], found["before"]), found["change"], atol=1e-3)
    assert refused(view, "value", name="nothing")


@pytest.mark.parametrize(("shape", "table", "block"), [
    ((), (1, 1), 1), ((3,), (1, 3), 1), ((100,), (3, CELLS), 1), ((20, 1), (1, 20), 1), ((3, 3, 2, 5), (18, 5), 1),
    ((100, 10), (34, 10), 3), ((1000, 200), (48, 40), 105), ((0, 3), (1, 0), 1)])
def test_tables_of_heat_maps(shape, table, block):
    found, count = reduced(cells(np.ones(shape)))
    assert found.shape == table and count == block
    assert np.nanmin(found, initial=1) == np.nanmax(found, initial=1) == 1


def test_obstacles_say_what_to_do(program):
    assert "--session" in engine_records.scope_view(None, None, tf.get_default_graph()).trainer.obstacle()
    assert "'x:0': ..., 'y:0': ..." in program.view(feeds=None).trainer.obstacle()
    tf.train.GradientDescentOptimizer(0.1).minimize(program.loss)
    assert "Adam, GradientDescent" in program.view().trainer.obstacle()
    assert "--train" in refused(program.view(), "train", steps=1)
    assert program.view(train_op=program.train).trainer.obstacle() == ""
    view = program.view(train_op=program.train)
    program.sess.close()
    assert "closed" in view.trainer.obstacle()
    assert "closed" in refused(view, "rewind")
    with tf.Graph().as_default() as empty, tf.Session() as sess:
        assert "minimize" in ScopeTrainer(None, sess, empty).obstacle()


def test_errors_of_a_step_are_told(program):
    view = program.view(feeds=lambda: {program.x: DATA})
    assert "must feed a value for placeholder" in refused(view, "train", steps=1)
    view = program.view(feeds=lambda: 1 / 0)
    assert "division" in refused(view, "train", steps=1)


def test_every_step_has_feeds_of_its_own(program):
    seen = []

    def feeds():
        seen.append(len(seen))
        return program.feeds

    program.view(feeds=feeds).trainer.train(4, seconds=60)
    assert seen == [0, 1, 2, 3]


def test_a_slice_ends_when_its_time_is_over(program):
    assert program.view().trainer.train(10_000, seconds=0)["done"] == 1


def test_an_unknown_variable_is_refused(program):
    assert "hidden/kernel" in refused(program.view(), "switch", names=["hidden/kernell"], trains=True)
    records_only = type(program.view())(program.view().records)
    assert "records" in refused(records_only, "switch", names=["hidden/kernel"], trains=True)


def test_the_train_op_is_found():
    program = Program()
    assert find_train_ops(tf.get_default_graph()) == [program.train]
    assert find_losses(tf.get_default_graph(), program.train) == [program.loss]
    assert needed_placeholders(tf.get_default_graph(), [program.train]) == ["x", "y"]


def test_the_train_op_with_a_step_counter_and_an_average():
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    loss = tf.reduce_sum(tf.square(w))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, step)
    assert find_train_ops(tf.get_default_graph()) == [train]
    tf.train.Saver()
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([train]):
        whole = tf.group(average.apply([w]))
    assert find_train_ops(tf.get_default_graph()) == [whole]


MASKS = [
    {"a/w": True, "a/b": True, "c/w": True},
    {"a/w": True, "a/b": True, "c/w": False},
    {"a/w": True, "a/b": False, "c/w": True},
    {"a/w": True, "ab/w": False, "a.b/w": True},
    {"a/w": True, "a/b": True, "c/d/w": True, "c/e/w": False, "f": False},
    {"a/w": False, "c/w": False},
    {f"layer_{i}/w": i % 2 == 0 for i in range(20)},
    {"w": False, "b": True},
]


@pytest.mark.parametrize("mask", MASKS)
def test_the_code_makes_the_mask(mask):
    made = {}
    for name in mask:
        with tf.name_scope(None):
            made[name] = tf.Variable(1.0, name=name)
    loss = tf.add_n([tf.square(v) for v in made.values()])
    settings = {"clip_norm": "2", "learning_rate_multiplier": "0.5"}
    names = {"tf": tf, "train_op": tf.train.GradientDescentOptimizer(0.1).minimize(loss), "sess": tf.Session()}
    names["sess"].run(tf.global_variables_initializer())
    code = scope_code(mask, settings)
    exec(code, names)
    assert names["scope"].mask() == mask and names["scope"].clip_norm == 2
    assert max(map(len, code.splitlines())) <= 120
    moved = {name: names["sess"].run(v) != 1 for name, v in made.items()}
    assert moved == mask


def test_long_curves_are_thinned():
    series = Series("loss")
    for step in range(10 * LONGEST + 7):
        series.add(step, step / 2)
    points = series.points
    assert LONGEST / 2 <= len(points) <= LONGEST + 1 and points[0] == (0, 0.0) and points[-1][0] == 10 * LONGEST + 6
    gaps = {b[0] - a[0] for a, b in zip(points, points[1:-1])}
    assert len(gaps) == 1 and len(series) == 10 * LONGEST + 7 and series.last == points[-1][1]
    assert Series().points == [] and Series().last is None


def test_numbers_for_json():
    assert [number(v) for v in (None, 0.1, math.nan, math.inf, -math.inf)] == [None, 0.1, "NaN", "Infinity",
                                                                               "-Infinity"]


def test_every_language_has_all_words(program):
    words = SCOPE_LABELS["en"]
    for language, table in SCOPE_LABELS.items():
        assert set(table) == set(words), language
    if "zh" in LABELS:
        set_language("zh")
        try:
            assert program.view().payload()["labels"]["all"] == "全部"
        finally:
            set_language("en")
