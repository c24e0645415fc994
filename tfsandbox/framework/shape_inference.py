"""Shape rules run on a node: what they may ask, and how their errors read.

A rule is registered with the op (`@op.shape`) and asks a `ShapeContext`: while the graph is built it answers
from static shapes and constants, while a plan is made from the shapes of the values fed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfsandbox.framework import op_registry
from tfsandbox.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tfsandbox.framework.operation import Operation, Tensor

UNKNOWN = TensorShape(None)
SCALAR = TensorShape([])

_LARGEST_CONSTANT = 4096
"""Elements up to which constants are computed while a graph is built: shapes and axes are small."""


class ShapeContext:
    """What a shape rule sees of a node. Inputs are counted flat: a list argument is several inputs."""

    def __init__(self, op_def: op_registry.OpDef, attrs: dict[str, Any], num_inputs: int) -> None:
        self.op_def, self.attrs, self.num_inputs = op_def, attrs, num_inputs

    def attr(self, name: str) -> Any:
        """The value of an attribute."""
        return self.attrs[name]

    def shape(self, index: int) -> TensorShape:
        """The shape of an input."""
        raise NotImplementedError

    def value(self, index: int) -> np.ndarray | None:
        """The value of an input, if it is known without running anything; else None."""
        raise NotImplementedError

    def value_as_shape(self, index: int) -> TensorShape:
        """An input that is itself a shape vector, as the (partial) shape it is known to be; -1 is unknown."""
        value = self.value(index)
        if value is not None:
            if np.ndim(value) == 0:
                return UNKNOWN
            return TensorShape([None if d < 0 else int(d) for d in value])
        return _unknown_of_length(self.shape(index))


class GraphShapeContext(ShapeContext):
    """Answers from the static shapes and constants of a graph."""

    def __init__(self, op: Operation) -> None:
        super().__init__(op._op_def, op._attrs, len(op._inputs))
        self._tensors = op._inputs

    def shape(self, index: int) -> TensorShape:
        return self._tensors[index]._shape

    def value(self, index: int) -> np.ndarray | None:
        return constant_value(self._tensors[index])

    def value_as_shape(self, index: int) -> TensorShape:
        return partial_shape_value(self._tensors[index])


class _AskingContext(GraphShapeContext):
    """Gives only the values that were asked for before.

    TensorFlow runs a rule again whenever it has computed the values that the rule asked for; an error tells those that
    were there when it came. Only for the words of an error is this done here.
    """

    def __init__(self, op: Operation) -> None:
        super().__init__(op)
        self.values: dict[int, np.ndarray] = {}
        self.shapes: dict[int, TensorShape] = {}
        self._asked_values: set[int] = set()
        self._asked_shapes: set[int] = set()

    def value(self, index: int) -> np.ndarray | None:
        self._asked_values.add(index)
        return self.values.get(index)

    def value_as_shape(self, index: int) -> TensorShape:
        self._asked_shapes.add(index)
        shape = self.shapes.get(index)
        return _unknown_of_length(self.shape(index)) if shape is None else shape

    def learn(self) -> bool:
        """Compute what the rule asked for; whether there was anything new to ask for."""
        values, shapes = self._asked_values - self.values.keys(), self._asked_shapes - self.shapes.keys()
        self.shapes |= {i: super(_AskingContext, self).value_as_shape(i) for i in shapes}
        known = {i: super(_AskingContext, self).value(i) for i in values}
        self.values |= {i: value for i, value in known.items() if value is not None}
        return bool(shapes) or any(value is not None for value in known.values())

    def told(self) -> str:
        """The end of an error's text: the values that the rule had."""
        shapes = {i: shape for i, shape in self.shapes.items() if shape.ndims}
        values = {i: value for i, value in self.values.items() if i not in shapes}
        text = ""
        if values:
            text += " and with computed input tensors: " + ", ".join(
                f"input[{i}] = {_value_text(value)}" for i, value in sorted(values.items()))
        if shapes:
            text += " and with input tensors computed as partial shapes: " + ",".join(
                f"input[{i}] = {shape_text(shape)}" for i, shape in sorted(shapes.items()))
        return text


def infer(context: ShapeContext, count: int) -> list[TensorShape]:
    """The output shapes by the op's rule, unknown where it has none."""
    rule = context.op_def.shape_fn
    if rule is None:
        return [UNKNOWN] * count
    result = rule(context)
    shapes = [result] if isinstance(result, TensorShape) else list(result)
    return shapes + shapes[-1:] * (count - len(shapes)) if shapes else [UNKNOWN] * count


