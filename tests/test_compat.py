"""tf.compat, against what TensorFlow 1.15 answers."""

from pathlib import Path

import numpy as np
import pytest

import tfsandbox as tf


def test_text_and_bytes() -> None:
    assert tf.compat.as_bytes("é", "latin-1") == b"\xe9"
    assert tf.compat.as_text(b"\xe9", "latin-1") == "é"
    assert tf.compat.as_bytes(b"a") == b"a" and tf.compat.as_str(b"a") == tf.compat.as_str("a") == "a"
    assert tf.compat.as_str_any(3) == "3" and tf.compat.as_str_any(b"x") == "x"
    assert tf.compat.path_to_str(Path("a") / "b") == str(Path("a") / "b") and tf.compat.path_to_str(3) == 3
    for function in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            function(3)


def test_types() -> None:
    assert isinstance(np.int8(1), tf.compat.integral_types) and not isinstance(1.0, tf.compat.integral_types)
    assert isinstance(np.float16(1), tf.compat.real_types) and isinstance(1j, tf.compat.complex_types)
    assert isinstance("", tf.compat.bytes_or_text_types) and isinstance(b"", tf.compat.bytes_or_text_types)


def test_dimensions() -> None:
    assert tf.compat.dimension_value(tf.Dimension(3)) == tf.compat.dimension_value(3) == 3
    assert tf.compat.dimension_at_index(tf.TensorShape([1, 2]), 1).value == 2
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 1).value is None


def test_forward_compatibility() -> None:
    assert tf.compat.forward_compatible(2019, 8, 20)
    assert not tf.compat.forward_compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2025, 1, 1):
        assert tf.compat.forward_compatible(2024, 12, 31) and not tf.compat.forward_compatible(2025, 1, 1)
    assert not tf.compat.forward_compatible(2024, 1, 1)


def test_v1_is_tf() -> None:
    assert tf.compat.v1 is tf
