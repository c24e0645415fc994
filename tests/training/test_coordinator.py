"""Coordinator, LooperThread, QueueRunner."""

import sys
import threading
import time
from typing import Any

import pytest

import tfsandbox as tf


def test_stop_and_join() -> None:
    coord = tf.train.Coordinator()
    assert not coord.should_stop() and not coord.wait_for_stop(0.01)
    thread = threading.Thread(target=coord.wait_for_stop)
    thread.start()
    coord.request_stop()
    coord.join([thread])
    assert coord.should_stop() and coord.joined
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined


def test_errors_of_threads_are_raised_by_join() -> None:
    coord = tf.train.Coordinator()

    def work() -> None:
        with coord.stop_on_exception():
            raise KeyError("in a thread")
    thread = threading.Thread(target=work)
    coord.register_thread(thread)
    thread.start()
    with pytest.raises(KeyError, match="in a thread"):
        coord.join()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))


def test_the_first_error_counts() -> None:
    coord = tf.train.Coordinator()
    try:
        raise ValueError("first")
    except ValueError:
        coord.request_stop(sys.exc_info())
    coord.request_stop(KeyError("second"))
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    with pytest.raises(ValueError, match="first"):
        coord.join()


def test_clean_stops() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join()
    coord = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    coord.request_stop(KeyError("fine"))
    coord.join()
    coord = tf.train.Coordinator(clean_stop_exception_types=[])
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    with pytest.raises(tf.errors.OutOfRangeError):
        coord.join()
    with pytest.raises(TypeError, match="takes an exception"):
        tf.train.Coordinator().request_stop("text")


def test_threads_that_do_not_stop() -> None:
    coord = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, args=(5,), name="slow", daemon=True)
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running: slow"):
        coord.join([thread], stop_grace_period_secs=0.05)
    coord.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    release.set()


def test_looper() -> None:
    coord = tf.train.Coordinator()
    calls = []

    def work(number: int, step: int = 1) -> None:
        calls.append(number * step)
        if len(calls) == 3:
            coord.request_stop()
    thread = tf.train.LooperThread.loop(coord, 0.001, work, args=(2,), kwargs={"step": 5})
    coord.join()
    assert calls == [10, 10, 10] and thread.daemon
    with pytest.raises(ValueError, match="'coord' argument must be a Coordinator"):
        tf.train.LooperThread(3, 1)
    coord = tf.train.Coordinator()
    tf.train.LooperThread.loop(coord, None, lambda: {}["missing"])
    with pytest.raises(KeyError):
        coord.join()


class Queue:
    """As much of a queue as a QueueRunner uses."""

    name = "queue"

    def __init__(self) -> None:
        self.closed: list[bool] = []

    def close(self, cancel_pending_enqueues: bool = False) -> Any:
        return tf.py_func(lambda: self.closed.append(cancel_pending_enqueues), [], [])


def test_queue_runner_runs_until_the_end() -> None:
    tf.reset_default_graph()
    queue, runs = Queue(), []

    def enqueue() -> None:
        runs.append(1)
        if len(runs) > 5:
            raise StopIteration  # becomes OutOfRangeError
        time.sleep(0.001)
    runner = tf.train.QueueRunner(queue, [tf.py_func(enqueue, [], [])])
    tf.train.add_queue_runner(runner)
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session, coord)
        threads[0].join(5)
        coord.request_stop()
        coord.join(threads)
    assert len(runs) == 6 and sorted(queue.closed) == [False, True]


def test_queue_runner_reports_errors() -> None:
    tf.reset_default_graph()
    runner = tf.train.QueueRunner(Queue(), [tf.py_func(lambda: {}["missing"], [], [])])
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        runner.create_threads(session, coord, daemon=True, start=True)
        with pytest.raises(tf.errors.UnknownError, match="missing"):
            coord.join()


def test_starting_queue_runners() -> None:
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with tf.Session() as session:
        assert tf.train.start_queue_runners() == []
        assert tf.train.start_queue_runners(session) == []
    with pytest.raises(TypeError, match="sess must be a `tf.Session` object"):
        tf.train.start_queue_runners(3)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner()
    with tf.train.MonitoredSession() as monitored:
        assert tf.train.start_queue_runners(monitored) == []
