"""The usual hooks, in monitored sessions; log lines and errors as TensorFlow 1.15.5 gives them."""

import logging
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.INFO, "tensorflow")
    logging.getLogger("tensorflow").propagate = True
    return lambda: [re.sub(r"[\d.]+ sec", "N sec", r.getMessage()) for r in caplog.records
                    if not r.getMessage().startswith(("Graph was", "Running local", "Done running"))]


@pytest.fixture
def model() -> dict[str, Any]:
    tf.reset_default_graph()
    x = tf.placeholder_with_default(1.0, [], name="x")
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    loss = tf.square(w * x, name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    yield {"x": x, "w": w, "loss": loss, "step": step, "train": train}
    tf.summary.FileWriterCache.clear()


def test_timer() -> None:
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(0) and timer.last_triggered_step() is None
    assert timer.update_last_triggered_step(4) == (None, None)
    assert [timer.should_trigger_for_step(i) for i in (4, 5, 6, 7)] == [False, False, False, True]
    assert timer.update_last_triggered_step(9)[1] == 5
    timer = tf.train.SecondOrStepTimer(every_secs=0.0)
    timer.update_last_triggered_step(1)
    assert timer.should_trigger_for_step(2) and not timer.should_trigger_for_step(1)
    with pytest.raises(ValueError, match="Either every_secs or every_steps should be provided"):
        tf.train.SecondOrStepTimer()
    with pytest.raises(ValueError, match="Can not provide both"):
        tf.train.SecondOrStepTimer(1, 1)


def test_logging(model: dict[str, Any], log: Any) -> None:
    hooks = [tf.train.LoggingTensorHook({"l": model["loss"], "g": "global_step"}, every_n_iter=2, at_end=True),
             tf.train.LoggingTensorHook(["w"], every_n_iter=2, formatter=lambda v: f"w is {float(v['w'])}")]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(3):
            session.run(model["loss"])
    assert log() == ["g = 0, l = 1.0", "w is 1.0", "g = 0, l = 1.0 (N sec)", "w is 1.0", "g = 0, l = 1.0 (N sec)"]


def test_logging_refuses(model: dict[str, Any]) -> None:
    for arguments in ({}, {"every_n_iter": 1, "every_n_secs": 1}):
        with pytest.raises(ValueError, match="at_end and/or exactly one"):
            tf.train.LoggingTensorHook(["w"], **arguments)
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        tf.train.LoggingTensorHook(["w"], every_n_iter=0)
    with pytest.raises(KeyError, match="'nope', does not exist in the graph"):
        tf.train.LoggingTensorHook(["nope"], 1).begin()
    tf.split(tf.zeros([2]), 2, name="halves")
    with pytest.raises(ValueError, match="Name halves is ambiguous"):
        tf.train.LoggingTensorHook(["halves"], 1).begin()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="should have graph attribute"):
        tf.train.LoggingTensorHook([model["loss"]], 1).begin()


@pytest.mark.parametrize("arguments, expected", [({"num_steps": 3}, 3), ({"last_step": 4}, 4)])
def test_stop_at_step(model: dict[str, Any], arguments: dict[str, int], expected: int) -> None:
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(**arguments)]) as session:
        while not session.should_stop():
            session.run(model["train"])
        assert session.run_step_fn(lambda step_context: step_context.session.run(model["step"])) == expected
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            session.run(model["train"])


def test_hooks_without_a_global_step() -> None:
    tf.reset_default_graph()
    hooks = {
        "StopAtStepHook": tf.train.StopAtStepHook(1), "StepCounterHook": tf.train.StepCounterHook(),
        "SummarySaverHook": tf.train.SummarySaverHook(1, summary_op=1),
        "_GlobalStepWaiterHook": tf.train.GlobalStepWaiterHook(1)}
    for name, hook in hooks.items():
        with pytest.raises(RuntimeError, match=f"Global step should be created to use {name}."):
            hook.begin()


def test_arguments_that_exclude_each_other(tmp_path: Path) -> None:
    for function, text in [
        (lambda: tf.train.StopAtStepHook(), "One of num_steps or last_step must be specified"),
        (lambda: tf.train.StopAtStepHook(1, 1), "Only one of num_steps or last_step"),
        (lambda: tf.train.StepCounterHook(None), "exactly one of every_n_steps and every_n_secs"),
        (lambda: tf.train.SummarySaverHook(1), "Exactly one of scaffold or summary_op"),
        (lambda: tf.train.CheckpointSaverHook(str(tmp_path), 1, saver=1, scaffold=1), "both saver and scaffold"),
        (lambda: tf.train.CheckpointSaverHook(str(tmp_path)), "Either every_secs or every_steps"),
    ]:
        with pytest.raises(ValueError, match=text):
            function()


