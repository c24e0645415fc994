"""Optimizers: rows against the whole, slots, scalars, constraints, errors. Trajectories are in tests/fidelity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.framework import op_registry
from tfsandbox.training import training_ops


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


RATE = 0.1
# Those whose rows without a gradient stay as they are.
BY_ROWS: dict[str, Any] = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(RATE),
    "Adagrad": lambda: tf.train.AdagradOptimizer(RATE),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(RATE, l1_regularization_strength=0.01,
                                                                 l2_regularization_strength=0.1),
    "ProximalGradientDescent": lambda: tf.train.ProximalGradientDescentOptimizer(RATE, 0.01, 0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(RATE, 0.9),
    "Nesterov": lambda: tf.train.MomentumOptimizer(RATE, 0.9, use_nesterov=True),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(RATE, momentum=0.5),
    "CenteredRMSProp": lambda: tf.train.RMSPropOptimizer(RATE, centered=True),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(1.0),
    "Ftrl": lambda: tf.train.FtrlOptimizer(RATE, l1_regularization_strength=0.01),
    "FtrlShrinkage": lambda: tf.train.FtrlOptimizer(RATE, l2_shrinkage_regularization_strength=0.1),
    "FtrlPower": lambda: tf.train.FtrlOptimizer(RATE, learning_rate_power=-0.7),
}
ALL = {**BY_ROWS, "Adam": lambda: tf.train.AdamOptimizer(RATE)}


@pytest.mark.parametrize("name", ALL)
def test_rows_equal_the_whole(name: str) -> None:
    """Three sparse steps that name every row equal three dense ones."""
    rng = np.random.RandomState(0)
    start, grads = rng.randn(4, 3).astype(np.float32), rng.randn(3, 4, 3).astype(np.float32)
    dense, sparse = tf.Variable(start), tf.Variable(start)
    grad = tf.placeholder(tf.float32, [4, 3])
    order = tf.constant([2, 0, 3, 1])
    one, other = ALL[name](), ALL[name]()
    steps = [one.apply_gradients([(grad, dense)]),
             other.apply_gradients([(tf.IndexedSlices(tf.gather(grad, order), order), sparse)])]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for g in grads:
            sess.run(steps, {grad: g})
        values = sess.run([dense, sparse])
        assert not np.allclose(values[0], start)
        np.testing.assert_allclose(values[1], values[0], rtol=2e-5, atol=1e-6)
        for slot in one.get_slot_names():
            np.testing.assert_allclose(sess.run(other.get_slot(sparse, slot)), sess.run(one.get_slot(dense, slot)),
                                       rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", BY_ROWS)
def test_other_rows_hold_still(name: str) -> None:
    start = np.random.RandomState(1).randn(5, 2).astype(np.float32)
    w = tf.Variable(start)
    train = BY_ROWS[name]().minimize(tf.reduce_sum(tf.square(tf.gather(w, [1, 3, 1]))))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        moved = (sess.run(w) != start).all(axis=1)
    assert moved.tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scalars_and_types(name: str, dtype: Any) -> None:
    x = tf.Variable(dtype(3.0))
    optimizer = ALL[name]()
    train = optimizer.minimize(tf.square(x - 1.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        value = sess.run(x)
        assert value.dtype == dtype and 0 < value < 3
        for slot in optimizer.get_slot_names():
            assert sess.run(optimizer.get_slot(x, slot)).dtype == dtype


def test_adam_in_numpy() -> None:
    w0 = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)
    w = tf.Variable(w0)
    train = tf.train.AdamOptimizer(0.1, 0.8, 0.95, 1e-3).minimize(tf.reduce_sum(w ** 3) / 3.0)
    m = v = 0.0
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for t in range(1, 6):
            sess.run(train)
            g = w0 ** 2
            m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
            w0 = w0 - 0.1 * np.sqrt(1 - 0.95 ** t) / (1 - 0.8 ** t) * m / (np.sqrt(v) + 1e-3)
        np.testing.assert_allclose(sess.run(w), w0, rtol=1e-5)


def test_constraint_holds_after_the_update() -> None:
    w = tf.Variable([0.5, -0.5], constraint=lambda v: tf.clip_by_value(v, 0.0, 1.0))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(-tf.reduce_sum(w))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(w).tolist() == [1.0, 0.5]
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable."):
        tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(tf.gather(w, [0])))


def test_a_wrong_gradient_changes_nothing() -> None:
    w = tf.Variable([1.0, 2.0])
    grad = tf.placeholder(tf.float32)
    for optimizer in (tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer()):
        train = optimizer.apply_gradients([(grad, w)])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(train, {grad: [1.0]})
            assert sess.run(w).tolist() == [1.0, 2.0]


def test_learning_rate_may_be_fed_or_a_function() -> None:
    w, rate = tf.Variable(1.0), tf.placeholder_with_default(0.5, [])
    train = tf.train.GradientDescentOptimizer(rate).minimize(w)
    called = tf.train.MomentumOptimizer(lambda: 0.5, lambda: 0.0).minimize(w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        sess.run(train, {rate: 0.25})
        sess.run(called)
        assert sess.run(w) == -0.25


@pytest.mark.parametrize("act,kind,text", [
    (lambda o, w: o.minimize(w[0], var_list=[]), ValueError, "No variables to optimize."),
    (lambda o, w: o.minimize(tf.constant(1.0)), ValueError, "No gradients provided for any variable, check your graph"),
    (lambda o, w: o.minimize(tf.cast(w[0], tf.int32)), ValueError, "Invalid type tf.int32 for Cast:0, expected:"),
    (lambda o, w: o.minimize(w[0], gate_gradients=7), ValueError, "gate_gradients must be one of"),
    (lambda o, w: o.minimize(w[0], var_list=["w"]), NotImplementedError, "Trying to optimize unsupported type"),
    (lambda o, w: o.apply_gradients([]), ValueError, "No variables provided."),
    (lambda o, w: o.apply_gradients([(None, w)]), ValueError, "No gradients provided for any variable: "),
    (lambda o, w: o.apply_gradients([(object(), w)]), TypeError, "Gradient must be convertible to a Tensor or Indexed"),
    (lambda o, w: o.apply_gradients([([1.0], w)]), ValueError, "Dimension 0 in both shapes must be equal"),
    (lambda o, w: tf.train.FtrlOptimizer(0.1, learning_rate_power=1.0), ValueError, "needs to be negative or zero"),
    (lambda o, w: tf.train.AdagradOptimizer(0.1, 0.0), ValueError, "initial_accumulator_value must be positive: 0.0"),
    (lambda o, w: tf.train.GradientDescentOptimizer(0.1, name=""), ValueError, "Must specify the optimizer name"),
])
def test_errors(act: Any, kind: type[Exception], text: str) -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    with pytest.raises(kind, match=text):
        act(tf.train.GradientDescentOptimizer(0.1), w)


def test_own_optimizers() -> None:
    class Signs(tf.train.Optimizer):
        def __init__(self) -> None:
            super().__init__(False, "Signs")

        def _create_slots(self, var_list: list[Any]) -> None:
            for v in var_list:
                self._zeros_slot(v, "seen", self._name)

        def _apply_dense(self, grad: Any, var: Any) -> Any:
            seen = tf.assign_add(self.get_slot(var, "seen"), grad)
            return training_ops.apply_gradient_descent(var, 0.5, tf.sign(seen))

    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = Signs()
    train = optimizer.minimize(tf.reduce_sum(w))
    assert [v.op.name for v in optimizer.variables()] == ["w/Signs"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([w, optimizer.get_slot(w, "seen")])[0].tolist() == [0.5, 1.5]


def test_update_nodes_are_noted_for_their_variable(graph: Any) -> None:
    w, e = tf.Variable([1.0]), tf.Variable([[1.0], [2.0]])
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(w) + tf.reduce_sum(tf.gather(e, [0])))
    noted = graph._caches["optimizer_updates"]
    assert {op.type for op, v in noted.items() if v is w} == {"ApplyAdam"}
    assert {op.type for op, v in noted.items() if v is e} == {"Assign", "ScatterAdd", "AssignSub"}


def test_build_scopes_choose_and_change() -> None:
    from tfsandbox.training import optimizer as optimizer_lib
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    built = []

    class Scope:
        def default_var_list(self) -> Any:
            return [b]

        def transform_loss(self, loss: Any) -> Any:
            return loss * 3.0

        def transform_gradients(self, pairs: Any) -> Any:
            return [(g * 2.0, v) for g, v in pairs]

        def built_update(self, update: Any, variable: Any) -> None:
            built.append((update.type, variable))

    with optimizer_lib.building_in(Scope()):
        train = tf.train.GradientDescentOptimizer(1.0).minimize(a + b)
    assert built == [("ApplyGradientDescent", b)] and not optimizer_lib.build_scopes.stack
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([a, b]) == [1.0, -5.0]


@pytest.mark.parametrize("name", [n for n in op_registry.registered() if n.startswith("SparseApply")])
def test_sparse_updates_check_rows(name: str) -> None:
    definition = op_registry.get(name)
    arguments: dict[str, Any] = {}
    for arg in definition.inputs:
        if arg.is_ref:
            arguments[arg.name] = tf.Variable(np.ones((3, 2), np.float32))
        elif arg.name in ("grad", "indices"):
            arguments[arg.name] = np.ones((1, 2), np.float32) if arg.name == "grad" else np.array([3])
        else:
            arguments[arg.name] = np.int64(1) if arg.name == "global_step" else np.float32(0.5)
    from tfsandbox.framework.op_def_library import apply_op
    update = apply_op(name, **arguments)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Index 3 at offset 0 in indices is out of range"):
            sess.run(update)


def test_global_step() -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step is tf.train.get_global_step()
    with pytest.raises(ValueError, match='"global_step" already exists.'):
        tf.train.create_global_step()
    with pytest.raises(TypeError, match="does not have integer type"):
        tf.train.assert_global_step(tf.Variable(1.0))
    w = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(w, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train), sess.run(train)
        assert tf.train.global_step(sess, step) == 2
