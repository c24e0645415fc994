"""Hooks: what is called before and after every run of a monitored session."""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What to run: fetches of any structure, feeds, and RunOptions."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run gave: results in the structure of the fetches, the RunOptions and the RunMetadata."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """What hooks are told about a run; through it they ask to stop."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args, self._session = original_args, session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What `session.run` was asked for."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session that runs, without hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Ask to stop: `should_stop` of the monitored session is True after this run."""
        self._stop_requested = True


class SessionRunHook:
    """Base class of hooks. None of the methods has to be defined."""

    def begin(self) -> None:
        """Called once, before the session is made: the graph may be changed for the last time."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session is new: at the start, and after a recovery. The graph is finalized."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; gives fetches and feeds to add to it, or None."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail, with the values that `before_run` asked for."""

    def end(self, session: Any) -> None:
        """Called at the end, unless an error ended the session."""
