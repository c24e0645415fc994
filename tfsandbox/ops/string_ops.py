"""String tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import string_elements, string_joining, string_numbers
from tfsandbox.ops.string_elements import *  # noqa: F403
from tfsandbox.ops.string_elements import (  # noqa: F401
    regex_full_match,
    string_length,
    string_length_v2,
    string_lower,
    string_upper,
    substr_v2,
)
from tfsandbox.ops.string_joining import *  # noqa: F403
from tfsandbox.ops.string_joining import strings_split, unsorted_segment_join  # noqa: F401
from tfsandbox.ops.string_numbers import *  # noqa: F403
from tfsandbox.ops.string_numbers import string_format  # noqa: F401

__all__ = [*string_elements.__all__, *string_joining.__all__, *string_numbers.__all__, "string_join"]

string_join_op = register_op(
    "StringJoin", "inputs: N*string -> output: string", "N: int >= 1; separator: string = ''").no_gradient()


@string_join_op.shape
def _string_join_shape(c: ShapeContext) -> TensorShape:
    """The shape that all inputs but scalars have."""
    shapes = [c.shape(i) for i in range(c.num_inputs)]
    if any(shape.ndims is None for shape in shapes):
        return UNKNOWN
    result = TensorShape([])
    for shape in shapes:
        if shape.ndims:
            result = merge(result, shape) if result.ndims else shape
    return result


@string_join_op.kernel
def _string_join(inputs: list[Any], *, separator: bytes) -> Any:
    arrays = [np.asarray(value, object) for value in inputs]
    shape = next((array.shape for array in arrays if array.ndim), ())
    if any(array.ndim and array.shape != shape for array in arrays):
        raise errors.InvalidArgumentError(
            None, None, "Input shapes do not match: " + " vs. ".join(str(list(array.shape)) for array in arrays))
    result = np.empty(shape, object)
    parts = [np.broadcast_to(array, shape).ravel() for array in arrays]
    result.ravel()[:] = [separator.join(row) for row in zip(*parts)]
    return result


def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """The strings of all inputs joined, element by element; scalars go to every element."""
    return apply_op("StringJoin", inputs=list(inputs), separator=separator, name=name)
