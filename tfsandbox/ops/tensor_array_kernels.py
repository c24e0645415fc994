"""The ops of TensorArrays, and the array a run keeps for a handle.

A handle is a `Storage`, made anew by every run of the node that makes the array. The float called flow holds nothing:
it makes reads wait for writes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge_sizes, with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import text_of_sizes
from tfsandbox.ops.nn_shapes import invalid

__all__: list[str] = []

_FLOW = np.float32(0)
_SCALAR = TensorShape([])


class Storage:
    """The elements of one TensorArray in one run: written once each, and read.

    An array of gradients adds what is written to the same place, and is zero where nothing was.
    """

    def __init__(self, name: str, size: int, dtype: Any, element_shape: TensorShape, *, dynamic_size: bool,
                 clear_after_read: bool, identical_shapes: bool, adds: bool = False) -> None:
        self.name = name
        self.elements: list[Any] = [None] * size
        self.shapes: list[tuple[int, ...] | None] = [None] * size  # of what was written, also when it is gone
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic_size, self.clear_after_read = dynamic_size, clear_after_read
        self.identical_shapes = identical_shapes
        self.adds = adds
        self.closed = False
        self.gradients: dict[bytes, Storage] = {}

    def __len__(self) -> int:
        return len(self.elements)

    def _complain(self, message: str) -> errors.InvalidArgumentError:
        return invalid(f"TensorArray {self.name}: {message}")

    def opened(self) -> Storage:
        """The array itself; `InvalidArgumentError` where it was closed."""
        if self.closed:
            raise invalid(f"TensorArray {self.name} has already been closed.")
        return self

    def write(self, index: int, value: Any) -> None:
        """Keep `value` there, which must be the array's own; an array of gradients adds it."""
        if index >= len(self.elements) and self.dynamic_size:
            more = index + 1 - len(self.elements)
            self.elements += [None] * more
            self.shapes += [None] * more
        if not 0 <= index < len(self.elements):
            raise self._complain(f"Tried to write to index {index} but array is not resizeable and size is: "
                                 f"{len(self.elements)}")
        shape = np.shape(value)
        if value.dtype != self.dtype.as_numpy_dtype and self.dtype != dtypes.string:
            raise invalid(f"TensorArray dtype is {_type_text(self.dtype)} but Op is trying to write dtype "
                          f"{_type_text(dtypes.as_dtype(value.dtype))}.")
        if not self.element_shape.is_compatible_with(shape):
            raise self._complain(
                f"Could not write to TensorArray index {index} because the value shape is {text_of_sizes(shape)} which "
                f"is incompatible with the TensorArray's inferred element shape: {self._shape_text()} (consider "
                "setting infer_shape=False).")
        if self.identical_shapes and not self.element_shape.is_fully_defined():
            self.element_shape = TensorShape(shape)
        present = self.elements[index]
        if not self.adds:
            if self.shapes[index] is not None:
                raise self._complain(f"Could not write to TensorArray index {index} because it has already been "
                                     "written to.")
        elif present is not None:
            value = present + value
        self.elements[index], self.shapes[index] = value, shape

    def read(self, index: int) -> Any:
        """The element there, which is cleared unless the array keeps what was read."""
        if not 0 <= index < len(self.elements):
            raise invalid(f"Tried to read from index {index} but array size is: {len(self.elements)}")
        value = self.elements[index]
        if value is None:
            if self.shapes[index] is not None and not self.adds:
                raise self._complain(f"Could not read index {index} twice because it was cleared after a previous "
                                     "read (perhaps try setting clear_after_read = false?).")
            return self._zeros(index)
        if not self.clear_after_read:
            return np.array(value)
        self.elements[index] = None
        return value

    def _zeros(self, index: int) -> np.ndarray:
        shape = self.shapes[index]
        if shape is None:
            if not self.element_shape.is_fully_defined():
                raise self._complain(
                    f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully "
                    f"defined: {self._shape_text()}.  It is possible you are working with a resizeable TensorArray and "
                    "stop_gradients is not allowing the gradients to be written.  If you set the full element_shape "
                    "property on the forward TensorArray, the proper all-zeros tensor will be returned instead of "
                    "incurring this error.")
            shape = _sizes(self.element_shape)
        if self.dtype == dtypes.string:
            return np.full(shape, b"", object)
        return np.zeros(shape, self.dtype.as_numpy_dtype)

    def gather(self, indices: list[int]) -> np.ndarray:
        """The elements at these places in one array."""
        if not indices:
            if not self.element_shape.is_fully_defined():
                raise errors.UnimplementedError(
                    None, None, f"TensorArray has size zero, but element shape {self._shape_text()} is not fully "
                                "defined. Currently only static shapes are supported when packing zero-size "
                                "TensorArrays.")
            return np.zeros((0, *_sizes(self.element_shape)), self.dtype.as_numpy_dtype)
        values = [self.read(index) for index in indices]
        first = values[0].shape
        for place, value in enumerate(values):
            if value.shape != first:
                raise invalid(f"TensorArray has inconsistent shapes.  Index 0 has shape: {text_of_sizes(first)} but "
                              f"index {place} has shape: {text_of_sizes(value.shape)}")
        return np.stack(values)

    def concat(self) -> tuple[np.ndarray, np.ndarray]:
        """(all elements one after the other along their first axis, their sizes there)."""
        if not self.elements:
            known = self.element_shape.ndims is not None and self.element_shape[1:].is_fully_defined()
            rest = _sizes(self.element_shape[1:]) if known else ()
            return np.zeros((0, *rest), self.dtype.as_numpy_dtype), np.zeros(0, np.int64)
        values = [self.read(index) for index in range(len(self.elements))]
        for place, value in enumerate(values):
            if value.ndim == 0:
                raise invalid(f"Concat saw a scalar shape at index {place} but requires at least vectors.  Did you "
                              "mean to call pack?")
            if value.shape[1:] != values[0].shape[1:]:
                raise invalid("TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                              f"{text_of_sizes(values[0].shape[1:])} but index {place} has (excepting dimension 0) "
                              f"shape: {text_of_sizes(value.shape[1:])}")
        return np.concatenate(values), np.array([len(value) for value in values], np.int64)

    def gradient(self, source: bytes, prepended: tuple[int, ...] = ()) -> Storage:
        """The array of the gradients of one call of tf.gradients, made when it is first asked for."""
        found = self.gradients.get(source)
        if found is None:
            # It has as many elements as were written, of the same shapes.
            self.dynamic_size = False
            shape = self.element_shape if self.element_shape.ndims is None else \
                TensorShape(prepended).concatenate(self.element_shape)
            found = self.gradients[source] = Storage(
                f"{self.name}@{source.decode()}", len(self.elements), self.dtype, shape, dynamic_size=False,
                clear_after_read=self.clear_after_read, identical_shapes=self.identical_shapes, adds=True)
            found.shapes = [None if one is None else (*prepended, *one) for one in self.shapes]
        return found

    def _shape_text(self) -> str:
        if self.element_shape.ndims is None:
            return "<unknown>"
        return text_of_sizes(self.element_shape.as_list())


