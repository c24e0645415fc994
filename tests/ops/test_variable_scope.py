"""get_variable, variable scopes, templates, partitioned variables: names, sharing, defaults, errors."""

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


def in_scope(name: Any = None, default: str | None = None, **options: Any) -> tuple[str, str]:
    """(name of a variable, name of a node) made in a scope."""
    with tf.variable_scope(name, default, **options):
        return tf.get_variable(f"v{len(tf.global_variables())}", [1]).op.name.rpartition("/")[0], \
            tf.constant(0.0).op.name.rpartition("/")[0]


def test_names() -> None:
    assert in_scope("a") == ("a", "a")
    assert in_scope("a") == ("a", "a_1")
    assert in_scope("a/b") == ("a/b", "a/b")
    assert in_scope("a", auxiliary_name_scope=False) == ("a", "")
    assert in_scope(None, "d") == ("d", "d")
    assert in_scope(None, "d") == ("d_1", "d_1")
    assert in_scope("d_2") == ("d_2", "d_2")
    assert in_scope(None, "d") == ("d_3", "d_3")
    with tf.name_scope("ns"):
        assert in_scope("a") == ("a", "ns/a")
        assert in_scope(None, "d") == ("d_4", "ns/d")
        assert in_scope("") == ("", "ns")
    with tf.variable_scope("a") as scope:
        assert in_scope("b") == ("a/b", "a_2/b")
    assert in_scope(scope) == ("a", "a_3")
    with tf.variable_scope(scope), tf.name_scope(scope.original_name_scope):
        assert tf.constant(0.0).op.name.startswith("a_2/")


def test_sharing() -> None:
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        first = tf.get_variable("w", [2])
        assert tf.get_variable("w", [2]) is first
    with tf.variable_scope("s") as scope:
        scope.reuse_variables()
        assert tf.get_variable("w", [2]) is first
        with tf.variable_scope("", reuse=False):
            assert tf.get_variable_scope().reuse is True
    with tf.variable_scope(scope, reuse=True):
        assert tf.get_variable("w") is first
    assert not tf.get_variable_scope().reuse


@pytest.mark.parametrize("make,text", [
    (lambda: tf.get_variable("there", [2]), "Variable there already exists, disallowed. Did you mean to set"),
    (lambda: in_scope("missing", reuse=True), "Variable missing/v1 does not exist, or was not created"),
    (lambda: shared([3]), r"Trying to share variable there, but specified shape \(3,\) and found shape \(2,\)."),
    (lambda: shared([2], tf.int32), "specified dtype int32 and found dtype float32_ref"),
    (lambda: tf.get_variable("new", [None, 2]), "The initializer passed is not valid"),
    (lambda: tf.get_variable("new", [2], initializer=[1.0, 2.0]), "If initializer is a constant, do not specify shape"),
    (lambda: tf.get_variable("new", dtype=tf.int32, initializer=tf.constant(1.0)),
     "Initializer type '<dtype: 'float32'>' and explicit dtype '<dtype: 'int32'>' don't match."),
    (lambda: tf.get_variable("new", [2], tf.complex64), "An initializer for variable new of <dtype: 'complex64'>"),
    (lambda: tf.get_variable("new", [2], partitioner=3), "Partitioner must be callable, but received: 3"),
    (lambda: tf.get_variable("new", [2], custom_getter=3), "Passed a custom_getter which is not callable: 3"),
    (lambda: in_scope("x", reuse=3), "The reuse parameter must be True or False or None."),
    (lambda: in_scope(None, "x", reuse=True), "reuse=True cannot be used without a name_or_scope"),
])
def test_value_errors(make: Any, text: str) -> None:
    tf.get_variable("there", [2])
    with pytest.raises(ValueError, match=text):
        make()


def shared(*args: Any) -> Any:
    with tf.variable_scope("", reuse=True):
        return tf.get_variable("there", *args)


def test_scope_needs_a_name() -> None:
    with pytest.raises(TypeError, match="If default_name is None then name_or_scope is required"):
        tf.variable_scope(None)
    with pytest.raises(TypeError, match="name_or_scope must be a string or VariableScope"):
        in_scope(3)


def test_defaults_are_inherited() -> None:
    seen = []
    with tf.variable_scope("o", initializer=tf.ones_initializer(), dtype=tf.float64,
                           regularizer=lambda v: seen.append(v) or tf.reduce_sum(v)):
        with tf.variable_scope("i"):
            v = tf.get_variable("v", [2])
            tf.get_variable("plain", [2], regularizer=tf.no_regularizer)
    assert (v.dtype.base_dtype, seen) == (tf.float64, [v])
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v).tolist() == [1, 1]


def test_getters_nest_from_inside_out() -> None:
    calls = []

    def getter(label: str) -> Any:
        def get(next_getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
            calls.append((label, name))
            return next_getter(name + label, *args, **kwargs)
        return get

    with tf.variable_scope("s", custom_getter=getter("_outer")), tf.variable_scope("t", custom_getter=getter("_inner")):
        assert tf.get_variable("w", [1]).op.name == "s/t/w_inner_outer"
    assert calls == [("_inner", "s/t/w"), ("_outer", "s/t/w_inner")]


def test_templates_share() -> None:
    scale = tf.make_template("scale", lambda x: x * tf.get_variable("w", [], initializer=tf.ones_initializer()))
    scale(1.0), scale(2.0)
    assert [v.op.name for v in tf.global_variables()] == ["scale/w"] == [v.op.name for v in scale.variables]
    bad = tf.make_template("bad", lambda: tf.Variable(1.0))
    bad()
    with pytest.raises(ValueError, match="perhaps you used tf.Variable when you meant tf.get_variable"):
        bad()


def test_partitioned_variables_are_one_tensor() -> None:
    value = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3)):
        whole = tf.get_variable("w", initializer=tf.constant(value))
    assert [v.op.name for v in whole] == ["p/w/part_0", "p/w/part_1", "p/w/part_2"]
    assert [v.shape.as_list() for v in whole] == [[2, 2], [2, 2], [1, 2]]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(whole.as_tensor()), value)
        sess.run(whole.assign(tf.constant(-value)))
        np.testing.assert_array_equal(sess.run(tf.identity(whole)), -value)
    with pytest.raises(ValueError, match="No partitioner was provided, but a partitioned version"):
        in_scope_get("p", "w", [5, 2])


def in_scope_get(scope: str, name: str, shape: list[int]) -> Any:
    with tf.variable_scope(scope):
        return tf.get_variable(name, shape)


def test_local_variables_stay_out_of_the_global_ones() -> None:
    v = tf.get_local_variable("l", [1], collections=["mine"])
    assert (tf.local_variables(), tf.global_variables(), tf.trainable_variables()) == ([v], [], [])
    assert tf.get_collection("mine") == [v]
