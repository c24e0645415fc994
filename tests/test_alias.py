"""`import tensorflow` gives the sandbox, and says what it lacks."""

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tfsandbox
from tfsandbox import _alias


@pytest.fixture
def alias() -> Iterator[None]:
    tfsandbox.install_as_tensorflow()
    yield
    tfsandbox.uninstall_as_tensorflow()


def run(code: str, **kwargs: object) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, **kwargs)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def tensorflow_names() -> list[str]:
    return [name for name in sys.modules if name == "tensorflow" or name.startswith("tensorflow.")]


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("tensorflow", "tfsandbox"),
        ("tensorflow.python", "tfsandbox"),
        ("tensorflow.python.training.training_util", "tfsandbox.training.training_util"),
        ("tensorflow.contrib.slim", "tfsandbox.contrib.slim"),
        ("tensorflow.compat.v1", "tfsandbox"),
        ("tensorflow.compat.v1.train", "tfsandbox.train"),
        ("tensorflow.core.framework.graph_pb2", "tfsandbox.proto.graph_pb2"),
        ("tensorflow.core.protobuf.meta_graph_pb2", "tfsandbox.proto.meta_graph_pb2"),
        ("tensorflow_hub", None),
        ("tensorflows.python", None),
        ("numpy", None),
    ],
)
def test_one_prefix_rule(name: str, own: str | None) -> None:
    assert _alias.sandbox_name(name) == own


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("tfsandbox", "tensorflow"),
        ("tfsandbox.train.Saver", "tensorflow.train.Saver"),
        ("tfsandbox.ops.math_ops", "tensorflow.python.ops.math_ops"),
        ("tfsandbox.contrib.slim", "tensorflow.contrib.slim"),
        ("tfsandbox.proto.graph_pb2", "tensorflow.core.framework.graph_pb2"),
    ],
)
def test_the_rule_backwards(own: str, name: str) -> None:
    assert _alias.tensorflow_name(own) == name


def test_modules_are_the_same_objects(alias: None) -> None:
    import tensorflow as tf
    import tensorflow.python.framework.ops
    from tensorflow.core.framework import graph_pb2
    from tensorflow.python.framework import ops
    from tensorflow.python.training import training_util

    import tfsandbox.framework.ops
    import tfsandbox.proto
    import tfsandbox.training.training_util

    assert tf is tfsandbox
    assert ops is tfsandbox.framework.ops
    assert training_util is tfsandbox.training.training_util
    assert sys.modules["tensorflow.python.framework.ops"] is tfsandbox.framework.ops
    assert graph_pb2.GraphDef is tf.GraphDef
    # The import system leaves the modules' own description alone.
    assert ops.__name__ == ops.__spec__.name == "tfsandbox.framework.ops"
    assert importlib.reload(training_util) is training_util


def test_spellings_of_an_import(alias: None) -> None:
    import tensorflow.compat.v1 as v1
    import tensorflow.contrib.slim as slim
    import tensorflow.python.ops.math_ops
    import tensorflow.train as train
    from tensorflow import contrib
    from tensorflow.contrib import layers
    from tensorflow.contrib.framework import arg_scope
    from tensorflow.train import Saver

    assert v1 is tfsandbox
    assert contrib.slim is slim
    assert slim.arg_scope is arg_scope
    assert contrib.layers is layers
    assert train.Saver is Saver is tfsandbox.train.Saver
    assert tensorflow.python.ops.math_ops.matmul is tfsandbox.matmul
    assert tensorflow.compat.v1.Session is tfsandbox.Session


def test_install_twice_and_uninstall_twice() -> None:
    before = dict(sys.modules)
    finders = list(sys.meta_path)
    tfsandbox.install_as_tensorflow()
    tfsandbox.install_as_tensorflow()
    assert _alias.installed_as_tensorflow()
    import tensorflow.python.framework.ops  # noqa: F401

    tfsandbox.uninstall_as_tensorflow()
    tfsandbox.uninstall_as_tensorflow()
    assert not _alias.installed_as_tensorflow()
    assert sys.meta_path == finders
    assert tensorflow_names() == [name for name in before if name.startswith("tensorflow")]
    assert "python" not in vars(tfsandbox)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorflow")


