"""`import tfsandbox` brings no module that only some uses need."""

import json
import subprocess
import sys

# Each costs start-up time, and each has its own place that imports it when it is used.
NOT_NEEDED = [
    "IPython",
    "anywidget",
    "google.protobuf",
    "graphviz",
    "ipywidgets",
    "jupyterlab",
    "matplotlib",
    "notebook",
    "scipy",
    "tensorflow",
    "traitlets",
]


def loaded_by(code: str) -> list[str]:
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return list(json.loads(output))


def test_import_brings_nothing_heavy() -> None:
    loaded = set(loaded_by("import tfsandbox"))
    assert "tfsandbox" in loaded
    assert not loaded.intersection(NOT_NEEDED)


def test_alias_brings_nothing_heavy() -> None:
    loaded = set(loaded_by("import tfsandbox; tfsandbox.install_as_tensorflow(); import tensorflow as tf"))
    assert not loaded.intersection(NOT_NEEDED) - {"tensorflow"}


def test_what_dir_lists_is_there() -> None:
    import tfsandbox

    assert [name for name in dir(tfsandbox) if not hasattr(tfsandbox, name)] == []
