"""Evaluation of checkpoints, and the small tools of slim and framework."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf

training, slim, framework = tf.contrib.training, tf.contrib.slim, tf.contrib.framework


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with a checkpoint of w = 5 at step 3."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", [], initializer=tf.constant_initializer(5.0))
        step = tf.train.get_or_create_global_step()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step.assign(3))
            tf.train.Saver([w, step]).save(sess, str(tmp_path / "model"), global_step=3)
    return str(tmp_path)


def counted() -> tuple[Any, Any]:
    """(c, c += w)."""
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    tf.train.get_or_create_global_step()
    tf.summary.scalar("w", w)
    c = tf.get_local_variable("c", [], initializer=tf.zeros_initializer())
    return c, tf.assign_add(c, w)


def test_evaluate_once(folder: str) -> None:
    c, update = counted()
    values = training.evaluate_once(f"{folder}/model-3", eval_ops=update, final_ops={"c": c},
                                    hooks=[training.StopAfterNEvalsHook(3)])
    assert values == {"c": 15.0}
    assert [v.op.name for v in tf.local_variables()] == ["c", "eval_step"]
    assert training.get_or_create_eval_step() is tf.get_collection("eval_step")[0]


def test_evaluate_without_ops(folder: str) -> None:
    counted()
    assert training.evaluate_once(f"{folder}/model-3", final_ops=tf.global_variables()[0]) == 5.0


def test_evaluate_repeatedly(folder: str, tmp_path: Path) -> None:
    c, update = counted()
    logs = tmp_path / "logs"
    value = training.evaluate_repeatedly(
        folder, eval_ops=[update], final_ops=c, max_number_of_evaluations=1,
        hooks=[training.StopAfterNEvalsHook(2), training.SummaryAtEndHook(str(logs))])
    assert value == 10.0
    event, = (e for path in logs.iterdir() for e in tf.train.summary_iterator(str(path)) if e.summary.value)
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (3, "w_1", 5.0)


def test_evaluate_repeatedly_waits_no_longer_than_asked(tmp_path: Path) -> None:
    c, update = counted()
    assert training.evaluate_repeatedly(str(tmp_path), eval_ops=update, final_ops=c, timeout=0) is None
    with pytest.raises(ValueError, match="One of log_dir or summary_writer should be used."):
        training.SummaryAtEndHook()


def test_slim_evaluation(folder: str, tmp_path: Path) -> None:
    c, update = counted()
    assert slim.evaluation.evaluate_once("", f"{folder}/model-3", str(tmp_path / "logs"), num_evals=4,
                                         eval_op=update, final_op=c) == 20.0


def test_slim_evaluation_loop(folder: str, tmp_path: Path) -> None:
    c, update = counted()
    seen: list[Any] = []
    assert slim.evaluation.evaluation_loop("", folder, str(tmp_path / "logs"), num_evals=2, eval_op=update, final_op=c,
                                           max_number_of_evaluations=1, summary_op=None,
                                           init_fn=seen.append) == 10.0


def test_model_analyzer(capsys: Any) -> None:
    slim.fully_connected(tf.ones([2, 3]), 4)
    assert slim.model_analyzer.analyze_vars(tf.model_variables(), print_info=True) == (16, 64)
    printed = capsys.readouterr().out
    assert "fully_connected/weights:0 (float32_ref 3x4) [12, bytes: 48]" in printed
    assert "Total size of variables: 16" in printed
    assert slim.model_analyzer.analyze_ops(tf.get_default_graph()) > 0


def test_py_func_with_nested_arguments() -> None:
    def function(a: Any, *, b: dict[str, Any]) -> Any:
        return {"sum": a[0] + b["x"], "twice": (2.0 * a[1]).astype("float32")}

    one = tf.constant([1.0])
    results = framework.py_func(function, [[one, 2.0 * one]], {"b": {"x": one}},
                                output_types={"sum": tf.float32, "twice": tf.float32})
    nothing = framework.py_func(lambda: None)
    with tf.Session() as sess:
        values = sess.run(results)
        assert (values["sum"].tolist(), values["twice"].tolist()) == ([2.0], [4.0])
        sess.run(nothing)
    shaped = framework.py_func(lambda x: x, [one], output_types=tf.float32, output_shapes=[1])
    assert shaped.shape.as_list() == [1]
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(np.sin, one)


def test_deprecated(monkeypatch: Any) -> None:
    from tfsandbox.platform import tf_logging
    from tfsandbox.util import deprecation

    said: list[str] = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *args: said.append(text % args))

    @framework.deprecated("2030-01-01", "Use new.")
    def old(x: int = 1) -> int:
        """Doc."""
        return x

    @framework.deprecated_args(None, "Give no y.", "y")
    def half_old(x: int, y: Any = None) -> int:
        return x

    assert old() == 1 and old(2) == 2 and half_old(3) == 3
    assert len(said) == 1 and "is deprecated and will be removed after 2030-01-01." in said[0]
    assert old.__doc__ is not None and old.__doc__.startswith("Doc. (deprecated)\n\nWarning: THIS FUNCTION IS")
    half_old(3, y=4)
    assert len(said) == 2
    monkeypatch.setattr(deprecation, "_PRINT_DEPRECATION_WARNINGS", False)
    framework.deprecated_arg_values(None, "No x of 1.", x=1)(old)(x=1)
    assert len(said) == 2
    with pytest.raises(ValueError):
        framework.deprecated(None, "")
