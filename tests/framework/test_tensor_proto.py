"""Arrays through TensorProto and back, and what is not to be believed of a TensorProto."""

import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tfsandbox.framework import dtypes
from tfsandbox.framework.tensor_util import (
    as_ndarray,
    as_ndarray_and_dtype,
    make_ndarray,
    make_tensor_proto,
    ndarray_to_proto,
    proto_to_ndarray,
)
from tfsandbox.proto import tensor_pb2


def _proto(dtype: dtypes.DType = dtypes.float32, sizes: tuple[int, ...] = (), **fields: Any) -> Any:
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, **fields)  # type: ignore[arg-type]
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    return proto


def _sample(dtype: dtypes.DType, sizes: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(sizes))
    target = np.dtype(dtype.as_numpy_dtype)
    if dtype is dtypes.string:
        found = np.empty(count, object)
        found[:] = [b"\xff\x00" * i for i in range(count)]
        return found.reshape(sizes)
    if target.names:
        return np.arange(count).astype(target[0]).view(target).reshape(sizes)
    return np.arange(-1, count - 1).astype(target).reshape(sizes)


@pytest.mark.parametrize("sizes", [(), (1,), (2, 3), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", sorted(dtypes.TF_VALUE_DTYPES, key=hash), ids=str)
def test_there_and_back(dtype: dtypes.DType, sizes: tuple[int, ...]) -> None:
    array = _sample(dtype, sizes)
    data = ndarray_to_proto(array).SerializeToString()
    found = proto_to_ndarray(tensor_pb2.TensorProto.FromString(data))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tolist() == array.tolist()
    assert not found.flags.writeable
    assert make_ndarray(tensor_pb2.TensorProto.FromString(data)).flags.writeable


def test_a_repeated_value_takes_no_memory() -> None:
    array = as_ndarray(0.5, shape=[1000, 1000])
    assert array.strides == (0, 0)
    proto = ndarray_to_proto(array)
    # As TensorFlow: tf.make_tensor_proto(0.5, shape=[1000, 1000]).SerializeToString().
    assert proto.SerializeToString() == bytes.fromhex("0801120a120308e807120308e8072a040000003f")
    assert proto_to_ndarray(proto).strides == (0, 0)


def test_an_array_with_equal_elements_is_written_in_full() -> None:
    assert ndarray_to_proto(np.ones(3, np.float32)).tensor_content == np.ones(3, np.float32).tobytes()
    assert ndarray_to_proto(as_ndarray(np.broadcast_to(np.float32(1), (3,)))).tensor_content != b""


def test_constants_do_not_follow_the_callers_array() -> None:
    source = np.zeros(3, np.float32)
    constant = as_ndarray(source)
    source[0] = 1
    assert constant[0] == 0
    assert as_ndarray(source[::-1]).flags.c_contiguous
    assert as_ndarray(np.ones((2, 3), ">f8").T).flags.c_contiguous
    assert as_ndarray(np.ones(2, ">f8")).dtype.isnative


def test_values_and_type_come_together() -> None:
    for value, dtype in [(1, None), ([1.5], "float64"), (["a"], None), (np.int8(3), None), (1.5, dtypes.float32_ref)]:
        array, found = as_ndarray_and_dtype(value, dtype)
        assert array.dtype == found.as_numpy_dtype
        assert found is found.base_dtype


def test_the_last_value_is_repeated() -> None:
    assert as_ndarray([1, 2], shape=[2, 2]).tolist() == [[1, 2], [2, 2]]
    assert make_tensor_proto([1, 2], shape=[2, 2]).int_val == [1, 2]
    assert proto_to_ndarray(_proto(dtypes.int32, (2, 2), int_val=[1, 2])).tolist() == [[1, 2], [2, 2]]
    assert proto_to_ndarray(_proto(dtypes.int32, (2,))).tolist() == [0, 0]
    assert proto_to_ndarray(_proto(dtypes.string, (2,))).tolist() == [b"", b""]


def test_values_out_of_range_wrap() -> None:
    """As in TensorFlow 1.15 with the numpy of its time, whatever numpy is used now."""
    assert as_ndarray([300, -1], "uint8").tolist() == [44, 255]
    assert as_ndarray(2**31, "int32").tolist() == -(2**31)
    assert as_ndarray(-1, "uint64").tolist() == 2**64 - 1
    with pytest.raises(OverflowError):
        as_ndarray([1, 2**63], "int32")


def test_foreign_bfloat16_arrays() -> None:
    """Arrays of other packages' bfloat16 type are taken by their bits."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="no other package with a bfloat16 type is installed")
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    assert as_ndarray(array)["bfloat16"].tolist() == [0x3FC0, 0xC000]


def test_packed_strings() -> None:
    proto = _proto(dtypes.string, (3,), tensor_content=b"\x01\x00\x81\x01" + b"a" + b"b" * 129)
    assert proto_to_ndarray(proto).tolist() == [b"a", b"", b"b" * 129]


GIB = 2**30

MALFORMED = {
    "negative size": _proto(sizes=(-1, 2), float_val=[1]),
    "unknown rank": tensor_pb2.TensorProto(dtype=1, tensor_shape={"unknown_rank": True}),  # type: ignore[arg-type]
    "2 GiB of one value": _proto(sizes=(GIB // 2,), float_val=[1]),
    "2 GiB of no value": _proto(sizes=(GIB // 2,)),
    "2 GiB in several dimensions": _proto(sizes=(1 << 20, 1 << 20), float_val=[1, 2]),
    "2**127 elements": _proto(sizes=(2**63 - 1, 2**63 - 1), float_val=[1]),
    "2**63 times nothing": _proto(sizes=(2**63 - 1, 0)),
    "1 GiB of two values": _proto(sizes=(GIB // 4,), float_val=[1, 2]),
    "1 GiB with little content": _proto(sizes=(GIB // 4,), tensor_content=b"1234"),
    "content cut off": _proto(sizes=(2,), tensor_content=b"12345"),
    "content too long": _proto(sizes=(2,), tensor_content=b"1234" * 3),
    "content without elements": _proto(sizes=(0,), tensor_content=b"1234"),
    "too many values": _proto(sizes=(2,), float_val=[1, 2, 3]),
    "half a complex number": _proto(dtypes.complex64, (2,), scomplex_val=[1, 2, 3]),
    "33 dimensions": _proto(sizes=(1,) * 33, float_val=[1]),
    "strings without end": _proto(dtypes.string, (2,), tensor_content=b"\xff\xff"),
    "strings shorter than said": _proto(dtypes.string, (1,), tensor_content=b"\x05ab"),
    "strings longer than said": _proto(dtypes.string, (1,), tensor_content=b"\x01ab"),
    "more strings than bytes": _proto(dtypes.string, (2**27,), tensor_content=b"ab"),
    "a string of 2**70 bytes": _proto(dtypes.string, (1,), tensor_content=b"\x80" * 10 + b"\x01"),
}


@pytest.mark.parametrize("proto", MALFORMED.values(), ids=MALFORMED)
def test_malformed_messages_are_refused_at_once(proto: Any) -> None:
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ValueError, match="TensorProto"):
            proto_to_ndarray(proto)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 1


def test_a_message_that_claims_much_and_means_little_is_cheap() -> None:
    """tf.zeros([2**28]) is a legal constant; reading it allocates nothing."""
    tracemalloc.start()
    try:
        array = proto_to_ndarray(_proto(sizes=(2**28,), float_val=[0]))
        assert array.shape == (2**28,)
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def test_types_without_arrays_are_refused() -> None:
    for dtype in (dtypes.resource, dtypes.variant):
        with pytest.raises(TypeError, match="Unsupported tensor type"):
            proto_to_ndarray(_proto(dtype))
    with pytest.raises(TypeError, match="Cannot convert value 0 to a TensorFlow DType"):
        proto_to_ndarray(tensor_pb2.TensorProto())
    with pytest.raises(TypeError, match="Incompatible types"):
        ndarray_to_proto(np.zeros(1), dtypes.resource)


def test_bools_other_than_0_and_1_become_true() -> None:
    found = proto_to_ndarray(_proto(dtypes.bool, (3,), tensor_content=b"\x00\x01\x07"))
    assert found.view(np.uint8).tolist() == [0, 1, 1]
