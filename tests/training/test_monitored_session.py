"""Monitored sessions: how they start, run hooks, recover and end; outcomes as TensorFlow 1.15.5 has them."""

import threading
from pathlib import Path
from typing import Any

import pytest

import tfsandbox as tf
from tfsandbox.training.training_scope import training_scope


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


class Recorder(tf.train.SessionRunHook):
    def __init__(self, name: str, calls: list[Any], args: Any = None) -> None:
        self.name, self.calls, self.args = name, calls, args

    def begin(self) -> None:
        self.calls.append((self.name, "begin", tf.get_default_graph().finalized))

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append((self.name, "created", type(session) is tf.Session and not coord.should_stop()))

    def before_run(self, run_context: Any) -> Any:
        self.calls.append((self.name, "before", run_context.original_args.feed_dict))
        return self.args

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append((self.name, "after", run_values.results))

    def end(self, session: Any) -> None:
        self.calls.append((self.name, "end", session is not None))


def test_order_of_calls(model: dict[str, Any]) -> None:
    calls: list[Any] = []
    hooks = [Recorder("a", calls, tf.train.SessionRunArgs({"l": [model["loss"]]})),
             Recorder("b", calls, tf.train.SessionRunArgs(None, {"x:0": 2.0}))]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        assert session.graph is tf.get_default_graph() and session.graph.finalized
        assert session.run(model["loss"]) == 4.0
    assert not tf.get_default_graph().finalized
    assert calls == [("a", "begin", False), ("b", "begin", False), ("a", "created", True), ("b", "created", True),
                     ("a", "before", None), ("b", "before", None), ("a", "after", {"l": [4.0]}), ("b", "after", None),
                     ("a", "end", True), ("b", "end", True)]


def test_a_closed_session(model: dict[str, Any]) -> None:
    session = tf.train.MonitoredSession()
    session.run(model["train"])
    session.close()
    assert session.should_stop() and session.graph is None and session._is_closed()
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.run(model["train"])
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.close()


@pytest.mark.parametrize("error, leaves", [
    (ValueError("body"), True), (tf.errors.OutOfRangeError(None, None, "end"), False), (StopIteration(), False)])
def test_how_a_block_ends(model: dict[str, Any], error: Exception, leaves: bool) -> None:
    calls: list[Any] = []

    def block() -> None:
        with tf.train.MonitoredSession(hooks=[Recorder("a", calls)]):
            raise error
    if leaves:
        with pytest.raises(ValueError, match="body"):
            block()
    else:
        block()
    assert (("a", "end", True) in calls) != leaves


def test_step_functions(model: dict[str, Any]) -> None:
    calls: list[Any] = []

    class Trainer:
        def step(self, step_context: Any) -> Any:
            return step_context.session.run(model["loss"])
    with tf.train.MonitoredSession(hooks=[Recorder("a", calls)]) as session:
        del calls[:]
        assert session.run_step_fn(Trainer().step) == 1.0 and not calls
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(model["loss"])) == 1.0 and calls
        with pytest.raises(ValueError, match=r"`step_fn` may either have one `step_context` argument.*Got \('c',\)"):
            session.run_step_fn(lambda c: 1)
        session.run_step_fn(lambda step_context: step_context.request_stop())
        raise AssertionError("request_stop leaves the block")


def test_recovery(model: dict[str, Any]) -> None:
    class Preempted(tf.train.SessionRunHook):
        runs = sessions = 0

        def after_create_session(self, session: Any, coord: Any) -> None:
            self.sessions += 1

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.runs += 1
            if self.runs == 2:
                raise tf.errors.AbortedError(None, None, "preempted")
    hook = Preempted()
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(2):
            session.run(model["train"])
        # The second run was made again, in a session that began anew.
        assert session.run(model["step"]) == 1 and hook.sessions == 2
    hook = Preempted()
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(model["train"])
        with pytest.raises(tf.errors.AbortedError):
            session.run(model["train"])


def test_checkpoints_are_continued(model: dict[str, Any], tmp_path: Path) -> None:
    for expected in (3, 6):
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path),
                                               hooks=[tf.train.StopAtStepHook(num_steps=3)]) as session:
            while not session.should_stop():
                session.run(model["train"])
        assert tf.train.latest_checkpoint(str(tmp_path)).endswith(f"model.ckpt-{expected}")
    path = tf.train.latest_checkpoint(str(tmp_path))
    with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path) as session:
        assert session.run(model["step"]) == 6 and isinstance(session.raw_session(), tf.Session)
    with pytest.raises(ValueError, match="Can not provide both checkpoint_dir and checkpoint_filename_with_path"):
        tf.train.SingularMonitoredSession(checkpoint_dir=str(tmp_path), checkpoint_filename_with_path=path)


