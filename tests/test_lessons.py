"""The lessons hold together with the documents, with their stored outputs, and with their exercises' answers.

nbval runs the cells and compares what they show; here stands what it does not see.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.documents.test_documents import pieces

ROOT = Path(__file__).parent.parent
MARK = "# filled in"
LESSONS = {path.stem: path for path in sorted((ROOT / "lessons").glob("[0-9]*.ipynb"))}

# For each lesson the document, and by their numbers the pieces of its code that stand in one cell.
EXAMPLES: dict[str, tuple[str, list[list[int]]]] = {
    "01_training_loop": ("training_util", [[0]]),
    "02_gradients": ("training_util", [[1]]),
    "03_training_graph_manager": ("training_util", [[2]]),
    "04_remove_training_nodes": ("remove_training_nodes", [[0, 1], [2]]),
    "05_training_scope": ("training_scope", [[0], [1]]),
}


def cells(lesson: str, kind: str) -> list[Any]:
    notebook = nbformat.read(LESSONS[lesson], as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def is_left_open(line: str) -> bool:
    """Whether the document leaves a line to the reader: an ellipsis, or a folder that is none."""
    return re.fullmatch(r"(\w+ = )?\.\.\.", line.strip()) is not None or "/path/to/your/" in line


def test_every_piece_of_the_documents_has_its_lesson() -> None:
    for document in {document for document, _ in EXAMPLES.values()}:
        groups = [group for name, groups in EXAMPLES.values() if name == document for group in groups]
        shown = [number for group in groups for number in group]
        assert sorted(shown) == list(range(len(pieces(document))))


SHOWN = [(lesson, numbers) for lesson, (_, groups) in EXAMPLES.items() for numbers in groups]


@pytest.mark.parametrize("lesson, numbers", SHOWN)
def test_a_cell_is_the_document_apart_from_filled_lines(lesson: str, numbers: list[int]) -> None:
    document = pieces(EXAMPLES[lesson][0])
    lines = [line for number in numbers for line in document[number]]
    printed = [line for line in lines if line.strip() and not is_left_open(line)]
    kept = []
    for cell in cells(lesson, "code"):
        kept.append([line for line in cell.source.splitlines() if line.strip() and not line.endswith(MARK)])
    assert printed in kept


@pytest.mark.parametrize("lesson", LESSONS)
def test_first_cell_selects_the_sandbox(lesson: str) -> None:
    assert cells(lesson, "code")[0].source == "%load_ext tfsandbox\n%tensorflow_version 1.x"


@pytest.mark.parametrize("lesson", LESSONS)
def test_outputs_are_stored(lesson: str) -> None:
    code = cells(lesson, "code")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert sum(bool(cell.outputs) for cell in code) > len(code) / 2
    for cell in code:
        assert not [output for output in cell.outputs if output.output_type == "error"]
        assert not [output for output in cell.outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_of_the_machine_is_stored(lesson: str) -> None:
    text = LESSONS[lesson].read_text(encoding="utf-8")
    places = [str(ROOT), str(Path.home()), tempfile.gettempdir(), sys.prefix, "/home/", "/Users/", "/tmp/", "/var/"]
    assert not [place for place in places if len(place) > 1 and place in text]
    assert not re.search(r"[A-Z]:\\\\|0x[0-9a-f]{6}|ipykernel_\d", text)
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(set(cell["metadata"]) <= {"tags"} for cell in notebook["cells"])


ANSWER = re.compile(r"<details>.*?```python\n(.*?)```(?:\n\nIt prints:\n\n```text\n(.*?)```)?", re.S)


@pytest.mark.parametrize("lesson", LESSONS)
def test_answers_give_what_they_say(lesson: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folded answers run after the cells above them, and print what the fold shows."""
    from nbclient import NotebookClient

    notebook = nbformat.read(LESSONS[lesson], as_version=4)
    expected: dict[str, str] = {}
    for place, cell in enumerate(notebook.cells):
        answer = ANSWER.match(cell.source) if cell.cell_type == "markdown" else None
        if answer:
            notebook.cells[place] = nbformat.v4.new_code_cell(answer[1], id=cell.id)
            expected[cell.id] = answer[2] or ""
    assert len(expected) >= 2
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    folder = {"metadata": {"path": str(LESSONS[lesson].parent)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=folder).execute()
    for cell in notebook.cells:
        if cell.id in expected:
            printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
            assert printed.strip() == expected[cell.id].strip(), cell.id
