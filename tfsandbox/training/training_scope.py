"""training_scope: which variables train, and how their gradients are changed, while a block of code runs.

At run time the scope is a rewrite of the session's plan: a node that updates a variable outside of the scope is
skipped, with its slots; a node that updates one inside gets its gradient and learning rate changed as the scope says.
At build time it supplies the default `var_list`, adds the penalty to the loss that is differentiated, and changes
gradients the same way; what was built so is not changed a second time when it runs in the same scope.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from tfsandbox.framework import display, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, clip_ops, gradients_impl, math_ops
from tfsandbox.runtime import rewrites
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training.scope_report import APPLY, ScopeReport, VariableChange, change_of, norm_of, slots_of
from tfsandbox.training.scope_settings import (
    MODIFIERS,
    check_names,
    checked_function,
    checked_multiplier,
    checked_positive,
)
from tfsandbox.training.variable_selection import is_variable, select_variables

_GRADIENT_INPUTS = ("grad", "delta", "gradient_accumulator")
_RATE_INPUTS = ("lr", "alpha")
_REGULARIZER = "a function from a variable to a penalty or None"


class TrainingScope(rewrites.PlanRewrite):
    """One active (or past) training scope; what `with training_scope(...) as scope` yields."""

    def __init__(self, trainable_variables: Any, regularizer: Callable[[Any], Any] | None, is_chief: bool,
                 modifiers: dict[str, Any], outer: TrainingScope | None) -> None:
        self.graph = get_default_graph()
        if not isinstance(is_chief, (bool, np.bool_)):
            raise TypeError(f"is_chief must be a bool, but is {type(is_chief).__name__}: {is_chief!r}")
        self._chosen = select_variables(trainable_variables, "trainable_variables", self.graph)
        self.regularizer = checked_function("regularizer", regularizer, _REGULARIZER)
        self.outer = outer
        self.is_chief: bool = bool(is_chief) and (outer is None or outer.is_chief)
        self.learning_rate_multiplier: float = 1.0
        self._multipliers: dict[Any, float] = {}
        self.clip_norm: float | None = None
        self.clip_value: float | None = None
        self.gradient_transform: Callable[[Any, Any], Any] | None = None
        self._modify(modifiers)
        if self._chosen is not None and outer is not None and not self.variables:
            raise ValueError(f"trainable_variables selects {[v.op.name for v in self._chosen]}, none of which the "
                             f"scope around it trains: an inner scope narrows the outer one. The outer one trains "
                             f"{[v.op.name for v in outer.variables]}.")
        self._penalties: dict[Any, Tensor | None] = {}
        self._penalty: Tensor | None = None
        self._inputs: dict[tuple[Operation, int], Tensor | None] = {}
        self._made: dict[Any, Tensor] = {}
        self._baselines: dict[Any, dict[str, np.ndarray]] = {}

    def _modify(self, modifiers: dict[str, Any]) -> None:
        """Take over modifiers, all or none of them."""
        new: dict[str, Any] = {}
        if "learning_rate_multiplier" in modifiers:
            new["learning_rate_multiplier"], new["_multipliers"] = checked_multiplier(
                modifiers["learning_rate_multiplier"])
        for name in ("clip_norm", "clip_value"):
            if name in modifiers:
                new[name] = checked_positive(name, modifiers[name])
        if "gradient_transform" in modifiers:
            new["gradient_transform"] = checked_function("gradient_transform", modifiers["gradient_transform"],
                                                         "a function (gradient, variable) -> gradient")
        for name, value in new.items():
            setattr(self, name, value)

    def change(self, **settings: Any) -> None:
        """Change the scope for all runs from now on: `trainable_variables`, `regularizer` or a modifier.

        They are as of `training_scope`, but an empty list of variables is allowed: then nothing trains. What the
        graph took from the scope when it was built stays as it is there (see `in_graph`).

        Raises as `training_scope` does, and then changes nothing.
        """
        check_names(settings, "change", ("trainable_variables", "regularizer", *MODIFIERS))
        regularizer = checked_function("regularizer", settings.get("regularizer"), _REGULARIZER)
        chosen = self._chosen
        if "trainable_variables" in settings:
            wanted = settings["trainable_variables"]
            empty = isinstance(wanted, (list, tuple, set, frozenset, dict)) and not wanted
            chosen = [] if empty else select_variables(wanted, "trainable_variables", self.graph)
        self._modify({name: value for name, value in settings.items() if name in MODIFIERS})
        self._chosen = chosen
        if "regularizer" in settings and regularizer is not self.regularizer:
            self.regularizer = regularizer
            self._penalties, self._penalty = {}, None
        self._inputs = {}
        # Plans are kept by the scope that they were made in: they are made anew, as for a graph that has changed.
        self.graph._mutations += 1

    @property
    def in_graph(self) -> bool:
        """Whether an update was built in the scope with its penalty or modifiers, which `change` cannot reach."""
        return any(self in scopes for scopes in self.graph._caches.get("built_in_scopes", {}).values())

    def _changes_gradients(self) -> bool:
        return bool(self.regularizer or self.gradient_transform or self.clip_norm or self.clip_value
                    or self._multipliers or self.learning_rate_multiplier != 1.0)

    # ------------------------------------------------------------ which variables

    @property
    def variables(self) -> list[Any]:
        """The variables that train in this scope, inside all scopes around it."""
        chosen = self._chosen
        if chosen is None:
            chosen = self.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        if self.outer is None:
            return list(chosen)
        allowed = set(self.outer.variables) if self.outer.narrows else None
        return [v for v in chosen if allowed is None or v in allowed]

    @property
    def narrows(self) -> bool:
        """Whether the scope, or one around it, leaves variables out."""
        return self._chosen is not None or (self.outer is not None and self.outer.narrows)

    def trains(self, variable: Any) -> bool:
        """Whether a variable trains here."""
        if self._chosen is not None and variable not in self._chosen:
            return False
        return self.outer is None or self.outer.trains(variable)

    def mask(self) -> dict[str, bool]:
        """{name of a trainable variable of the graph: whether it trains here}.

        A pattern for `tf.global_variables` also finds slots; they are no variables of their own here.
        """
        there = dict.fromkeys(self.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES))
        slots = {name for names in slots_of(self.graph, {v.op.name: True for v in there}).values() for name in names}
        others = [v for v in self._chosen or [] if v not in there and v.op.name not in slots]
        return {v.op.name: self.trains(v) for v in [*there, *others]}

    # ------------------------------------------------------------ penalty

    def _penalty_of(self, variable: Any) -> Tensor | None:
        if variable not in self._penalties:
            assert self.regularizer is not None
            with self.graph.as_default(), ops.name_scope("training_scope/"), ops.control_dependencies(None):
                penalty = self.regularizer(variable)
                if penalty is not None:
                    penalty = ops.convert_to_tensor(penalty)
                    if penalty.shape.ndims not in (None, 0):
                        raise ValueError(f"regularizer must give a scalar, but gave shape {penalty.shape} for "
                                         f"{variable.op.name}")
            self._penalties[variable] = penalty
        return self._penalties[variable]

    @property
    def penalty(self) -> Tensor | None:
        """The sum of the penalties of the scope's variables, as a scalar tensor; None without a regularizer."""
        if self.regularizer is None:
            return None
        if self._penalty is None:
            parts = [p for p in map(self._penalty_of, self.variables) if p is not None]
            if not parts:
                return None
            with self.graph.as_default(), ops.name_scope("training_scope/"), ops.control_dependencies(None):
                self._penalty = math_ops.add_n(parts, name="penalty")
        return self._penalty

    # ------------------------------------------------------------ build time

    def default_var_list(self) -> list[Any] | None:
        """The variables to train where a build call names none; None: the scope says nothing."""
        return self.variables if self.narrows else None

    def transform_loss(self, loss: Any) -> Any:
        """The loss with the scope's penalty added."""
        penalty = self.penalty
        if penalty is None:
            return loss
        return math_ops.add(loss, math_ops.cast(penalty, loss.dtype.base_dtype), name="penalized_loss")

    def transform_gradients(self, grads_and_vars: list[Any]) -> list[Any]:
        """(gradient, variable) pairs after clip and transform; the penalty is in the loss already."""
        return [(g if g is None or not self.trains(v) else self._changed(g, v), v) for g, v in grads_and_vars]

    def built_update(self, update: Operation, variable: Any) -> None:
        """An update was built in this scope: scale its learning rate, and leave it alone when it runs here."""
        if not self._changes_gradients():
            return
        built = self.graph._caches.setdefault("built_in_scopes", {})
        entries = _entries(update)
        multiplier = self._multiplier(variable)
        if multiplier != 1.0 and self.trains(variable):
            for op, index in entries.rate_inputs:
                if self not in built.get(op, ()):
                    op._update_input(index, self._scaled_rate(op.inputs[index], multiplier))
        for op in {update, *(op for op, _ in entries.rate_inputs)}:
            built.setdefault(op, []).append(self)

    # ------------------------------------------------------------ run time

    def begin(self, session: Any) -> None:
        """Remember the variables as they are before the scope's first run in a session.

        Those that get their first value inside the scope are remembered with it, before something else runs.
        """
        if session.graph is self.graph:
            known = self._baselines.setdefault(session, {})
            for name, ref in session._state.refs.items():
                if ref.value is not None and name not in known:
                    known[name] = np.array(ref.value)

    def prepare(self, needed: list[Operation]) -> None:
        """Build, before a plan is made, the nodes that stand in for gradients and learning rates."""
        if not self._changes_gradients():
            return
        built = self.graph._caches.get("built_in_scopes", {})
        done: set[tuple[Operation, int]] = set()
        for op in needed:
            variable = self._updated(op)
            if variable is None or not self.trains(variable) or self in built.get(op, ()):
                continue
            for place, tensor in self._replacements(op, variable, done):
                self._inputs[place] = tensor

    def skips(self, op: Operation) -> bool:
        """Whether the node updates a variable (or a slot of one) that does not train here."""
        if self._chosen is None:
            return False
        variable = self._updated(op)
        return variable is not None and variable not in self._chosen

    def input(self, op: Operation, index: int) -> Tensor | None:
        """The changed gradient or learning rate of an update."""
        return self._inputs.get((op, index))

    def _updated(self, op: Operation) -> Any:
        """The variable whose training update this node is part of, or None."""
        if op.graph is not self.graph:
            return None
        updates = op.graph._caches.get("optimizer_updates")
        if updates is not None and op in updates:
            return updates[op]
        if APPLY.match(op.type) and op.inputs:
            return _variable_at(op)
        return None

    def _replacements(self, update: Operation, variable: Any,
                      done: set[tuple[Operation, int]]) -> list[tuple[tuple[Operation, int], Tensor]]:
        """(place, new tensor) for every place where the gradient or the learning rate enters an update."""
        entries = _entries(update)
        found: list[tuple[tuple[Operation, int], Tensor]] = []
        settings = (variable, entries.rows, self.regularizer, self.gradient_transform, self.clip_value, self.clip_norm)
        # The nodes stand in for others in this plan only; a finalized graph stays as its program left it.
        unlocked, self.graph._finalized = self.graph._finalized, False
        try:
            with self.graph.as_default(), ops.control_dependencies(None), ops.name_scope("training_scope/"):
                for place in entries.gradient_inputs:
                    if place in done:
                        continue
                    done.add(place)
                    before = self._outer_input(*place)
                    # A setting that comes back after a `change` finds the nodes that were built for it.
                    key = (before, *settings)
                    if key not in self._made:
                        self._made[key] = self._changed(self._with_penalty(before, variable, entries.rows), variable)
                    if self._made[key] is not before:
                        found.append((place, self._made[key]))
                multiplier = self._multiplier(variable)
                for place in entries.rate_inputs if multiplier != 1.0 else ():
                    if place not in done:
                        done.add(place)
                        rate = self._outer_input(*place)
                        if (rate, multiplier) not in self._made:
                            self._made[rate, multiplier] = self._scaled_rate(rate, multiplier)
                        found.append((place, self._made[rate, multiplier]))
        finally:
            self.graph._finalized = unlocked
        return found

    def _outer_input(self, op: Operation, index: int) -> Tensor:
        """An input as the scopes around this one have it."""
        scope = self.outer
        while scope is not None:
            found = scope._inputs.get((op, index))
            if found is not None:
                return found
            scope = scope.outer
        return op.inputs[index]

    def _with_penalty(self, gradient: Tensor, variable: Any, rows: Tensor | None) -> Tensor:
        penalty = self._penalty_of(variable) if self.regularizer is not None else None
        if penalty is None:
            return gradient
        with ops.name_scope(None):
            slope, = gradients_impl.gradients(penalty, variable._ref(), name="training_scope/penalty_gradients")
        if slope is None:
            return gradient
        slope = ops.convert_to_tensor(slope)
        if rows is not None:
            # A sparse update touches these rows only; the penalty pulls on the same ones.
            slope = array_ops.gather(slope, rows)
        return math_ops.add(gradient, slope, name="with_penalty")

    def _changed(self, gradient: Any, variable: Any) -> Any:
        if self.gradient_transform is not None:
            result = self.gradient_transform(gradient, variable)
            if result is None:
                raise TypeError(f"gradient_transform must give a gradient, but gave None for {variable.op.name}")
            gradient = ops.convert_to_tensor_or_indexed_slices(result)
        value, norm = self.clip_value, self.clip_norm
        if value is not None:
            gradient = _on_values(gradient, lambda g: clip_ops.clip_by_value(g, -value, value))
        if norm is not None:
            gradient = _on_values(gradient, lambda g: clip_ops.clip_by_norm(g, norm))
        return gradient

    def _multiplier(self, variable: Any) -> float:
        return self._multipliers.get(variable, self.learning_rate_multiplier)

    def _scaled_rate(self, rate: Tensor, multiplier: float) -> Tensor:
        with self.graph.as_default(), ops.control_dependencies(None), ops.name_scope("training_scope/"):
            return math_ops.multiply(rate, ops.convert_to_tensor(multiplier, rate.dtype.base_dtype),
                                     name="learning_rate")

    # ------------------------------------------------------------ report

    def baseline(self, sess: Any) -> dict[str, np.ndarray]:
        """{name: value} of the variables before the scope's first run in `sess`; empty where it had none."""
        return dict(self._baselines.get(sess, {}))

    def restart_report(self, sess: Any) -> None:
        """From now on `report(sess)` compares with the variables as they are at this moment."""
        self._baselines.pop(sess, None)
        self.begin(sess)

    @property
    def sessions(self) -> list[Any]:
        """The sessions in which something ran inside the scope, and that are still open."""
        return [sess for sess in self._baselines if not sess._closed]

    def report(self, sess: Any) -> ScopeReport:
        """What changed in `sess` since the scope's first run there.

        Raises `ValueError` where nothing ran in that session under the scope.
        """
        baseline = self._baselines.get(sess)
        if baseline is None:
            raise ValueError("nothing has run in this session inside the scope yet: run the train op inside "
                             "`with training_scope(...) as scope:` first, then call scope.report(sess)")
        mask = self.mask()
        slots = slots_of(self.graph, mask)
        changes = []
        for name, trains in mask.items():
            ref = sess._state.refs.get(name)
            if ref is None or ref.value is None:
                continue
            delta = change_of(baseline.get(name), ref.value)
            moved = {s: change_of(baseline.get(s), sess._state.refs[s].value) for s in slots.get(name, [])
                     if s in sess._state.refs and sess._state.refs[s].value is not None}
            changes.append(VariableChange(name, trains, delta != 0, delta, norm_of(ref.value), moved))
        return ScopeReport(changes)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return display.mimebundle(self)

    def __repr__(self) -> str:
        mask = self.mask()
        return f"<TrainingScope: {sum(mask.values())} of {len(mask)} variables train>"


