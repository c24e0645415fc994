"""Scopes hold for their own thread, and none outlives an interrupt."""

from __future__ import annotations

import gc
import threading

import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_thread_is_in_a_name_scope_of_its_own(graph: tf.Graph) -> None:
    names: list[str] = []

    def build() -> None:
        with graph.as_default():
            names.append(tf.constant(1.0, name="c").name)
    with tf.name_scope("a"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        names.append(tf.constant(1.0, name="c").name)
    assert names == ["c:0", "a/c:0"]


def test_scopes_left_open_do_not_come_back(graph: tf.Graph) -> None:
    """An interrupt may leave a scope between its two ends. When it is collected nothing may happen any more."""
    with graph.name_scope("outer"):
        left_open = [graph.name_scope("inner"), tf.name_scope("inner"), graph.as_default(), tf.Session().as_default()]
        for scope in left_open:
            scope.__enter__()
        tf.get_default_session()
    with graph.name_scope("next"):
        left_open.clear()
        gc.collect()
        assert graph.get_name_scope() == "next" and tf.get_default_graph() is graph
    assert graph.get_name_scope() == ""


def test_scopes_are_decorators_too(graph: tf.Graph) -> None:
    @graph.name_scope("f")
    def f() -> tf.Tensor:
        return tf.constant(1.0, name="c")
    assert [f().name, f().name] == ["f/c:0", "f_1/c:0"]
