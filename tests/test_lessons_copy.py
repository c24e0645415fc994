"""`tfsandbox lab`: the lessons go to a folder of the user's, whose work is never overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfsandbox import _lessons
from tfsandbox._lessons import RECORD, copy_lessons


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    (folder / "data").mkdir(parents=True)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / "01_first.ipynb").write_text("first")
    (folder / "02_second.ipynb").write_text("second")
    (folder / "data" / "numbers.csv").write_text("1,2\n")
    (folder / ".ipynb_checkpoints" / "01_first.ipynb").write_text("not shipped")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "mine"


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


FIRST = {"01_first.ipynb": "first", "02_second.ipynb": "second", "data/numbers.csv": "1,2\n"}


def test_first_copy_and_the_next(shipped: Path, mine: Path) -> None:
    assert copy_lessons(mine, shipped) == [f"lessons in {mine}: 3 copied"]
    assert contents(mine) == FIRST
    assert copy_lessons(mine, shipped) == [f"lessons in {mine}: nothing new"]
    assert contents(mine) == FIRST


def test_changed_files_stay(shipped: Path, mine: Path) -> None:
    copy_lessons(mine, shipped)
    (mine / "01_first.ipynb").write_text("my work")
    (mine / "notes.txt").write_text("my notes")
    assert copy_lessons(mine, shipped) == [f"lessons in {mine}: 1 of yours kept"]
    assert contents(mine) == {**FIRST, "01_first.ipynb": "my work", "notes.txt": "my notes"}


def test_a_newer_lesson_goes_beside_a_changed_one_once(shipped: Path, mine: Path) -> None:
    copy_lessons(mine, shipped)
    (mine / "01_first.ipynb").write_text("my work")
    (shipped / "01_first.ipynb").write_text("first, newer")
    (shipped / "02_second.ipynb").write_text("second, newer")
    lines = copy_lessons(mine, shipped)
    assert lines[0] == f"lessons in {mine}: 1 updated, 1 of yours kept"
    assert lines[1:] == ["01_first.ipynb: yours stays, the newer lesson is 01_first.new.ipynb"]
    newer = {
        **FIRST,
        "01_first.ipynb": "my work",
        "01_first.new.ipynb": "first, newer",
        "02_second.ipynb": "second, newer",
    }
    assert contents(mine) == newer
    assert copy_lessons(mine, shipped) == [f"lessons in {mine}: 1 of yours kept"]
    (mine / "01_first.new.ipynb").unlink()  # read and thrown away: it does not come again
    copy_lessons(mine, shipped)
    assert "01_first.new.ipynb" not in contents(mine)


def test_work_in_the_newer_file_stays_too(shipped: Path, mine: Path) -> None:
    copy_lessons(mine, shipped)
    (mine / "01_first.ipynb").write_text("my work")
    (shipped / "01_first.ipynb").write_text("second edition")
    copy_lessons(mine, shipped)
    (shipped / "01_first.ipynb").write_text("third edition")
    copy_lessons(mine, shipped)
    assert contents(mine)["01_first.new.ipynb"] == "third edition"  # unchanged, so brought up to date
    (mine / "01_first.new.ipynb").write_text("more work")
    (shipped / "01_first.ipynb").write_text("fourth edition")
    lines = copy_lessons(mine, shipped)
    assert "01_first.new.ipynb is in the way" in lines[-1]
    assert contents(mine)["01_first.ipynb"] == "my work"
    assert contents(mine)["01_first.new.ipynb"] == "more work"


@pytest.mark.parametrize("damage", ["missing", "broken", "no dict"])
def test_without_a_record_every_file_is_the_users(shipped: Path, mine: Path, damage: str) -> None:
    copy_lessons(mine, shipped)
    if damage == "missing":
        (mine / RECORD).unlink()
    else:
        (mine / RECORD).write_text("{" if damage == "broken" else "[1]")
    (shipped / "01_first.ipynb").write_text("newer")
    copy_lessons(mine, shipped)
    assert contents(mine) == {**FIRST, "01_first.new.ipynb": "newer"}
    assert json.loads((mine / RECORD).read_text())


def test_a_deleted_lesson_comes_back(shipped: Path, mine: Path) -> None:
    copy_lessons(mine, shipped)
    (mine / "01_first.ipynb").unlink()
    assert copy_lessons(mine, shipped) == [f"lessons in {mine}: 1 copied"]


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
def test_links_and_folders_in_the_way_stay(shipped: Path, mine: Path, tmp_path: Path) -> None:
    mine.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere.ipynb"
    elsewhere.write_text("precious")
    (mine / "01_first.ipynb").symlink_to(elsewhere)
    (mine / "02_second.ipynb").mkdir()
    copy_lessons(mine, shipped)
    assert elsewhere.read_text() == "precious"
    assert (mine / "01_first.ipynb").is_symlink()
    assert (mine / "02_second.ipynb").is_dir()
    assert (mine / "02_second.new.ipynb").read_text() == "second"


def test_the_package_has_its_lessons() -> None:
    assert (_lessons.lessons_folder() / "README.md").is_file()


def lab(folder: Path, arguments: list[str], stand_in: str | None) -> subprocess.CompletedProcess[str]:
    """Run `tfsandbox lab` with a stand-in for JupyterLab, or with none to be found."""
    place = folder / "stand_in"
    place.mkdir()
    if stand_in is None:
        (place / "sitecustomize.py").write_text(
            "import importlib.util\nfind = importlib.util.find_spec\n"
            "importlib.util.find_spec = lambda name: None if name == 'jupyterlab' else find(name)\n"
        )
    else:
        (place / "jupyterlab.py").write_text(stand_in)
    path = os.pathsep.join([str(place), str(Path(_lessons.__file__).parent.parent)])
    return subprocess.run(
        [sys.executable, "-m", "tfsandbox", "lab", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


SAY = "import os, sys\nprint(os.getcwd(), sys.argv[1:])\nsys.exit(5)\n"


@pytest.mark.parametrize(
    ("arguments", "folder", "options"),
    [
        ([], "tfsandbox-lessons", []),
        (["mine"], "mine", []),
        (["mine", "--no-browser", "--port=9999"], "mine", ["--no-browser", "--port=9999"]),
        (["--no-browser"], "tfsandbox-lessons", ["--no-browser"]),
    ],
)
def test_lab_starts_jupyterlab_in_the_folder(
    tmp_path: Path, arguments: list[str], folder: str, options: list[str]
) -> None:
    done = lab(tmp_path, arguments, SAY)
    target = (tmp_path / folder).resolve()
    assert done.returncode == 5, done.stderr  # JupyterLab's own
    assert done.stdout.splitlines()[0].startswith(f"lessons in {target}: ")
    assert done.stdout.splitlines()[-1] == f"{target} {[f'--ServerApp.root_dir={target}', *options]}"
    assert (target / "README.md").is_file()


def test_lab_without_jupyterlab(tmp_path: Path) -> None:
    done = lab(tmp_path, ["mine"], None)
    assert done.returncode == 1
    assert 'pip install "tfsandbox[lab]"' in done.stderr
    assert (tmp_path / "mine" / "README.md").is_file()


def test_lab_on_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file")
    done = lab(tmp_path, ["mine"], SAY)
    assert done.returncode == 1
    assert done.stderr.startswith("tfsandbox: cannot copy the lessons to mine: ")
    assert (tmp_path / "mine").read_text() == "a file"