def set_output_shapes(op: Operation) -> None:
    """Give the outputs of a new node their static shapes; `ValueError` in TensorFlow's words where none fits."""
    if not op._outputs:
        if op._op_def.shape_fn is not None:
            _run_rule(op)
        return
    for tensor, shape in zip(op._outputs, _run_rule(op)):
        tensor._shape = shape


def _run_rule(op: Operation) -> list[TensorShape]:
    count = len(op._outputs)
    try:
        return infer(GraphShapeContext(op), count)
    except _InvalidShapeValue as error:
        raise ValueError(str(error)) from None
    except ValueError as error:
        context = _AskingContext(op)
        reason = error
        try:
            infer(context, count)
            while context.learn():
                infer(context, count)
        except _InvalidShapeValue as earlier:
            raise ValueError(str(earlier)) from None
        except ValueError as earlier:
            reason = earlier
        shapes = ", ".join(shape_text(t._shape) for t in op._inputs)
        raise ValueError(f"{reason} for '{op.name}' (op: '{op.type}') with input shapes: {shapes}"
                         f"{context.told()}.") from None


def _value_text(value: np.ndarray) -> str:
    """`<1 2>`; `<[1 2][3 4]>`: the first elements of a value."""
    def inner(part: Any) -> str:
        if not isinstance(part, list):
            return str(part)
        return "".join(f"[{inner(p)}]" if isinstance(p, list) else f"{p} " for p in part[:16]).rstrip()

    return f"<{inner(value.tolist())}>"


def shape_text(shape: TensorShape) -> str:
    """`[2,?]`, or `<unknown>` where the rank is not known."""
    if shape.ndims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape.as_list()) + "]"


