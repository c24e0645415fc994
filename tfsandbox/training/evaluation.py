"""Evaluation of a checkpoint: `evaluate_once`, and the hook that counts evaluations."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.ops import init_ops, state_ops, variable_scope
from tfsandbox.platform import tf_logging
from tfsandbox.training import monitored_session
from tfsandbox.training.basic_session_run_hooks import FinalOpsHook
from tfsandbox.training.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

__all__ = ["StopAfterNEvalsHook", "evaluate_once", "get_or_create_eval_step"]


def get_or_create_eval_step() -> Any:
    """The graph's local variable that counts evaluations, made if it is missing.

    Raises `ValueError` where the graph has several.
    """
    graph = get_default_graph()
    steps = graph.get_collection(GraphKeys.EVAL_STEP)
    if len(steps) == 1:
        return steps[0]
    if steps:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return variable_scope.get_variable(
        GraphKeys.EVAL_STEP, shape=[], dtype=dtypes.int64, initializer=init_ops.zeros_initializer(),
        trainable=False, collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(SessionRunHook):
    """Stops after `num_evals` runs of the evaluation; None: never. `log_progress`: says how far it is."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._evals_completed: Any = None
        self._log_progress = log_progress
        # A line for each of a few, ten lines for many.
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10.0)

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                tf_logging.info("Evaluation [%d]", done)
            elif done % self._log_frequency == 0 or self._num_evals == done:
                tf_logging.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


def counted_eval_ops(eval_ops: Any, hooks: Sequence[Any]) -> Any:
    """`eval_ops` with one that counts the runs; the hooks that stop by it are told.

    `eval_ops` is None, an operation or tensor, a list or a dict.
    """
    step = state_ops.assign_add(get_or_create_eval_step(), 1, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops = {**eval_ops, "update_eval_step": step}
    elif isinstance(eval_ops, (tuple, list)):
        eval_ops = [*eval_ops, step]
    else:
        eval_ops = [eval_ops, step]
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(step)
    return eval_ops


def evaluate_once(checkpoint_path: str | None, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                  feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None,
                  hooks: Sequence[Any] | None = None, config: Any = None) -> Any:
    """Restore a checkpoint, run `eval_ops` until a hook stops it, and give the values of `final_ops` (or None)."""
    hooks = list(hooks or [])
    counted = counted_eval_ops(eval_ops, hooks) if eval_ops is not None else None
    if eval_ops is None:
        get_or_create_eval_step()
    tf_logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    creator = monitored_session.ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    with monitored_session.MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        if counted is not None:
            while not session.should_stop():
                session.run(counted, feed_dict)
    tf_logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values
