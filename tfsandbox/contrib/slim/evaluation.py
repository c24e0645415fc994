"""Evaluation of checkpoints: a number of runs of an op, then the value of another, and summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.contrib.training import evaluation
from tfsandbox.contrib.training.evaluation import checkpoints_iterator, wait_for_new_checkpoint
from tfsandbox.ops import summary_ops
from tfsandbox.training import monitored_session
from tfsandbox.training.saver import Saver

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]

USE_DEFAULT = 0
"""Stands for all summaries of the graph."""


def _hooks(logdir: str, num_evals: int, summary_op: Any, summary_op_feed_dict: Any,
           hooks: Sequence[Any] | None) -> list[Any]:
    if summary_op is USE_DEFAULT:
        summary_op = summary_ops.merge_all()
    own: list[Any] = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        own.append(evaluation.SummaryAtEndHook(logdir, summary_op=summary_op, feed_dict=summary_op_feed_dict))
    return [*own, *(hooks or [])]


def evaluate_once(master: str, checkpoint_path: str, logdir: str, num_evals: int = 1, initial_op: Any = None,
                  initial_op_feed_dict: Any = None, eval_op: Any = None, eval_op_feed_dict: Any = None,
                  final_op: Any = None, final_op_feed_dict: Any = None, summary_op: Any = USE_DEFAULT,
                  summary_op_feed_dict: Any = None, variables_to_restore: Any = None, session_config: Any = None,
                  hooks: Sequence[Any] | None = None) -> Any:
    """Restore a checkpoint, run `eval_op` `num_evals` times, write summaries, and give the value of `final_op`."""
    all_hooks = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    return evaluation.evaluate_once(
        checkpoint_path, master=master, hooks=all_hooks, config=session_config,
        scaffold=monitored_session.Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=saver),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict)


def evaluation_loop(master: str, checkpoint_dir: str, logdir: str, num_evals: int = 1, initial_op: Any = None,
                    initial_op_feed_dict: Any = None, init_fn: Callable[[Any], None] | None = None,
                    eval_op: Any = None, eval_op_feed_dict: Any = None, final_op: Any = None,
                    final_op_feed_dict: Any = None, summary_op: Any = USE_DEFAULT, summary_op_feed_dict: Any = None,
                    variables_to_restore: Any = None, eval_interval_secs: float = 60,
                    max_number_of_evaluations: int | None = None, session_config: Any = None,
                    timeout: float | None = None, timeout_fn: Callable[[], bool] | None = None,
                    hooks: Sequence[Any] | None = None) -> Any:
    """`evaluate_once` of each checkpoint that appears in a folder; gives the last value of `final_op`."""
    all_hooks = _hooks(logdir, num_evals, summary_op, summary_op_feed_dict, hooks)
    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    scaffold_init = None if init_fn is None else lambda _, session: init_fn(session)
    return evaluation.evaluate_repeatedly(
        checkpoint_dir, master=master, hooks=all_hooks, config=session_config,
        scaffold=monitored_session.Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict,
                                            init_fn=scaffold_init, saver=saver),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs, max_number_of_evaluations=max_number_of_evaluations, timeout=timeout,
        timeout_fn=timeout_fn)
