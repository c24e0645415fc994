"""How large a model is: its operations and variables, printed and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.framework.graph import Graph
from tfsandbox.framework.operation import Tensor

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]


def tensor_description(var: Any) -> str:
    """Type, sizes and bytes: `(float32_ref 3x4) [12, bytes: 48]`."""
    description = f"({var.dtype.name} {'x'.join(str(size) for size in var.get_shape().as_list())})"
    if isinstance(var, Tensor):
        return description
    size = _elements(var)
    return f"{description} [{size}, bytes: {size * var.dtype.size}]"


def _elements(var: Any) -> int:
    return var.get_shape().num_elements() or 0


def analyze_ops(graph: Graph, print_info: bool = False) -> int:
    """The number of elements of all outputs of all operations, where they are known; printed if asked."""
    total = 0
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    for op in graph.get_operations():
        known = [tensor for tensor in op.outputs if tensor.get_shape().is_fully_defined()]
        size = sum(_elements(tensor) for tensor in known)
        if print_info:
            shapes = [f"({tensor.dtype.name} {tensor.get_shape()})" for tensor in op.outputs]
            print(op.name, "\t->", ", ".join(shapes), f"[{size or '?'}]")
        total += size
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """(elements, bytes) of all variables; printed if asked."""
    variables = list(variables)
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    total, total_bytes = 0, 0
    for var in variables:
        size = _elements(var)
        total += size
        total_bytes += size * var.dtype.size
        if print_info:
            print(var.name, tensor_description(var))
    if print_info:
        print(f"Total size of variables: {total}\nTotal bytes of variables: {total_bytes}")
    return total, total_bytes
