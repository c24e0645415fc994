"""Gradients: the derivatives of one loss, with their norms and a check against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsandbox.framework import display
from tfsandbox.framework.operation import Tensor
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training import training_scope as scope_lib
from tfsandbox.training.train_op import checked_loss


@dataclass
class GradientCheck:
    """One variable's gradient against central differences. Errors are the largest over the entries compared."""

    variable: str
    entries: int
    max_abs_error: float
    max_rel_error: float
    connected: bool = True

    def agrees(self, tolerance: float = 1e-2) -> bool:
        """Whether the entries agree: absolutely or relatively within `tolerance`."""
        return min(self.max_abs_error, self.max_rel_error) <= tolerance

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        return dict(self.__dict__)


class GradientReport(dict[str, GradientCheck]):
    """{variable name: GradientCheck}; `ok()` says whether all agree."""

    def ok(self, tolerance: float = 1e-2) -> bool:
        """Whether every entry agrees: absolutely or relatively within `tolerance`."""
        return all(check.agrees(tolerance) for check in self.values())

    def __repr__(self) -> str:
        width = max([len(name) for name in self] + [8])
        lines = [f"{'variable':<{width}}  entries  largest absolute  largest relative difference  agrees"]
        for name, check in self.items():
            note = "" if check.connected else "  (no derivative leads back to it)"
            lines.append(f"{name:<{width}}  {check.entries:7d}  {check.max_abs_error:16.3g}  "
                         f"{check.max_rel_error:27.3g}  {'yes' if check.agrees() else 'NO'}{note}")
        return "\n".join(lines)


class Gradients:
    """The gradients of `loss` with respect to `variables`.

    `variables` is a variable, a list or dict of them, a pattern, or None: all trainable variables, less what the
    training scope leaves out that is active when the gradients are built. Raises `TypeError`/`ValueError` naming the
    argument that does not fit.
    """

    def __init__(self, loss: Any, variables: Any = None) -> None:
        self.loss: Tensor = checked_loss(loss)
        with self.loss.graph.as_default():
            chosen = scope_lib.select_variables(variables, "variables", self.loss.graph)
        self._given = chosen
        self._pairs: list[tuple[Any, Any]] | None = None
        self._norms: list[Any] | None = None

    @property
    def variables(self) -> list[Any]:
        """The variables, in the order of the gradients."""
        return [variable for _, variable in self.compute_gradients()]

    def compute_gradients(self) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs; a gradient is None where the loss does not depend on the variable.

        The nodes are built by the first call, and given again by later ones.
        """
        if self._pairs is None:
            with self.loss.graph.as_default():
                plain = optimizer_lib.Optimizer(use_locking=False, name="Gradients")
                self._pairs = plain.compute_gradients(self.loss, self._given)
            # Who looks at the loss later finds its gradients here, and builds none.
            self.loss.graph._caches.setdefault("gradients_made", []).append(self)
        return list(self._pairs)

    def norms(self, sess: Any, feed_dict: dict[Any, Any] | None = None) -> dict[str, float | None]:
        """{variable name: L2 norm of its gradient}, None where the loss does not depend on it."""
        _check_session(sess, "norms")
        pairs = self.compute_gradients()
        if self._norms is None:
            from tfsandbox.ops import clip_ops
            with self.loss.graph.as_default():
                self._norms = [None if g is None else clip_ops.global_norm([g]) for g, _ in pairs]
        values = iter(sess.run([n for n in self._norms if n is not None], feed_dict))
        return {v.op.name: None if n is None else float(next(values)) for n, (_, v) in zip(self._norms, pairs)}

    def check(self, sess: Any, feed_dict: dict[Any, Any] | None = None, max_entries: int | None = None,
              progress: Callable[[int, int], None] | None = None) -> GradientReport:
        """Compare every entry of every gradient with a central difference of the loss, in `sess`.

        Each variable is moved up and down by a small step, one entry at a time, and put back bit for bit, also when
        the check is interrupted. Of a variable with more than `max_entries` entries that many, evenly spread, are
        compared. The difference is the fourth-order one, (8(f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, with h = 1% of
        the entry's size or of 1.

        Raises `ValueError` where two runs of the loss differ (dropout, other random nodes): there is nothing to
        compare then.
        """
        _check_session(sess, "check")
        pairs = self.compute_gradients()
        if _differs(sess, self.loss, feed_dict):
            raise ValueError(f"{self.loss.name} is another number each time it runs, so finite differences mean "
                             "nothing: switch dropout and other random nodes off for the check")
        found = sess.run([g for g, _ in pairs if g is not None], feed_dict)
        values = iter(found)
        counts = [_count(v, sess, max_entries) for _, v in pairs]
        done, total = 0, sum(counts)
        report = GradientReport()
        for gradient, variable in pairs:
            analytic = None if gradient is None else _dense(next(values), variable, sess)
            check = self._check_one(sess, feed_dict, variable, analytic, max_entries)
            report[variable.op.name] = check
            done += check.entries
            if progress is not None:
                progress(done, total)
        return report

    def _check_one(self, sess: Any, feed_dict: Any, variable: Any, analytic: np.ndarray | None,
                   max_entries: int | None) -> GradientCheck:
        ref = sess._state.ref(variable.op)
        original = np.array(ref.read())
        flat = original.ravel()
        count = flat.size if max_entries is None else min(flat.size, max_entries)
        places = np.unique(np.linspace(0, flat.size - 1, count).astype(int)) if count else np.array([], int)
        worst_abs = worst_rel = 0.0
        try:
            for place in places:
                step = 1e-2 * max(1.0, abs(float(flat[place])))
                losses = []
                for factor in (1, -1, 2, -2):
                    moved = original.copy()
                    moved.reshape(-1)[place] = flat[place] + factor * step
                    ref.assign(moved)
                    losses.append(float(sess.run(self.loss, feed_dict)))
                numeric = (8 * (losses[0] - losses[1]) - (losses[2] - losses[3])) / (12 * step)
                exact = 0.0 if analytic is None else float(analytic.ravel()[place])
                error = abs(numeric - exact)
                worst_abs = max(worst_abs, error)
                worst_rel = max(worst_rel, error / max(abs(numeric), abs(exact), 1e-6))
        finally:
            ref.assign(original)
        return GradientCheck(variable.op.name, len(places), worst_abs, worst_rel, analytic is not None)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return display.mimebundle(self)

    def __repr__(self) -> str:
        names = ", ".join(v.op.name for v in self._given) if self._given is not None else "the trainable variables"
        return f"<Gradients of {self.loss.name} with respect to {names}>"


def _check_session(session: Any, method: str) -> None:
    if isinstance(session, type) or not hasattr(session, "run"):
        raise TypeError(f"{method}() takes a tf.Session, but got {type(session).__name__}: {session!r}")


def _differs(sess: Any, loss: Tensor, feed_dict: Any) -> bool:
    first, second = sess.run(loss, feed_dict), sess.run(loss, feed_dict)
    return bool(np.asarray(first).tobytes() != np.asarray(second).tobytes())


def _count(variable: Any, sess: Any, max_entries: int | None) -> int:
    size = int(np.size(sess._state.ref(variable.op).read()))
    return size if max_entries is None else min(size, max_entries)


def _dense(value: Any, variable: Any, sess: Any) -> np.ndarray:
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    dense = np.zeros(np.shape(sess._state.ref(variable.op).read()), np.float64)
    np.add.at(dense, np.asarray(value.indices), value.values)
    return dense