def test_nan(model: dict[str, Any]) -> None:
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(model["loss"], fail_on_nan_loss=False)]) as session:
        session.run(model["loss"], {model["x"]: np.nan})
        assert session.should_stop()
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training."):
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(model["loss"])]) as session:
            session.run(model["loss"], {model["x"]: np.nan})


def test_feeds_and_final_ops(model: dict[str, Any]) -> None:
    x, loss = model["x"], model["loss"]
    final = tf.train.FinalOpsHook({"loss": loss}, {x: 3.0})
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {x: 5.0}), final]) as session:
        assert session.run(loss) == 25.0
        with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
            session.run(loss, {x: 1.0})
    assert final.final_ops_values == {"loss": 9.0}
    hooks = [tf.train.FeedFnHook(lambda: {x: 5.0}), tf.train.FeedFnHook(lambda: {x: 6.0})]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks"):
            session.run(loss)


def events(folder: Path) -> list[tuple[str, int, Any]]:
    tf.summary.FileWriterCache.clear()
    found = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for e in tf.train.summary_iterator(str(folder / name)):
                found.append((e.WhichOneof("what"), e.step, [v.tag for v in e.summary.value] or e.session_log.status))
    return found


def test_what_a_training_session_writes(model: dict[str, Any], tmp_path: Path, log: Any) -> None:
    tf.summary.scalar("loss", model["loss"])
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_steps=3, save_summaries_steps=2, log_step_count_steps=2,
            hooks=[tf.train.StopAtStepHook(num_steps=5)]) as session:
        while not session.should_stop():
            session.run(model["train"])
    files = sorted(re.sub("tfevents.*", "tfevents", name) for name in os.listdir(tmp_path))
    assert files == ["checkpoint", "events.out.tfevents", "graph.pbtxt"] + [
        f"model.ckpt-{step}.{end}" for step in (0, 3, 5) for end in ("data-00000-of-00001", "index", "meta")]
    assert events(tmp_path) == [
        ("file_version", 0, 0), ("graph_def", 0, 0), ("meta_graph_def", 0, 0), ("graph_def", 0, 0),
        ("meta_graph_def", 0, 0), ("session_log", 0, 3), ("session_log", 1, 1), ("summary", 1, ["loss_1"]),
        ("summary", 3, ["global_step/sec"]), ("summary", 3, ["loss_1"]), ("session_log", 3, 3),
        ("summary", 5, ["global_step/sec"]), ("summary", 5, ["loss_1"]), ("session_log", 5, 3)]
    assert [line for line in log() if line.startswith("Saving")] == [
        f"Saving checkpoints for {step} into {tmp_path}/model.ckpt." for step in (0, 3, 5)]


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("before", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: int) -> bool:
        self.calls.append(("after", int(global_step_value)))
        return global_step_value >= 2

    def end(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("end", int(global_step_value)))


def test_listeners(model: dict[str, Any], tmp_path: Path) -> None:
    listener = Listener()
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, listeners=[listener])
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(model["train"])
    assert listener.calls == ["begin", *[(when, i) for i in range(3) for when in ("before", "after")], ("end", 2)]


def test_savers_of_the_collection(model: dict[str, Any], tmp_path: Path) -> None:
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    with pytest.raises(RuntimeError, match="No items in collection savers"):
        hook._get_saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    with pytest.raises(RuntimeError, match="More than one item in collection savers"):
        hook._get_saver()


def test_a_step_that_does_not_grow(model: dict[str, Any], log: Any) -> None:
    with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(1)]) as session:
        for _ in range(3):
            session.run(model["loss"])
    assert [line for line in log() if line.startswith("It seems that global step")]


def test_global_step_waiter(model: dict[str, Any]) -> None:
    seen = []

    class Other(tf.train.SessionRunHook):
        """Another worker, which trains while this one waits."""

        def after_create_session(self, session: Any, coord: Any) -> None:
            for _ in range(3):
                session.run(model["train"])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_context.session.run(model["step"]))
    with tf.train.MonitoredSession(hooks=[Other(), tf.train.GlobalStepWaiterHook(3)]) as session:
        session.run(model["loss"])
    assert seen == [3]
