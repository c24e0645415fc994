"""tf.test: the asserts, the sessions, the gradient checker, running as a program."""

import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsandbox as tf


class Everything(tf.test.TestCase):
    """Runs under pytest by itself, as a user's test case does."""

    def test_graph_and_seeds(self) -> None:
        self.assertEqual(tf.get_default_graph().get_operations(), [])
        self.assertEqual(tf.get_default_graph().seed, 87654321)
        self.assertEqual(np.random.randint(1000), np.random.RandomState(87654321).randint(1000))

    def test_sessions(self) -> None:
        with self.test_session() as first:
            v = tf.Variable(1.0)
            v.initializer.run()
        with self.cached_session() as second:
            self.assertIs(first, second)
            self.assertEqual(v.eval(), 1.0)
        self.assertEqual(self.evaluate({"v": [v + 1.0]}), {"v": [2.0]})
        with self.session() as other:
            self.assertIsNot(other, first)
            with self.assertRaisesOpError("uninitialized value Variable"):
                v.eval()
        with self.assertRaises(ValueError), self.cached_session(graph=tf.Graph()):
            pass

    def test_equal(self) -> None:
        self.assertAllEqual([1.0, np.nan], tf.constant([1.0, np.nan]))
        self.assertNotAllEqual([1], [2])
        for a, b in [([1, 2], [1, 3]), ([1, 2], [[1, 2]])]:
            with self.assertRaises(AssertionError):
                self.assertAllEqual(a, b)
        with self.assertRaisesRegex(AssertionError, r"in 1 of 2 places: \(1,\): 2 and 3"):
            self.assertAllEqual([1, 2], [1, 3])
        self.assertAllEqual(tf.constant(["a"]), [b"a"])

    def test_close(self) -> None:
        self.assertAllClose({"a": [1.0, (2.0, [3.0])]}, {"a": [1.0 + 1e-7, (2.0, [3.0])]})
        self.assertAllClose(tf.constant(1.0) / 3.0, 1 / 3)
        self.assertNotAllClose([1.0], [1.1])
        with self.assertRaises(AssertionError):
            self.assertAllClose([1.0, [2.0]], [1.0, [2.1]])
        with self.assertRaises(ValueError):
            self.assertAllClose({"a": 1}, [1])
        self.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0009]))
        self.assertNear(1.0, 1.1, 0.2)
        self.assertArrayNear([1.0], [1.1], 0.2)
        self.assertNDArrayNear(np.zeros(2), np.zeros(2), 0.1)

    def test_order_and_sets(self) -> None:
        self.assertAllGreater([1, 2], 0)
        self.assertAllLess([1, 2], 3)
        self.assertAllGreaterEqual([1, 2], 1)
        self.assertAllLessEqual([1, 2], 2)
        self.assertAllInRange([1, 2], 1, 2)
        self.assertAllInSet([1, 2], {1, 2})
        for failing in (lambda: self.assertAllInRange([1, 2], 1, 2, open_upper_bound=True),
                        lambda: self.assertAllInSet([1, 3], {1, 2}), lambda: self.assertAllGreater([1, 2], 1)):
            with self.assertRaises(AssertionError):
                failing()

    def test_types_shapes_messages(self) -> None:
        self.assertDTypeEqual(np.float32(1), tf.float32)
        self.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3]))
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
        self.assertItemsEqual([1, 2], [2, 1])
        self.assertStartsWith("abc", "ab")
        getattr(self, "assertEquals")(1, 1)  # noqa: B009 - the old names, which programs use
        getattr(self, "assertRegexpMatches")("abc", "b")  # noqa: B009
        self.assertProtoEquals("name: 'a' op: 'NoOp'", tf.no_op("a").node_def)
        with self.assertRaises(AssertionError):
            self.assertProtoEquals("name: 'b' op: 'NoOp'", tf.no_op("a").node_def)

    def test_errors(self) -> None:
        with self.assertRaisesWithPredicateMatch(ValueError, "te.t"):
            raise ValueError("text")
        with self.assertRaisesWithPredicateMatch(ValueError, lambda e: "x" in str(e)):
            raise ValueError("text")
        with self.assertRaises(AssertionError), self.assertRaisesWithPredicateMatch(ValueError, "other"):
            raise ValueError("text")
        with self.assertRaisesRegex(AssertionError, "not raised"), self.assertRaisesOpError("x"):
            pass

    def test_threads_and_folders(self) -> None:
        def fail() -> None:
            raise ValueError("in the thread")
        thread = self.checkedThread(fail)
        thread.start()
        with self.assertRaisesRegex(AssertionError, "Error in checkedThread: in the thread"):
            thread.join()
        self.assertTrue(Path(self.get_temp_dir()).is_dir())
        self.assertStartsWith(self.get_temp_dir(), tf.test.get_temp_dir())