# ------------------------------------------------------------ constants in a graph


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that depends on nothing but constants and known shapes; None if it is not small and known.

    Values are kept with the tensor: a graph only grows, so they do not change.
    """
    cached = tensor.__dict__.get("_constant")
    if cached is not None:
        return cached[0]
    value = _compute_constant(tensor, 0)
    return value


def _compute_constant(tensor: Tensor, depth: int) -> np.ndarray | None:
    cached = tensor.__dict__.get("_constant")
    if cached is not None:
        return cached[0]
    op = tensor.op
    value: Any = None
    if op.type == "Const":
        value = op._attrs["value"]
    elif op.type in _FROM_SHAPE:
        value = _FROM_SHAPE[op.type](op, tensor)  # if it is None, set_shape may still make it known
    definition = op._op_def
    if value is None and (definition.foldable and definition.kernel_fn is not None and depth < 60 and op._inputs
                          and definition.state_fn is None):
        size = tensor._shape.num_elements()
        if size is None or size <= _LARGEST_CONSTANT:
            inputs: list[Any] = []
            for source in op._inputs:
                part = _compute_constant(source, depth + 1)
                if part is None:
                    break
                if np.size(part) > _LARGEST_CONSTANT:
                    break
                inputs.append(part)
            else:
                value = _evaluate(op, inputs, tensor.value_index)
    if value is None:
        return None
    tensor.__dict__["_constant"] = (value,)
    return value


def _evaluate(op: Operation, inputs: list[Any], index: int) -> np.ndarray | None:
    try:
        with np.errstate(all="ignore"):
            result = op._op_def.evaluate(inputs, op._attrs)[index]
    except Exception:  # a constant that cannot be computed is simply not known while building
        return None
    return np.asarray(result) if not isinstance(result, np.ndarray) else result


def _shape_constant(op: Operation, tensor: Tensor) -> np.ndarray | None:
    shape = op._inputs[0]._shape
    if not shape.is_fully_defined():
        return None
    return np.array(shape.as_list(), op._attrs["out_type"].as_numpy_dtype)


def _size_constant(op: Operation, tensor: Tensor) -> np.ndarray | None:
    count = op._inputs[0]._shape.num_elements()
    return None if count is None else np.array(count, op._attrs["out_type"].as_numpy_dtype)


def _rank_constant(op: Operation, tensor: Tensor) -> np.ndarray | None:
    rank = op._inputs[0]._shape.ndims
    return None if rank is None else np.array(rank, np.int32)


_FROM_SHAPE: dict[str, Callable[..., np.ndarray | None]] = {
    "Shape": _shape_constant, "Size": _size_constant, "Rank": _rank_constant}


class _InvalidShapeValue(ValueError):
    """A tensor that a node uses as a shape holds a number below -1; the text is complete as it is."""


def partial_shape_value(tensor: Tensor, depth: int = 0) -> TensorShape:
    """A shape vector in the graph as the shape it describes, unknown sizes as None.

    Looks through what TensorFlow looks through: Shape, Pack of constants, ConcatV2 and StridedSlice of one of them.
    """
    value = constant_value(tensor)
    if value is not None:
        if value.ndim != 1:
            return UNKNOWN
        if value.size and value.min() < -1:
            raise _InvalidShapeValue(f"Invalid value in tensor used for shape: {value[value < -1][0]}")
        return TensorShape([None if d < 0 else int(d) for d in value])
    op = tensor.op
    if depth < 20:
        if op.type in ("Shape", "ShapeN"):
            return op._inputs[tensor.value_index]._shape
        if op.type == "Pack" and not any(t._shape.ndims for t in op._inputs):
            return TensorShape([_known_size(t) for t in op._inputs])
        if op.type == "ConcatV2":
            total = TensorShape([])
            for part in op._inputs[:-1]:
                total = total.concatenate(partial_shape_value(part, depth + 1))
            return total
        if op.type == "StridedSlice":
            sliced = _partial_slice(op, depth)
            if sliced is not None:
                return sliced
    return _unknown_of_length(tensor._shape)


def _unknown_of_length(shape: TensorShape) -> TensorShape:
    """Of a shape vector only its length is known: that is the rank."""
    length = shape.as_list()[0] if shape.ndims == 1 else None
    return UNKNOWN if length is None else TensorShape([None] * length)


def _known_size(tensor: Tensor) -> int | None:
    value = constant_value(tensor)
    return None if value is None or value < 0 else int(value)


def _partial_slice(op: Operation, depth: int) -> TensorShape | None:
    begin, end, strides = (constant_value(t) for t in op._inputs[1:])
    if begin is None or end is None or strides is None or begin.size != 1:
        return None
    a = op._attrs
    if a["shrink_axis_mask"] or a["new_axis_mask"] or a["ellipsis_mask"]:
        return None
    source = partial_shape_value(op._inputs[0], depth + 1)
    if source.ndims is None:
        return None
    lower = None if a["begin_mask"] & 1 else int(begin.ravel()[0])
    upper = None if a["end_mask"] & 1 else int(end.ravel()[0])
    return TensorShape(source.as_list()[lower:upper:int(strides.ravel()[0])])


# ------------------------------------------------------------ rules that many ops share


def unchanged(c: ShapeContext) -> TensorShape:
    """The output has the shape of the first input."""
    return c.shape(0)


def scalar(c: ShapeContext) -> TensorShape:
    """The output is a scalar."""
    return SCALAR


def unknown(c: ShapeContext) -> TensorShape:
    """Nothing is known of the output."""
    return UNKNOWN


def merged(c: ShapeContext) -> TensorShape:
    """All inputs and the output have one shape."""
    shape = c.shape(0)
    for i in range(1, c.num_inputs):
        shape = shape.merge_with(c.shape(i))
    return shape


def broadcast(c: ShapeContext) -> TensorShape:
    """The shape that the first two inputs broadcast to."""
    return broadcast_shapes(c.shape(0), c.shape(1))


def broadcast_shapes(left: TensorShape, right: TensorShape) -> TensorShape:
    """What two shapes broadcast to; `ValueError` with TensorFlow's text where they cannot."""
    if left.ndims is None or right.ndims is None:
        return UNKNOWN
    a: list[int | None] = left.as_list()
    b: list[int | None] = right.as_list()
    rank = max(len(a), len(b))
    a, b = [*([1] * (rank - len(a))), *a], [*([1] * (rank - len(b))), *b]
    result: list[int | None] = []
    for m, n in zip(a, b):
        if m == n:
            result.append(m)
        elif m == 1:
            result.append(n)
        elif n == 1:
            result.append(m)
        elif m is None or n is None:
            # The known side, being neither 1 nor unknown, decides.
            result.append(n if m is None else m)
        else:
            raise ValueError(f"Dimensions must be equal, but are {m} and {n}")
    return TensorShape(result)


def reduced(shape: TensorShape, axes: Sequence[int] | None, keepdims: bool) -> TensorShape:
    """`shape` with the axes reduced; None: axes not known while building."""
    if shape.ndims is None:
        return UNKNOWN
    if axes is None:
        return TensorShape([None] * shape.ndims) if keepdims else UNKNOWN
    sizes = shape.as_list()
    gone = set()
    for axis in axes:
        if not -len(sizes) <= axis < len(sizes):
            raise ValueError(f"Invalid reduction dimension {axis} for input with {len(sizes)} dimensions.")
        gone.add(axis % len(sizes))
    if keepdims:
        return TensorShape([1 if i in gone else d for i, d in enumerate(sizes)])
    return TensorShape([d for i, d in enumerate(sizes) if i not in gone])
