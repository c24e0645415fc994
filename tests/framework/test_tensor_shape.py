"""What shapes do beside what was recorded from TensorFlow (test_recorded)."""

import pytest

from tfsandbox.framework.tensor_shape import Dimension, TensorShape, as_shape, unknown_shape
from tfsandbox.proto import tensor_shape_pb2


def test_sizes_are_plain_integers() -> None:
    shape = TensorShape([Dimension(2), None, "3"])
    assert shape.sizes == (2, None, 3)
    assert TensorShape(None).sizes is None
    assert TensorShape.from_sizes((4, 5)) == [4, 5]


def test_a_shape_of_a_shape_shares_its_sizes() -> None:
    shape = TensorShape([None, 2])
    assert TensorShape(shape).sizes is shape.sizes
    assert as_shape(shape) is shape
    # TensorFlow compares unknown sizes as unequal, unless they are the very same.
    assert TensorShape(shape) == shape
    assert TensorShape([None, 2]) != shape


@pytest.mark.parametrize("sizes", [None, [], [3], [None, 0], [2**40, 7]])
def test_there_and_back_through_proto(sizes: list[int | None] | None) -> None:
    proto = TensorShape(sizes).as_proto()
    assert isinstance(proto, tensor_shape_pb2.TensorShapeProto)
    assert TensorShape(proto).sizes == (None if sizes is None else tuple(sizes))


def test_a_proto_with_a_bad_size_is_refused() -> None:
    proto = tensor_shape_pb2.TensorShapeProto()
    proto.dim.add(size=-2)
    with pytest.raises(ValueError, match="Dimension -2 must be >= 0"):
        TensorShape(proto)


def test_an_object_with_its_own_refusal_to_iterate_is_heard() -> None:
    class Refusal(TypeError):
        pass

    class Refusing:
        def __iter__(self) -> None:
            raise Refusal("iterating over `tf.Tensor` is not allowed")

    with pytest.raises(Refusal):
        TensorShape(Refusing())


def test_dimensions_are_made_anew() -> None:
    shape = TensorShape([1, 2])
    dims = shape.dims
    assert dims is not None
    dims.append(Dimension(3))
    assert shape.rank == 2


def test_unknown_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="Unknown argument: rnk"):
        unknown_shape(rnk=2)
