"""The `checkpoint` file; the texts are what TensorFlow 1.15 writes and takes."""
import pytest

from tfsandbox.lib import checkpoint_state
from tfsandbox.lib.checkpoint_state import CheckpointState, parse, state_of


@pytest.mark.parametrize("name, text", [
    ("model-3", '"model-3"'),
    ("\u00fc\"q'", r'''"\303\274\"q\'"'''),
    ("a\tb", r'"a\tb"'),
    ("a\\b", r'"a\\b"'),
    ("new\nline", r'"new\nline"'),
    ("c\x01d", r'"c\001d"'),
    ("c\x019", r'"c\0019"'),
    ("emoji\U0001f600", r'"emoji\360\237\230\200"'),
    ("sp ace", '"sp ace"'),
    ("not utf-8 \udcff", r'"not utf-8 \377"'),
])
def test_names(name, text):
    state = state_of("/d", name)
    assert str(state) == f"model_checkpoint_path: {text}\nall_model_checkpoint_paths: {text}\n"
    assert parse(str(state)) == state


def test_timestamps():
    state = state_of("/d", "m", ["m1", "m2", "m"], [1.5, 2e9, 1700000000.123456], 1e-5)
    assert str(state) == (
        'model_checkpoint_path: "m"\n'
        'all_model_checkpoint_paths: "m1"\nall_model_checkpoint_paths: "m2"\nall_model_checkpoint_paths: "m"\n'
        "all_model_checkpoint_timestamps: 1.5\nall_model_checkpoint_timestamps: 2000000000.0\n"
        "all_model_checkpoint_timestamps: 1700000000.123456\nlast_preserved_timestamp: 1e-05\n"
    )
    assert parse(str(state)) == state
    with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match checkpoint paths"):
        state_of("/d", "m", ["a", "b"], [1.0])


@pytest.mark.parametrize("directory, path, kept, told", [
    ("/d", "/d/model", ["x"], ["x", "/d/model"]),
    ("sub", "sub/model", ["sub/model-1", "sub/model"], ["model-1", "model"]),
    ("sub", "model", None, ["../model"]),
    ("sub", "/d/sub/model", ["x", "/e"], ["../x", "/e", "/d/sub/model"]),
    (".", "./model", ["sub/model-4"], ["sub/model-4", "model"]),
])
def test_relative_paths(directory, path, kept, told):
    state = state_of(directory, path, kept)
    assert state.all_model_checkpoint_paths == told
    assert state.model_checkpoint_path == told[-1]


@pytest.mark.parametrize("text, expected", [
    ("", CheckpointState()),
    ('model_checkpoint_path: "a"', CheckpointState("a")),
    ("model_checkpoint_path: 'a' all_model_checkpoint_paths: \"a\" \"b\"", CheckpointState("a", ["ab"])),
    ('model_checkpoint_path: "a" model_checkpoint_path: "b"', CheckpointState("b")),
    ('# comment\nmodel_checkpoint_path: "\\303\\274" # x', CheckpointState("\u00fc")),
    ('all_model_checkpoint_paths: ["a", "b"]; model_checkpoint_path: "/abs/a", last_preserved_timestamp: 1e3',
     CheckpointState("/abs/a", ["a", "b"], [], 1000.0)),
    ("all_model_checkpoint_timestamps: -inf all_model_checkpoint_timestamps: 1.5f",
     CheckpointState("", [], [float("-inf"), 1.5])),
    (r'model_checkpoint_path: "\x41\u\?"', CheckpointState("Au?")),
])
def test_texts(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["garbage", "unknown: 3", "model_checkpoint_path: 3", 'model_checkpoint_path: "a',
                                  'model_checkpoint_path "a"', "last_preserved_timestamp: x", "}{",
                                  'all_model_checkpoint_paths: ["a"'])
def test_malformed(text):
    with pytest.raises(ValueError):
        parse(text)


def test_files(tmp_path):
    directory = str(tmp_path)
    assert checkpoint_state.read(directory) is None
    checkpoint_state.write(directory, CheckpointState("m-2", ["/abs/m-1", "m-2"]))
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]
    assert checkpoint_state.read(directory) == CheckpointState(f"{directory}/m-2", ["/abs/m-1", f"{directory}/m-2"])
    assert checkpoint_state.read(directory, "other") is None
    (tmp_path / "other").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        checkpoint_state.read(directory, "other")