def test_a_real_tensorflow_comes_back(tmp_path: Path) -> None:
    (tmp_path / "tensorflow" / "python").mkdir(parents=True)
    (tmp_path / "tensorflow" / "__init__.py").write_text("__version__ = '2.99.0'\n")
    (tmp_path / "tensorflow" / "python" / "__init__.py").write_text("real = True\n")
    printed = run(
        """
        import tfsandbox
        tfsandbox.install_as_tensorflow()
        import tensorflow as first
        import tensorflow.python.framework.ops
        tfsandbox.uninstall_as_tensorflow()
        import tensorflow.python as second
        import tensorflow
        print(first is tfsandbox, tensorflow.__version__, second.real)
        try:
            tfsandbox.install_as_tensorflow()
        except RuntimeError as error:
            print(error)
        import tensorflow as third
        print(third is tensorflow, tfsandbox._alias.installed_as_tensorflow())
        """,
        env={"PYTHONPATH": f"{Path(tfsandbox.__file__).parent.parent}:{tmp_path}"},
    )
    first, error, last = printed.splitlines()
    assert first == "True 2.99.0 True"
    assert error.startswith("TensorFlow 2.99.0 is already imported in this process")
    assert "restart the kernel" in error and "import tfsandbox as tf" in error
    assert last == "True False"


def test_a_blocked_import_is_blocked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    tfsandbox.install_as_tensorflow()
    assert sys.modules["tensorflow"] is tfsandbox
    tfsandbox.uninstall_as_tensorflow()
    assert sys.modules["tensorflow"] is None


def test_pruning_default(alias: None) -> None:
    from tfsandbox.framework import graph_util

    graph = tfsandbox.Graph()
    with graph.as_default():
        weight = tfsandbox.get_variable("w", initializer=1.0)
        tfsandbox.train.GradientDescentOptimizer(0.1).minimize(tfsandbox.square(weight))
    whole = graph.as_graph_def()

    def optimizer_stays() -> bool:
        pruned = graph_util.remove_training_nodes(whole)
        return "ApplyGradientDescent" in {node.op for node in pruned.node}

    assert not optimizer_stays()
    tfsandbox.install_as_tensorflow(pruning="tensorflow")
    assert optimizer_stays()
    tfsandbox.uninstall_as_tensorflow()
    assert not optimizer_stays()
    with pytest.raises(ValueError, match="pruning"):
        tfsandbox.install_as_tensorflow(pruning="everything")
    assert not _alias.installed_as_tensorflow()


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("import tensorflow.keras", "tfsandbox has no tensorflow.keras"),
        ("from tensorflow.keras import layers", "tfsandbox has no tensorflow.keras"),
        ("from tensorflow.examples.tutorials.mnist import input_data", "tfsandbox has no tensorflow.examples"),
        (
            "import tensorflow.contrib.slimm",
            "tfsandbox has no tensorflow.contrib.slimm; the nearest it has is tensorflow.contrib.slim",
        ),
        (
            "from tensorflow.python.ops import math_op",
            "tfsandbox has no tensorflow.python.ops.math_op; the nearest it has is tensorflow.python.ops.math_ops",
        ),
        (
            "import tensorflow.python.framework.math_ops",
            "tfsandbox has no tensorflow.python.framework.math_ops; "
            "the nearest it has is tensorflow.python.ops.math_ops",
        ),
        (
            "from tensorflow.python.training.training_util import create_global_steps",
            "tfsandbox has no tensorflow.python.training.training_util.create_global_steps; "
            "the nearest it has is tensorflow.python.training.training_util.create_global_step",
        ),
        (
            "from tensorflow import matmull",
            "tfsandbox has no tensorflow.matmull; the nearest it has is tensorflow.matmul",
        ),
        (
            "from tensorflow import AdamOptimizer",
            "tfsandbox has no tensorflow.AdamOptimizer; the nearest it has is tensorflow.train.AdamOptimizer",
        ),
        (
            "from tensorflow.train import GradientDescentOptimiser",
            "tfsandbox has no tensorflow.train.GradientDescentOptimiser; "
            "the nearest it has is tensorflow.train.GradientDescentOptimizer",
        ),
    ],
    ids=lambda value: None if "has no" in value else value.split("#")[0],
)
def test_a_missing_import_names_the_nearest(alias: None, statement: str, text: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tf.matmull", "tfsandbox has no tensorflow.matmull; the nearest it has is tensorflow.matmul"),
        ("tf.train.AdamOptimiser", "tfsandbox has no tensorflow.train.AdamOptimiser; the nearest it has is"),
        ("tf.nn.reluu", "tfsandbox has no tensorflow.nn.reluu; the nearest it has is tensorflow.nn.relu"),
        ("tf.zzzqqq", "tfsandbox has no tensorflow.zzzqqq, and nothing of a similar name"),
        ("tf.estimator", "tfsandbox has no tensorflow.estimator, and nothing of a similar name"),
        ("tf.contrib.foo", "tfsandbox has no tensorflow.contrib.foo, and nothing of a similar name"),
    ],
)
def test_a_missing_attribute_names_the_nearest(alias: None, expression: str, text: str) -> None:
    import tensorflow as tf

    with pytest.raises(AttributeError) as caught:
        eval(expression, {"tf": tf})
    assert str(caught.value).startswith(text)
    assert not hasattr(tf, "matmull")
    assert getattr(tf, "matmull", 3) == 3


