"""Tables that programs write to, and tables in sessions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfsandbox as tf

lookup = tf.contrib.lookup


def int64(values: list[int]) -> tf.Tensor:
    return tf.constant(values, tf.int64)


def test_a_mutable_table_keeps_what_is_entered() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        table = lookup.MutableHashTable(tf.string, tf.int64, -1)
        sess.run(table.insert(tf.constant(["a", "b", "a"]), int64([1, 2, 3])))
        assert sess.run(table.lookup(tf.constant(["a", "b", "c"]))).tolist() == [3, 2, -1]
        assert sess.run(table.size()) == 2
        sess.run(table.remove(tf.constant(["a"])))
        keys, values = sess.run(table.export())
        assert keys.tolist() == [b"b"] and values.tolist() == [2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[1\] for value, got \[2\]"):
            sess.run(table.insert(tf.constant(["q"]), int64([1, 2])))
        with tf.Session() as other:
            assert other.run(table.size()) == 0


def test_values_may_be_vectors() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        table = lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 1.0])
        sess.run(table.insert(int64([5, 6]), [[1.0, 2.0], [3.0, 4.0]]))
        found = sess.run(table.lookup(int64([[5], [7]])))
        np.testing.assert_array_equal(found, [[[1, 2]], [[0, 1]]])


def test_a_dense_table_keeps_two_keys_for_itself() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        table = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=-2, deleted_key=-3)
        sess.run(table.insert(int64([5, 6]), int64([1, 2])))
        sess.run(table.remove(int64([5])))
        assert sess.run(table.lookup(int64([5, 6]))).tolist() == [-1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key as a table key is not allowed"):
            sess.run(table.lookup(int64([-2])))
        with pytest.raises(tf.errors.InvalidArgumentError, match="deleted_key"):
            sess.run(table.insert(int64([-3]), int64([1])))


def test_a_table_must_be_initialized_and_may_be_again() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        table = lookup.index_table_from_tensor(["a", "b"])
        found = table.lookup(tf.constant(["b"]))
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            sess.run(found)
        for _ in range(2):
            sess.run(tf.tables_initializer())
            assert sess.run(found).tolist() == [1]


def test_a_saver_saves_mutable_tables(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        table = lookup.MutableHashTable(tf.string, tf.int64, -1, name="names")
        insert = table.insert(tf.constant(["a"]), int64([4]))
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(insert)
            path = saver.save(sess, str(tmp_path / "model"))
        with tf.Session() as sess:
            saver.restore(sess, path)
            assert sess.run(table.lookup(tf.constant(["a"]))).tolist() == [4]
