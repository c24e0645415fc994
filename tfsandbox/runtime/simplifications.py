"""Small rules that find a shorter way to a node's value, each equal to it bit for bit.

A rule looks at one node and gives the value that equals its first output, or the template of a shorter expression (a
reshape of its first input), or None. Its docstring is what the code view says of the node. Leaving a rule out of
`SIMPLIFICATIONS` switches it off.
"""

from __future__ import annotations

import numpy as np

from tfsandbox.framework.operation import Operation
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime.values import Value


def same_shape(value: Value, shape: TensorShape) -> bool:
    """Whether a value is known to have a shape."""
    return value.shape.is_fully_defined() and shape.is_fully_defined() and value.shape.as_list() == shape.as_list()


RESHAPES = ("Reshape", "ExpandDims", "Squeeze")
_REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any")


def reshape_to_same(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would give its input the shape it has, or had before"""
    if op.type not in (*RESHAPES, "BroadcastTo", "Tile"):
        return None
    return _in_shape(values[0], shapes[0], op.type in RESHAPES)


def _in_shape(value: Value, shape: TensorShape, reshapes: bool) -> Value | None:
    """`value`, or what it was reshaped from, if that has the shape."""
    if value.kind == "ref":
        return None
    if same_shape(value, shape):
        return value
    before = value.reshaped_from
    if reshapes and before is not None and same_shape(before, shape) and before.kind == "computed" \
            and before.conditions == value.conditions:
        return before
    return None


def reduce_over_nothing(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would reduce over no axis, or over axes of size one"""
    if op.type not in _REDUCTIONS or values[1].constant is None or values[0].kind == "ref":
        return None
    axes = np.asarray(values[1].constant).ravel()
    if axes.size == 0:
        return values[0]
    if not values[0].shape.is_fully_defined() or not shapes[0].is_fully_defined():
        return None
    sizes = values[0].shape.as_list()
    if any(sizes[axis] != 1 for axis in axes):
        return None
    found = _in_shape(values[0], shapes[0], True)
    if found is not None:
        return found
    # Sizes are numbers of the plan's own: nothing from outside gets into the source here.
    return f"{{0}}.reshape({tuple(int(d or 0) for d in shapes[0].as_list())})"


def cast_to_same(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """its input already has the type"""
    if op.type == "Cast" and op._attrs["SrcT"] == op._attrs["DstT"] and values[0].kind != "ref":
        return values[0]
    return None


def times_one(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would multiply or divide by one"""
    if op.type not in ("Mul", "RealDiv", "Div"):
        return None
    for one, other in ((1, 0), (0, 1)) if op.type == "Mul" else ((1, 0),):
        constant = values[one].constant
        if constant is not None and np.size(constant) and same_shape(values[other], shapes[0]) \
                and values[other].kind != "ref" and np.all(np.asarray(constant) == 1):
            return values[other]
    return None


def add_of_one(op: Operation, values: list[Value], shapes: list[TensorShape]) -> Value | str | None:
    """it would add up a single value"""
    if op.type in ("AddN", "AccumulateNV2") and len(values) == 1 and values[0].kind != "ref":
        return values[0]
    return None


SIMPLIFICATIONS = [reshape_to_same, reduce_over_nothing, cast_to_same, times_one, add_of_one]


def with_scalars(values: list[Value], shape: TensorShape) -> list[Value]:
    """A constant whose elements are all equal is as good as one element, where the other input has the full shape."""
    result = list(values)
    for i in (0, 1):
        constant = values[i].constant
        if constant is None or np.ndim(constant) == 0 or not same_shape(values[1 - i], shape):
            continue
        flat = np.asarray(constant).ravel()
        # Compared bit by bit: -0.0 is not 0.0, and a nan must stay the nan it is.
        if flat.size and flat.dtype != object and np.all(flat.view(f"V{flat.itemsize}") == flat[:1].view(
                f"V{flat.itemsize}")):
            other = Value("constant", values[i].op.outputs[values[i].index], TensorShape([]), flat[0])
            other.conditions = values[i].conditions
            result[i] = other
    return result
