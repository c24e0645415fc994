"""Pytest's setting for the whole tree: child processes and notebook kernels import the tree's package."""

import os
from pathlib import Path

ROOT = str(Path(__file__).resolve().parent)


def pytest_configure() -> None:
    """Put the tree before an installed copy, in this process's children too."""
    entries = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if ROOT not in entries:
        os.environ["PYTHONPATH"] = os.pathsep.join([ROOT, *entries])
