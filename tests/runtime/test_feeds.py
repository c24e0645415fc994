"""What may be fed, what becomes of it, and what is refused, as in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def fed(value: Any, dtype: Any = tf.float32, shape: Any = None) -> Any:
    x = tf.placeholder(dtype, shape)
    with tf.Session() as sess:
        return sess.run(tf.identity(x), {x: value})


READ_ONLY = np.arange(3, dtype=np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("value", [
    [0, 1, 2], (0, 1.0, 2), range(3), np.arange(3), np.arange(3, dtype=">f4"), np.arange(3.0).repeat(2)[::2],
    np.arange(3, dtype=np.float32).repeat(2)[::2],
    np.array([0, 1, 2], object), np.ma.array([0, 1, 2], mask=[1, 0, 0]), READ_ONLY, np.arange(3.0),
    [np.float64(0), np.int64(1), 2], ["0", "1", "2.0"]], ids=type)
def test_numbers_in_many_forms(value: Any) -> None:
    got = fed(value)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, [0, 1, 2])
    got[...] = 7
    np.testing.assert_array_equal(READ_ONLY, [0, 1, 2])


@pytest.mark.parametrize("value", [["a", b"b"], np.array(["a", b"b"], object), np.array(["a", "b"]),
                                   np.array([b"a", b"b"])], ids=["list", "objects", "text", "bytes"])
def test_strings_are_bytes_whatever_was_fed(value: Any) -> None:
    assert fed(value, tf.string).tolist() == [b"a", b"b"]


@pytest.mark.parametrize("value", [3, [1, 2], np.array([1, "a"], object), np.array([None]), np.arange(2.0)])
def test_what_is_no_string(value: Any) -> None:
    with pytest.raises(TypeError, match="string"):
        fed(value, tf.string)


def test_bfloat16_is_fed_by_its_numbers() -> None:
    x = tf.placeholder(tf.bfloat16, [None])
    with tf.Session() as sess:
        for value in ([1.5], np.array([1.5]), np.array([1.5], np.float32)):
            assert sess.run(tf.cast(x, tf.float32), {x: value}).tolist() == [1.5]


@pytest.mark.parametrize("value, dtype", [(2**40, tf.int32), (-1, tf.uint8), (300, tf.uint8), (3, tf.bool),
                                          (2**70, tf.int64), ([2**70], tf.int64)])
def test_an_integer_that_does_not_fit(value: int, dtype: Any) -> None:
    with pytest.raises(TypeError, match="is not compatible with Tensor type"):
        fed(value, dtype)


def test_integers_in_lists_wrap_as_those_in_arrays() -> None:
    assert fed([300, -1], tf.uint8).tolist() == fed(np.array([300, -1]), tf.uint8).tolist() == [44, 255]
    assert fed(1.9, tf.int32) == 1


@pytest.mark.parametrize("feeds", [[(1, 2)], "ab", 3])
def test_feeds_that_are_no_dictionary(feeds: Any) -> None:
    with tf.Session() as sess, pytest.raises(TypeError):
        sess.run(tf.constant(1), feeds)


def test_a_fed_variable_may_be_read_but_not_changed() -> None:
    v = tf.Variable(1.0)
    with tf.Session() as sess:
        assert sess.run([v, v + 1.0], {v: 5.0}) == [5.0, 6.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible with expected float32_ref"):
            sess.run(tf.assign_add(v, 1.0), {v: 5.0})


def test_too_few_parts_of_a_sparse_tensor() -> None:
    x = tf.sparse_placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises(ValueError, match="Cannot feed 2 values for SparseTensor"):
        sess.run(x, {x: ([[0]], [1.0])})


def test_names_may_be_bytes() -> None:
    tf.constant(1.0, name="a")
    with tf.Session() as sess:
        assert sess.run(b"a:0") == 1.0


def test_a_callable_says_at_once_what_cannot_be_fetched() -> None:
    with tf.Session() as sess, pytest.raises(TypeError, match="Fetch argument 3"):
        tf.constant(1)
        sess.make_callable(3)


@pytest.mark.parametrize("flag", [True, False])
def test_an_output_that_is_fed_while_its_node_runs(flag: bool) -> None:
    """The node runs for its other output, or because it is waited for; in a branch, too, the fed value counts."""
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    first, second = tf.split(x, 2)
    total = tf.reduce_sum(x)
    with tf.control_dependencies([total.op]):
        y = tf.cond(p, lambda: second, lambda: first)
        z = tf.cond(p, lambda: total, lambda: total * 2.0)
    with tf.Session() as sess:
        got = sess.run([y, z, first], {x: [1.0, 2.0], p: flag, second: [7.0], total: 30.0})
    assert [value.tolist() for value in got] == [[7.0] if flag else [1.0], 30.0 if flag else 60.0, [1.0]]


@pytest.mark.parametrize("known", [True, False])
def test_feeding_what_a_branch_gives(known: bool) -> None:
    """A fed Merge or Switch output keeps its value, even if the node is needed for another reason."""
    flag = tf.constant(True) if known else tf.placeholder_with_default(True, [])
    x = tf.constant(1.0)
    merged = tf.cond(flag, lambda: x + 1.0, lambda: x - 1.0)
    with tf.control_dependencies([merged]):
        after = merged * 10.0
    inside = next(op for op in tf.get_default_graph().get_operations() if op.type == "Switch" and "add" in op.name)
    with tf.Session() as sess:
        assert sess.run(after) == 20.0
        assert sess.run([after, merged], {merged: 7.0}) == [70.0, 7.0]
        assert sess.run([after, merged, merged.op.outputs[1]], {merged: 7.0})[:2] == [70.0, 7.0]
        assert sess.run(merged, {inside.outputs[1]: 5.0}) == 6.0
