"""tf.print writes what TensorFlow writes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfsandbox as tf

CASES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: tf.print("a", x), "a [1 2]\n"),
    (lambda x: tf.print(), "\n"),
    (lambda x: tf.print(tf.constant("str")), "str\n"),
    (lambda x: tf.print(tf.constant(["p", "q"])), '["p" "q"]\n'),
    (lambda x: tf.print({"b": x, "a": 3}, [x, "t"], (1, 2.5)), "{'a': 3, 'b': [1 2]} [[1 2], 't'] (1, 2.5)\n"),
    (lambda x: tf.print("curly {} here", x), "curly {} here [1 2]\n"),
    (lambda x: tf.print("v", tf.SparseTensor([[0]], [1], [2])),
     "v 'SparseTensor(indices=[[0]], values=[1], shape=[2])'\n"),
    (lambda x: tf.print(x, "s", sep="--", end="!"), "[1 2]--s!"),
    (lambda x: tf.print(tf.constant(3), tf.constant(True), None), "3 1 None\n"),
    (lambda x: tf.print(tf.range(9), summarize=2), "[0 1 ... 7 8]\n"),
    (lambda x: tf.print(x, output_stream=tf.logging.error), "ERROR:tensorflow:[1 2]\n"),
]


@pytest.mark.parametrize("build, wanted", CASES)
def test_text_is_tensorflows(build: Callable[[Any], Any], wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(build(tf.constant([1.0, 2.0])))
    assert capsys.readouterr().err == wanted


def test_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.print(1, output_stream=sys.stdout))
        to_file = tf.print(2, output_stream=f"file://{tmp_path}/printed")
        sess.run(to_file)
        sess.run(to_file)
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print(3, output_stream="nowhere")
        with pytest.raises(ValueError, match="Unrecognized keyword arguments for tf.print: {'loud': True}"):
            tf.print(4, loud=True)
    assert capsys.readouterr().out == "1\n"
    assert (tmp_path / "printed").read_text() == "2\n2\n"
