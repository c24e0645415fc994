"""Variables: nodes, values, changes, errors, protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def initialized(session: Any) -> Any:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return session


def test_operators_read_the_variable() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with initialized(tf.Session()) as sess:
        np.testing.assert_array_equal(sess.run(v @ v), [[7, 10], [15, 22]])
        np.testing.assert_array_equal(sess.run(1.0 - v[0]), [0, -1])
        np.testing.assert_array_equal(sess.run(-v), [[-1, -2], [-3, -4]])
        assert sess.run(abs(v)[1, 1]) == 4


def test_reading_before_initialising_names_the_variable() -> None:
    v = tf.Variable(1.0, name="lonely")
    for fetch in (v, v + 1.0, tf.assign_add(v, 1.0), tf.scatter_add(tf.Variable([1.0], name="lonely_too"), [0], [1.0])):
        with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value lonely"):
            sess.run(fetch)


def test_update_after_assignment_in_one_run_checks_then() -> None:
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.initializer]):
        more = tf.assign_add(v, 2.0)
    with tf.Session() as sess:
        assert sess.run(more) == 3.0


def test_sessions_do_not_share_values() -> None:
    v = tf.Variable(0)
    with initialized(tf.Session()) as one, initialized(tf.Session()) as other:
        one.run(v.assign_add(5))
        assert (one.run(v), other.run(v)) == (5, 0)


def test_assigned_value_is_a_copy() -> None:
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    with initialized(tf.Session()) as sess:
        sess.run(b.assign(a))
        sess.run(a.assign_add([1.0, 1.0]))
        np.testing.assert_array_equal(sess.run(b), [1, 2])
        fetched = sess.run(a)
        sess.run(a.assign_add([1.0, 1.0]))
        np.testing.assert_array_equal(fetched, [2, 3])


def test_initial_values_that_depend_on_variables_work_in_any_order() -> None:
    a = tf.Variable(tf.random_normal([3]), name="a")
    b = tf.Variable(a * 2.0, name="b")
    c = tf.Variable(a.initialized_value() + 2.0 * a, name="c")
    with initialized(tf.Session()) as sess:
        values = sess.run([a, b, c])
        np.testing.assert_allclose(values[1], 2 * values[0])
        np.testing.assert_allclose(values[2], 3 * values[0], rtol=1e-6)


def test_slices_can_be_assigned() -> None:
    v = tf.Variable(np.zeros((2, 3)))
    with initialized(tf.Session()) as sess:
        sess.run(v[1, :2].assign([5.0, 6.0]))
        np.testing.assert_array_equal(sess.run(v), [[0, 0, 0], [5, 6, 0]])


def test_shapes_are_checked() -> None:
    fed = tf.placeholder(tf.float32)
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"Shapes must be equal rank, but are 1 and 0 for 'Assign'"):
        v.assign(1.0)
    with initialized(tf.Session()) as sess:
        for op in (v.assign(fed), v.assign_add(fed)):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(op, {fed: [1.0, 2.0, 3.0]})
        loose = tf.assign(v, fed, validate_shape=False)
        np.testing.assert_array_equal(sess.run(loose, {fed: [1.0, 2.0, 3.0]}), [1, 2, 3])


def test_a_fresh_variable_takes_no_other_shape() -> None:
    fed = tf.placeholder(tf.float32)
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs"):
        sess.run(v.assign(fed), {fed: [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("make,kind,text", [
    (lambda: tf.Variable(None), ValueError, "initial_value must be specified."),
    (lambda: tf.Variable(1, collections="abc"), ValueError, "must be a list, tuple, or set. Got abc"),
    (lambda: tf.Variable(1, constraint=3), ValueError, "`constraint` argument must be a callable"),
    (lambda: tf.Variable(tf.placeholder(tf.float32, [None])), ValueError, "must have a shape specified"),
    (lambda: iter(tf.Variable(1)), TypeError, "'Variable' object is not iterable."),
    (lambda: tf.Variable(1.0).load(2.0), ValueError, "Either session argument should be provided"),
    (lambda: tf.Variable(1.0).scatter_add([1.0]), ValueError, "sparse_delta is not IndexedSlices"),
    (lambda: tf.Variable(1.0).count_up_to(3), TypeError, "DataType float32 not in list of allowed values"),
    (lambda: tf.assign(3.0, 2.0), AttributeError, "dtype"),
    (lambda: tf.convert_to_tensor(tf.Variable(1.0), dtype=tf.int32), ValueError, "Incompatible type conversion"),
])
def test_errors(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        make()


@pytest.mark.parametrize("bad,text", [
    ([0, 4], r"indices\[1\] = 4 is not in \[0, 4\)"), ([-1], r"indices\[0\] = -1 is not in \[0, 4\)")])
def test_scatter_checks_rows(bad: list[int], text: str) -> None:
    v = tf.Variable(np.zeros((4, 2), np.float32))
    with initialized(tf.Session()) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(tf.scatter_add(v, bad, np.ones((len(bad), 2), np.float32)))
        assert not sess.run(v).any()


def test_strings_and_booleans() -> None:
    text, flag = tf.Variable("a"), tf.Variable([True, False])
    with initialized(tf.Session()) as sess:
        assert sess.run(text.assign("longer than before")) == b"longer than before"
        assert sess.run(flag).tolist() == [True, False]


def test_scopes_filter_lists_by_the_start_of_the_name() -> None:
    for name in ("one/w", "two/w", "one_more"):
        tf.Variable(1.0, name=name)
    assert [v.op.name for v in tf.global_variables("one")] == ["one/w", "one_more"]
    assert [v.op.name for v in tf.trainable_variables(".*w")] == ["one/w", "two/w"]


def test_protobuf_round_trip() -> None:
    v = tf.Variable([1.0], name="v", trainable=False)
    again = tf.Variable.from_proto(v.to_proto())
    assert (again.name, again.initializer, again.value(), again.trainable) == (
        v.name, v.initializer, v.value(), False)
    assert v.to_proto(export_scope="elsewhere") is None


def test_creator_scopes_make_the_variables() -> None:
    def creator(next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**{**kwargs, "name": "made"})

    with tf.variable_creator_scope(creator):
        assert tf.Variable(1.0, name="asked").op.name == "made"
    assert tf.Variable(1.0, name="asked").op.name == "asked"


def test_use_resource_gives_the_one_kind() -> None:
    assert isinstance(tf.get_variable("r", [1], use_resource=True), tf.Variable)
    assert tf.Variable(1.0, use_resource=True).dtype.name == "float32_ref"


def test_only_uninitialised_variables_are_reported() -> None:
    a, _ = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b")
    report = tf.report_uninitialized_variables()
    with tf.Session() as sess:
        sess.run(a.initializer)
        assert sess.run(report).tolist() == [b"b"]