def test_missing_name_takes_a_module_or_its_path() -> None:
    text = "tfsandbox has no tensorflow.matmull; the nearest it has is tensorflow.matmul"
    assert _alias.missing_name(tfsandbox, "matmull") == text
    assert _alias.missing_name("tfsandbox", "matmull") == text
    assert _alias.missing_name("tfsandbox.never_there", "zzzqqq").startswith(
        "tfsandbox has no tensorflow.never_there.zzzqqq"
    )


def test_what_a_module_needs_and_lacks_is_no_missing_name(alias: None, tmp_path: Path) -> None:
    """An import error inside a sandbox module is shown as it is."""
    package = tmp_path / "extra"
    package.mkdir()
    (package / "__init__.py").write_text("import a_module_that_nobody_has\n")
    tfsandbox.__path__.append(str(tmp_path))
    try:
        with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
            importlib.import_module("tensorflow.extra")
    finally:
        tfsandbox.__path__.remove(str(tmp_path))


def test_a_namespace_made_by_hand_is_a_package(alias: None, monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = ModuleType("tfsandbox.outer"), ModuleType("tfsandbox.outer.inner")
    outer.inner = inner  # type: ignore[attr-defined]
    inner.value = 3  # type: ignore[attr-defined]
    monkeypatch.setattr(tfsandbox, "outer", outer, raising=False)
    from tensorflow.outer.inner import value

    assert value == 3
    assert sys.modules["tensorflow.outer"] is outer


def test_a_lazy_modules_own_errors_are_shown(alias: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module's own `__getattr__` goes first; what it lacks is explained, what breaks in it is not hidden."""
    lazy = ModuleType("tfsandbox.lazy")
    code = """
def helper(text):
    return text.no_such_method()
def __getattr__(name):
    if name == "present":
        return 5
    if name == "broken":
        return helper(name)
    raise AttributeError(name)
"""
    exec(code, vars(lazy))
    monkeypatch.setattr(tfsandbox, "lazy", lazy, raising=False)
    assert lazy.present == 5
    with pytest.raises(AttributeError, match="'str' object has no attribute 'no_such_method'"):
        lazy.broken  # noqa: B018
    with pytest.raises(AttributeError, match="tfsandbox has no tensorflow.lazy.absent"):
        lazy.absent  # noqa: B018


def test_tools_get_a_plain_answer(alias: None) -> None:
    """Dunder names are asked for by inspect and others many times: no search for those."""
    import tensorflow.python.framework.ops as ops

    with pytest.raises(AttributeError, match="has no attribute '__wrapped__'"):
        ops.__wrapped__  # noqa: B018


def test_processes_are_spawned_as_before_once_the_alias_is_gone() -> None:
    done = subprocess.run([sys.executable, "-c", (
        "from multiprocessing import spawn\n"
        "import tfsandbox as tf\n"
        "before = spawn.get_preparation_data\n"
        "tf.install_as_tensorflow(); tf.install_as_tensorflow()\n"
        "assert spawn.get_preparation_data is not before\n"
        "tf.uninstall_as_tensorflow()\n"
        "assert spawn.get_preparation_data is before\n"
    )], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
