"""The wheel: what `pip install` brings, read and run outside the source tree."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tfsandbox._version import __version__

ROOT = Path(__file__).parent.parent

COMMANDS = [
    'python3 -m venv .venv && .venv/bin/pip install ".[lab]" && .venv/bin/tfsandbox lab',
    'python3 -m venv .venv && .venv/bin/pip install ".[test]" && .venv/bin/python -m pytest',
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path) -> Path:
    folder = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def tracked(folder: str) -> list[str]:
    """The files below a folder that git knows, or all where there is no git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return [path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def test_the_wheel_holds_the_package_and_the_lessons(wheel: Path, unpacked: Path) -> None:
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {name for name in tracked("tfsandbox")} <= names
    for name in tracked("lessons"):
        assert (unpacked / "tfsandbox" / name).read_bytes() == (ROOT / name).read_bytes()
    tops = {name.split("/")[0] for name in names}
    assert tops <= {"tfsandbox", f"tfsandbox-{__version__}.dist-info", f"tfsandbox-{__version__}.data"}
    assert not [name for name in names if "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.name == f"tfsandbox-{__version__}-py3-none-any.whl"


def test_jupyterlab_finds_the_extension(unpacked: Path) -> None:
    home = unpacked / f"tfsandbox-{__version__}.data" / "data" / "share" / "jupyter" / "labextensions" / "tfsandbox"
    source = ROOT / "tfsandbox" / "notebook" / "static"
    for name in ("package.json", "install.json", "static/remoteEntry.js"):
        assert (home / name).read_bytes() == (source / "labextension" / name).read_bytes()
    modules = sorted(path.name for path in (source / "src").glob("*.js"))
    assert sorted(path.name for path in (home / "static" / "src").glob("*.js")) == modules


def test_the_metadata(unpacked: Path) -> None:
    info = unpacked / f"tfsandbox-{__version__}.dist-info"
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.10" in metadata
    needed = set(re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, re.M))
    assert needed == {"numpy", "scipy", "protobuf", "ipywidgets", "anywidget", "graphviz", "matplotlib"}
    assert {"lab", "test"} <= set(re.findall(r"^Provides-Extra: (\S+)$", metadata, re.M))
    assert "tfsandbox = tfsandbox.cli:main" in (info / "entry_points.txt").read_text(encoding="utf-8")


def test_the_wheel_runs_outside_the_tree(unpacked: Path, tmp_path: Path) -> None:
    stand_in = tmp_path / "stand_in"
    stand_in.mkdir()
    (stand_in / "jupyterlab.py").write_text("print('jupyterlab started')\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(stand_in), str(unpacked)])}
    command = [sys.executable, "-m", "tfsandbox", "lab", "mine"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("jupyterlab started\n")
    for name in tracked("lessons"):
        assert (tmp_path / "mine" / Path(name).relative_to("lessons")).read_bytes() == (ROOT / name).read_bytes()


def test_readme_has_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    for command in COMMANDS:
        assert any(line.strip() == command for line in lines), command
