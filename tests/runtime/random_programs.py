"""Random programs, and an evaluator so plain that it can be trusted: every node's kernel, one after the other."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import numpy as np

import tfsandbox as tf
from tfsandbox.runtime.order import needed_ops, ordered_ops
from tfsandbox.runtime.state import Ref, SessionState

DIMENSIONS = (1, 2, 3)
VARIABLES = ("VariableV2",)
FORWARDS = ("Identity", "Reshape", "ExpandDims", "Squeeze", "StopGradient", "Cast", "AddN", "Switch", "Merge",
            "Snapshot", "CheckNumerics", "RefSwitch")
_DEAD = object()


class Program:
    """A random graph, built in the default graph, with feeds for it; `outputs` may be fetched in any combination."""

    def __init__(self, seed: int, steps: int = 14, updates: bool = True) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.RandomState(seed)
        self.feeds: dict[Any, Any] = {}
        self.variables: list[Any] = []
        self.updates: list[Any] = []
        self.latest: dict[Any, Any] = {}  # what reads of a variable wait for
        self.pool: list[Any] = []
        self.has_updates = updates
        self.depth = 0
        for _ in range(2):
            self._placeholder()
        for _ in range(2):
            self._variable()
        self.flags = [tf.placeholder(tf.bool, [], name=f"flag{i}") for i in range(2)]
        self.feeds.update({flag: self.random.random() < 0.5 for flag in self.flags})
        for _ in range(steps):
            self.grow()
        if self.random.random() < 0.6:
            self._differentiate()
        self.outputs = [*self.pool, *self.updates]

    # ------------------------------------------------------------ sources

    def array(self, shape: list[int]) -> np.ndarray:
        kind = self.random.randrange(6)
        if kind < 2:
            return np.full(shape, kind, np.float32)
        if kind == 2:
            return np.full(shape, -0.0, np.float32)
        return np.asarray(self.numbers.randn(*shape), np.float32)

    def shape(self) -> list[int]:
        return [self.random.choice(DIMENSIONS) for _ in range(self.random.randrange(4))]

    def _placeholder(self) -> None:
        shape = self.shape()
        declared = [None if self.random.random() < 0.3 else d for d in shape]
        x = tf.placeholder(tf.float32, declared if self.random.random() < 0.8 else None)
        self.feeds[x] = self.array(shape)
        self.pool.append(x)

    def _variable(self) -> None:
        v = tf.Variable(self.array(self.shape()))
        self.variables.append(v)
        self.pool.append(v.value())

    # ------------------------------------------------------------ one more node

    def pick(self, rank: int | None = None) -> Any:
        found = [t for t in self.pool if t.shape.ndims is not None and (rank is None or t.shape.ndims == rank)
                 and t.shape.is_fully_defined()]
        return self.random.choice(found or [tf.constant(self.array(self.shape() if rank is None else [2] * rank))])

    def partner(self, a: Any) -> Any:
        """A tensor that broadcasts with `a`."""
        fits = [t for t in self.pool if t.shape.is_fully_defined() and t.shape.as_list() == a.shape.as_list()]
        choice = self.random.randrange(4)
        if choice == 0 or (choice == 3 and not fits):
            shape = a.shape.as_list()[self.random.randrange(len(a.shape.as_list()) + 1):]
            return tf.constant(self.array([d if self.random.random() < 0.7 else 1 for d in shape]))
        if choice == 1:
            return tf.constant(self.array([]))
        return self.random.choice(fits or [a])

    def grow(self) -> None:
        makers = [self._unary, self._unary, self._binary, self._binary, self._binary, self._layout, self._layout,
                  self._reduction, self._matmul, self._join, self._divide, self._dynamic, self._condition]
        if self.has_updates and not self.depth:
            makers += [self._update, self._update, self._read]
        with contextlib.ExitStack() as stack:
            if self.random.random() < 0.1 and self.pool and not self.depth:
                stack.enter_context(tf.control_dependencies([self.random.choice(self.pool)]))
            made = self.random.choice(makers)()
        self.pool += [t for t in made if t.dtype == tf.float32]

    def _unary(self) -> list[Any]:
        x = self.pick()
        return [self.random.choice([tf.tanh, tf.negative, tf.square, tf.abs, tf.sin, tf.identity, tf.stop_gradient,
                                    tf.nn.relu, tf.ones_like, tf.zeros_like, tf.sign, tf.nn.sigmoid,
                                    lambda t: tf.cast(tf.cast(t, tf.float64), tf.float32),
                                    lambda t: tf.cast(t, tf.float32), lambda t: tf.check_numerics(t, "no number"),
                                    lambda t: t * 1.0, lambda t: 1.0 * t, lambda t: t / 1.0, lambda t: t + 0.0])(x)]

    def _binary(self) -> list[Any]:
        a = self.pick()
        b = self.partner(a)
        if self.random.random() < 0.5:
            a, b = b, a
        return [self.random.choice([tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference,
                                    lambda p, q: tf.where(tf.equal(p + q, p + q), p + q, q + p),
                                    lambda p, q: p / (tf.abs(q) + 1.0),
                                    lambda p, q: tf.add_n([p + q, p + q])])(a, b)]

    def _layout(self) -> list[Any]:
        x = self.pick()
        shape = x.shape.as_list()
        rank = len(shape)
        options = [lambda: tf.expand_dims(x, self.random.randrange(rank + 1)), lambda: tf.reshape(x, [-1]),
                   lambda: tf.squeeze(x), lambda: tf.tile(x, [self.random.choice((1, 1, 2)) for _ in shape]),
                   lambda: tf.reshape(tf.reshape(x, [-1]), shape),
                   lambda: tf.broadcast_to(x, [self.random.choice((1, 2)), *shape])]
        if rank:
            axis = self.random.randrange(rank)
            options += [lambda: tf.transpose(x, self.random.sample(range(rank), rank)), lambda: tf.reverse(x, [axis]),
                        lambda: x[self.random.randrange(shape[0])], lambda: x[::-1], lambda: x[..., :1],
                        lambda: tf.slice(x, [0] * rank, [self.random.randint(1, d) for d in shape]),
                        lambda: tf.gather(x, [0, 0], axis=axis), lambda: x[tf.newaxis],
                        lambda: tf.reshape(x, [shape[-1], *shape[:-1]]),
                        lambda: tf.pad(x, [[self.random.randrange(2), 0] for _ in shape])]
        result = self.random.choice(options)()
        return [result] if (result.shape.num_elements() or 99) < 60 else [x + 1.0]

    def _reduction(self) -> list[Any]:
        x = self.pick()
        rank = x.shape.ndims
        ones = [i for i, d in enumerate(x.shape.as_list()) if d == 1]
        axes = self.random.choice([None, [], ones, self.random.sample(range(rank), self.random.randrange(rank + 1))])
        return [self.random.choice([tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod])(
            x, axis=axes, keepdims=self.random.random() < 0.4)]

    def _matmul(self) -> list[Any]:
        a = self.pick(2)
        fits = [t for t in self.pool if t.shape.ndims == 2 and t.shape.is_fully_defined()
                and t.shape.as_list()[0] == a.shape.as_list()[1]]
        return [tf.matmul(a, self.random.choice(fits) if fits else a, transpose_b=not fits)]

    def _join(self) -> list[Any]:
        a = self.pick()
        like = [t for t in self.pool if t.shape.is_fully_defined() and t.shape.as_list() == a.shape.as_list()] or [a]
        parts = [a, *self.random.choices(like, k=self.random.randrange(3))]
        if a.shape.ndims and self.random.random() < 0.6:
            return [tf.concat(parts, self.random.randrange(a.shape.ndims))]
        return [self.random.choice([tf.stack, tf.add_n])(parts)]

    def _divide(self) -> list[Any]:
        x = self.pick()
        if not x.shape.ndims:
            return [x * 2.0]
        axis = self.random.randrange(x.shape.ndims)
        size = x.shape.as_list()[axis]
        return list(self.random.choice([lambda: tf.split(x, size, axis), lambda: tf.unstack(x, axis=axis),
                                        lambda: tf.identity_n([x, x])])())

    def _dynamic(self) -> list[Any]:
        """Nodes of which only the run knows the shape."""
        x = self.random.choice(self.pool)
        return [self.random.choice([lambda: x * tf.ones(tf.shape(x)), lambda: tf.reshape(x * 1.0, tf.shape(x)),
                                    lambda: tf.reshape(x, [tf.size(x)]), lambda: tf.fill(tf.shape(x), 1.0) * x,
                                    lambda: tf.reduce_sum(x, tf.range(tf.rank(x)), keepdims=True),
                                    lambda: tf.cast(tf.size(x), tf.float32) - x])()]

    def _condition(self) -> list[Any]:
        if self.depth > 2:
            return self._unary()
        flag = self.random.choice([*self.flags, self.flags[0], tf.constant(self.random.random() < 0.5),
                                   tf.reduce_sum(self.random.choice(self.pool)) > 0.0])
        x = self.pick()

        def branch() -> Any:
            outer = list(self.pool)
            self.depth += 1
            for _ in range(self.random.randrange(4)):
                self.grow()
            self.depth -= 1
            fits = [t for t in self.pool if t.shape.is_fully_defined() and t.shape.as_list() == x.shape.as_list()]
            self.pool = outer
            return self.random.choice(fits or [x])
        return [tf.cond(flag, branch, branch)]

    # ------------------------------------------------------------ variables

    def _differentiate(self) -> None:
        """Gradients of a part of the program, or a training step on it: much of them is ones, zeros and shapes."""
        makers = [tf.reduce_sum, tf.reduce_mean, lambda t: tf.reduce_sum(tf.square(t))]
        loss = tf.add_n([self.random.choice(makers)(self.pick()) for _ in range(2)])
        if self.has_updates and self.random.random() < 0.7:
            optimizer = self.random.choice([
                lambda: tf.train.GradientDescentOptimizer(0.5), lambda: tf.train.MomentumOptimizer(0.5, 0.5),
                lambda: tf.train.AdamOptimizer(0.1), lambda: tf.train.AdagradOptimizer(0.1),
                lambda: tf.train.RMSPropOptimizer(0.1)])()
            with tf.control_dependencies([*self.pool, *self.updates]):
                gradients = tf.gradients(loss, self.variables)
                if any(g is not None for g in gradients):
                    self.updates.append(optimizer.apply_gradients(list(zip(gradients, self.variables))))
                    self.pool = [t for t in self.pool if not self._memory_of(t)]
        else:
            found = tf.gradients(loss, [*self.variables, *list(self.feeds)[:2]])
            self.pool += [tf.convert_to_tensor(g) for g in found if g is not None]

    def _read(self) -> list[Any]:
        v = self.random.choice(self.variables)
        with tf.control_dependencies(self.latest.get(v, [])):
            return [v.read_value()]

    def _update(self) -> list[Any]:
        """Change a variable after all that was made so far. What may be its memory itself is used no more."""
        v = self.random.choice(self.variables)
        shape = v.shape.as_list()
        fits = [t for t in self.pool if t.shape.is_fully_defined() and t.shape.as_list() == shape]
        value = self.random.choice(fits) if fits and self.random.random() < 0.8 else tf.constant(self.array(shape))
        options = [lambda: tf.assign(v, value), lambda: tf.assign_add(v, value), lambda: tf.assign_sub(v, value),
                   lambda: tf.assign(v, value, use_locking=True),
                   lambda: tf.train.GradientDescentOptimizer(0.5).apply_gradients([(value, v)])]
        if shape:
            rows = [self.random.randrange(shape[0]) for _ in range(2)]
            options += [lambda: tf.scatter_update(v, rows[:1], value[:1]),
                        lambda: tf.scatter_add(v, rows, tf.stack([value[0], value[-1]]))]
        with tf.control_dependencies([*self.pool, *self.updates]):
            update = self.random.choice(options)()
        operation = update if isinstance(update, tf.Operation) else update.op
        self.updates.append(operation)
        self.latest[v] = [operation]
        self.pool = [t for t in self.pool if v not in self._memory_of(t)]
        return self._read() if self.random.random() < 0.8 else []

    def _memory_of(self, tensor: Any) -> set[Any]:
        """The variables whose memory a tensor may be in TensorFlow, too: what it is after an update is anybody's."""
        found, stack, seen = set(), [tensor], set()
        while stack:
            op = stack.pop().op
            if op in seen:
                continue
            seen.add(op)
            if op.type in VARIABLES:
                found.update(v for v in self.variables if v.op is op)
            elif op.type in FORWARDS or op.type == "IdentityN":
                stack += list(op.inputs)[:2]
        return found