def _sizes(shape: TensorShape) -> tuple[int, ...]:
    return tuple(size for size in shape.as_list() if size is not None)


def _type_text(dtype: Any) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


# ------------------------------------------------------------ the ops

_HANDLE, _VECTOR = TensorShape([2]), TensorShape([None])

tensor_array_op = register_op(
    "TensorArrayV3", "size: int32 -> handle: resource, flow: float32",
    "dtype: type; element_shape: shape = unknown; dynamic_size: bool = false; clear_after_read: bool = true; "
    "identical_element_shapes: bool = false; tensor_array_name: string = ''", stateful=True)
grad_op = register_op("TensorArrayGradV3", "handle: resource, flow_in: float32 -> grad_handle: resource, "
                      "flow_out: float32", "source: string", stateful=True)
grad_with_shape_op = register_op(
    "TensorArrayGradWithShape", "handle: resource, flow_in: float32, shape_to_prepend: int32 -> "
    "grad_handle: resource, flow_out: float32", "source: string", stateful=True)
write_op = register_op("TensorArrayWriteV3", "handle: resource, index: int32, value: T, flow_in: float32 -> "
                       "flow_out: float32", "T: type", stateful=True)
read_op = register_op("TensorArrayReadV3", "handle: resource, index: int32, flow_in: float32 -> value: dtype",
                      "dtype: type", stateful=True)
gather_op = register_op("TensorArrayGatherV3", "handle: resource, indices: int32, flow_in: float32 -> value: dtype",
                        "dtype: type; element_shape: shape = unknown", stateful=True)
scatter_op = register_op("TensorArrayScatterV3", "handle: resource, indices: int32, value: T, flow_in: float32 -> "
                         "flow_out: float32", "T: type", stateful=True)
concat_op = register_op("TensorArrayConcatV3", "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
                        "dtype: type; element_shape_except0: shape = unknown", stateful=True)
split_op = register_op("TensorArraySplitV3", "handle: resource, value: T, lengths: int64, flow_in: float32 -> "
                       "flow_out: float32", "T: type", stateful=True)
size_op = register_op("TensorArraySizeV3", "handle: resource, flow_in: float32 -> size: int32", "", stateful=True)
close_op = register_op("TensorArrayCloseV3", "handle: resource ->", "", stateful=True)

for _op in (tensor_array_op, grad_op, grad_with_shape_op, size_op, close_op):
    _op.no_gradient()
