"""Shape vectors as TensorFlow's Python side knows them.

Shape inference (`shape_inference.partial_shape_value`) computes whatever depends only on constants. TensorFlow's Python
functions ask a weaker oracle, which looks through a handful of ops, and build other nodes where it gives no answer: a
function that is to build the same nodes must ask this one. For single values it is `tensor_util.constant_value`.
"""

from __future__ import annotations

from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.framework.tensor_util import constant_value


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """A shape vector in the graph as the shape TensorFlow's Python knows it to be; -1 is an unknown size.

    Raises `ValueError` for a scalar other than the constant -1, which stands for an unknown shape.
    """
    if tensor.shape.ndims == 0:
        value = constant_value(tensor)
        if value is None or value != -1:
            received = "Received a scalar with unknown value" if value is None else f"Received a scalar value {value}"
            raise ValueError(f"{received} as shape; require a statically known scalar with value '-1' to describe an "
                             "unknown shape.")
        return UNKNOWN
    rank = tensor.shape.with_rank(1).as_list()[0]
    op = tensor.op
    if rank == 0:
        return TensorShape([])
    if op.type == "Shape":
        return op.inputs[0].shape
    if op.type == "Pack":
        sizes = [constant_value(source) for source in op.inputs]
        return TensorShape([None if size is None or size < 0 else int(size) for size in sizes])
    if op.type == "ConcatV2":
        total = TensorShape([])
        for part in op.inputs[:-1]:
            total = total.concatenate(constant_value_as_shape(part))
        return total
    if op.type == "StridedSlice":
        sliced = _sliced(op)
        if sliced is not None:
            return sliced
    value = constant_value(tensor)
    if value is not None:
        return TensorShape([None if size < 0 else int(size) for size in value])
    return UNKNOWN if rank is None else TensorShape([None] * rank)


def _sliced(op: Operation) -> TensorShape | None:
    bounds = [constant_value(source) for source in op.inputs[1:]]
    attrs = op._attrs
    if attrs["ellipsis_mask"] or attrs["new_axis_mask"] or attrs["shrink_axis_mask"]:
        return None
    numbers = [int(bound[0]) for bound in bounds if bound is not None and bound.size == 1]
    source = constant_value_as_shape(op.inputs[0])
    if len(numbers) < 3 or source.ndims is None:
        return None
    begin, end, stride = numbers
    return TensorShape(source.as_list()[None if attrs["begin_mask"] & 1 else begin:
                                        None if attrs["end_mask"] & 1 else end:stride])
