"""Monitored sessions: they initialise or restore, call hooks around every run, and close in good order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfsandbox.framework import errors, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.training import queue_runner_impl, training_scope
from tfsandbox.training.basic_session_run_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from tfsandbox.training.coordinator import Coordinator
from tfsandbox.training.scaffold import ChiefSessionCreator, Scaffold, SessionCreator, WorkerSessionCreator
from tfsandbox.training.session_run_hook import SessionRunHook
from tfsandbox.training.wrapped_session import (
    CoordinatedSession,
    HookedSession,
    RecoverableSession,
    StepContext,
    WrappedSession,
)

__all__ = [
    "ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "Scaffold", "SessionCreator",
    "SingularMonitoredSession", "WorkerSessionCreator",
]

USE_DEFAULT: Any = type("UseDefault", (), {"__repr__": lambda self: "USE_DEFAULT"})()
"""Stands for the default of an argument that may be None too."""


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with their coordinator, queue runners and hooks."""

    def __init__(self, session_creator: SessionCreator, hooks: Sequence[SessionRunHook],
                 stop_grace_period_secs: float) -> None:
        self._session_creator, self._hooks = session_creator, hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> Any:
        self.tf_sess = self._session_creator.create_session()
        # All errors are raised: a monitored session has to see OutOfRangeError itself.
        self.coord = Coordinator(clean_stop_exception_types=[])
        if ops.get_collection(GraphKeys.QUEUE_RUNNERS):
            queue_runner_impl.start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return CoordinatedSession(HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """What MonitoredSession and SingularMonitoredSession share."""

    StepContext = StepContext

    def __init__(self, session_creator: SessionCreator | None, hooks: Iterable[SessionRunHook] | None,
                 should_recover: bool, stop_grace_period_secs: float = 120) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or [])
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(session_creator or ChiefSessionCreator(), self._hooks,
                                                               stop_grace_period_secs)
        self._sess: WrappedSession | None = (RecoverableSession(self._coordinated_creator) if should_recover
                                             else self._coordinated_creator.create_session())

    @property
    def graph(self) -> Any:
        """The graph that was launched; None after `close`."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def _open(self) -> WrappedSession:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """As `Session.run`, with the hooks."""
        return self._open().run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call `step_fn(step_context)`, and give what it gives.

        Its `session` runs without hooks, `run_with_hooks` with them, `request_stop` ends the session's block.
        Raises `ValueError` for a function of other arguments.
        """
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                             f"arguments if it's an instance method. Got {arguments} instead.")
        # The layers call it with one argument; a bound method has its `self` already.
        return self._open().run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Whether the loop around this session should end."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Call the hooks' `end` and close the session."""
        self._close_internal()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        # The end of the input, and a request to stop, are no failures.
        if kind in (errors.OutOfRangeError, StopIteration):
            kind = None
        self._close_internal(kind)
        return kind is None

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                self._open().close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initialises itself, calls hooks, and starts anew after an AbortedError or UnavailableError.

    As a context manager it closes itself, and ends quietly on OutOfRangeError and StopIteration. It is not the default
    session. The graph is finalized while it is open.

    Args:
      session_creator: by default a `ChiefSessionCreator`.
      hooks: a list of `SessionRunHook`.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(self, session_creator: SessionCreator | None = None, hooks: Iterable[SessionRunHook] | None = None,
                 stop_grace_period_secs: float = 120) -> None:
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A monitored session that does not recover; `raw_session()` gives the plain one."""

    def __init__(self, hooks: Iterable[SessionRunHook] | None = None, scaffold: Scaffold | None = None,
                 master: str = "", config: Any = None, checkpoint_dir: str | None = None,
                 stop_grace_period_secs: float = 120, checkpoint_filename_with_path: str | None = None) -> None:
        creator = ChiefSessionCreator(scaffold=scaffold, master=master, config=config, checkpoint_dir=checkpoint_dir,
                                      checkpoint_filename_with_path=checkpoint_filename_with_path)
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The plain session."""
        return self._tf_sess()


def MonitoredTrainingSession(master: str = "", is_chief: bool = True, checkpoint_dir: str | None = None,
                             scaffold: Scaffold | None = None, hooks: Iterable[SessionRunHook] | None = None,
                             chief_only_hooks: Iterable[SessionRunHook] | None = None,
                             save_checkpoint_secs: Any = USE_DEFAULT, save_summaries_steps: Any = USE_DEFAULT,
                             save_summaries_secs: Any = USE_DEFAULT, config: Any = None,
                             stop_grace_period_secs: float = 120, log_step_count_steps: int | None = 100,
                             max_wait_secs: float = 7200, save_checkpoint_steps: Any = USE_DEFAULT,
                             summary_dir: str | None = None) -> MonitoredSession:
    """A `MonitoredSession` for training: it saves checkpoints and summaries, and continues from the last checkpoint.

    Args:
      is_chief: False, or a training scope with `is_chief=False` around the call, waits for the chief's initialisation
        (a MonitoredTrainingSession on the same graph in another thread), at most `max_wait_secs`, trains the chief's
        variables, and saves nothing.
      checkpoint_dir: where to restore from and save to; None saves nothing.
      save_checkpoint_secs, save_checkpoint_steps: one of them; by default every 600 seconds.
      save_summaries_secs, save_summaries_steps: one of them; by default every 100 steps.
      log_step_count_steps: how often the steps per second are logged; None or 0: never.
      summary_dir: by default `checkpoint_dir`.
    """
    save_summaries_steps, save_summaries_secs = _one_of(save_summaries_steps, save_summaries_secs, (100, None))
    save_checkpoint_steps, save_checkpoint_secs = _one_of(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    if not (is_chief and training_scope.is_chief()):
        worker = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return MonitoredSession(session_creator=worker, hooks=hooks or [],
                                stop_grace_period_secs=stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or [])
    chief = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if _positive(save_summaries_steps) or _positive(save_summaries_secs):
            all_hooks.append(SummarySaverHook(scaffold=scaffold, save_steps=save_summaries_steps,
                                              save_secs=save_summaries_secs, output_dir=summary_dir))
    if checkpoint_dir and (_positive(save_checkpoint_secs) or _positive(save_checkpoint_steps)):
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=save_checkpoint_steps,
                                             save_secs=save_checkpoint_secs, scaffold=scaffold))
    all_hooks += hooks or []
    return MonitoredSession(session_creator=chief, hooks=all_hooks, stop_grace_period_secs=stop_grace_period_secs)


def _one_of(steps: Any, secs: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Steps and seconds where one of them may have been left out."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


def _positive(value: Any) -> bool:
    return value is not None and value > 0
