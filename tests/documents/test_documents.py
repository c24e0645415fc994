"""The code of the three documents runs as printed, through `python -m tfsandbox`.

The files `*_example*.py` are the documents' code; where it says `...`, or uses a name that it does not define, a
line marked `filled in` stands. Nothing else differs from the documents, which stand beside them.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MARK = "# filled in"

# The pieces of code in each document, by their number, that a file holds.
PIECES = {
    "training_util_example1": [0],
    "training_util_example2": [1],
    "training_util_example3": [2],
    "remove_training_nodes_example1": [0, 1],
    "remove_training_nodes_example2": [2],
    "training_scope_example1": [0],
    "training_scope_example2": [1],
}


def pieces(document: str) -> list[list[str]]:
    """The code in a document: the lines between its prose, which is Chinese outside of comments."""
    found: list[list[str]] = [[]]
    for line in (HERE / f"{document}.txt").read_text(encoding="utf-8").splitlines():
        if line.split("#")[0].isascii():
            found[-1].append(line)
        else:
            found.append([])
    return [piece for piece in found if any(line.strip() for line in piece)]


def code(name: str) -> list[str]:
    """The lines of an example's file below its docstring."""
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    return text.splitlines()[ast.parse(text).body[0].end_lineno :]


def test_every_piece_of_code_has_its_file() -> None:
    files = {path.stem for path in HERE.glob("*_example*.py")}
    assert files == set(PIECES)
    for document in ("training_util", "remove_training_nodes", "training_scope"):
        used = [number for name, numbers in PIECES.items() if name.startswith(document) for number in numbers]
        assert sorted(used) == list(range(len(pieces(document))))


@pytest.mark.parametrize("name", PIECES)
def test_file_is_the_document_apart_from_filled_lines(name: str) -> None:
    document = pieces(name.rpartition("_")[0])
    printed = [line for number in PIECES[name] for line in document[number]]
    kept = [line for line in code(name) if not line.endswith(MARK)]
    to_fill = re.compile(r"(\w+ = )?\.\.\.")
    expected = [line for line in printed if not to_fill.fullmatch(line.strip())]
    assert [line for line in kept if line.strip()] == [line for line in expected if line.strip()]


def run(name: str, folder: Path, text: str | None = None) -> str:
    """What an example prints, run in a folder of its own."""
    program = HERE / f"{name}.py"
    if text is not None:
        program = folder / f"{name}.py"
        program.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tfsandbox", str(program)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_training_loop(tmp_path: Path) -> None:
    printed = run("training_util_example1", tmp_path)
    losses = [float(loss) for loss in re.findall(r"^loss at step \d+ (\S+)$", printed, re.M)]
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.01 * losses[0]
    assert printed.endswith("global step 200\n")


def test_gradients(tmp_path: Path) -> None:
    assert run("training_util_example2", tmp_path) == "[[-32.]\n [-46.]] [[ 1.]\n [-2.]]\n[-14.] [0.5]\n"


def test_training_graph_manager(tmp_path: Path) -> None:
    printed = run("training_util_example3", tmp_path)
    # Each step halves the distance: 3 - 2 / 2**7 and -1 + 3 / 2**7.
    assert printed.splitlines()[0] == "variables 2.984375 -0.9765625"
    assert "Variable_1" in printed and "training" in printed
    names = {path.name for path in tmp_path.iterdir()}
    steps = range(2, 7)  # a saver keeps the last five
    parts = [f"checkpoint_file-{step}{end}" for step in steps for end in (".index", ".meta", ".data-00000-of-00001")]
    assert names == {"checkpoint", *parts}


def nodes(printed: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?:nodes|after|pruned) (\d+)", printed)]


def test_remove_training_nodes_in_pieces(tmp_path: Path) -> None:
    printed = run("remove_training_nodes_example1", tmp_path)
    before, after = nodes(printed)
    assert after < before / 2
    assert printed.endswith("same output True\n")


@pytest.fixture
def as_printed() -> Iterator[bool]:
    """True where the document's /path/to/your is free for the time of a test."""
    path = Path("/path")
    if os.name != "posix" or path.exists() or not os.access("/", os.W_OK):
        yield False
        return
    try:
        yield True
    finally:
        shutil.rmtree(path, ignore_errors=True)


def test_remove_training_nodes(tmp_path: Path, as_printed: bool) -> None:
    text = None
    if not as_printed:
        text = (HERE / "remove_training_nodes_example2.py").read_text(encoding="utf-8")
        text = text.replace("/path/to/your", (tmp_path / "to" / "your").as_posix())
    printed = run("remove_training_nodes_example2", tmp_path, text)
    before, after = nodes(printed)
    assert after < before
    assert printed.endswith("same output True\n")
    assert float(re.findall(r"loss (\S+)", printed)[0]) < 0.5


def test_training_scope_syntax(tmp_path: Path) -> None:
    assert run("training_scope_example1", tmp_path) == "TrainingScope\n"


def test_training_scope(tmp_path: Path) -> None:
    printed = run("training_scope_example2", tmp_path)
    assert printed.startswith("{'fully_connected/weights': [array([[")
    # A layer with a normalizer has no biases, so the document's pattern for them finds none.
    assert printed.endswith("'fully_connected/biases': []}\n")
