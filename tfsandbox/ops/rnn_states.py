"""What recurrent cells and the functions that unroll them share: states, sizes, and what counts as a cell."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value
from tfsandbox.framework.tensor_shape import TensorShape, as_shape
from tfsandbox.ops import array_ops
from tfsandbox.util import nest

__all__: list[str] = []


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises `TypeError` for a `cell` that cannot be called or tells no sizes or start state."""
    faults = []
    if not hasattr(cell, "output_size"):
        faults.append("'output_size' property is missing")
    if not hasattr(cell, "state_size"):
        faults.append("'state_size' property is missing")
    if not (hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state")):
        faults.append("either 'zero_state' or 'get_initial_state' method is required")
    if not callable(cell):
        faults.append("is not callable")
    if faults:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(faults)}.")


def joined_shape(prefix: Any, suffix: Any) -> Tensor:
    """The shape `prefix` + `suffix` as a tensor; each is a number, a shape, or a tensor."""
    first, _ = _part(prefix, "prefix")
    second, _ = _part(suffix, "suffix")
    if first is None or second is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return array_ops.concat((first, second), 0)


def joined_static_shape(prefix: Any, suffix: Any) -> list[int | None] | None:
    """What is known of `prefix` + `suffix` while the graph is built."""
    _, first = _part(prefix, "prefix")
    _, second = _part(suffix, "suffix")
    shape = as_shape(first).concatenate(second)
    return shape.as_list() if shape.ndims is not None else None


def _part(value: Any, what: str) -> tuple[Tensor | None, Any]:
    """(a shape as a vector, or None where it is not all known; what is known of it)."""
    if isinstance(value, Tensor):
        known = constant_value(value)
        if value.shape.ndims == 0:
            return array_ops.expand_dims(value, 0), None if known is None else [int(known)]
        if value.shape.ndims != 1:
            raise ValueError(f"{what} tensor must be either a scalar or vector, but saw tensor: {value}")
        return value, known
    shape = as_shape(value)
    static = shape.as_list() if shape.ndims is not None else None
    return (constant(static, dtype=dtypes.int32) if shape.is_fully_defined() else None), static


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, size] for each size in the nest `state_size`."""

    def zeros(size: Any) -> Tensor:
        tensor = array_ops.zeros(joined_shape(batch_size, size), dtype=dtype)
        tensor.set_shape(TensorShape(joined_static_shape(batch_size, size)))
        return tensor

    return nest.map_structure(zeros, state_size)


def state_dtype(explicit: Any, state: Any) -> Any:
    """`explicit`, or else the type that all tensors of the state have; `ValueError` where there is no such one."""
    if explicit is not None:
        return explicit
    found = [part.dtype for part in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(dtype != found[0] for dtype in found):
        raise ValueError("State has tensors of different inferred_dtypes. Unable to infer a single representative "
                         "dtype.")
    return found[0]
