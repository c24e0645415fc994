"""Python's operators on tensors: which op each of them builds.

`TENSOR_OPERATORS` maps `__add__` and its kin to the functions; variables take theirs from there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import binary_ops, comparison_ops, elementwise, matmul

__all__: list[str] = []

TENSOR_OPERATORS: dict[str, Callable[..., Any]] = {}
"""The functions behind the operators of Tensor, by the name of the special method."""


def _binary(name: str, function: Callable[..., Any]) -> None:
    """Define an operator and its reflection: the other operand becomes a constant `name/y` or `name/x`."""

    def operator(x: Any, y: Any) -> Any:
        with ops.name_scope(None, name, [x, y]) as scope:
            if isinstance(x, Tensor) and isinstance(y, Tensor):
                return function(x, y, name=scope)
            if not isinstance(y, SparseTensor):
                try:
                    y = ops.convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
                except TypeError:
                    # The other operand may know what to do with a tensor.
                    if hasattr(type(y), f"__r{name}__"):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    def reflected(y: Any, x: Any) -> Any:
        with ops.name_scope(None, name, [x, y]) as scope:
            x = ops.convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
            return function(x, y, name=scope)

    operator.__name__, reflected.__name__ = f"__{name}__", f"__r{name}__"
    TENSOR_OPERATORS[f"__{name}__"] = operator
    TENSOR_OPERATORS[f"__r{name}__"] = reflected


def _add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    if x.dtype == dtypes.string:
        return binary_ops.add(x, y, name=name)
    return binary_ops.add_v2(x, y, name=name)


def _mul(x: Tensor, y: Any, name: str | None = None) -> Any:
    if isinstance(y, SparseTensor):
        from tfsandbox.ops import sparse_ops
        return sparse_ops.sparse_times_dense(y, x, name=name)
    return binary_ops.multiply(x, y, name=name)


_binary("add", _add)
_binary("sub", binary_ops.subtract)
_binary("mul", _mul)
_binary("div", binary_ops.div)
_binary("truediv", binary_ops.truediv)
_binary("floordiv", binary_ops.floordiv)
_binary("mod", binary_ops.floormod)
_binary("pow", binary_ops.pow)
_binary("matmul", matmul.matmul)
_binary("and", comparison_ops.logical_and)
_binary("or", comparison_ops.logical_or)
_binary("xor", comparison_ops.logical_xor)
TENSOR_OPERATORS.update({
    "__lt__": comparison_ops.less, "__le__": comparison_ops.less_equal, "__gt__": comparison_ops.greater,
    "__ge__": comparison_ops.greater_equal, "__invert__": comparison_ops.logical_not, "__neg__": elementwise.negative,
    "__abs__": elementwise.abs,
})
for _name, _function in TENSOR_OPERATORS.items():
    Tensor._override_operator(_name, _function)
