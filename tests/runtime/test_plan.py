"""What a run is planned to do: what is folded, dropped, reused, and in which order variables change."""

from __future__ import annotations

import gc
import linecache
import time

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.runtime import plan as plan_lib


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def body(source: str) -> list[str]:
    return [line.split("#")[0].strip() for line in source.splitlines() if line.startswith("    ")]


def test_shape_arithmetic_is_gone_once_shapes_are_known() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reshape(x * 2.0, tf.stack([tf.shape(x)[0] * 3, 1]))
    source = tf.sandbox.source(y, {x: np.ones((4, 3))})
    assert not any(word in source for word in (" shape(", "strided", "stack("))
    with tf.Session() as sess:
        assert sess.run(y, {x: np.ones((4, 3))}).shape == (12, 1)
        assert sess.run(y, {x: np.ones((2, 3))}).shape == (6, 1)


def test_many_shapes_share_a_plan_that_assumes_none() -> None:
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_mean(x)
    with tf.Session() as sess:
        for n in range(1, 40):
            assert sess.run(total, {x: np.arange(n)}) == pytest.approx((n - 1) / 2)
        call, = sess._calls.values()
        assert len(call.variants) <= 17


def test_nothing_is_written_into_what_is_not_the_plans_own() -> None:
    x = tf.placeholder(tf.float32, [100, 200])
    c = tf.constant(np.full((100, 200), 3.0, np.float32))
    v = tf.Variable(np.full((100, 200), 2.0, np.float32))
    y = ((x + c) * v - 1.0) / 2.0
    fed = np.ones((100, 200), np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run([y, x, c, v], {x: fed})
        second = sess.run([y, x, c, v], {x: fed})
    for a, b in zip(first, second):
        np.testing.assert_array_equal(a, b)
    assert (fed == 1).all()


def test_what_is_fetched_is_the_callers_own() -> None:
    v = tf.Variable(np.ones((3, 3), np.float32))
    c = tf.constant(np.ones((3, 3), np.float32))
    flat = tf.reshape(v, [-1])
    x = tf.placeholder(tf.float32, [3])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        fed = np.ones(3, np.float32)
        for value in sess.run([v, c, flat, x, tf.identity(x)], {x: fed}):
            value[...] = 7
        assert (fed == 1).all()
        for value in sess.run([v, c, flat]):
            assert (value == 1).all()


def test_a_value_used_twice_is_not_overwritten() -> None:
    x = tf.placeholder(tf.float32, [300, 300])
    a = tf.matmul(x, x)
    b = a + 1.0
    d = a * 2.0
    e = b + d
    with tf.Session() as sess:
        data = np.eye(300, dtype=np.float32)
        got = sess.run([e, a], {x: data})
        np.testing.assert_array_equal(got[0], data + 1 + data * 2)
        np.testing.assert_array_equal(got[1], data)


def test_a_view_of_a_dead_value_keeps_it_alive() -> None:
    x = tf.placeholder(tf.float32, [200, 200])
    a = tf.exp(x)
    view = tf.transpose(a)
    b = a + 1.0
    out = view + b
    with tf.Session() as sess:
        data = np.random.RandomState(0).randn(200, 200).astype(np.float32)
        np.testing.assert_array_equal(sess.run(out, {x: data}), np.exp(data).T + (np.exp(data) + 1))


def test_reads_come_before_the_update_of_the_same_run() -> None:
    v = tf.Variable(1.0)
    doubled = v * 2.0
    update = tf.assign_add(v, 10.0)
    with tf.control_dependencies([update]):
        after = v.read_value() * 2.0
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run([update.op, doubled, after]) == [None, 2.0, 22.0]


def test_only_one_branch_runs() -> None:
    calls: list[str] = []
    p = tf.placeholder(tf.bool, [])

    def noted(name: str) -> tf.Tensor:
        return tf.py_func(lambda: calls.append(name) or np.float32(1), [], tf.float32)
    y = tf.cond(p, lambda: noted("yes"), lambda: noted("no"))
    with tf.Session() as sess:
        sess.run(y, {p: True})
        sess.run(y, {p: False})
    assert calls == ["yes", "no"]
    assert "if " in tf.sandbox.source(y, {p: True})


def test_gradients_through_branches() -> None:
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    y = tf.cond(p, lambda: tf.square(x), lambda: tf.cond(p, lambda: x, lambda: 3.0 * x))
    gradient, = tf.gradients(y, x)
    with tf.Session() as sess:
        data = np.array([1.0, 2.0, 3.0], np.float32)
        np.testing.assert_allclose(sess.run(gradient, {p: True, x: data}), 2 * data)
        np.testing.assert_allclose(sess.run(gradient, {p: False, x: data}), [3, 3, 3])


@pytest.mark.parametrize("rule", plan_lib.SIMPLIFICATIONS, ids=lambda rule: rule.__name__)
def test_each_simplification_can_be_switched_off(rule, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(np.ones((3, 1), np.float32))
    b = tf.Variable(np.zeros(1, np.float32))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
    grads = tf.gradients(tf.add_n([tf.cast(loss, tf.float32)]), [w, b])
    data = np.random.RandomState(0).randn(5, 3)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected = sess.run(grads, {x: data})
    monkeypatch.setattr(plan_lib, "SIMPLIFICATIONS", [r for r in plan_lib.SIMPLIFICATIONS if r is not rule])
    tf.get_default_graph()._caches.clear()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for a, b_ in zip(sess.run(grads, {x: data}), expected):
            np.testing.assert_array_equal(a, b_)


def test_names_of_nodes_cannot_reach_the_source() -> None:
    definition = tf.GraphDef()
    names = ["import", "class", "np", "run", "dead", "x.y-z", "1", "__import__", "lambda", "match", "A" * 300]
    for name in names:
        node = definition.node.add(name=f"a/{name}" if not name.startswith("_") else f"a{name}", op="Placeholder")
        node.attr["dtype"].type = 1
        square = definition.node.add(name=f"b/{name}" if not name.startswith("_") else f"b{name}", op="Square",
                                     input=[node.name])
        square.attr["T"].type = 1
    tf.import_graph_def(definition, name="")
    graph = tf.get_default_graph()
    feeds = {op.outputs[0]: 2.0 for op in graph.get_operations() if op.type == "Placeholder"}
    squares = [op.outputs[0] for op in graph.get_operations() if op.type == "Square"]
    with tf.Session() as sess:
        assert sess.run(squares, feeds) == [4.0] * len(squares)


def test_many_branches_inside_each_other() -> None:
    ps = [tf.placeholder(tf.bool, []) for _ in range(120)]
    x = tf.placeholder(tf.float32, [])

    def nested(n: int) -> tf.Tensor:
        return tf.cond(ps[n], lambda: nested(n + 1) + 1.0, lambda: tf.negative(x)) if n < len(ps) else tf.square(x)
    y = nested(0)
    with tf.Session() as sess:
        feeds = dict.fromkeys(ps, True)
        assert sess.run(y, {x: 3.0, **feeds}) == 129.0
        assert sess.run(y, {x: 3.0, **feeds, ps[100]: False}) == 97.0


def test_a_sum_of_very_many() -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session() as sess:
        assert sess.run(tf.add_n([x * 1.5] * 3000), {x: [1.0, 2.0]}).tolist() == [4500.0, 9000.0]


def test_sources_go_with_their_graph() -> None:
    before = len(linecache.cache)
    for _ in range(20):
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.constant(1.0) + tf.placeholder_with_default(1.0, []))
    del sess
    gc.collect()
    assert len(linecache.cache) <= before + 1


def test_a_constant_too_large_for_a_message() -> None:
    with pytest.raises(ValueError, match="larger than 2GB"):
        tf.constant(np.broadcast_to(np.float32(1), (600_000_000,)))


def test_a_long_chain_of_updates_is_planned_in_time() -> None:
    v = tf.Variable(0.0)
    update = v
    for _ in range(2000):
        update = tf.assign_add(update, 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        start = time.process_time()
        assert sess.run(update) == 2000
        assert time.process_time() - start < 3


@pytest.mark.parametrize("waited", [
    lambda x: tf.gather(x, [99]) * 2.0, lambda x: tf.identity(tf.gather(x, [99])),
    lambda x: tf.identity(tf.check_numerics(tf.log(x - 10.0), "too small")) + 1.0])
def test_an_error_that_somebody_waits_for_is_raised(waited) -> None:
    x = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([waited(x)]):
        y = tf.constant(1.0) + x
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(y, {x: [1.0, 2.0, 3.0]})
