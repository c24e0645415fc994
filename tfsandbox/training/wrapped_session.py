"""The layers of a monitored session: one calls the hooks, one knows the coordinator, one recovers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tfsandbox.framework import errors
from tfsandbox.platform import tf_logging
from tfsandbox.training.coordinator import Coordinator
from tfsandbox.training.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
"""The errors after which a session is made anew: another machine went away."""


class StepContext:
    """What a function given to `run_step_fn` works with."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session, self._run_with_hooks_fn = session, run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The session, without hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """As `session.run`, with the hooks."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Leave the loop of the monitored session, by a `StopIteration`."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class Runner(Protocol):
    """What a layer asks of what it wraps."""

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any: ...
    def close(self) -> None: ...


class SessionMaker(Protocol):
    """What a recoverable session gets its sessions from."""

    def create_session(self) -> Any: ...


class WrappedSession:
    """A session, or another layer, with a question whether to stop."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether this layer or one below wants to stop; True once it is closed."""
        if self._check_stop():
            return True
        if self._sess is not None:
            return isinstance(self._sess, WrappedSession) and self._sess.should_stop()
        return True

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        """Close what is wrapped."""
        if self._sess is not None:
            try:
                self._sess.close()
            except PREEMPTION_ERRORS as error:
                tf_logging.warning("An error occurred when attempting to close the session. This may be due to a "
                                   "preemption in a connected worker or parameter server. Error: %s", error)
            finally:
                self._sess = None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        return self._sess.run(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn: Callable[[StepContext], Any], raw_session: Any,
                    run_with_hooks: Callable[..., Any] | None) -> Any:
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class HookedSession(WrappedSession):
    """Calls the hooks around every run."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        if not self._hooks:
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        from tfsandbox.proto import config_pb2
        options = options or config_pb2.RunOptions()
        run_metadata = run_metadata or config_pb2.RunMetadata()
        context = SessionRunContext(SessionRunArgs(fetches=fetches, feed_dict=feed_dict), self._sess)
        all_fetches: dict[Any, Any] = {"caller": fetches}
        feeds = self._before_run(context, all_fetches, feed_dict, options)
        outputs = self._sess.run(all_fetches, feeds, options, run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results=outputs.get(hook), options=options,
                                                     run_metadata=run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _before_run(self, context: SessionRunContext, all_fetches: dict[Any, Any], feed_dict: Any,
                    options: Any) -> dict[Any, Any]:
        """Ask the hooks what they want to run; gives all feeds together."""
        hook_feeds: dict[Any, Any] = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                all_fetches[hook] = request.fetches
            if request.feed_dict:
                _check_conflicts("two hooks", hook_feeds, request.feed_dict)
                hook_feeds.update(request.feed_dict)
            if request.options:
                options.trace_level = max(options.trace_level, request.options.trace_level)
                options.debug_options.MergeFrom(request.options.debug_options)
                options.output_partition_graphs |= request.options.output_partition_graphs
        if not feed_dict:
            return hook_feeds
        if not hook_feeds:
            return feed_dict
        _check_conflicts("a SessionRunHook and user", hook_feeds, feed_dict)
        return {**hook_feeds, **feed_dict}


def _check_conflicts(whom: str, feeds: dict[Any, Any], others: dict[Any, Any]) -> None:
    conflicts = [key for key in others if key in feeds]
    if conflicts:
        raise RuntimeError(f"Same tensor is fed by {whom}. Conflict(s): {conflicts}")


class CoordinatedSession(WrappedSession):
    """Stops when the coordinator does, and raises what the coordinator's threads raised."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        # The error that stopped the coordinator is the reason why a loop over should_stop ends.
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as error:
                if sys.exc_info()[1] is error:
                    tf_logging.info("Error while closing the session: %s", error)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        try:
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        except PREEMPTION_ERRORS:
            raise
        except Exception as error:
            # Where a queue runner failed, its error explains this one.
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception:
                raise error from None
            raise


class RecoverableSession(WrappedSession):
    """Makes a new session where the old one was preempted."""

    def __init__(self, session_creator: SessionMaker) -> None:
        self._session_creator = session_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._session_creator.create_session()
            except PREEMPTION_ERRORS as error:
                tf_logging.info("An error was raised while a session was being created. This may be due to a "
                                "preemption of a connected worker or parameter server. A new session will be created. "
                                "Error: %s", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess is not None and self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            self._recover("An error was raised while considering whether the session is complete.", error)
            return False
        except Exception:
            return True

    def _recover(self, what: str, error: Exception) -> None:
        tf_logging.info("%s This may be due to a preemption in a connected worker or parameter server. The current "
                        "session will be closed and a new session will be created. Error: %s", what, error)
        self.close()
        self._sess = self._create_session()

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return self._sess.run(fetches, feed_dict, options, run_metadata)
            except PREEMPTION_ERRORS as error:
                self._recover("An error was raised.", error)

    def run_step_fn(self, step_fn: Callable[[StepContext], Any], raw_session: Any,
                    run_with_hooks: Callable[..., Any] | None) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return self._sess.run_step_fn(step_fn, raw_session, run_with_hooks=None)
            except PREEMPTION_ERRORS as error:
                self._recover("An error was raised.", error)