def _on_values(gradient: Any, function: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(gradient, ops.IndexedSlices):
        return ops.IndexedSlices(function(gradient.values), gradient.indices, gradient.dense_shape)
    return function(gradient)


def _variable_at(op: Operation) -> Any:
    """The Variable object of the storage that a node updates."""
    storage = op.inputs[0]
    table = op.graph._caches.setdefault("variable_of_storage", {})
    if storage not in table:
        for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.LOCAL_VARIABLES):
            for variable in op.graph.get_collection(key):
                if is_variable(variable):
                    table[variable._ref()] = variable
        table.setdefault(storage, None)
    return table[storage]


def _entries(update: Operation) -> optimizer_lib.SparseUpdate:
    """Where the gradient and the learning rate enter an update: its own inputs, or those noted when it was built."""
    note = update.graph._caches.get("sparse_updates", {}).get(update)
    if note is not None and not APPLY.match(update.type):
        return note
    gradient, rate, rows = (_input_index(update, names) for names in (_GRADIENT_INPUTS, _RATE_INPUTS, ("indices",)))
    return optimizer_lib.SparseUpdate([] if gradient is None else [(update, gradient)],
                                      [] if rate is None else [(update, rate)],
                                      None if rows is None else update.inputs[rows])


def _input_index(op: Operation, names: Iterable[str]) -> int | None:
    for i, arg in enumerate(op._op_def.inputs):
        if arg.name in names:
            return i
    return None


