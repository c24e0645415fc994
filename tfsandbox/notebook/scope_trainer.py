"""A training scope at work: its mask and settings changed, steps run in a session, and what they moved.

This is what the scope mask view does for its page, without a page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfsandbox.notebook import engine_records
from tfsandbox.notebook.graph_model import unknown_name_message
from tfsandbox.notebook.labels_scope import scope_label
from tfsandbox.notebook.series import Series
from tfsandbox.notebook.train_ops import find_losses, find_train_ops, needed_placeholders

Feeds = Mapping[Any, Any] | Callable[[], Mapping[Any, Any] | None] | None

SLICE = 0.1
"""Seconds that one answer to a page may train; the page asks again."""

RUNS = 6
"""So many loss curves are kept for comparison."""

PENALTIES = ("own", "none", "l2", "l1")


@dataclass
class Run:
    """The loss since the variables were last set back; `marks` says by step and setting what was changed there."""

    steps: int = 0
    loss: Series = field(default_factory=Series)
    marks: dict[int, dict[str, str]] = field(default_factory=dict)

    def mark(self, setting: str, text: str) -> None:
        """Note a change; a later one of the same setting at the same step takes its place."""
        self.marks.setdefault(self.steps, {})[setting] = text

    def next(self) -> Run:
        """A run that begins with the settings that this one ends with."""
        latest: dict[str, str] = {}
        for changes in self.marks.values():
            latest |= changes
        return Run(marks={0: latest} if latest else {})

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        marks = [[step, ", ".join(texts.values())] for step, texts in self.marks.items()]
        return {**self.loss.to_json(), "marks": marks}


class ScopeTrainer:
    """A scope, a session, and a step of training.

    `scope` is a TrainingScope; without one a scope of the whole graph is made, which acts on the steps run here.
    `train_op` and `loss` are found in the graph where it has one of each. `feeds` is a feed_dict, or a function that
    gives one for every step.
    """

    def __init__(self, scope: Any, session: Any = None, graph: Any = None, train_op: Any = None, loss: Any = None,
                 feeds: Feeds = None) -> None:
        self.scope = scope if scope is not None else _whole(graph)
        self.graph = self.scope.graph
        self.session, self.feeds = session, feeds
        self._given = (train_op, loss)
        self._found: tuple[int, Any, Any] | None = None
        self.own_regularizer = self.scope.regularizer
        self.penalty, self.strength = ("own" if self.own_regularizer is not None else "none"), 0.01
        self._penalties: dict[tuple[str, float], Any] = {}
        self.runs = [Run()]

    # What runs

    def _step(self) -> tuple[Any, Any]:
        """(train op, loss) as given, or as the graph has them now; None for what it has not, or several of."""
        if self._found is None or self._found[0] != self.graph.version:
            train_op, loss = self._given
            if train_op is None:
                found = find_train_ops(self.graph)
                train_op = found[0] if len(found) == 1 else None
            if loss is None:
                losses = find_losses(self.graph, getattr(train_op, "op", train_op))
                loss = losses[0] if len(losses) == 1 else None
            self._found = (self.graph.version, train_op, loss)
        return self._found[1:]

    def obstacle(self) -> str:
        """Why no step can be run, and what to do; empty where one can."""
        if self.session is None:
            return scope_label("obstacle.session")
        if getattr(self.session, "_closed", False):
            return scope_label("obstacle.closed")
        train_op, _ = self._step()
        if train_op is None:
            found = [operation.name for operation in find_train_ops(self.graph)]
            if not found:
                return scope_label("obstacle.none")
            return scope_label("obstacle.several", names=", ".join(found[:6]), last=found[-1])
        if self.feeds is None:
            missing = needed_placeholders(self.graph, [getattr(train_op, "op", train_op)])
            if missing:
                wanted = ", ".join(f"'{name}:0': ..." for name in missing[:4])
                return scope_label("obstacle.feed", feeds=f"{{{wanted}}}")
        return ""

    def train(self, steps: int, seconds: float = SLICE) -> dict[str, Any]:
        """Run up to `steps` steps inside the scope, at least one, until the time is over.

        Returns how many were done, and the points of the loss curve. Raises RuntimeError where none can be run, and
        whatever the session raises.
        """
        obstacle = self.obstacle()
        if obstacle:
            raise RuntimeError(obstacle)
        train_op, loss = self._step()
        fetches = [train_op] if loss is None else [train_op, loss]
        points = []
        done = 0
        end = time.perf_counter() + seconds
        run = self.runs[-1]
        with ExitStack() as stack:
            self._enter(stack)
            while done < steps:
                feeds = self.feeds() if callable(self.feeds) else self.feeds
                values = self.session.run(fetches, feeds)
                done += 1
                run.steps += 1
                if loss is not None:
                    value = float(np.mean(values[1]))
                    points.append((run.steps - 1, value))
                    run.loss.add(run.steps - 1, value)
                if time.perf_counter() >= end:
                    break
        return {"done": done, "points": points}

    def _enter(self, stack: ExitStack) -> None:
        from tfsandbox.runtime import rewrites

        chain = [self.scope]
        while chain[-1].outer is not None:
            chain.append(chain[-1].outer)
        for scope in reversed(chain):
            stack.enter_context(rewrites.activated(scope))

    # What is changed

    def switch(self, names: list[str], trains: bool) -> None:
        """Let variables train, or freeze them. Raises KeyError for a name that is no trainable variable."""
        mask = self.scope.mask()
        for name in names:
            if name not in mask:
                raise KeyError(unknown_name_message("variable", name, list(mask)))
        wanted = {name for name, on in mask.items() if on} - set(names) | (set(names) if trains else set())
        variables = [variable for variable in engine_records.graph_variables(self.graph)
                     if variable.op.name in wanted]
        every = len(wanted) == len(mask)
        self.scope.change(trainable_variables=None if every else variables)
        self.runs[-1].mark("mask", scope_label("mark.mask", trains=sum(self.scope.mask().values()), count=len(mask)))

    def fixed(self) -> set[str]:
        """Variables that cannot be switched on, because a scope around this one leaves them out."""
        if self.scope.outer is None:
            return set()
        return {name for name, trains in self.scope.outer.mask().items() if not trains}

    def set(self, name: str, value: float | None) -> None:
        """Change a modifier: `learning_rate_multiplier`, `clip_norm` or `clip_value`; None for none.

        Raises RuntimeError where the modifiers are part of the graph already.
        """
        self._check_changeable()
        if name not in ("learning_rate_multiplier", "clip_norm", "clip_value"):
            raise KeyError(f"{name!r} is no modifier of a training scope.")
        self.scope.change(**{name: value})
        words = scope_label("rate" if name == "learning_rate_multiplier" else name)
        self.runs[-1].mark(name, f"{words} {scope_label('off') if value is None else format(value, '.3g')}")

    def set_penalty(self, kind: str, strength: float) -> None:
        """Take the scope's own regularizer, none, or `l1`/`l2` of some strength."""
        self._check_changeable()
        if kind not in PENALTIES:
            raise KeyError(f"A penalty is one of {', '.join(PENALTIES)}, not {kind!r}.")
        self.penalty, self.strength = kind, float(strength)
        self.scope.change(regularizer=self._regularizer())
        text = f"{kind} {strength:.3g}" if kind in ("l1", "l2") else scope_label(f"mark.{kind}")
        self.runs[-1].mark("penalty", text)

    def _regularizer(self) -> Any:
        from tfsandbox.contrib import layers

        if self.penalty in ("own", "none"):
            return self.own_regularizer if self.penalty == "own" else None
        key = (self.penalty, self.strength)
        if key not in self._penalties:
            make = layers.l2_regularizer if self.penalty == "l2" else layers.l1_regularizer
            self._penalties[key] = make(self.strength)
        return self._penalties[key]

    def _check_changeable(self) -> None:
        if self.scope.in_graph:
            raise RuntimeError("The updates were built inside the scope, so its modifiers are part of the graph: "
                               "build the train op outside of the scope to change them.")

    def rewind(self) -> None:
        """Set every variable back to what it was before the scope's first run here, and begin a new curve."""
        for name, value in self.scope.baseline(self._open_session()).items():
            self.session._state.refs[name].assign(value)
        if self.runs[-1].steps:
            self.runs = [*self.runs[-RUNS + 1:], self.runs[-1].next()]

    def restart(self) -> None:
        """Compare with the variables as they are now, from here on."""
        self.scope.restart_report(self._open_session())

    def _open_session(self) -> Any:
        if self.session is None or getattr(self.session, "_closed", False):
            raise RuntimeError(self.obstacle())
        return self.session

    # What it looks like

    def settings(self) -> dict[str, Any]:
        """The modifiers as they are."""
        scope = self.scope
        return {"learning_rate_multiplier": scope.learning_rate_multiplier, "each": bool(scope._multipliers),
                "clip_norm": scope.clip_norm, "clip_value": scope.clip_value, "penalty": self.penalty,
                "strength": self.strength, "own": function_name(self.own_regularizer),
                "transform": function_name(scope.gradient_transform), "fixed": scope.in_graph}

    def expressions(self) -> dict[str, str]:
        """The settings that are not the default, as they are written in a call of `training_scope`."""
        found: dict[str, str] = {}
        if self.penalty in ("l1", "l2"):
            found["regularizer"] = f"tf.contrib.layers.{self.penalty}_regularizer({self.strength:.3g})"
        elif self.scope.regularizer is not None:
            found["regularizer"] = "regularizer"
        for name in ("learning_rate_multiplier", "clip_norm", "clip_value"):
            value = getattr(self.scope, name)
            if value is not None and (name, value) != ("learning_rate_multiplier", 1.0):
                found[name] = f"{value:.3g}"
        if self.scope._multipliers:
            found["learning_rate_multiplier"] = "multipliers"
        if self.scope.gradient_transform is not None:
            found["gradient_transform"] = "gradient_transform"
        if not self.scope.is_chief:
            found["is_chief"] = "False"
        return found

    def before_and_after(self, name: str) -> tuple[Any, Any]:
        """A variable's value before the scope's first run (None where it had none) and now."""
        session = self._open_session()
        after = engine_records.stored_value(session, name)
        if after is None:
            raise KeyError(f"{name} has no value in this session yet: run its initializer.")
        return self.scope.baseline(session).get(name), after


def function_name(function: Any) -> str:
    """What a regularizer or transform is called; empty for none."""
    return "" if function is None else getattr(function, "__name__", type(function).__name__)


def _whole(graph: Any) -> Any:
    """A scope in which everything trains."""
    from tfsandbox.training.training_scope import TrainingScope

    with graph.as_default():
        return TrainingScope(None, None, True, {}, None)
