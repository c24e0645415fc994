"""py_func with arguments and results of any nesting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework import dtypes
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import script_ops
from tfsandbox.util import nest

__all__ = ["py_func"]


def py_func(func: Callable[..., Any], args: Any = (), kwargs: Any = None, output_types: Any = None,
            output_shapes: Any = None, stateful: bool = True, name: str | None = None) -> Any:
    """A node that calls `func(*args, **kwargs)`: `args` and `kwargs` may nest tensors.

    `output_types` is a nesting of types, which the results take; None: `func` gives nothing. `output_shapes` are the
    shapes of the results, in the same nesting. Raises `TypeError` for arguments of other kinds.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    structure = [list(args), kwargs]
    types = [] if output_types is None else [dtypes.as_dtype(t) for t in nest.flatten(output_types)]

    def call(*values: Any) -> Any:
        args, kwargs = nest.pack_sequence_as(structure, list(values))
        results = func(*args, **kwargs)
        return [] if output_types is None else nest.flatten(results)

    outputs = script_ops.py_func(call, nest.flatten(structure), types, stateful=stateful, name=name)
    if output_types is None:
        return outputs
    if output_shapes is not None:
        shapes = [output_shapes] if len(types) == 1 and not nest.is_sequence(output_types) else list(output_shapes)
        for output, shape in zip(outputs, shapes):
            output.set_shape(TensorShape(shape))
    return nest.pack_sequence_as(output_types, outputs)
