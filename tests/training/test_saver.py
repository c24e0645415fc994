"""Saver: which checkpoints are kept, what is restored, and what a bad file does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def sess(graph: Any) -> Iterator[Any]:
    with tf.Session() as session:
        yield session


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_the_last_checkpoints_are_kept(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(0, name="v")
    saver = tf.train.Saver(max_to_keep=2)
    sess.run(v.initializer)
    for step in (1, 2, 3, 2):
        assert saver.save(sess, str(tmp_path / "m"), global_step=step) == str(tmp_path / f"m-{step}")
    assert [os.path.basename(p) for p in saver.last_checkpoints] == ["m-3", "m-2"]
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "m-2")
    assert [n for n in names(tmp_path) if n.endswith(".index")] == ["m-2.index", "m-3.index"]
    assert not any(n.startswith("m-1") for n in names(tmp_path))


def test_one_an_hour_is_kept_too(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    sess.run(v.initializer)
    for step in range(3):
        saver.save(sess, str(tmp_path / "m"), step, write_meta_graph=False)
    assert sum(n.endswith(".index") for n in names(tmp_path)) == 3


def test_names_numbers_and_files(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    saver = tf.train.Saver(pad_step_number=True, save_relative_paths=True)
    assert saver.save(sess, str(tmp_path / "deep" / "m"), 7).endswith("m-00000007")
    assert names(tmp_path / "deep") == ["checkpoint", "m-00000007.data-00000-of-00001", "m-00000007.index",
                                        "m-00000007.meta"]
    assert 'model_checkpoint_path: "m-00000007"' in (tmp_path / "deep" / "checkpoint").read_text()
    saver.save(sess, str(tmp_path / "n"), write_state=False, write_meta_graph=False)
    assert not (tmp_path / "checkpoint").exists()


def test_a_checkpoint_may_have_the_states_name(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(1.0)
    saver = tf.train.Saver()
    sess.run(v.initializer)
    path = str(tmp_path / "to" / "your" / "checkpoint")
    assert saver.save(sess, path) == path == tf.train.latest_checkpoint(tmp_path / "to" / "your")
    assert names(tmp_path / "to" / "your") == ["checkpoint", "checkpoint.data-00000-of-00001", "checkpoint.index",
                                               "checkpoint.meta"]
    sess.run(v.assign(2.0))
    saver.save(sess, path)
    sess.run(v.assign(3.0))
    saver.restore(sess, path)
    assert sess.run(v) == 2.0


def test_a_folder_that_cannot_be_made(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="Parent directory of .*m doesn't exist, can't save."):
        tf.train.Saver().save(sess, str(tmp_path / "file" / "below" / "m"))


def test_only_the_named_variables_are_restored(tmp_path: Path, sess: Any) -> None:
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable(3, name="b")
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver({"other": a}).save(sess, str(tmp_path / "m"))
    sess.run([a.assign([0.0, 0.0]), b.assign(4)])
    tf.train.Saver({"other": a}).restore(sess, path)
    assert sess.run(a).tolist() == [1, 2] and sess.run(b) == 4
    assert tf.train.list_variables(path) == [("other", [2])]


def test_restored_variables_need_no_initialiser(tmp_path: Path, sess: Any) -> None:
    values = [np.float32([[1, 2]]), np.int64(3), np.array([True, False]), np.array([b"x", b"yz"], object),
              np.complex64(1 + 2j), np.float16(0.5)]
    made = [tf.Variable(value, name=f"v{i}") for i, value in enumerate(values)]
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    path = saver.save(sess, str(tmp_path / "m"))
    with tf.Session() as fresh:
        saver.restore(fresh, path)
        for variable, value in zip(made, values):
            np.testing.assert_array_equal(fresh.run(variable), value)


def test_slices_are_one_tensor_in_the_file(tmp_path: Path, sess: Any) -> None:
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        parts = tf.get_variable("w", [3, 2], initializer=tf.random_normal_initializer(seed=1))
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    whole = sess.run(parts.as_tensor())
    path = saver.save(sess, str(tmp_path / "m"))
    np.testing.assert_array_equal(tf.train.load_variable(path, "p/w"), whole)
    sess.run([v.assign(tf.zeros_like(v)) for v in parts])
    saver.restore(sess, path)
    np.testing.assert_array_equal(sess.run(parts.as_tensor()), whole)


def test_sharded_files_are_merged(tmp_path: Path, sess: Any) -> None:
    with tf.device("/cpu:0"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.Variable([2.0], name="b")
    saver = tf.train.Saver(sharded=True)
    sess.run(tf.global_variables_initializer())
    path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
    assert names(tmp_path) == ["checkpoint", "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"]
    sess.run([a.assign(0.0), b.assign([0.0])])
    saver.restore(sess, path)
    assert sess.run([a, b[0]]) == [1.0, 2.0]


def test_reshape(tmp_path: Path, sess: Any) -> None:
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([[0.0], [0.0]], name="b")
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver([a]).save(sess, str(tmp_path / "m"))
    tf.train.Saver({"a": b}, reshape=True).restore(sess, path)
    assert sess.run(b).tolist() == [[1], [2]]


@pytest.mark.parametrize("damage", ["truncate data", "change data", "truncate index", "no data"])
def test_a_damaged_file_changes_no_variable(tmp_path: Path, sess: Any, damage: str) -> None:
    v, w = tf.Variable(np.ones(100, np.float32), name="v"), tf.Variable(np.ones(100, np.float32), name="w")
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    path = saver.save(sess, str(tmp_path / "m"))
    sess.run([v.assign(v * 2.0), w.assign(w * 3.0)])
    data, index = tmp_path / "m.data-00000-of-00001", tmp_path / "m.index"
    if damage == "truncate data":
        data.write_bytes(data.read_bytes()[:-10])
    elif damage == "change data":
        content = bytearray(data.read_bytes())
        content[-5] ^= 1
        data.write_bytes(bytes(content))
    elif damage == "truncate index":
        index.write_bytes(index.read_bytes()[:-20])
    else:
        data.unlink()
    kind = tf.errors.NotFoundError if damage == "no data" else tf.errors.DataLossError
    with pytest.raises(kind, match="m.index" if "index" in damage else "m.data-00000-of-00001"):
        saver.restore(sess, path)
    assert sess.run(v)[0] == 2 and sess.run(w)[99] == 3


@pytest.mark.parametrize("target,kind,text", [
    (lambda: {"missing": tf.Variable(1.0)}, tf.errors.NotFoundError, "Key missing not found in checkpoint"),
    (lambda: {"v": tf.Variable([1.0])}, tf.errors.InvalidArgumentError, r"lhs shape= \[1\] rhs shape= \[3\]"),
    (lambda: {"v": tf.Variable([1, 2, 3])}, tf.errors.InvalidArgumentError,
     "tensor_name = v; expected dtype int32 does not equal original dtype float"),
])
def test_what_does_not_fit(tmp_path: Path, sess: Any, target: Any, kind: Any, text: str) -> None:
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    sess.run(v.initializer)
    path = tf.train.Saver([v]).save(sess, str(tmp_path / "m"))
    with pytest.raises(kind, match=f"(?s)Restoring from checkpoint failed. This is most likely due to .*{text}"):
        tf.train.Saver(target()).restore(sess, path)


@pytest.mark.parametrize("act,kind,text", [
    (lambda: tf.train.Saver(), ValueError, "No variables to save"),
    (lambda: tf.train.Saver(3), TypeError, "Variables to save should be passed in a dict or a list: 3"),
    (lambda: tf.train.Saver([tf.constant(1)]), TypeError, "Variable to save is not a Variable: "),
    (lambda: tf.train.Saver({"a": tf.constant(1)}), TypeError, "Not a variable: "),
    (lambda: tf.train.Saver([tf.Variable(1, name="x")] * 2), ValueError, "two variables have the same name: x"),
    (lambda: tf.train.Saver(dict.fromkeys("ab", tf.Variable(1))), ValueError, "restored with two names: b"),
    (lambda: tf.train.Saver(saver_def=3), ValueError, "saver_def must be a saver_pb2.SaverDef: 3"),
    (lambda: saver().save(None, "m"), TypeError, "'sess' must be a Session; None"),
    (lambda: saver().save(tf.Session(), "m", latest_filename="a/b"), ValueError, "must not contain path components"),
    (lambda: saver().restore(tf.Session(), None), ValueError, "Can't load save_path when it is None."),
    (lambda: saver().restore(tf.Session(), "/nowhere/m"), ValueError, "is not a valid checkpoint: /nowhere/m"),
    (lambda: saver(defer_build=True).save(tf.Session(), "m"), RuntimeError, r"`build\(\)` should be called before"),
    (lambda: tf.train.NewCheckpointReader("/nowhere"), tf.errors.NotFoundError, "Failed to find any matching files"),
])
def test_errors(act: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        act()


def saver(**options: Any) -> Any:
    tf.Variable(1.0)
    return tf.train.Saver(**options)


def test_an_empty_saver_writes_only_the_graph(tmp_path: Path, sess: Any) -> None:
    tf.constant(1.0)
    empty = tf.train.Saver(allow_empty=True)
    assert empty.save(sess, str(tmp_path / "m")) is None and names(tmp_path) == ["m.meta"]
    empty.restore(sess, "anything")


def test_meta_graph_brings_the_saver(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    sess.run(v.initializer)
    path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    for scope in (None, "inside"):
        with tf.Graph().as_default(), tf.Session() as other:
            restorer = tf.train.import_meta_graph(path + ".meta", import_scope=scope)
            restorer.restore(other, path)
            (copy,) = tf.global_variables()
            assert copy.op.name == ("inside/v" if scope else "v")
            assert other.run(copy).tolist() == [1, 2]


def test_recovering_after_a_restart(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    first = tf.train.Saver()
    for step in range(3):
        first.save(sess, str(tmp_path / "m"), step)
    state = tf.train.get_checkpoint_state(tmp_path)
    second = tf.train.Saver(max_to_keep=3)
    second.recover_last_checkpoints([*state.all_model_checkpoint_paths, str(tmp_path / "gone")])
    assert second.last_checkpoints == first.last_checkpoints
    second.save(sess, str(tmp_path / "m"), 3)
    assert not tf.train.checkpoint_exists(str(tmp_path / "m-0"))
    assert len(tf.train.get_checkpoint_mtimes(second.last_checkpoints)) == 3


def test_starting_from_a_checkpoint(tmp_path: Path, sess: Any) -> None:
    with tf.variable_scope("old"):
        saved = [tf.get_variable("a", initializer=[1.0, 2.0]), tf.get_variable("b", initializer=[3.0])]
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    assert saved
    for mapping in ({"old/": "new/"}, {"old/a": "new/a", "old/b": "new/b"}):
        with tf.Graph().as_default(), tf.Session() as other:
            with tf.variable_scope("new"):
                a, b = tf.get_variable("a", [2]), tf.get_variable("b", [1])
            tf.train.init_from_checkpoint(tmp_path, mapping)
            other.run(tf.global_variables_initializer())
            assert other.run([a, b])[0].tolist() == [1, 2]
            with pytest.raises(ValueError, match="Shape of variable new/b:0"):
                tf.train.init_from_checkpoint(path, {"old/a": b})
            with pytest.raises(ValueError, match="Tensor old/c is not found in"):
                tf.train.init_from_checkpoint(path, {"old/c": b})


def test_warm_start_takes_the_matching_variables(tmp_path: Path, sess: Any) -> None:
    tf.get_variable("a", initializer=[1.0]), tf.get_variable("b", initializer=[2.0])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as other:
        made = [tf.get_variable(n, [1], initializer=tf.zeros_initializer()) for n in "ab"]
        tf.train.warm_start(path, vars_to_warm_start="b")
        other.run(tf.global_variables_initializer())
        assert [v[0] for v in other.run(made)] == [0, 2]
        with pytest.raises(ValueError, match="matches no variable"):
            tf.train.warm_start(path, "zzz")


def test_only_the_chief_saves(tmp_path: Path, sess: Any) -> None:
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    from tfsandbox.training.training_scope import training_scope
    with training_scope(is_chief=False):
        assert tf.train.Saver().save(sess, str(tmp_path / "m")) is None
    assert not names(tmp_path)


def test_places_where_nothing_can_be_saved(tmp_path) -> None:
    tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver()
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder.index").mkdir()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="Parent directory of .* doesn't exist"):
            saver.save(sess, str(tmp_path / "file" / "model"))
        with pytest.raises(tf.errors.FailedPreconditionError, match="folder.index; Is a directory"):
            saver.save(sess, str(tmp_path / "folder"))
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(sess, str(tmp_path))
        assert sess.run("v:0") == 1.0
