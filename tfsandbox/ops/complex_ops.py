"""Complex numbers: their parts, and making them from parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import constant_op, dtypes, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, elementwise
from tfsandbox.ops.broadcasting import Unbroadcast

__all__ = ["angle", "complex", "conj", "imag", "real"]

_REAL_OF = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def _part(name: str, signature: str = "input: T -> output: Tout") -> OpDef:
    op_def = register_op(name, signature,
                         "T: type in {complex64, complex128} = complex64; Tout: type in {float32, float64} = float32")
    op_def.shape(shape_inference.unchanged)
    return op_def


complex_op = register_op("Complex", "real: T, imag: T -> out: Tout",
                         "T: type in {float32, float64} = float32; Tout: type in {complex64, complex128} = complex64")
complex_op.shape(shape_inference.broadcast)


@complex_op.kernel
def _complex(real: Any, imag: Any, *, Tout: Any) -> Any:
    result = np.empty(np.broadcast(real, imag).shape, Tout.as_numpy_dtype)
    result.real, result.imag = real, imag
    return result


@complex_op.gradient
def _complex_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    unbroadcast = Unbroadcast(op)
    left = unbroadcast(0, real(grad))
    return [left, unbroadcast(1, imag(grad))]


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i imag: complex64 of float32 parts, complex128 of float64 parts. Others raise `TypeError`."""
    real = ops.convert_to_tensor(real, name="real")
    imag = ops.convert_to_tensor(imag, name="imag")
    with ops.name_scope(name, "Complex", [real, imag]) as name:
        types = (real.dtype.base_dtype, imag.dtype.base_dtype)
        if types == (dtypes.float64, dtypes.float64):
            target = dtypes.complex128
        elif types == (dtypes.float32, dtypes.float32):
            target = dtypes.complex64
        else:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return apply_op("Complex", real=real, imag=imag, Tout=target, name=name)


real_op = _part("Real")


@real_op.kernel
def _real(input: Any, *, T: Any) -> Any:
    return input.real.copy()


@real_op.gradient
def _real_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [complex(grad, constant_op.constant(0, dtype=grad.dtype))]


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor is given back as it is."""
    with ops.name_scope(name, "Real", [input]) as name:
        input = ops.convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return apply_op("Real", input=input, Tout=input.dtype.real_dtype, name=name)


imag_op = _part("Imag")


@imag_op.kernel
def _imag(input: Any, *, T: Any) -> Any:
    return input.imag.copy()


@imag_op.gradient
def _imag_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [complex(constant_op.constant(0, dtype=grad.dtype), grad)]


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor."""
    with ops.name_scope(name, "Imag", [input]) as name:
        input = ops.convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return array_ops.zeros_like(input)
        return apply_op("Imag", input=input, Tout=input.dtype.real_dtype, name=name)


angle_op = _part("Angle")


@angle_op.kernel
def _angle(input: Any, *, Tout: Any) -> Any:
    return np.arctan2(input.imag, input.real)


@angle_op.gradient
def _angle_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    z = op.inputs[0]
    with ops.control_dependencies([grad]):
        real_part, imaginary_part = real(z), imag(z)
        inverse = elementwise.reciprocal(complex(imaginary_part, real_part))
        return [-complex(grad, constant_op.constant(0, dtype=grad.dtype)) * inverse]


def angle(input: Any, name: str | None = None) -> Tensor:
    """The angle of a complex number, from -pi to pi; 0 for a real tensor."""
    with ops.name_scope(name, "Angle", [input]) as name:
        input = ops.convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return array_ops.zeros_like(input)
        return apply_op("Angle", input=input, Tout=input.dtype.real_dtype, name=name)


complex_abs_op = _part("ComplexAbs", "x: T -> y: Tout").ufunc(np.absolute)


@complex_abs_op.gradient
def _complex_abs_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    from tfsandbox.ops import zero_safe_ops
    direction = complex(grad, array_ops.zeros_like(grad))
    return [zero_safe_ops.div_no_nan(direction * op.inputs[0],
                                     complex(op.outputs[0], array_ops.zeros_like(op.outputs[0])))]


conj_op = register_op("Conj", "input: T -> output: T", "T: type in {complex64, complex128, variant} = complex64")
conj_op.ufunc(np.conjugate).shape(shape_inference.unchanged)


@conj_op.gradient
def _conj_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [conj(grad)]


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is given back as it is. `TypeError` for what is no number."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with ops.name_scope(name, "Conj", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype == dtypes.variant:
            return apply_op("Conj", input=x, name=name)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
