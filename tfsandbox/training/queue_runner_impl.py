"""QueueRunner: threads that keep a queue filled."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import errors, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.stacks import default_session
from tfsandbox.platform import tf_logging
from tfsandbox.runtime.session import BaseSession
from tfsandbox.training.coordinator import Coordinator


class QueueRunner:
    """Runs each of `enqueue_ops` in a thread of its own until the coordinator stops or the queue is closed.

    `close_op` and `cancel_op` close the queue, by default made from `queue`; `queue_closed_exception_types` are the
    errors that say that it is closed.
    """

    def __init__(self, queue: Any = None, enqueue_ops: Sequence[Any] | None = None, close_op: Any = None,
                 cancel_op: Any = None, queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
                 queue_runner_def: Any = None, import_scope: str | None = None) -> None:
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._take_from_graph(queue_runner_def, import_scope)
        else:
            if not queue or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            self._queue, self._enqueue_ops = queue, list(enqueue_ops)
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
            types: Any = queue_closed_exception_types or (errors.OutOfRangeError,)
            if not isinstance(types, tuple) or not all(isinstance(t, type) and issubclass(t, errors.OpError)
                                                       for t in types):
                raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
                                f"saw: {types}")
            self._queue_closed_exception_types: tuple[Any, ...] = (*types, errors.CancelledError)
        self._lock = threading.Lock()
        self._runs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Any] = []

    @property
    def queue(self) -> Any:
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[Any, ...]:
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[Any]:
        """What threads without a coordinator raised."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The queue's name."""
        return self._queue.name

    def create_threads(self, sess: Any, coord: Coordinator | None = None, daemon: bool = False,
                       start: bool = False) -> list[threading.Thread]:
        """The threads of this session: one an enqueue op, and one that cancels the queue when the coordinator stops.

        None where threads for the session are running already.
        """
        with self._lock:
            if self._runs.get(sess):
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-"
                                    f"{getattr(op, 'name', op)}") for op in self._enqueue_ops]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, self._cancel_op, coord),
                                            name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Coordinator | None = None) -> None:
        running = True
        try:
            while not (coord and coord.should_stop()):
                try:
                    sess.run(enqueue_op)
                except self._queue_closed_exception_types:
                    with self._lock:
                        self._runs[sess] -= 1
                        running = False
                        last = self._runs[sess] == 0
                    if last:
                        try:
                            sess.run(self._close_op)
                        except Exception as error:
                            tf_logging.vlog(1, "Ignored exception: %s", error)
                    return
        except Exception as error:
            if not coord:
                tf_logging.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
            coord.request_stop(error)
        finally:
            if running:
                with self._lock:
                    self._runs[sess] -= 1

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        try:
            sess.run(cancel_op)
        except Exception as error:
            tf_logging.vlog(1, "Ignored exception: %s", error)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The QueueRunnerDef message; None for a queue outside `export_scope`."""
        from tfsandbox.proto import queue_runner_pb2
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = queue_runner_pb2.QueueRunnerDef(
            queue_name=ops.strip_name_scope(self.name, export_scope),
            close_op_name=ops.strip_name_scope(self._close_op.name, export_scope),
            cancel_op_name=ops.strip_name_scope(self._cancel_op.name, export_scope))
        message.enqueue_op_name.extend(ops.strip_name_scope(op.name, export_scope) for op in self._enqueue_ops)
        message.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(t) for t in self._queue_closed_exception_types)
        return message

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The queue runner of nodes that are in the default graph already."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    def _take_from_graph(self, message: Any, scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(ops.prepend_name_scope(name, scope))
        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op, self._cancel_op = element(message.close_op_name), element(message.cancel_op_name)
        found = tuple(errors.exception_type_from_error_code(code) for code in message.queue_closed_exception_types)
        self._queue_closed_exception_types = found or (errors.OutOfRangeError, errors.CancelledError)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Enter a queue runner into a collection, from which `start_queue_runners` starts it."""
    ops.add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Coordinator | None = None, daemon: bool = True, start: bool = True,
                        collection: str = GraphKeys.QUEUE_RUNNERS) -> list[threading.Thread]:
    """Start the threads of all queue runners of a collection in the given or the default session; gives the threads.

    Raises `ValueError` without a session, `TypeError` for something that is none.
    """
    if sess is None:
        sess = default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    from tfsandbox.training.monitored_session import _MonitoredSession
    if not isinstance(sess, BaseSession):
        # Code written for a plain session passes the monitored one, which has started its own queue runners.
        if isinstance(sess, _MonitoredSession):
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = ops.get_collection(collection)
        if not runners:
            tf_logging.warning("`tf.train.start_queue_runners()` was called when no queue runners were defined. You "
                               "can safely remove the call to this deprecated function.")
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]


def _message_type() -> Any:
    from tfsandbox.proto import queue_runner_pb2
    return queue_runner_pb2.QueueRunnerDef


ops.register_proto_function(GraphKeys.QUEUE_RUNNERS, proto_type=_message_type, to_proto=QueueRunner.to_proto,
                            from_proto=QueueRunner.from_proto)
