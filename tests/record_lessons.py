"""Run the lessons and store what they show, as nbval will compare it.

    python tests/record_lessons.py [lessons/01_training_loop.ipynb ...]

Without names it runs all. Outputs are stored as JupyterLab would, without times and whatever else differs from run to
run. Read the changes before committing them: the text of a lesson speaks about its outputs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent


def record(path: Path) -> None:
    """Run one notebook in its folder and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
            for output in cell.outputs:
                if "metadata" in output:
                    output.metadata = nbformat.from_dict({})
    notebook.metadata = nbformat.from_dict({
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    })
    nbformat.write(notebook, path)


def _merged(outputs: list[Any]) -> list[Any]:
    """The outputs with neighbouring pieces of one stream joined: where a stream is cut is a matter of time."""
    merged: list[Any] = []
    for output in outputs:
        before = merged[-1] if merged else None
        if before is not None and before.output_type == output.output_type == "stream" and before.name == output.name:
            before.text += output.text
        else:
            merged.append(output)
    return merged


def main(names: list[str]) -> None:
    """Record the lessons named, or all."""
    entries = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in entries if entry)
    for path in [Path(name) for name in names] or sorted((ROOT / "lessons").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            record(path.resolve())
            print(f"{path}: recorded")


if __name__ == "__main__":
    main(sys.argv[1:])