grad_op.shape(lambda c: [_HANDLE, _SCALAR])
grad_with_shape_op.shape(lambda c: [_HANDLE, _SCALAR])
size_op.shape(lambda c: _SCALAR)
close_op.shape(lambda c: [])
concat_op.shape(lambda c: [TensorShape(None), _VECTOR])


@tensor_array_op.shape
def _array_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 0)
    return [_HANDLE, _SCALAR]


@write_op.shape
def _write_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 0)
    with_rank(c.shape(3), 0)
    return _SCALAR


@read_op.shape
def _read_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 0)
    with_rank(c.shape(2), 0)
    return TensorShape(None)


@gather_op.shape
def _gather_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(1), 1)
    with_rank(c.shape(2), 0)
    return TensorShape(None)


@scatter_op.shape
def _scatter_shape(c: ShapeContext) -> TensorShape:
    indices = with_rank(c.shape(1), 1).as_list()[0]
    with_rank(c.shape(3), 0)
    merge_sizes(with_rank_at_least(c.shape(2), 1).as_list()[0] if c.shape(2).ndims is not None else None, indices)
    return _SCALAR


@split_op.shape
def _split_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(2), 1)
    with_rank(c.shape(3), 0)
    return _SCALAR


def _name(op: Operation, session_state: Any) -> str:
    name = op._attrs["tensor_array_name"]
    return name.decode() if name else op.name


tensor_array_op.state(_name)


@tensor_array_op.kernel
def _array(size: Any, *, dtype: Any, element_shape: Any, dynamic_size: bool, clear_after_read: bool,
           identical_element_shapes: bool, state: str) -> tuple[Any, Any]:
    if np.ndim(size):
        raise invalid(f"TensorArray size must be scalar, but had shape: {text_of_sizes(np.shape(size))}")
    if size < 0:
        raise invalid("Size should be >= 0.")
    storage = Storage(state, int(size), dtype, element_shape, dynamic_size=dynamic_size,
                      clear_after_read=clear_after_read, identical_shapes=identical_element_shapes)
    return storage, _FLOW


@grad_op.kernel
def _grad(handle: Storage, flow: Any, *, source: bytes) -> tuple[Any, Any]:
    return handle.gradient(source), _FLOW


@grad_with_shape_op.kernel
def _grad_with_shape(handle: Storage, flow: Any, prepended: Any, *, source: bytes) -> tuple[Any, Any]:
    return handle.gradient(source, tuple(int(size) for size in prepended)), _FLOW


@write_op.kernel
def _write(handle: Storage, index: Any, value: Any, flow: Any) -> Any:
    # A copy, as whoever made the value may write there again.
    handle.opened().write(int(index), np.array(value))
    return _FLOW


@read_op.kernel
def _read(handle: Storage, index: Any, flow: Any) -> Any:
    return handle.opened().read(int(index))


@gather_op.kernel
def _gather(handle: Storage, indices: Any, flow: Any, *, element_shape: TensorShape) -> Any:
    array = handle.opened()
    # The graph may know more of the elements than the array, to which nothing may have been written.
    array.element_shape = array.element_shape.merge_with(element_shape)
    return array.gather(indices.tolist())


@scatter_op.kernel
def _scatter(handle: Storage, indices: Any, value: Any, flow: Any) -> Any:
    array = handle.opened()
    if indices.size and indices.max() >= len(array) and not array.dynamic_size:
        raise invalid(f"Max scatter index must be < array size ({indices.max()} vs. {len(array)})")
    if len(indices) != len(value):
        raise invalid(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}")
    for index, row in zip(indices.tolist(), np.array(value)):
        array.write(index, row)
    return _FLOW


@concat_op.kernel
def _concat(handle: Storage, flow: Any) -> tuple[Any, Any]:
    return handle.opened().concat()


@split_op.kernel
def _split(handle: Storage, value: Any, lengths: Any, flow: Any) -> Any:
    array = handle.opened()
    if lengths.ndim != 1:
        raise invalid(f"Expected lengths to be a vector, received shape: {text_of_sizes(lengths.shape)}")
    if np.ndim(value) < 1:
        raise invalid(f"Expected value to be at least a vector, but received shape: {text_of_sizes(np.shape(value))}")
    if lengths.sum() != len(value):
        raise invalid(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {lengths.sum()} "
                      f"and value's shape is: {text_of_sizes(value.shape)}")
    if len(lengths) != len(array) and not array.dynamic_size:
        raise invalid(f"TensorArray's size is not equal to the size of lengths ({len(array)} vs. {len(lengths)}), and "
                      "the TensorArray is not marked as dynamically resizeable")
    for index, part in enumerate(np.split(np.array(value), np.cumsum(lengths)[:-1])):
        array.write(index, part)
    return _FLOW


@size_op.kernel
def _size(handle: Storage, flow: Any) -> Any:
    return np.int32(len(handle.opened()))


@close_op.kernel
def _close(handle: Storage) -> tuple[()]:
    handle.closed = True
    handle.elements = []
    return ()
