"""Event files: what FileWriter writes, summary_iterator reads; outcomes as recorded with TensorFlow 1.15.5."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.training.training_scope import training_scope


@pytest.fixture(autouse=True)
def new_graph() -> None:
    tf.reset_default_graph()
    yield
    tf.summary.FileWriterCache.clear()


def events(folder: Path) -> list:
    found = []
    for name in sorted(os.listdir(folder)):
        found += tf.train.summary_iterator(str(folder / name))
    return found


def kinds(folder: Path) -> list[str]:
    return [event.WhichOneof("what") for event in events(folder)]


def simple(value: float) -> "tf.Summary":
    return tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=value)])


def test_name_version_and_order(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    writer = tf.summary.FileWriter(str(folder), filename_suffix=".end")
    name, = os.listdir(folder)
    assert name.startswith("events.out.tfevents.") and name.endswith(".end")
    assert events(folder)[0].file_version == "brain.Event:2"
    for step in (None, 0, np.array(3), "4", 2.7):
        writer.add_summary(simple(1.0).SerializeToString(), step)
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 5)
    writer.add_event(tf.Event(step=7))
    writer.add_run_metadata(tf.RunMetadata(), "tag", 8)
    writer.close()
    assert [e.step for e in events(folder)] == [0, 0, 0, 3, 4, 2, 5, 7, 8]
    assert kinds(folder)[6:] == ["session_log", None, "tagged_run_metadata"]
    assert writer.get_logdir() == str(folder)


def test_a_graph_brings_its_meta_graph(tmp_path: Path) -> None:
    tf.Variable(1.0)
    tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()).close()
    _, graph, meta = events(tmp_path)
    nodes = tf.GraphDef.FromString(graph.graph_def).node
    assert [n.name for n in nodes] == ["Variable/initial_value", "Variable", "Variable/Assign", "Variable/read"]
    assert "_output_shapes" in nodes[0].attr
    collections = tf.MetaGraphDef.FromString(meta.meta_graph_def).collection_def
    assert sorted(collections) == ["trainable_variables", "variables"]


def test_metadata_comes_once_a_tag(tmp_path: Path) -> None:
    summary = simple(1.0)
    summary.value[0].metadata.display_name = "shown"
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary, 1)
        writer.add_summary(summary, 2)
    assert [e.summary.value[0].metadata.display_name for e in events(tmp_path)[1:]] == ["shown", ""]


def test_close_and_reopen(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
        writer.add_summary(simple(1.0), 1)
    assert kinds(tmp_path) == ["file_version"]
    writer.reopen()
    writer.reopen()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.add_summary(simple(1.0), 2)
    writer.close()
    assert len(os.listdir(tmp_path)) == 2
    assert sorted(kinds(tmp_path)) == ["file_version", "file_version", "summary"]


def test_two_writers_of_one_second(tmp_path: Path) -> None:
    for step in range(3):
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            writer.add_summary(simple(1.0), step)
    assert sorted(e.step for e in events(tmp_path) if e.HasField("summary")) == [0, 1, 2]


def test_flush_and_queue(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=2)
    writer.add_summary(simple(1.0), 1)
    assert kinds(tmp_path) == ["file_version"]
    writer.flush()
    assert kinds(tmp_path) == ["file_version", "summary"]
    for step in range(3):
        writer.add_summary(simple(1.0), step)
    assert len(kinds(tmp_path)) == 5
    writer.close()


def test_refused(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    with pytest.raises(TypeError, match="The passed graph must be an instance of `Graph`"):
        writer.add_graph("graph")
    with pytest.raises(ValueError, match="not both"):
        writer.add_graph(tf.Graph(), graph_def=tf.Graph().as_graph_def())
    with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef, saw type: <class 'str'>"):
        writer.add_meta_graph("meta")
    writer.add_run_metadata(tf.RunMetadata(), "t")
    with pytest.raises(ValueError, match="The provided tag was already used"):
        writer.add_run_metadata(tf.RunMetadata(), "t")
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.train.summary_iterator(str(tmp_path / "none")))
    writer.close()


def test_cache(tmp_path: Path) -> None:
    cache = tf.summary.FileWriterCache
    writer = cache.get(str(tmp_path))
    assert cache.get(str(tmp_path)) is writer
    cache.clear()
    assert cache.get(str(tmp_path)) is not writer


def test_only_the_chief_writes(tmp_path: Path) -> None:
    tf.Variable(1.0)
    outside = tf.summary.FileWriter(str(tmp_path / "outside"))
    with training_scope(is_chief=False):
        inside = tf.summary.FileWriter(str(tmp_path / "inside"), tf.get_default_graph())
        inside.add_summary(simple(1.0), 1)
        outside.add_summary(simple(1.0), 1)
        outside.flush()
        assert not (tmp_path / "inside").exists()
    outside.add_summary(simple(1.0), 2)
    inside.add_summary(simple(1.0), 3)
    outside.close()
    inside.close()
    assert [e.step for e in events(tmp_path / "outside")] == [0, 2]
    assert [e.step for e in events(tmp_path / "inside")] == [0, 3]
