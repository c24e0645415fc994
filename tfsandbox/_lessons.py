"""The lessons that come with the package: copying them to a folder of the user's and opening it in JupyterLab."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DEFAULT_FOLDER = "tfsandbox-lessons"

# What was copied, by its digest: a file that still has it is as it was shipped, and may be brought up to date.
RECORD = ".tfsandbox-lessons.json"

_LEFT_OUT = {"__pycache__", ".ipynb_checkpoints", ".pytest_cache"}


def lab(arguments: list[str]) -> int:
    """`tfsandbox lab [FOLDER] [options...]`: copy the lessons, then become JupyterLab; the exit status."""
    folder, options = Path(DEFAULT_FOLDER), arguments
    if arguments and not arguments[0].startswith("-"):
        folder, options = Path(arguments[0]), arguments[1:]
    try:
        for line in copy_lessons(folder):
            print(line)
    except OSError as error:
        print(f"tfsandbox: cannot copy the lessons to {folder}: {error}", file=sys.stderr)
        return 1
    if importlib.util.find_spec("jupyterlab") is None:
        print(
            f"tfsandbox: the lessons are in {folder}, but JupyterLab is not installed in this environment. "
            'Install it with: pip install "tfsandbox[lab]"',
            file=sys.stderr,
        )
        return 1
    # The user's own options come last, where they win.
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}", *options]
    os.chdir(folder)
    sys.stdout.flush()
    if os.name == "posix":  # Control-C then reaches JupyterLab alone
        os.execv(command[0], command)
    return subprocess.call(command)


def lessons_folder() -> Path:
    """Where the lessons are: in the installed package, or beside it in a source tree."""
    package = Path(__file__).resolve().parent
    for folder in (package / "lessons", package.parent / "lessons"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"this installation of tfsandbox has no lessons: there is no folder {package / 'lessons'}")


def copy_lessons(folder: Path, source: Path | None = None) -> list[str]:
    """Copy the lessons into `folder` and say what was done, a line for each thing worth one.

    A file that the user changed is never overwritten: if a newer version of it is shipped, that goes
    beside it as `name.new.ipynb`. A file as it was shipped is brought up to date. OSError where the
    folder cannot be written.
    """
    source = lessons_folder() if source is None else source
    folder.mkdir(parents=True, exist_ok=True)
    record = _read_record(folder / RECORD)
    lines: list[str] = []
    counts = {"copied": 0, "updated": 0, "kept": 0}
    for relative in _shipped(source):
        content = (source / relative).read_bytes()
        name = relative.as_posix()
        last = record.get(name)
        done = _place(folder, name, content, record)
        if done in counts:
            counts[done] += 1
        if done == "kept" and last != _digest(content):
            beside = _beside(relative).as_posix()
            placed = _place(folder, beside, content, record)
            if placed == "kept":
                lines.append(f"{name}: yours stays; {beside} is in the way of the newer one, which was left out")
            else:
                lines.append(f"{name}: yours stays, the newer lesson is {beside}")
            record[name] = _digest(content)
    _write(folder / RECORD, json.dumps(record, indent=1, sort_keys=True).encode() + b"\n")
    words = {"copied": "copied", "updated": "updated", "kept": "of yours kept"}
    what = [f"{count} {words[done]}" for done, count in counts.items() if count]
    return [f"lessons in {folder.resolve()}: {', '.join(what) or 'nothing new'}", *lines]


def _place(folder: Path, name: str, content: bytes, record: dict[str, str]) -> str:
    """Put a shipped file where it belongs unless that is the user's: copied, updated, same or kept."""
    path = folder / name
    if not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        done = "copied"
    elif path.is_symlink() or not path.is_file():
        return "kept"
    else:
        present = _digest(path.read_bytes())
        if present == _digest(content):
            record[name] = present
            return "same"
        if present != record.get(name):
            return "kept"
        done = "updated"
    _write(path, content)
    record[name] = _digest(content)
    return done


def _shipped(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        relative = path.relative_to(source)
        if path.is_file() and not _LEFT_OUT.intersection(relative.parts):
            yield relative


def _beside(relative: Path) -> Path:
    return relative.with_name(f"{relative.stem}.new{relative.suffix}")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_record(path: Path) -> dict[str, str]:
    """The record of an earlier copy; without a readable one every file counts as the user's."""
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in record.items()} if isinstance(record, dict) else {}


def _write(path: Path, content: bytes) -> None:
    """Write a file so that a break leaves the old one or the new one, never half of one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tfsandbox-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
