"""Evaluation of checkpoints as they appear, and summaries at the end of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.ops import summary_ops
from tfsandbox.platform import tf_logging
from tfsandbox.training import monitored_session, training_util
from tfsandbox.training.basic_session_run_hooks import FinalOpsHook
from tfsandbox.training.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tfsandbox.training.evaluation import (
    StopAfterNEvalsHook,
    counted_eval_ops,
    evaluate_once,
    get_or_create_eval_step,
)
from tfsandbox.training.session_run_hook import SessionRunHook
from tfsandbox.training.summary_io import FileWriterCache

__all__ = ["StopAfterNEvalsHook", "SummaryAtEndHook", "checkpoints_iterator", "evaluate_once", "evaluate_repeatedly",
           "get_or_create_eval_step", "wait_for_new_checkpoint"]


class SummaryAtEndHook(SessionRunHook):
    """Writes `summary_op` (default: all summaries) to `log_dir`, or by a writer, at the end of the session."""

    def __init__(self, log_dir: str | None = None, summary_writer: Any = None, summary_op: Any = None,
                 feed_dict: Any = None) -> None:
        if not log_dir and not summary_writer:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._replace_summary_op = summary_op is None
        self._global_step: Any = None

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = summary_ops.merge_all()
        self._global_step = training_util.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        step = training_util.global_step(session, self._global_step)
        if self._summary_op is not None:
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


def evaluate_repeatedly(checkpoint_dir: str, master: str = "", scaffold: Any = None, eval_ops: Any = None,
                        feed_dict: Any = None, final_ops: Any = None, final_ops_feed_dict: Any = None,
                        eval_interval_secs: float = 60, hooks: Sequence[Any] | None = None, config: Any = None,
                        max_number_of_evaluations: int | None = None, timeout: float | None = None,
                        timeout_fn: Callable[[], bool] | None = None) -> Any:
    """Evaluate each checkpoint that appears in a folder; gives the last values of `final_ops`.

    It ends after `max_number_of_evaluations` checkpoints, or `timeout` seconds without a new one.
    """
    hooks = list(hooks or [])
    counted = counted_eval_ops(eval_ops, hooks) if eval_ops is not None else None
    if eval_ops is None:
        get_or_create_eval_step()
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    done = 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        creator = monitored_session.ChiefSessionCreator(
            scaffold=scaffold, checkpoint_filename_with_path=path, master=master, config=config)
        with monitored_session.MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
            tf_logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
            if counted is not None:
                while not session.should_stop():
                    session.run(counted, feed_dict)
            tf_logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
        done += 1
        if max_number_of_evaluations is not None and done >= max_number_of_evaluations:
            break
    return final.final_ops_values
