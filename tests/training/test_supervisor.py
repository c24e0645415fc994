"""Supervisor: nodes, services and endings as in TensorFlow 1.15.5."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

import tfsandbox as tf
from tfsandbox.training.training_scope import training_scope


@pytest.fixture
def increment() -> Any:
    tf.reset_default_graph()
    x = tf.Variable(1.0, name="x")
    increment = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    tf.summary.scalar("value", x)
    return increment


def wait_for(condition: Any) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def test_services(increment: Any, tmp_path: Path) -> None:
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0.05, save_summaries_secs=0.05)
    assert tf.get_default_graph().finalized and supervisor.is_chief
    assert supervisor.init_op.name == "init" and supervisor.summary_op.name == "Merge/MergeSummary:0"
    with supervisor.managed_session() as session:
        for _ in range(3):
            assert not supervisor.should_stop()
            session.run(increment)
        wait_for((tmp_path / "model.ckpt-3.index").exists)
    assert (tmp_path / "graph.pbtxt").exists()
    name, = (n for n in os.listdir(tmp_path) if "tfevents" in n)
    events = list(tf.train.summary_iterator(str(tmp_path / name)))
    kinds = [e.WhichOneof("what") for e in events]
    assert kinds[:3] == ["file_version", "graph_def", "meta_graph_def"]
    tags = {v.tag for e in events for v in e.summary.value}
    assert tags == {"value", "global_step/sec"}
    logs = [e.session_log.status for e in events if e.HasField("session_log")]
    assert logs[0] == tf.SessionLog.START and logs[-1] == tf.SessionLog.STOP and tf.SessionLog.CHECKPOINT in logs


def test_a_second_one_continues(increment: Any, tmp_path: Path) -> None:
    for expected in (1, 2):
        supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
        with supervisor.managed_session() as session:
            assert session.run(increment) == expected
            supervisor.saver.save(session, supervisor.save_path, global_step=supervisor.global_step)
            supervisor.summary_computed(session, session.run(supervisor.summary_op))
        tf.get_default_graph()._unsafe_unfinalize()


def test_errors_leave_the_block(increment: Any) -> None:
    supervisor = tf.train.Supervisor(logdir=None)
    with pytest.raises(ValueError, match="body"):
        with supervisor.managed_session():
            raise ValueError("body")
    with supervisor.managed_session():
        raise tf.errors.OutOfRangeError(None, None, "the end of the input is no failure")
    with pytest.raises(KeyError):
        with supervisor.managed_session() as session:
            supervisor.loop(None, lambda: {}["missing"])
            supervisor.wait_for_stop()
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        supervisor.summary_computed(session, b"")


def test_a_worker_waits_and_saves_nothing(increment: Any, tmp_path: Path) -> None:
    with training_scope(is_chief=False):
        supervisor = tf.train.Supervisor(logdir=str(tmp_path))
    assert not supervisor.is_chief and supervisor.save_path is None and supervisor.summary_writer is None
    with pytest.raises(RuntimeError, match="Only chief supervisor can start standard services"):
        supervisor.start_standard_services(None)
    with pytest.raises(tf.errors.DeadlineExceededError):
        supervisor.prepare_or_wait_for_session(max_wait_secs=0)
    assert list(tmp_path.iterdir()) == []


def test_basic_train_loop(increment: Any) -> None:
    supervisor = tf.train.Supervisor(logdir=None)
    calls = []

    def step(session: Any, limit: int) -> None:
        calls.append(session.run(increment))
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "preempted")
        if calls[-1] == limit:
            supervisor.request_stop()
    tf.train.basic_train_loop(supervisor, step, [3])
    assert calls == [1, 2, 1, 2, 3]


def test_given_operations(increment: Any) -> None:
    seen = []
    supervisor = tf.train.Supervisor(summary_op=None, saver=None, ready_op=None, init_fn=lambda s: seen.append(s))
    assert supervisor.summary_op is None and supervisor.saver is None and supervisor.ready_op is None
    with supervisor.managed_session() as session:
        assert seen == [session]
