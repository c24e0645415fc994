"""Operations on the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Tensor

__all__: list[str] = []

_INTEGERS = "int8, int16, int32, int64, uint8, uint16, uint32, uint64"


def _bitwise(name: str, commutative: bool = False) -> OpDef:
    op_def = register_op(name, "x: T, y: T -> z: T", f"T: type in {{{_INTEGERS}}}", commutative=commutative)
    op_def.shape(shape_inference.broadcast)
    return op_def.no_gradient()


bitwise_and_op = _bitwise("BitwiseAnd", commutative=True).ufunc(np.bitwise_and, "&")
bitwise_or_op = _bitwise("BitwiseOr", commutative=True).ufunc(np.bitwise_or, "|")
bitwise_xor_op = _bitwise("BitwiseXor", commutative=True).ufunc(np.bitwise_xor, "^")


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in both x and y."""
    return apply_op("BitwiseAnd", x=x, y=y, name=name)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in x or y."""
    return apply_op("BitwiseOr", x=x, y=y, name=name)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits in which x and y differ."""
    return apply_op("BitwiseXor", x=x, y=y, name=name)


left_shift_op = _bitwise("LeftShift")
right_shift_op = _bitwise("RightShift")


def _places(x: Any, y: Any) -> Any:
    """Shifts by no less than nothing and by less than the number of bits: others are undefined in C."""
    return np.clip(y, 0, 8 * x.dtype.itemsize - 1).astype(y.dtype)


@left_shift_op.kernel
def _left_shift(x: Any, y: Any) -> Any:
    return np.left_shift(x, _places(x, y))


@right_shift_op.kernel
def _right_shift(x: Any, y: Any) -> Any:
    return np.right_shift(x, _places(x, y))


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x with its bits moved y places up; y is brought between 0 and the number of bits less one."""
    return apply_op("LeftShift", x=x, y=y, name=name)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x with its bits moved y places down; negative numbers stay negative."""
    return apply_op("RightShift", x=x, y=y, name=name)


invert_op = register_op("Invert", "x: T -> y: T", f"T: type in {{{_INTEGERS}}}").ufunc(np.invert).no_gradient()
invert_op.shape(shape_inference.unchanged)


def invert(x: Any, name: str | None = None) -> Tensor:
    """x with every bit flipped."""
    return apply_op("Invert", x=x, name=name)


population_count_op = register_op("PopulationCount", "x: T -> y: uint8", f"T: type in {{{_INTEGERS}}}").no_gradient()
population_count_op.shape(shape_inference.unchanged)


@population_count_op.kernel
def _population_count(x: Any) -> Any:
    x = np.ascontiguousarray(x)
    return np.unpackbits(x.reshape(-1, 1).view(np.uint8), axis=1).sum(axis=1, dtype=np.uint8).reshape(x.shape)


def population_count(x: Any, name: str | None = None) -> Tensor:
    """How many bits of x are set, as uint8."""
    return apply_op("PopulationCount", x=x, name=name)
