"""SessionManager: makes sessions whose variables are initialised, from a checkpoint or by an init op."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.platform import tf_logging
from tfsandbox.runtime.session import Session
from tfsandbox.training import checkpoint_management, chief


class SessionManager:
    """Makes sessions that are ready: initialised, or restored from a checkpoint, or, for a worker, by the chief.

    Args:
      local_init_op: run in every new session, once `ready_for_local_init_op` gives no names.
      ready_op: a tensor with the names of what is not initialised; empty where the session is ready.
      ready_for_local_init_op: the same for the local init op. `ValueError` without a `local_init_op`.
      graph: by default the default graph.
      recovery_wait_secs: how long to wait between two looks.
      local_init_run_options: RunOptions for the local init op.
    """

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None,
                 graph: Graph | None = None, recovery_wait_secs: float = 30,
                 local_init_run_options: Any = None) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             f"ready_for_local_init_op [{ready_for_local_init_op}]")
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph if graph is not None else get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: str | None = None,
                        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None, init_feed_dict: Any = None,
                        init_fn: Callable[[Any], Any] | None = None) -> Session:
        """A session restored from a checkpoint if there is one, else initialised by `init_op` and `init_fn(session)`.

        Raises `RuntimeError` where there is nothing to initialise with, or variables are left without a value.
        """
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        used = f"Init op: {_name(init_op)}, init fn: {init_fn}"
        done, message = self._try_run_local_init_op(session)
        if not done:
            raise RuntimeError(f"Init operations did not make model ready for local_init.  {used}, error: {message}")
        ready, message = self._model_ready(session)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready.  {used}, local_init_op: "
                               f"{_name(self._local_init_op)}, error: {message}")
        return session

    def recover_session(self, master: str, saver: Any = None, checkpoint_dir: str | None = None,
                        checkpoint_filename_with_path: str | None = None, wait_for_checkpoint: bool = False,
                        max_wait_secs: float = 7200, config: Any = None) -> tuple[Session, bool]:
        """(a session, whether it was restored from a checkpoint and is ready)."""
        session, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        done, message = self._try_run_local_init_op(session)
        if not restored:
            return session, False
        place = checkpoint_dir or checkpoint_filename_with_path
        if not done:
            tf_logging.info("Restoring model from %s did not make model ready for local init: %s", place, message)
            return session, False
        ready, message = self._model_ready(session)
        if not ready:
            tf_logging.info("Restoring model from %s did not make model ready: %s", place, message)
            return session, False
        tf_logging.info("Restored model from %s", place)
        return session, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float | None = float("Inf"),
                         unlock_graph: bool = False) -> Session:
        """A session that is ready because the chief initialised its variables.

        It shares the variables of the chief's session on the same graph. Raises `DeadlineExceededError` where it is
        not ready after `max_wait_secs` seconds. `unlock_graph`: the chief may still add nodes meanwhile.
        """
        limit = float("Inf") if max_wait_secs is None else max_wait_secs
        begin = time.monotonic()
        while True:
            seen = chief.announcements()
            session = chief.worker_session(self._graph, config)
            shared = session is not None
            if session is None:
                session = Session(master, graph=self._graph, config=config)
            # What the chief ran need not run again.
            local_message = ready_message = None
            done = False
            if shared:
                done, ready_message = self._model_ready(session)
            if not done:
                done, local_message = self._try_run_local_init_op(session)
                if done:
                    done, ready_message = self._model_ready(session)
            if done:
                return session
            session.close()
            left = limit - (time.monotonic() - begin)
            if left <= 0:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs} secs. It waits for a "
                                "MonitoredTrainingSession with is_chief=True on the same graph, in another thread.")
            tf_logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local_message,
                            ready_message)
            if unlock_graph:
                self._graph._unsafe_unfinalize()
            chief.wait(seen, min(self._recovery_wait_secs, left))
            if unlock_graph:
                self._graph.finalize()

    def _restore_checkpoint(self, master: str, saver: Any, checkpoint_dir: str | None, path: str | None,
                            wait_for_checkpoint: bool, max_wait_secs: float, config: Any) -> tuple[Session, bool]:
        if checkpoint_dir and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        session = Session(master, graph=self._graph, config=config)
        if not saver or not (checkpoint_dir or path):
            return session, False
        if path:
            saver.restore(session, path)
            return session, True
        assert checkpoint_dir
        begin = time.monotonic()
        while True:
            state = checkpoint_management.get_checkpoint_state(checkpoint_dir)
            if state and state.model_checkpoint_path:
                break
            if not wait_for_checkpoint or time.monotonic() - begin >= max_wait_secs:
                return session, False
            tf_logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    def _model_ready(self, session: Session) -> tuple[bool, str | None]:
        return _ready(self._ready_op, session, "Model not ready")

    def _try_run_local_init_op(self, session: Session) -> tuple[bool, str | None]:
        if self._local_init_op is not None:
            ready, message = _ready(self._ready_for_local_init_op, session, "Model not ready for local init")
            if not ready:
                return False, message
            tf_logging.info("Running local_init_op.")
            session.run(self._local_init_op, options=self._local_init_run_options)
            tf_logging.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, session: Session, text: str) -> tuple[bool, str | None]:
    """(whether `op` names nothing that is missing, what it names)."""
    if op is None:
        return True, None
    try:
        value = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            tf_logging.warning("%s : error [%s]", text, error)
            raise
        return False, str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in value)


def _name(value: Any) -> str:
    if value is None or isinstance(value, str):
        return str(value)
    return getattr(value, "name", None) or f"<no name for {type(value)}>"
