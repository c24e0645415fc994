"""tf.test: a TestCase with sessions, and what goes with it."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from tfsandbox.framework.graph import Graph, get_default_graph, reset_default_graph
from tfsandbox.framework.stacks import default_session
from tfsandbox.framework.test_asserts import TensorAsserts
from tfsandbox.ops.gradient_checker import compute_gradient, compute_gradient_error
from tfsandbox.runtime.session import Session

__all__ = [
    "TestCase", "assert_equal_graph_def", "compute_gradient", "compute_gradient_error", "get_temp_dir",
    "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm", "is_gpu_available",
    "main", "mock", "test_src_dir_path",
]

_SEED = 87654321


class _CheckedThread:
    """A thread whose exception is the test's."""

    def __init__(self, case: TestCase, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._case, self._target, self._args, self._kwargs = case, target, args or (), kwargs or {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end; the test fails where the thread raised."""
        self._case._threads.remove(self)
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._thread.is_alive()


class TestCase(TensorAsserts):
    """A test case whose tests each begin with an empty default graph and fixed seeds."""

    __test__ = False  # pytest collects the subclasses, which say so themselves

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__test__" not in vars(cls):
            cls.__test__ = True

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[_CheckedThread] = []
        self._tempdir: str | None = None
        self._cached: Any = None

    def setUp(self) -> None:
        """Reset the default graph and the seeds."""
        self._clear_cached_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        get_default_graph().seed = _SEED

    def tearDown(self) -> None:
        """Fail where threads were left running."""
        for thread in self._threads:
            self.assertFalse(thread.is_alive(), "A checkedThread did not terminate")
        self._clear_cached_session()

    def _clear_cached_session(self) -> None:
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """A folder of this test's own."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(prefix=self._testMethodName, dir=get_temp_dir())
        return self._tempdir

    @contextlib.contextmanager
    def session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                force_gpu: bool = False) -> Iterator[Session]:
        """Context manager: a new session on the graph, the default one inside."""
        with Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                       force_gpu: bool = False) -> Iterator[Session]:
        """Context manager: the one session of this test, kept from one block to the next."""
        if self._cached is None:
            self._cached = Session(graph=graph, config=config)
        elif graph is not None and self._cached.graph is not graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to "
                             "create the session. Maybe create a new session with self.session()")
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def test_session(self, graph: Graph | None = None, config: Any = None, use_gpu: bool = False,
                     force_gpu: bool = False) -> contextlib.AbstractContextManager[Session]:
        """Deprecated: `session` of a given graph, else `cached_session`."""
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")  # unittest takes it for one, by its name
        return (self.cached_session if graph is None else self.session)(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors of any nesting, in the default session or the test's own."""
        session = default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    def checkedThread(self, target: Callable[..., Any], args: Any = None, kwargs: Any = None) -> _CheckedThread:
        """A thread whose exception fails the test when it is joined."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread


def get_temp_dir() -> str:
    """A folder for the files of tests: of the variable TEST_TMPDIR, or a new one of this process."""
    global _temp_dir
    if _temp_dir is None:
        _temp_dir = os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp(prefix=os.path.basename(sys.argv[0] or "test"))
        os.makedirs(_temp_dir, exist_ok=True)
    return _temp_dir


_temp_dir: str | None = None


def test_src_dir_path(relative_path: str) -> str:
    """A path below the folder of the variable TEST_SRCDIR; KeyError where it is not set."""
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """False: everything runs on the CPU."""
    return False


def gpu_device_name() -> str:
    """No name: there is no GPU."""
    return ""


def is_built_with_cuda() -> bool:
    """False."""
    return False


def is_built_with_rocm() -> bool:
    """False."""
    return False


def is_built_with_gpu_support() -> bool:
    """False."""
    return False


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False,
                           hash_table_shared_name: bool = False) -> None:
    """`AssertionError` unless two GraphDefs have the same nodes, in any order; `TypeError` for something else.

    `checkpoint_v2` leaves out names of temporary files, `hash_table_shared_name` those of tables.
    """
    for what, message in (("actual", actual), ("expected", expected)):
        if type(message).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(message).__name__}")
    found, wanted = ({node.name: _comparable(node, checkpoint_v2, hash_table_shared_name) for node in message.node}
                     for message in (actual, expected))
    problems = [f"Found unexpected node '{name}'" for name in found if name not in wanted]
    problems += [f"Did not find expected node '{name}'" for name in wanted if name not in found]
    problems += [f"Node named '{name}' differs:\n{found[name]}\nexpected:\n{wanted[name]}"
                 for name in found if name in wanted and found[name] != wanted[name]]
    if problems:
        raise AssertionError("\n".join(problems))


def _comparable(node: Any, checkpoint_v2: bool, hash_table_shared_name: bool) -> Any:
    node = type(node).FromString(node.SerializeToString())
    data = [name for name in node.input if not name.startswith("^")]
    control = sorted(name for name in node.input if name.startswith("^"))
    del node.input[:]
    node.input.extend([*data, *control])
    if checkpoint_v2 and node.op == "Const" and any(b"_temp" in text for text in node.attr["value"].tensor.string_val):
        node.attr["value"].tensor.string_val[:] = []
    if hash_table_shared_name and node.op in ("HashTable", "HashTableV2"):
        node.attr["shared_name"].s = b""
    return node


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the program."""
    from tfsandbox.platform import app
    app.run(main=lambda rest: unittest.main(module="__main__", argv=rest), argv=argv)


