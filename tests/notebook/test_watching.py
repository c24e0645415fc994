"""Values of watched runs, on the real engine."""

import json

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.notebook.engine_records import graph_view
from tfsandbox.notebook.watching import HEAT, Watched, elements, heat, histogram, summary, watching
from tfsandbox.training.training_scope import training_scope


@pytest.fixture
def program():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
    y = tf.matmul(x, w, name="y")
    loss = tf.reduce_mean(tf.square(y), name="loss")
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield x, w, y, loss, train, sess
    tf.reset_default_graph()


def test_a_watched_run_gives_what_it_would_give(program):
    x, w, y, loss, train, sess = program
    other = tf.Session()
    other.run(tf.global_variables_initializer())
    view = graph_view(sess.graph)
    feeds = {x: np.arange(6.0).reshape(2, 3)}
    with view.watch(sess) as watched:
        found = [sess.run({"loss": loss, "both": [y, train]}, feeds) for _ in range(3)]
    expected = [other.run({"loss": loss, "both": [y, train]}, feeds) for _ in range(3)]
    for one, two in zip(found, expected):
        assert one["loss"] == two["loss"] and np.array_equal(one["both"][0], two["both"][0]) and one["both"][1] is None
    assert np.array_equal(sess.run(w), other.run(w))
    assert watched.runs == 3 and np.array_equal(watched.values["y"][0], expected[-1]["both"][0])
    assert np.array_equal(watched.values["x"][0], feeds[x])
    assert "init" not in watched.values and "Momentum/update_w/ApplyMomentum" in watched.values
    # Afterwards runs are as before.
    sess.run(loss, feeds)
    assert watched.runs == 3 and "run" not in vars(sess)


def test_what_is_asked_about_values(program):
    x, _, _, loss, train, sess = program
    live = graph_view(sess.graph).live
    sent = []
    live.join(sent.append)
    with live.watch(sess):
        sess.run([loss, train], {x: np.ones((4, 3))})
    assert sent and sent[-1]["watched"]["runs"] == 1
    answer = json.loads(json.dumps(live.answer({"ask": "values", "id": 1})["content"], allow_nan=False))
    record = answer["values"]["y"]
    assert record == {"shape": [4, 2], "dtype": "float32", "bytes": 32, "min": 3.0, "max": 3.0, "mean": 3.0, "std": 0.0}
    detail = live.answer({"ask": "value", "id": 2, "content": {"name": "y"}})["content"]
    assert sum(detail["histogram"]["counts"]) == 8 and len(detail["heat"]) == 4 and "3." in detail["elements"]
    assert "did not compute" in live.answer({"ask": "value", "id": 3, "content": {"name": "nobody"}})["error"]
    times = live.answer({"ask": "times", "id": 4})["content"]
    assert times["y"] > 0 and "Momentum/update_w/ApplyMomentum" not in times


def test_where_nan_starts(program):
    x, *_, sess = program
    bad = tf.log(tf.reduce_sum(x), name="bad")
    after = tf.add(bad, 1.0, name="after")
    watched = Watched()
    with watching(sess, watched, lambda: None):
        sess.run(after, {x: -np.ones((1, 3))})
    found = watched.summaries()
    assert found["bad"]["nans"] == 1 and found["bad"]["starts"] is True
    assert found["after"]["nans"] == 1 and "starts" not in found["after"]


def test_an_update_that_breaks_a_variable_did_not_start_there(program):
    x, _, _, loss, train, sess = program
    watched = Watched()
    with watching(sess, watched, lambda: None):
        sess.run([loss, train], {x: np.full((1, 3), 3e38)})
        starts = {name for name, record in watched.summaries().items() if record.get("starts")}
        assert "y" in starts and "w" not in starts and not np.isfinite(watched.values["w"][0]).any()
        sess.run(loss, {x: np.ones((1, 3))})
        starts = {name for name, record in watched.summaries().items() if record.get("starts")}
        assert starts == {"w"}, "now the variable is where it comes from"


def test_scopes_branches_and_errors(program):
    x, w, y, loss, train, sess = program
    total = tf.reduce_sum(y)
    branch = tf.cond(total > 0.0, lambda: total * 2.0, lambda: total - 1.0)
    watched = Watched()
    with watching(sess, watched, lambda: None):
        assert sess.run(branch, {x: np.ones((1, 3))}) == 12.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(loss)
        assert watched.runs == 1
        before = sess.run(w)
        with training_scope([tf.get_variable("other", [])]):
            sess.run(train, {x: np.ones((1, 3))})
        assert np.array_equal(sess.run(w), before), "a training scope holds in a watched run, too"
    assert "run" not in vars(sess)


def test_summaries():
    assert summary(np.array([b"a", b"bc"], object)) == {"shape": [2], "dtype": "string", "bytes": 16}
    assert summary(np.array([], np.float32))["shape"] == [0]
    record = summary(np.array([1.0, np.nan, np.inf, 3.0]))
    assert (record["nans"], record["infs"], record["min"], record["max"], record["mean"]) == (1, 1, 1.0, 3.0, 2.0)
    assert summary(np.array([True, False]))["mean"] == 0.5
    assert summary(np.float16(2.0))["shape"] == []
    assert "mean" not in summary(np.array([np.nan]))
    json.dumps(summary(np.array([3e38, 3e38], np.float32)), allow_nan=False)


def test_details():
    assert histogram(np.array([np.nan])) is None and histogram(np.array(["a"])) is None
    assert sum(histogram(np.arange(10))["counts"]) == 10
    assert heat(np.float32(1)) is None
    table = heat(np.arange(100.0 * 90).reshape(100, 90))
    assert len(table) == len(table[0]) == HEAT and table[0][0] < table[-1][-1]
    assert np.mean([np.mean(row) for row in heat(np.ones((7, 5, 3)))]) == 1.0
    assert heat(np.array([1.0, np.nan]))[0] == [1.0, None]
    assert len(elements(np.zeros((1000, 1000)))) < 1300