class _Watchers(threading.local):
    """Lists that scopes entered in this thread are noted in: how a manager learns what was held in its step."""

    def __init__(self) -> None:
        self.lists: list[list[Any]] = []


watchers = _Watchers()


def current_scope() -> TrainingScope | None:
    """The innermost training scope of this thread."""
    return next((r for r in reversed(rewrites.active.rewrites) if isinstance(r, TrainingScope)), None)


def is_chief() -> bool:
    """False inside a scope with `is_chief=False`: then only the chief's work (saving, summaries) is skipped."""
    scope = current_scope()
    return scope is None or scope.is_chief


@contextmanager
def training_scope(trainable_variables: Any = None, regularizer: Callable[[Any], Any] | None = None,
                   is_chief: bool = True, **kwargs: Any) -> Iterator[TrainingScope]:
    """Context manager: inside, `sess.run(train_op)` updates only `trainable_variables`.

    The others and their optimizer slots keep their values bit for bit; forward values, losses, batch-norm updates and
    the global step are as without the scope. Scopes nest: an inner one narrows the outer one. They are per thread.

    Args:
      trainable_variables: a list of variables, a dict whose values are variables or lists of them, a variable, a
        regular expression for the start of their names, or None for all.
      regularizer: a function from a variable to a scalar penalty (`tf.contrib.layers.l2_regularizer(0.01)`); its
        gradient is added to each applied gradient. None from the function: no penalty for that variable.
      is_chief: False skips what only the chief does: `Saver.save`, summary writers, initialisation.
      **kwargs: `learning_rate_multiplier` (number or {variable: number}), `clip_norm` and `clip_value` (of each
        gradient), `gradient_transform` (function (gradient, variable) -> gradient). A gradient gets its penalty first,
        then the transform, then the clip by value, then the clip by norm.

    Raises `TypeError` for another keyword or what is no variable, `ValueError` for a selection of nothing.
    """
    check_names(kwargs, "training_scope", MODIFIERS)
    scope = TrainingScope(trainable_variables, regularizer, is_chief, kwargs, current_scope())
    with ExitStack() as stack:
        stack.enter_context(rewrites.activated(scope))
        for seen in watchers.lists:
            seen.append(scope)
        stack.enter_context(optimizer_lib.building_in(scope))
        yield scope