def test_scaffold(model: dict[str, Any]) -> None:
    seen = []
    scaffold = tf.train.Scaffold(init_fn=lambda given, session: seen.append((given, session.run(model["w"]))))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)):
        assert seen == [(scaffold, 1.0)]
        assert scaffold.init_op is tf.get_collection(tf.GraphKeys.INIT_OP)[0]
        assert scaffold.saver is tf.get_collection(tf.GraphKeys.SAVERS)[0]
        assert scaffold.summary_op is None and scaffold.init_feed_dict is None
    copied = tf.train.Scaffold(init_op=model["train"], copy_from_scaffold=scaffold)
    assert copied.init_op is model["train"] and copied.ready_op is scaffold.ready_op
    with pytest.raises(TypeError, match="copy_from_scaffold is not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=3)


def test_collections_with_several_items(model: dict[str, Any]) -> None:
    for key, text in [(tf.GraphKeys.SAVERS, "More than one item in collection savers"),
                      (tf.GraphKeys.INIT_OP, 'More than one item in the collection "init_op"')]:
        tf.get_collection_ref(key).extend([1, 2])
        with pytest.raises(RuntimeError, match=text):
            tf.train.Scaffold().finalize()


def test_init_ops_that_leave_variables_out(model: dict[str, Any]) -> None:
    nothing = tf.no_op()
    with pytest.raises(RuntimeError, match="did not make model ready for local_init.  Init op: NoOp, init fn: None, "
                                           "error: Variables not initialized: w, global_step"):
        tf.train.MonitoredSession(tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=nothing)))


def test_session_manager(model: dict[str, Any], tmp_path: Path) -> None:
    missing = tf.report_uninitialized_variables()
    init = tf.global_variables_initializer()
    manager = tf.train.SessionManager(ready_op=missing)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager.prepare_session("")
    with pytest.raises(RuntimeError, match="did not make model ready.  Init op: NoOp"):
        manager.prepare_session("", init_op=tf.no_op())
    with manager.prepare_session("", init_op=init) as session:
        assert session.run(model["step"]) == 0
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    assert manager.recover_session("")[1] is False
    assert manager.recover_session("", saver=tf.train.Saver(), checkpoint_dir=str(tmp_path))[1] is True
    partly = tf.train.Saver([model["w"]])
    assert manager.recover_session("", saver=partly, checkpoint_filename_with_path=path)[1] is False
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        tf.train.SessionManager(ready_for_local_init_op=missing)


def test_a_worker_without_a_chief(model: dict[str, Any]) -> None:
    for worker in (lambda: tf.train.MonitoredTrainingSession(is_chief=False, max_wait_secs=0.05),
                   lambda: tf.train.SessionManager(ready_op=tf.report_uninitialized_variables()).wait_for_session(
                       "", max_wait_secs=0)):
        with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting"):
            worker()
        tf.get_default_graph()._unsafe_unfinalize()


def test_a_worker_waits_for_the_chief(model: dict[str, Any], tmp_path: Path) -> None:
    """In a training scope with is_chief=False the session begins when the chief's does, on the chief's variables."""
    graph = tf.get_default_graph()
    order: list[str] = []
    results: dict[str, Any] = {}

    def work() -> None:
        with graph.as_default(), training_scope(is_chief=False):
            order.append("worker waits")
            folder = str(tmp_path / "worker")
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, max_wait_secs=10) as session:
                order.append("worker runs")
                results["before"] = session.run(model["w"])
                session.run(model["train"])
            order.append("worker ends")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(0.2)
    assert order == ["worker waits"]
    order.append("chief")
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path / "chief")) as session:
        thread.join(10)
        assert session.run(model["step"]) == 1
        assert session.run(model["w"]) == pytest.approx(0.8)
    assert order == ["worker waits", "chief", "worker runs", "worker ends"]
    assert results["before"] == 1.0
    assert (tmp_path / "chief" / "checkpoint").exists() and not (tmp_path / "worker").exists()


def test_hooks_that_save_are_silent_in_a_scope_that_is_not_the_chiefs(model: dict[str, Any], tmp_path: Path) -> None:
    tf.summary.scalar("loss", model["loss"])
    scaffold = tf.train.Scaffold()
    hooks = [tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, scaffold=scaffold),
             tf.train.SummarySaverHook(1, output_dir=str(tmp_path), scaffold=scaffold)]
    with training_scope(is_chief=False):
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks) as session:
            session.run(model["train"])
    assert list(tmp_path.iterdir()) == []
