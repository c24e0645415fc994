"""Casts between types."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, ops, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor

__all__ = [
    "cast", "saturate_cast", "to_bfloat16", "to_complex64", "to_complex128", "to_double", "to_float", "to_int32",
    "to_int64",
]

cast_op = register_op("Cast", "x: SrcT -> y: DstT", "SrcT: type; DstT: type; Truncate: bool = false")
cast_op.shape(shape_inference.unchanged)


@cast_op.kernel
def _cast(x: Any, *, SrcT: Any, DstT: Any, Truncate: bool) -> Any:
    if SrcT is dtypes.bfloat16:
        x = dtypes.bfloat16_to_float32(np.asarray(x))
    elif x.dtype.names:
        x = x[x.dtype.names[0]]
    if DstT is dtypes.bfloat16:
        wide = np.asarray(x.real if x.dtype.kind == "c" else x).astype(np.float32)
        if Truncate:
            return (wide.view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(DstT.as_numpy_dtype)
        return dtypes.float32_to_bfloat16(wide)
    target = np.dtype(DstT.as_numpy_dtype)
    if target.names:
        return np.asarray(x).astype(target[0]).view(target)
    if x.dtype.kind == "c" and target.kind not in "cb":
        x = x.real
    if x.dtype.kind == "f" and target.kind in "iu" and target.itemsize < 4:
        # What lies outside the small type wraps around, as from a machine word.
        x = x.astype(np.int32)
    return x.astype(target)


@cast_op.emit
def _cast_emit(node: Any) -> str | None:
    source, target = node.attr("SrcT"), node.attr("DstT")
    plain = ("float32", "float64", "int32", "int64")
    if target.name in plain and source.name in (*plain, "bool", "uint8"):
        return f"{{0}}.astype(np.{target.name})"
    return None


@cast_op.gradient
def _cast_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    differentiable = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64,
                      dtypes.complex128)
    source = op.inputs[0].dtype.base_dtype
    if source in differentiable and grad.dtype.base_dtype in differentiable:
        return [cast(grad, source)]
    return [None]


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """A tensor, SparseTensor or IndexedSlices with its elements cast to `dtype`; as it is where it has that type.

    Floating point numbers are truncated towards zero on their way to integers; a complex number loses its
    imaginary part.
    """
    target = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and target == x.dtype:
        return x
    with ops.name_scope(name, "Cast", [x]) as name:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, target, name=name), x.dense_shape)
        if isinstance(x, ops.IndexedSlices):
            return ops.IndexedSlices(cast(x.values, target, name=name), x.indices, x.dense_shape)
        x = ops.convert_to_tensor(x, name="x")
        if x.dtype.base_dtype != target:
            x = apply_op("Cast", x=x, DstT=target, name=name)
        return x


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Cast to `dtype`, with what lies outside its limits brought to them first."""
    from tfsandbox.ops import binary_ops
    with ops.name_scope(name, "saturate_cast", [value]) as name:
        value = ops.convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.min < dtype.min:
            value = binary_ops.maximum(value, ops.convert_to_tensor(dtype.min, dtype=value.dtype, name="min"))
        if value.dtype.max > dtype.max:
            value = binary_ops.minimum(value, ops.convert_to_tensor(dtype.max, dtype=value.dtype, name="max"))
        return cast(value, dtype, name=name)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Cast to float32. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.float32, name=name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """Cast to float64. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.float64, name=name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Cast to int32. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.int32, name=name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """Cast to int64. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x: Any, name: str = "ToBFloat16") -> Any:
    """Cast to bfloat16. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.bfloat16, name=name)


def to_complex64(x: Any, name: str = "ToComplex64") -> Any:
    """Cast to complex64. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x: Any, name: str = "ToComplex128") -> Any:
    """Cast to complex128. Deprecated: use `tf.cast`."""
    return cast(x, dtypes.complex128, name=name)