def evaluate(fetches: list[Any], feeds: dict[Any, Any], state: SessionState) -> list[Any]:
    """The fetches, from each node's kernel, one after the other."""
    values: dict[Any, Any] = {t: np.asarray(v, t.dtype.as_numpy_dtype) for t, v in feeds.items()}
    dead: set[Any] = set()
    wanted = [f.op if isinstance(f, tf.Tensor) else f for f in fetches if f not in feeds]
    for op in ordered_ops(needed_ops(wanted, set(feeds), ()), set(feeds), ()):
        given = [values[t] for t in op.inputs]
        alive = any(v is not _DEAD for v in given) if op.type == "Merge" else all(v is not _DEAD for v in given)
        if not alive or any(c in dead for c in op.control_inputs):
            results = [_DEAD] * len(op.outputs)
            dead.add(op)
        else:
            results = list(_results(op, given, state))
        for tensor, result in zip(op.outputs, results):
            values.setdefault(tensor, result)
    found = []
    for fetch in fetches:
        value = values[fetch] if isinstance(fetch, tf.Tensor) else None
        found.append(value.value.copy() if isinstance(value, Ref) else value)
    return found


def _results(op: Any, given: list[Any], state: SessionState) -> Any:
    if op.type in VARIABLES:
        return [state.ref(op)]
    if op.type == "NoOp":
        return []
    refs = [arg.is_ref for arg in op._op_def.inputs]
    given = [g.value.copy() if isinstance(g, Ref) and not (len(refs) == len(given) and refs[i]) else g
             for i, g in enumerate(given)]
    if op.type in ("Switch", "RefSwitch"):
        return [given[0], _DEAD] if not given[1] else [_DEAD, given[0]]
    if op.type == "Merge":
        return next((value, np.int32(i)) for i, value in enumerate(given) if value is not _DEAD)
    with np.errstate(all="ignore"):
        if op._op_def.outputs and op._op_def.outputs[0].is_ref:
            op._op_def.evaluate(given, op._attrs)
            return [given[0]]
        results = op._op_def.evaluate(given, op._attrs)
    return results[0] if op._op_def.outputs and op._op_def.outputs[0].is_list and isinstance(results[0], list) \
        else results


def same(a: Any, b: Any) -> bool:
    """Equal bit for bit; every nan is like any other."""
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and bool(
        np.all((a == b) & (np.signbit(a) == np.signbit(b)) | (a != a) & (b != b)))
