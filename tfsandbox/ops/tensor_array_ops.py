"""TensorArray: an array of tensors that nodes write and read element by element, which loops need."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.ops import array_ops, math_ops
from tfsandbox.ops import tensor_array_kernels as nodes
from tfsandbox.util import nest

__all__ = ["TensorArray"]


class TensorArray:
    """An array of tensors of one type, each of which is written once. Writing gives the array with the new `flow`.

    `size` elements, more with `dynamic_size`. With `clear_after_read` an element can be read once. `infer_shape` says
    that all elements have one shape; `element_shape` tells it. `handle` and `flow` are those of an array that exists.
    Its nodes lie on the device of the first value written, unless `colocate_with_first_write_call` is false.

    Raises `ValueError` without `size` or `handle` and where arguments do not go together.
    """

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
                 clear_after_read: bool | None = None, tensor_array_name: str | None = None, handle: Any = None,
                 flow: Any = None, infer_shape: bool = True, element_shape: Any = None,
                 colocate_with_first_write_call: bool = True, name: str | None = None) -> None:
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot construct with both handle and tensor_array_name")
        if handle is not None and not isinstance(handle, Tensor):
            raise TypeError("Handle must be a Tensor")
        if handle is None and size is None:
            raise ValueError("Size must be provided if handle is not provided")
        if handle is not None and size is not None:
            raise ValueError("Cannot provide both a handle and size at the same time")
        if handle is not None and element_shape is not None:
            raise ValueError("Cannot provide both a handle and element_shape at the same time")
        if handle is not None and dynamic_size is not None:
            raise ValueError("Cannot provide both a handle and dynamic_size at the same time")
        if handle is not None and clear_after_read is not None:
            raise ValueError("Cannot provide both a handle and clear_after_read at the same time")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        # In lists, as all objects that stand for the same array learn from one another's writes.
        self._element_shape = [as_shape(element_shape)]
        self._colocate_with_first_write_call = colocate_with_first_write_call
        self._colocate_with: list[Tensor] | None = [] if colocate_with_first_write_call else None
        with ops.name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return

            def create() -> Any:
                return apply_op("TensorArrayV3", size=size, dtype=self._dtype, element_shape=self._element_shape[0],
                                identical_element_shapes=infer_shape, dynamic_size=self._dynamic_size,
                                clear_after_read=clear_after_read is None or clear_after_read,
                                tensor_array_name=tensor_array_name or "", name=scope)

            if colocate_with_first_write_call:
                with ops.device(None), ops.colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = create()
            else:
                self._handle, self._flow = create()

    @property
    def flow(self) -> Tensor:
        """A scalar that waits for all writes so far."""
        return self._flow

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The reference to the array."""
        return self._handle

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._element_shape[0]

    def with_flow(self, flow: Any) -> TensorArray:
        """The same array after what `flow` waits for."""
        other = TensorArray(self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape,
                            colocate_with_first_write_call=self._colocate_with_first_write_call)
        other._dynamic_size = self._dynamic_size
        other._element_shape = self._element_shape
        other._colocate_with = self._colocate_with
        return other

    def _merge_element_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self._element_shape[0]):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self._element_shape[0]} ")
        if self._infer_shape:
            self._element_shape[0] = self._element_shape[0].merge_with(shape)

    @contextlib.contextmanager
    def _beside(self, value: Tensor) -> Iterator[None]:
        """Beside the first value that was written."""
        if self._colocate_with is None:
            yield
            return
        if not self._colocate_with:
            self._colocate_with.append(value)
        with ops.colocate_with(self._colocate_with[0]):
            yield

    def _converted(self, value: Any) -> Tensor:
        return ops.convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    def _known_rest(self, value: Tensor, shape: TensorShape) -> Tensor:
        if shape.ndims is not None:
            value.set_shape(TensorShape([None]).concatenate(shape))
        return value

    def identity(self) -> TensorArray:
        """The same array, which waits for the present flow."""
        return self.with_flow(array_ops.identity(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """The array of the gradients of this one in the call of tf.gradients that `source` names."""
        # The gradients' array has the forward one's size, which must have all its elements by then.
        flow = self.flow if flow is None else flow
        with ops.name_scope(name, "TensorArrayGrad", [self._handle]), ops.colocate_with(self._handle):
            handle, _ = apply_op("TensorArrayGradV3", handle=self._handle, source=source, flow_in=flow, name=name)
            with ops.control_dependencies([handle]):
                flow = array_ops.identity(flow, name="gradient_flow")
            result = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape,
                                 colocate_with_first_write_call=False)
            result._element_shape = self._element_shape
            return result

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        value = apply_op("TensorArrayReadV3", handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype,
                         name=name)
        if self.element_shape.ndims is not None:
            value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with `value` at `index`; `ValueError` for a shape that others do not have."""
        with ops.name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._converted(value)
            self._merge_element_shape(value.shape)
            with self._beside(value):
                flow = apply_op("TensorArrayWriteV3", handle=self._handle, index=index, value=value,
                                flow_in=self._flow, name=name)
            return self.with_flow(flow)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements in one tensor [size, ...]."""
        with ops.colocate_with(self._handle), ops.name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(math_ops.range(0, self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at these places in one tensor."""
        value = apply_op("TensorArrayGatherV3", handle=self._handle, indices=indices, flow_in=self._flow,
                         dtype=self._dtype, element_shape=self.element_shape, name=name)
        return self._known_rest(value, self.element_shape)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements one after the other along their first axis."""
        rest = self.element_shape[1:] if self.element_shape.ndims is not None else TensorShape(None)
        value, _ = apply_op("TensorArrayConcatV3", handle=self._handle, flow_in=self._flow, dtype=self._dtype,
                            element_shape_except0=rest, name=name)
        return self._known_rest(value, rest)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` as its elements."""
        with ops.name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array_ops.shape(value)[0]
            return self.scatter(indices=math_ops.range(0, count), value=value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` at these places."""
        with ops.name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._converted(value)
            self._merge_element_shape(value.shape[1:] if value.shape.ndims is not None else TensorShape(None))
            with self._beside(value):
                flow = apply_op("TensorArrayScatterV3", handle=self._handle, indices=indices, value=value,
                                flow_in=self._flow, name=name)
            return self.with_flow(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array with pieces of `value` of these lengths along its first axis."""
        with ops.name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = self._converted(value)
            with self._beside(value):
                lengths = math_ops.cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if value.shape.ndims is not None and known is not None and known.ndim and known.max() == known.min():
                    self._merge_element_shape(TensorShape([int(known[0])]).concatenate(value.shape[1:]))
                flow = apply_op("TensorArraySplitV3", handle=self._handle, value=value, lengths=lengths,
                                flow_in=self._flow, name=name)
            return self.with_flow(flow)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements: int32."""
        return apply_op("TensorArraySizeV3", handle=self._handle, flow_in=self.flow, name=name)

    def close(self, name: str | None = None) -> Operation:
        """An operation that frees the array before the run ends."""
        return apply_op("TensorArrayCloseV3", handle=self._handle, name=name)


# ------------------------------------------------------------ arrays among the variables of loops and branches


def flows_of(values: list[Any]) -> list[Any]:
    """The values; of TensorArrays the flow, as the array itself stays outside."""
    return [value.flow if isinstance(value, TensorArray) else value for value in values]


def pack_with_flows(structure: Any, values: Sequence[Tensor]) -> Any:
    """The values in a structure; where a TensorArray stood, it stands with the value as its flow."""
    before = nest.flatten(structure, expand_composites=True)
    return nest.pack_sequence_as(structure, [
        old.with_flow(value) if isinstance(old, TensorArray) else value for old, value in zip(before, values)],
        expand_composites=True)


# ------------------------------------------------------------ gradients


def _gradient_source(name: str) -> str:
    """The scope of the call of tf.gradients that a node's name tells, so that each call has arrays of its own."""
    parts = name.split("/")
    places = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not places:
        raise ValueError(f"Expected op/tensor name to start with gradients (excluding scope), got: {name}. This means "
                         "that a tf.gradients op with this op in its dependency path has a custom name that does not "
                         "start with 'gradients'. Please make sure all calls to tf.gradients that have non-empty "
                         "'name' arguments use names that start with 'gradients'.")
    return "/".join(parts[:places[-1] + 1])


def _gradients_of(op: Operation, dtype: Any, flow: Tensor, grad: Tensor) -> TensorArray:
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=_gradient_source(grad.name), flow=flow)


@nodes.read_op.gradient
def _read_gradient(op: Operation, grad: Tensor) -> list[Any]:
    array = _gradients_of(op, op.get_attr("dtype"), op.inputs[2], grad)
    return [None, None, array.write(op.inputs[1], grad).flow]


@nodes.write_op.gradient
def _write_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradients_of(op, op.get_attr("T"), flow, flow).read(op.inputs[1]), flow]


@nodes.gather_op.gradient
def _gather_gradient(op: Operation, grad: Tensor) -> list[Any]:
    array = _gradients_of(op, op.get_attr("dtype"), op.inputs[2], grad)
    return [None, None, array.scatter(op.inputs[1], grad).flow]


@nodes.scatter_op.gradient
def _scatter_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, None, _gradients_of(op, op.get_attr("T"), flow, flow).gather(op.inputs[1]), flow]


@nodes.concat_op.gradient
def _concat_gradient(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    array = _gradients_of(op, op.get_attr("dtype"), op.inputs[1], grad)
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@nodes.split_op.gradient
def _split_gradient(op: Operation, flow: Tensor) -> list[Any]:
    return [None, _gradients_of(op, op.get_attr("T"), flow, flow).concat(), None, flow]