def test_devices() -> None:
    assert not tf.test.is_gpu_available() and not tf.test.is_built_with_cuda() and tf.test.gpu_device_name() == ""
    assert tf.test.mock.__name__ == "unittest.mock"


def test_the_base_class_is_no_test() -> None:
    assert tf.test.TestCase.__test__ is False and Everything.__test__ is True
    assert issubclass(tf.test.TestCase, unittest.TestCase)


def test_graphs_compared() -> None:
    def graph(value: float, extra: bool = False) -> Any:
        with tf.Graph().as_default() as g:
            tf.constant(value, name="c")
            if extra:
                tf.no_op("n")
        return g.as_graph_def()
    tf.test.assert_equal_graph_def(graph(1.0), graph(1.0))
    with pytest.raises(AssertionError, match="Node named 'c' differs"):
        tf.test.assert_equal_graph_def(graph(1.0), graph(2.0))
    with pytest.raises(AssertionError, match="unexpected node 'n'"):
        tf.test.assert_equal_graph_def(graph(1.0, True), graph(1.0))
    with pytest.raises(TypeError, match="Expected tf.GraphDef for expected, got int"):
        tf.test.assert_equal_graph_def(graph(1.0), 3)


def test_compute_gradient() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.placeholder(tf.float64, [2])
        z = tf.placeholder(tf.float64, [2])
        y = tf.stack([tf.reduce_sum(x * x * z), x[0]])
        start = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
        (by_x, numeric_x), (by_z, numeric_z) = tf.test.compute_gradient([x, z], [[2], [2]], y, [2], start)
        np.testing.assert_allclose(by_x, [[6.0, 1.0], [16.0, 0.0]])
        np.testing.assert_allclose(by_z, [[1.0, 0.0], [4.0, 0.0]])
        np.testing.assert_allclose(numeric_x, by_x, atol=1e-6)
        np.testing.assert_allclose(numeric_z, by_z, atol=1e-6)
        assert tf.test.compute_gradient_error(x, [2], tf.exp(x), [2]) < 1e-5
        c = tf.placeholder(tf.complex64, [1])
        assert tf.test.compute_gradient_error(c, [1], tf.square(c), [1]) < 1e-2
        table = tf.placeholder(tf.float32, [3, 1])
        assert tf.test.compute_gradient_error(table, [3, 1], tf.gather(table, [2, 2]), [2, 1]) < 1e-3
        with pytest.raises(TypeError, match="Don't support type int32"):
            tf.test.compute_gradient(tf.placeholder(tf.int32, [1]), [1], y, [2])


def test_without_a_session() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with pytest.raises(ValueError, match="No default session is registered"):
            tf.test.compute_gradient(x, [], x * x, [])


def test_as_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\n"
                       "class T(tf.test.TestCase):\n"
                       "    def test_good(self):\n        self.assertAllEqual(tf.constant([1]) + 1, [2])\n"
                       "    def test_bad(self):\n        self.assertAllEqual([1], [2])\n"
                       "if __name__ == '__main__':\n    tf.test.main()\n")
    done = subprocess.run([sys.executable, "-m", "tfsandbox", str(program)], capture_output=True, text=True)
    assert done.returncode == 1 and "Ran 3 tests" in done.stderr and "failures=1, skipped=1" in done.stderr
