"""The house's rules, read off the source: who may import whom, what only the notebook side uses, what nobody uses."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tfsandbox"
TOP, NAMESPACE = "top", "namespace"
TOP_FILES = {"__init__", "__main__", "_alias", "_lessons", "_spawning", "_version", "cli"}

# From the ground up; a file imports from its own floor or below. What stands in one row stands on one floor.
FLOORS = [
    ["proto", "util"],
    ["framework"],
    ["lib", "platform"],
    ["ops"],
    ["runtime"],
    ["client"],
    ["training"],
    ["layers", "losses", "metrics", "summary", "data", "contrib"],
    ["interchange"],
    [NAMESPACE],  # tf.nn, tf.train and so on: files of the package's own folder that gather names
    ["notebook"],
    [TOP],
]
FLOOR = {name: number for number, row in enumerate(FLOORS) for name in row}

# Paths of TensorFlow's that are another way to a namespace: they hold nothing, and look there when they are asked.
DOORS = {("ops/nn.py", "tfsandbox.nn"), *((f"ops/{name}.py", "tfsandbox.layers.rnn_cell")
                                          for name in ("rnn_cell", "rnn_cell_impl"))}

# Only notebook/ uses these, and whoever is named here, inside a function.
NOTEBOOK_ONLY = {"IPython", "anywidget", "ipywidgets", "matplotlib", "traitlets"}
NOTEBOOK_EXCEPTIONS = {("training/graph_manager.py", "matplotlib")}

# Data from outside is never executed; code is made from text in these places only.
UNSAFE_MODULES = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
MAKES_CODE = {"cli.py", "runtime"}

LONG, TOO_LONG = 520, 700  # lines


def source_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if not path.name.endswith("_pb2.py"))


FILES = [pytest.param(path, id=path.relative_to(PACKAGE).as_posix()) for path in source_files()]


def place(path: Path) -> str:
    """The floor's name of a file."""
    parts = path.relative_to(PACKAGE).parts
    if len(parts) > 1:
        return parts[0]
    return TOP if path.stem in TOP_FILES else NAMESPACE


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below a node that runs: all but the bodies of `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in child.orelse:
                yield other
                yield from statements(other)
            continue
        yield child
        yield from statements(child)


def imports(path: Path, tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """(full module or name, node) of every import that can run, in functions too."""
    package = ["tfsandbox", *path.relative_to(PACKAGE).parts[:-1]]
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            base = ".".join(part for part in (start, node.module or "") if part)
            for alias in node.names:
                yield f"{base}.{alias.name}", node
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value), node


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_place(name: str) -> str | None:
    """The floor's name of an imported sandbox name, None for what is not the sandbox's."""
    parts = name.split(".")
    if parts[0] != "tfsandbox":
        return None
    if len(parts) > 1 and (PACKAGE / parts[1]).is_dir():
        return parts[1]
    return NAMESPACE if len(parts) > 1 and (PACKAGE / f"{parts[1]}.py").is_file() and parts[1] not in TOP_FILES else TOP


@pytest.mark.parametrize("path", FILES)
def test_imports_go_down(path: Path) -> None:
    own = place(path)
    assert own in FLOOR, f"give tfsandbox/{own}/ a floor in {Path(__file__).name}"
    for name, node in imports(path, parse(path)):
        other = imported_place(name)
        if other is not None and (path.relative_to(PACKAGE).as_posix(), name) not in DOORS:
            assert other in FLOOR, f"give tfsandbox/{other}/ a floor in {Path(__file__).name}"
            line = getattr(node, "lineno", 0)
            assert FLOOR[other] <= FLOOR[own], f"line {line}: {own} imports {name}, which is a floor above"


@pytest.mark.parametrize("path", FILES)
def test_only_the_notebook_side_uses_jupyter_and_matplotlib(path: Path) -> None:
    if place(path) == "notebook":
        return
    tree = parse(path)
    relative = path.relative_to(PACKAGE).as_posix()
    at_import = {id(node) for node in tree.body}
    for name, node in imports(path, tree):
        module = name.split(".")[0]
        if module in NOTEBOOK_ONLY:
            assert (relative, module) in NOTEBOOK_EXCEPTIONS, f"line {node.lineno}: {module}"  # type: ignore[attr-defined]
            assert id(node) not in at_import, f"{module} is for use inside a function"


@pytest.mark.parametrize("path", FILES)
def test_nothing_from_outside_is_executed(path: Path) -> None:
    tree = parse(path)
    relative = path.relative_to(PACKAGE).as_posix()
    for name, node in imports(path, tree):
        assert name.split(".")[0] not in UNSAFE_MODULES, f"line {node.lineno}: {name}"  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        assert called != "eval", f"line {node.lineno}: eval"
        if called in ("exec", "compile"):
            assert place(path) in MAKES_CODE or relative in MAKES_CODE, f"line {node.lineno}: {called}"
        for keyword in node.keywords:
            if keyword.arg == "allow_pickle":
                assert isinstance(keyword.value, ast.Constant) and keyword.value.value is False, node.lineno


def test_files_have_one_subject() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): len(path.read_bytes().splitlines()) for path in source_files()}
    over = {name: lines for name, lines in lengths.items() if lines > LONG}
    if over:
        warnings.warn(f"files that may hold more than one subject: {over}", stacklevel=1)
    assert not [name for name, lines in over.items() if lines > TOO_LONG]


def test_the_rules_see_what_they_forbid() -> None:
    """The reader itself: nested, relative and computed imports are found, TYPE_CHECKING is left out."""
    path = PACKAGE / "ops" / "made_up.py"
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from tfsandbox.notebook import views\n"
        "else:\n    import tfsandbox.contrib.slim\n"
        "def f():\n    from ..runtime import session\n    import matplotlib.pyplot as plt\n"
        "from . import math_ops\n"
        "import importlib\n"
        "importlib.import_module('tfsandbox.training.saver')\n"
    )
    names = [name for name, _ in imports(path, tree)]
    assert names == [
        "typing.TYPE_CHECKING",
        "tfsandbox.contrib.slim",
        "tfsandbox.runtime.session",
        "matplotlib.pyplot",
        "tfsandbox.ops.math_ops",
        "importlib",
        "tfsandbox.training.saver",
    ]
    assert imported_place("tfsandbox.runtime.session") == "runtime"
    assert imported_place("tfsandbox._alias") == TOP
    assert imported_place("tfsandbox") == TOP
    assert imported_place("numpy.random") is None
