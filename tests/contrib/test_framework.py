"""tf.contrib.framework: errors in TensorFlow's words, checkpoints. Graphs and values are in tests/fidelity (77)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.training import training_scope as training_scope_lib

framework = tf.contrib.framework


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_training_scope_is_here() -> None:
    assert framework.training_scope is training_scope_lib.training_scope


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """a [2, 3], p [4, 2] in two parts, saved."""
    a = tf.get_variable("a", [2, 3])
    tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    path = str(tmp_path / "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(a.assign(np.arange(6.0).reshape(2, 3)))
        tf.train.Saver().save(sess, path)
    return path


def variables() -> dict[str, Any]:
    return {v.op.name: v for v in tf.global_variables()}


def test_assign_from_checkpoint(checkpoint: str) -> None:
    a, *parts = variables().values()
    for var_list in ([a, *parts], {"a": a, "p": parts}):
        op, feed = framework.assign_from_checkpoint(checkpoint, var_list)
        with tf.Session() as sess:
            sess.run(op, feed)
            assert sess.run(a).ravel().tolist() == [0, 1, 2, 3, 4, 5]
            whole = framework.load_variable(checkpoint, "p")
            assert np.array_equal(np.concatenate(sess.run(parts)), whole)
    assert framework.get_variable_full_name(parts[0]) == "p"


def test_assign_from_checkpoint_that_does_not_fit(checkpoint: str) -> None:
    a = variables()["a"]
    wide = tf.get_variable("wide", [3, 2])
    with pytest.raises(ValueError) as error:
        framework.assign_from_checkpoint(checkpoint, {"a": wide})
    assert str(error.value) == ("Total size of new array must be unchanged for a lh_shape: [(2, 3)], rh_shape: "
                                "[(3, 2)]")
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[nowhere\]"):
        framework.assign_from_checkpoint(checkpoint, {"nowhere": a})
    _, feed = framework.assign_from_checkpoint(checkpoint, {"nowhere": a}, ignore_missing_vars=True)
    assert feed == {}
    with pytest.raises(tf.errors.NotFoundError):
        framework.assign_from_checkpoint(checkpoint + "x", {"a": a})


def test_assign_from_checkpoint_fn(checkpoint: str) -> None:
    a = variables()["a"]
    wide = tf.get_variable("wide", [3, 2])
    with tf.Session() as sess:
        framework.assign_from_checkpoint_fn(checkpoint, {"a": a})(sess)
        framework.assign_from_checkpoint_fn(checkpoint, {"a": wide}, reshape_variables=True)(sess)
        assert sess.run(a).ravel().tolist() == sess.run(wide).ravel().tolist() == [0, 1, 2, 3, 4, 5]
        restore = framework.assign_from_checkpoint_fn(checkpoint, [a, wide], ignore_missing_vars=True)
        restore(sess)
    assert framework.assign_from_checkpoint_fn(checkpoint, {"nowhere": a}, ignore_missing_vars=True) is None
    with pytest.raises(ValueError, match="var_list cannot be empty"):
        framework.assign_from_checkpoint_fn(checkpoint, [])


def test_assign_from_values_takes_the_variable_of_exactly_that_name() -> None:
    w, w2 = tf.get_variable("w", [2]), tf.get_variable("w_2", [2])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(w2)
        framework.assign_from_values_fn({"w": [1, 2]})(sess)
        assert sess.run(w).tolist() == [1, 2] and np.array_equal(sess.run(w2), before)


def test_device_chooser() -> None:
    choose = framework.VariableDeviceChooser(num_tasks=2)
    op = tf.no_op()
    assert [choose(op) for _ in range(3)] == [f"/job:ps/task:{i}/device:CPU:0" for i in (0, 1, 0)]
    assert framework.VariableDeviceChooser(device_type="GPU", device_index=1)(op) == "/device:GPU:1"
    with framework.arg_scope([framework.variable], device=framework.VariableDeviceChooser(num_tasks=3)):
        placed = [framework.variable(name, [1]).device for name in "ab"]
    assert placed == ["/job:ps/task:0/device:CPU:0", "/job:ps/task:1/device:CPU:0"]


def test_is_tensor() -> None:
    x = tf.constant([1.0])
    for tensor in (x, tf.Variable(x), tf.IndexedSlices(x, [0]), tf.SparseTensor([[0]], [1], [1])):
        assert framework.is_tensor(tensor)
    for other in (1.0, [x], x.op, np.ones(2), None):
        assert not framework.is_tensor(other)


def test_with_shape_checks_in_the_run() -> None:
    x = tf.placeholder(tf.float32, name="x")
    shaped = framework.with_shape([2, -1], x)
    by_tensor = framework.with_shape(tf.placeholder_with_default([2, 3], [2]), x)
    assert shaped.shape.as_list() == [2, None]
    with tf.Session() as sess:
        assert sess.run([shaped, by_tensor], {x: np.ones((2, 3))})[1].shape == (2, 3)
        for wrong in (np.ones((3, 3)), np.ones(2)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for x:0"):
                sess.run(shaped, {x: wrong})
    assert framework.with_same_shape(tf.ones([2]), x).shape.as_list() == [2]


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: framework.get_unique_variable("fir"), ValueError, "Variable fir does not uniquely identify a variable"),
    (lambda: framework.get_unique_variable("no"), ValueError, "Couldn't find variable no"),
    (lambda: framework.get_variables_to_restore("a"), TypeError, "include is provided but is not a list or a tuple."),
    (lambda: framework.get_variables_to_restore(exclude="a"), TypeError,
     "exclude is provided but is not a list or a tuple."),
    (lambda: framework.assign_from_values({"no": np.ones(1)}), ValueError, "Variable no wasn't found"),
    (lambda: framework.assert_or_get_global_step(global_step_tensor=tf.constant(1.0)), TypeError,
     'Existing "global_step" does not have integer type: <dtype: \'float32\'>'),
    (lambda: framework.with_shape([3], tf.ones([2], name="ones")), ValueError,
     "Invalid shape for tensor ones:0, expected [3], got (2,)."),
    (lambda: framework.assert_scalar_int(tf.constant([3], name="c")), ValueError,
     "Expected scalar shape for c:0, saw shape: (1,)."),
    (lambda: framework.assert_scalar_int(tf.constant(3.0, name="c")), ValueError,
     "Expected integer type for c:0, received type: <dtype: 'float32'>."),
    (lambda: framework.reduce_sum_n([]), ValueError, "No tensors provided."),
    (lambda: framework.get_graph_from_inputs([tf.constant(1.0, name="c")], graph=tf.Graph()), ValueError,
     "is not from the passed-in graph."),
]


@pytest.mark.parametrize(("function", "kind", "text"), ERRORS)
def test_errors(function: Callable[[], Any], kind: type[Exception], text: str) -> None:
    tf.get_variable("first", [2])
    with pytest.raises(kind) as error:
        function()
    assert text in str(error.value)
