"""What `dtypes` does beside what was recorded from TensorFlow (test_recorded)."""

import copy
import pickle

import numpy as np
import pytest

from tfsandbox.framework import dtypes


def test_types_are_immutable() -> None:
    with pytest.raises(AttributeError):
        dtypes.float32.name = "float64"
    with pytest.raises(AttributeError):
        dtypes.float32.note = "x"  # type: ignore[attr-defined]


def test_copies_are_the_type_itself() -> None:
    assert pickle.loads(pickle.dumps(dtypes.bfloat16_ref)) is dtypes.bfloat16_ref
    assert copy.deepcopy({"a": dtypes.string})["a"] is dtypes.string


def test_resource_has_no_numpy_type() -> None:
    for dtype in (dtypes.resource, dtypes.variant_ref):
        with pytest.raises(KeyError):
            _ = dtype.as_numpy_dtype
    with pytest.raises(AttributeError):
        _ = dtypes.float32.no_such_thing  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", sorted(dtypes.TF_VALUE_DTYPES, key=hash), ids=str)
def test_arrays_know_their_type(dtype: dtypes.DType) -> None:
    array = np.zeros(2, dtype.as_numpy_dtype)
    assert dtypes.as_dtype(array.dtype) is dtype
    assert array.itemsize == dtype.size
    assert dtype == array.dtype


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_c_integers_are_found_by_size(code: str) -> None:
    found = dtypes.as_dtype(np.dtype(code).type)
    assert (found.size, found.is_unsigned) == (np.dtype(code).itemsize, np.dtype(code).kind == "u")


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = np.array([1.0, 1.00390625, 1.01171875, 1 / 3, -2.5, np.inf, -np.inf, 3.4e38, 1e-40], np.float32)
    # The halves of TensorFlow 1.15: tf.make_tensor_proto(values, tf.bfloat16).half_val.
    bits = [0x3F80, 0x3F80, 0x3F82, 0x3EAB, 0xC020, 0x7F80, 0xFF80, 0x7F80, 0x0001]
    found = dtypes.float32_to_bfloat16(values)
    assert found.dtype == dtypes.bfloat16.as_numpy_dtype
    assert found["bfloat16"].tolist() == bits


def test_bfloat16_keeps_nan_and_shape() -> None:
    found = dtypes.float32_to_bfloat16(np.full((2, 3), np.nan, np.float32))
    assert found.shape == (2, 3)
    assert (found["bfloat16"] == 0x7FC0).all()
    assert np.isnan(dtypes.bfloat16_to_float32(found)).all()
    assert dtypes.float32_to_bfloat16(np.float32(2)).shape == ()  # type: ignore[arg-type]
    assert dtypes.float32_to_bfloat16(np.ones((4, 4), np.float32)[:, ::2]).shape == (4, 2)


def test_every_bfloat16_survives_float32() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    numbers = dtypes.bfloat16_to_float32(bits)
    back = dtypes.float32_to_bfloat16(numbers)["bfloat16"]
    assert (back[~np.isnan(numbers)] == bits[~np.isnan(numbers)]).all()


def test_bfloat16_limits() -> None:
    assert dtypes.bfloat16.max == 3.3895313892515355e38
    assert dtypes.bfloat16.min == -3.3895313892515355e38
    with pytest.raises(KeyError):
        _ = dtypes.bfloat16.limits
