"""What a test asserts of arrays, tensors and messages: the asserts of tf.test.TestCase."""

from __future__ import annotations

import contextlib
import re
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import device as device_lib
from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor

Expected = str | Callable[[BaseException], Any] | None


class TensorAsserts(unittest.TestCase):
    """Asserts; tensors among the arguments are evaluated by `evaluate`."""

    def evaluate(self, tensors: Any) -> Any:
        """The numpy values of tensors."""
        raise NotImplementedError

    def _GetNdArray(self, a: Any) -> np.ndarray:
        if isinstance(a, (Tensor, SparseTensor, IndexedSlices)) or hasattr(a, "_as_graph_element"):
            a = self.evaluate(a)
        return a if isinstance(a, np.ndarray) else np.array(a)

    # ------------------------------------------------------------ equal, close

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Arrays of one shape, all elements equal; NaN equals NaN."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        if not b.ndim and a.size and not a.ndim:
            b = b.reshape(a.shape)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}")
        same = np.asarray(a == b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
        if not np.all(same):
            self.fail(f"Arrays are not equal{_where(a, b, ~same)}. {msg or ''}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Some element differs."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Arrays, or dicts and lists of them, with |a - b| <= atol + rtol * |b| everywhere."""
        self._close(a, b, rtol, atol, msg or "", [])

    def _close(self, a: Any, b: Any, rtol: float, atol: float, msg: str, path: list[str]) -> None:
        place = f" at {''.join(path)}" if path else ""
        fields_a, fields_b = getattr(a, "_asdict", None), getattr(b, "_asdict", None)
        a, b = (fields_a() if fields_a else a), (fields_b() if fields_b else b)
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
                raise ValueError(f"Can't compare dict to non-dict{place}: {a} vs {b}. {msg}")
            self.assertCountEqual(a.keys(), b.keys(), f"mismatched keys{place}. {msg}")
            for key in a:
                self._close(a[key], b[key], rtol, atol, msg, [*path, f"[{key}]"])
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and not _rectangular(a, b):
            self.assertEqual(len(a), len(b), f"Mismatched length{place}. {msg}")
            for i, (one, other) in enumerate(zip(a, b)):
                self._close(one, other, rtol, atol, msg, [*path, f"[{i}]"])
        else:
            self._arrays_close(self._GetNdArray(a), self._GetNdArray(b), rtol, atol, f"{place} {msg}")

    def _arrays_close(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, msg: str) -> None:
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}.{msg}")
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        if not np.all(close):
            self.fail(f"Not all close (rtol = {rtol}, atol = {atol}){_where(a, b, ~close)}.{msg}")

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Some element is not close."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6,
                                      float_rtol: float = 1e-6, float_atol: float = 1e-6, half_rtol: float = 1e-3,
                                      half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
                                      bfloat16_atol: float = 1e-2, msg: str | None = None) -> None:
        """Close, with the tolerances of the coarser of the two types."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        for names, wider_rtol, wider_atol in (
                (("float32", "complex64"), float_rtol, float_atol), (("float16",), half_rtol, half_atol),
                (("bfloat16",), bfloat16_rtol, bfloat16_atol)):
            if dtypes.as_dtype(a.dtype).name in names or dtypes.as_dtype(b.dtype).name in names:
                rtol, atol = max(rtol, wider_rtol), max(atol, wider_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Numbers at most `err` apart."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err,
                        f"{f1} != {f2} +/- {err}{'' if msg is None else f' ({msg})'}")

    def assertArrayNear(self, farray1: Sequence[float], farray2: Sequence[float], err: float,
                        msg: str | None = None) -> None:
        """Sequences of numbers at most `err` apart."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Arrays whose difference has a norm below `err`."""
        self.assertTrue(np.linalg.norm(np.subtract(ndarray1, ndarray2)) < err, msg)

    # ------------------------------------------------------------ order, sets, types

    def _all(self, target: Any, good: Callable[[np.ndarray], Any], text: str) -> None:
        values = self._GetNdArray(target)
        bad = ~np.asarray(good(values))
        if np.any(bad):
            self.fail(f"{text}: {values[bad].ravel()[:10]} of {values}")

    def assertAllGreater(self, a: Any, comparison_target: float) -> None:
        """All elements > the target."""
        self._all(a, lambda v: v > comparison_target, f"not all > {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: float) -> None:
        """All elements < the target."""
        self._all(a, lambda v: v < comparison_target, f"not all < {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: float) -> None:
        """All elements >= the target."""
        self._all(a, lambda v: v >= comparison_target, f"not all >= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: float) -> None:
        """All elements <= the target."""
        self._all(a, lambda v: v <= comparison_target, f"not all <= {comparison_target}")

    def assertAllInRange(self, target: Any, lower_bound: float, upper_bound: float, open_lower_bound: bool = False,
                         open_upper_bound: bool = False) -> None:
        """All elements between the bounds, which belong to the range unless open."""
        def inside(v: np.ndarray) -> Any:
            above = v > lower_bound if open_lower_bound else v >= lower_bound
            return above & (v < upper_bound if open_upper_bound else v <= upper_bound)
        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._all(target, inside, f"not all in {left}{lower_bound}, {upper_bound}{right}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """All elements in a set."""
        self._all(target, lambda v: np.isin(v, list(expected_set)), f"not all in {expected_set}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Of that type."""
        target = self._GetNdArray(target)
        self.assertEqual(dtypes.as_dtype(target.dtype), dtypes.as_dtype(expected_dtype))

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        """An array of the static shape of a tensor."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(), msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """The same device, however it is written."""
        self.assertEqual(device_lib.canonical_name(device1), device_lib.canonical_name(device2), msg)

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """The same items in any order."""
        self.assertCountEqual(first, second, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Text with that beginning."""
        if not actual.startswith(expected_start):
            self.fail(msg or f"{actual!r} does not start with {expected_start!r}")

    def assertEmpty(self, container: Any, msg: str | None = None) -> None:
        """No items."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: str | None = None) -> None:
        """At least one item."""
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container: Any, expected_len: int, msg: str | None = None) -> None:
        """So many items."""
        self.assertEqual(len(container), expected_len, msg)

    # ------------------------------------------------------------ messages and errors

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:
        """A message, or the text of one, equals another."""
        expected = type(message)()
        if isinstance(expected_message_maybe_ascii, type(message)):
            expected = expected_message_maybe_ascii
        elif isinstance(expected_message_maybe_ascii, (str, bytes)):
            from google.protobuf import text_format
            text_format.Merge(expected_message_maybe_ascii, expected)
        else:
            self.fail(f"Can't compare protos of type {type(expected_message_maybe_ascii)} and {type(message)}. {msg}")
        if expected != message:
            self.assertMultiLineEqual(str(expected), str(message), msg)

    def assertProtoEqualsVersion(self, expected: str, actual: Any, producer: int = 134, min_consumer: int = 0,
                                 msg: str | None = None) -> None:
        """A GraphDef equals the text of one, to which the versions are added."""
        consumer = f" min_consumer: {min_consumer}" if min_consumer else ""
        self.assertProtoEquals(f"versions {{ producer: {producer}{consumer} }} {expected}", actual, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Expected
                                       ) -> Iterator[None]:
        """Context manager: raises such an error, whose text (or which itself) fits the pattern or predicate."""
        try:
            yield
        except exception_type as error:
            if callable(expected_err_re_or_predicate):
                good = expected_err_re_or_predicate(error)
            else:
                text = error.message if isinstance(error, errors.OpError) else str(error)
                operation = error.op if isinstance(error, errors.OpError) else None
                text += f"\nCaused by op: {operation.name!r}" if operation is not None else ""
                good = expected_err_re_or_predicate is None or re.search(expected_err_re_or_predicate, text)
            if not good:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Expected) -> Any:
        """Context manager: raises an OpError of that text."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesRegexp(self, expected_exception: Any, expected_regex: Any, *args: Any, **kwargs: Any) -> Any:
        """Old name of `assertRaisesRegex`."""
        return self.assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    def assertRegexpMatches(self, text: Any, expected_regexp: Any, msg: Any = None) -> None:
        """Old name of `assertRegex`."""
        self.assertRegex(text, expected_regexp, msg)


for _old, _new in {"assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
                   "assertAlmostEquals": "assertAlmostEqual"}.items():
    # Python 3.12 dropped these names, and programs of TensorFlow 1's time use them.
    if not hasattr(TensorAsserts, _old):
        setattr(TensorAsserts, _old, getattr(unittest.TestCase, _new))


def _rectangular(a: Any, b: Any) -> bool:
    """Whether both are what numpy makes one array of numbers of."""
    try:
        return all(np.array(x).dtype != object for x in (a, b))
    except Exception:
        return False


def _where(a: np.ndarray, b: np.ndarray, different: np.ndarray) -> str:
    """The places and values that differ, some of them."""
    places = np.argwhere(different)
    if not different.ndim:
        return f": {a} and {b}"
    shown = ", ".join(f"{tuple(p.tolist())}: {a[tuple(p)]} and {b[tuple(p)]}" for p in places[:5])
    more = f", and {len(places) - 5} more" if len(places) > 5 else ""
    return f" in {len(places)} of {different.size} places: {shown}{more}"
