"""Supervisor: the older way to train with checkpoints and summaries, in threads beside the training loop."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import errors, meta_graph
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.ops import control_flow_ops, lookup_ops, summary_ops, variables
from tfsandbox.platform import tf_logging
from tfsandbox.runtime.session import Session
from tfsandbox.training import training_scope, training_util
from tfsandbox.training.coordinator import Coordinator, LooperThread
from tfsandbox.training.saver import Saver
from tfsandbox.training.session_manager import SessionManager
from tfsandbox.training.summary_io import FileWriter

__all__ = ["Supervisor", "basic_train_loop"]


class Supervisor:
    """Initialises or restores, and saves checkpoints and summaries every so many seconds.

    What is 0, `USE_DEFAULT`, is found in the graph's collections or made; None is done without. The graph is final
    from then on.

    Args:
      is_chief: False, or a training scope with `is_chief=False` around the call, only waits for the chief.
      logdir: where checkpoints and summaries go; None: nowhere.
      save_summaries_secs, save_model_secs: how often; 0: never.
      init_fn: function of the session, called after `init_op`.
    """

    USE_DEFAULT = 0

    def __init__(self, graph: Graph | None = None, ready_op: Any = 0, ready_for_local_init_op: Any = 0,
                 is_chief: bool = True, init_op: Any = 0, init_feed_dict: dict[Any, Any] | None = None,
                 local_init_op: Any = 0, logdir: str | None = None, summary_op: Any = 0, saver: Any = 0,
                 global_step: Any = 0, save_summaries_secs: float = 120, save_model_secs: float = 600,
                 recovery_wait_secs: float = 30, stop_grace_secs: float = 120, checkpoint_basename: str = "model.ckpt",
                 session_manager: SessionManager | None = None, summary_writer: Any = 0,
                 init_fn: Callable[[Any], Any] | None = None, local_init_run_options: Any = None) -> None:
        self._graph = graph if graph is not None else get_default_graph()
        self._is_chief = is_chief and training_scope.is_chief()
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        with self._graph.as_default():
            self._ready_op = self._found(ready_op, GraphKeys.READY_OP, variables.report_uninitialized_variables)
            self._ready_for_local_init_op = self._found(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP,
                                                        lambda: None)
            self._init_op = self._found(init_op, GraphKeys.INIT_OP, variables.global_variables_initializer)
            self._local_init_op = self._found(local_init_op, GraphKeys.LOCAL_INIT_OP, _default_local_init_op)
            self._saver = self._found(saver, GraphKeys.SAVERS, _default_saver)
            self._summary_op = self._found(summary_op, GraphKeys.SUMMARY_OP, summary_ops.merge_all)
            self._global_step = training_util.get_global_step() if global_step is Supervisor.USE_DEFAULT \
                else global_step
        # A worker saves nothing.
        self._logdir = logdir if self._is_chief else None
        self._save_summaries_secs = save_summaries_secs if self._is_chief else 0
        self._save_model_secs = save_model_secs if self._is_chief else 0
        self._save_path = os.path.join(logdir, checkpoint_basename) if self._logdir and logdir else None
        self._summary_writer = summary_writer
        if summary_writer is Supervisor.USE_DEFAULT:
            self._summary_writer = FileWriter(self._logdir) if self._logdir else None
        self._graph_added_to_summary = False
        self._stop_grace_secs = stop_grace_secs
        self._coord = Coordinator()
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op, graph=self._graph,
            recovery_wait_secs=recovery_wait_secs, local_init_run_options=local_init_run_options)
        self._graph.finalize()

    @staticmethod
    def _found(value: Any, key: str, default: Callable[[], Any]) -> Any:
        """The value; for USE_DEFAULT the first item of a collection, made and entered where it is empty."""
        if value is not Supervisor.USE_DEFAULT:
            return value
        graph = get_default_graph()
        items = graph.get_collection(key)
        if items:
            if len(items) > 1:
                tf_logging.info("Found %d %s operations. Returning the first one.", len(items), key)
            return items[0]
        made = default()
        if made is not None:
            graph.add_to_collection(key, made)
        return made

    is_chief = property(lambda self: self._is_chief)
    session_manager = property(lambda self: self._session_manager)
    coord = property(lambda self: self._coord)
    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    summary_writer = property(lambda self: self._summary_writer)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)
    global_step = property(lambda self: self._global_step)
    save_path = property(lambda self: self._save_path)
    save_summaries_secs = property(lambda self: self._save_summaries_secs)
    save_model_secs = property(lambda self: self._save_model_secs)

    # ------------------------------------------------------------ sessions

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200, start_standard_services: bool = True) -> Session:
        """A session that is ready: initialised or restored by the chief, waited for by a worker."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master, init_op=self._init_op, saver=self._saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                tf_logging.info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            tf_logging.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    PrepareSession = prepare_or_wait_for_session

    @contextlib.contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Session]:
        """Context manager: a ready session; at the end everything stops, and the error of a thread is raised."""
        session = None
        try:
            session = self.prepare_or_wait_for_session(master=master, config=config,
                                                       start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def _write_graph(self) -> None:
        if not self._logdir:
            return
        definition = self._graph.as_graph_def(add_shapes=True)
        meta_graph.write_message(os.path.join(self._logdir, "graph.pbtxt"), definition, as_text=True)
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            self._summary_writer.add_meta_graph(meta_graph.export_scoped_meta_graph(
                graph_def=definition, graph=self._graph, saver_def=saver_def)[0])
            self._graph_added_to_summary = True

    # ------------------------------------------------------------ threads

    def start_standard_services(self, sess: Session) -> list[LooperThread] | None:
        """Start the threads that save; gives them. `RuntimeError` for a worker."""
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")
        if not self._logdir:
            tf_logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        writer = self._summary_writer
        if self._global_step is not None and writer:
            from tfsandbox.proto import event_pb2
            writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.START),
                                   training_util.global_step(sess, self._global_step))
        threads: list[LooperThread] = []
        if self._save_summaries_secs and writer:
            if self._summary_op is not None:
                threads.append(_SummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(_StepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(_CheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(self, sess: Session, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """Start the queue runners, by default those of the graph; gives their threads."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = None,
             kwargs: Any = None) -> LooperThread:
        """Call a function every so many seconds in a thread of its own; gives the thread."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args=args, kwargs=kwargs)

    def stop(self, threads: Sequence[Any] | None = None, close_summary_writer: bool = True,
             ignore_live_threads: bool = False) -> None:
        """Stop all threads and wait for them. Raises the error that one of them reported."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs,
                             ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                from tfsandbox.proto import event_pb2
                self._summary_writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; the error is raised by `stop`."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """Context manager: an exception of the block stops the threads."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Session, summary: Any, global_step: Any = None) -> None:
        """Write a summary; `RuntimeError` without a summary writer."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = training_util.global_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    StartStandardServices = start_standard_services
    StartQueueRunners = start_queue_runners
    Loop = loop
    Stop = stop
    RequestStop = request_stop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _default_local_init_op() -> Any:
    return control_flow_ops.group(variables.local_variables_initializer(), lookup_ops.tables_initializer())


def _default_saver() -> Saver | None:
    return Saver() if variables.global_variables() else None


class _ServiceThread(LooperThread):
    """A thread that does something with the session every so many seconds."""

    def __init__(self, supervisor: Supervisor, session: Session, secs: float) -> None:
        super().__init__(supervisor.coord, secs)
        self._supervisor, self._session = supervisor, session


class _SummaryThread(_ServiceThread):
    """Writes the summaries."""

    def __init__(self, supervisor: Supervisor, session: Session) -> None:
        super().__init__(supervisor, session, supervisor.save_summaries_secs)

    def run_loop(self) -> None:
        summary, step = self._session.run(self._supervisor.summary_op), None
        if self._supervisor.global_step is not None:
            step = training_util.global_step(self._session, self._supervisor.global_step)
        self._supervisor.summary_writer.add_summary(summary, step)


class _StepCounterThread(_ServiceThread):
    """Writes the steps per second."""

    def __init__(self, supervisor: Supervisor, session: Session) -> None:
        super().__init__(supervisor, session, supervisor.save_summaries_secs)
        self._tag = f"{supervisor.global_step.op.name}/sec"

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = training_util.global_step(self._session, self._supervisor.global_step)

    def run_loop(self) -> None:
        from tfsandbox.proto import summary_pb2
        step, now = training_util.global_step(self._session, self._supervisor.global_step), time.time()
        elapsed = now - self._last_time
        rate = (step - self._last_step) / elapsed if elapsed > 0 else float("inf")
        self._last_time, self._last_step = now, step
        value = summary_pb2.Summary.Value(tag=self._tag, simple_value=rate)
        self._supervisor.summary_writer.add_summary(summary_pb2.Summary(value=[value]), step)
        tf_logging.log_first_n(tf_logging.INFO, "%s: %g", 10, self._tag, rate)


class _CheckpointThread(_ServiceThread):
    """Saves checkpoints."""

    def __init__(self, supervisor: Supervisor, session: Session) -> None:
        super().__init__(supervisor, session, supervisor.save_model_secs)

    def run_loop(self) -> None:
        supervisor = self._supervisor
        tf_logging.info("Saving checkpoint to path %s", supervisor.save_path)
        supervisor.saver.save(self._session, supervisor.save_path, global_step=supervisor.global_step)
        if supervisor.summary_writer and supervisor.global_step is not None:
            from tfsandbox.proto import event_pb2
            log = event_pb2.SessionLog(status=event_pb2.SessionLog.CHECKPOINT, checkpoint_path=supervisor.save_path)
            supervisor.summary_writer.add_session_log(
                log, training_util.global_step(self._session, supervisor.global_step))


def basic_train_loop(supervisor: Supervisor, train_step_fn: Callable[..., Any], args: Sequence[Any] | None = None,
                     kwargs: dict[str, Any] | None = None, master: str = "") -> None:
    """Call `train_step_fn(session, *args, **kwargs)` until the supervisor stops; anew after an AbortedError."""
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            tf_logging.info("The session was aborted; a new one begins.")
