"""Ops that put a border around a tensor: pad with a constant, or mirrored."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, tensor_util
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import unknown_of_rank, with_rank, with_size
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops
from tfsandbox.ops.kernel_values import as_array

_PADDINGS = "Tpaddings: type in {int32, int64} = int32"
_MODE = "mode: string in {'REFLECT', 'SYMMETRIC'}"

pad_op = register_op("Pad", "input: T, paddings: Tpaddings -> output: T", f"T: type; {_PADDINGS}")
pad_v2_op = register_op("PadV2", "input: T, paddings: Tpaddings, constant_values: T -> output: T",
                        f"T: type; {_PADDINGS}")
mirror_pad_op = register_op("MirrorPad", "input: T, paddings: Tpaddings -> output: T", f"T: type; {_PADDINGS}; {_MODE}")
mirror_pad_grad_op = register_op("MirrorPadGrad", "input: T, paddings: Tpaddings -> output: T",
                                 f"T: type; {_PADDINGS}; {_MODE}")


def _paddings_of(c: ShapeContext) -> tuple[TensorShape, np.ndarray | None]:
    """The input's shape, of the rank that the paddings say, and the paddings if they are known."""
    sizes = with_rank(c.shape(1), 2).sizes
    assert sizes is not None
    with_size(sizes[1], 2)
    shape = c.shape(0) if sizes[0] is None else with_rank(c.shape(0), sizes[0])
    return shape, c.value(1)


@pad_op.shape
@pad_v2_op.shape
@mirror_pad_op.shape
def _pad_shape(c: ShapeContext) -> TensorShape:
    shape, paddings = _paddings_of(c)
    if paddings is None:
        return unknown_of_rank(shape.ndims)
    shape = with_rank(shape, len(paddings))
    if np.any(paddings < 0):
        raise ValueError("Paddings must be non-negative")
    assert shape.sizes is not None
    return TensorShape.from_sizes(tuple(None if size is None else size + int(before) + int(after)
                                        for size, (before, after) in zip(shape.sizes, paddings)))


@mirror_pad_grad_op.shape
def _mirror_pad_grad_shape(c: ShapeContext) -> TensorShape:
    shape, paddings = _paddings_of(c)
    if paddings is None or shape.sizes is None:
        return UNKNOWN if shape.sizes is None else unknown_of_rank(len(shape.sizes))
    return TensorShape.from_sizes(tuple(None if size is None else size - int(before) - int(after)
                                        for size, (before, after) in zip(shape.sizes, paddings)))


def _check_paddings(value: np.ndarray, paddings: Any) -> None:
    if paddings.shape != (value.ndim, 2):
        raise errors.InvalidArgumentError(
            None, None, f"The first dimension of paddings must be the rank of inputs"
                        f"[{','.join(map(str, paddings.shape))}] [{','.join(map(str, value.shape))}]")
    if (paddings < 0).any():
        before, after = paddings[(paddings < 0).any(axis=1)][0]
        raise errors.InvalidArgumentError(None, None, f"Paddings must be non-negative: {before} {after}")


@pad_op.kernel
def _pad(value: Any, paddings: Any) -> Any:
    value = as_array(value)
    return _pad_v2(value, paddings, b"" if value.dtype == object else 0)


@pad_v2_op.kernel
def _pad_v2(value: Any, paddings: Any, constant_values: Any) -> Any:
    value = as_array(value)
    _check_paddings(value, paddings)
    pairs = paddings.tolist()
    result = np.full([size + before + after for size, (before, after) in zip(value.shape, pairs)], constant_values,
                     value.dtype)
    result[tuple(slice(before, before + size) for size, (before, _) in zip(value.shape, pairs))] = value
    return result


@mirror_pad_op.kernel
def _mirror_pad(value: Any, paddings: Any, *, mode: bytes) -> Any:
    value = as_array(value)
    _check_paddings(value, paddings)
    offset = 1 if mode == b"REFLECT" else 0
    for axis, (before, after) in enumerate(paddings.tolist()):
        if before > value.shape[axis] - offset or after > value.shape[axis] - offset:
            less = "less" if offset else "no greater"
            raise errors.InvalidArgumentError(None, None, f"paddings must be {less} than the dimension size: "
                                                          f"{before}, {after} {'not less' if offset else 'greater'} "
                                                          f"than {value.shape[axis]}")
    return np.pad(value, paddings, "reflect" if offset else "symmetric")  # type: ignore[call-overload]


@mirror_pad_grad_op.kernel
def _unmirror(value: Any, paddings: Any, *, mode: bytes) -> Any:
    offset = 1 if mode == b"REFLECT" else 0
    for axis, (before, after) in enumerate(paddings.tolist()):
        moved = np.moveaxis(value, axis, 0)
        size = len(moved) - before - after
        # What was copied into the border goes back, turned round, to where it came from.
        kept = np.array(moved[before:before + size])
        kept[offset:offset + before] += moved[:before][::-1]
        kept[size - offset - after:size - offset] += moved[before + size:][::-1]
        value = np.moveaxis(kept, 0, axis)
    return value


@pad_op.gradient
def _pad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    value, paddings = op.inputs[0], op.inputs[1]
    before = array_ops.slice(paddings, [0, 0], array_ops.stack([array_ops.rank(value), 1]))
    inside = array_ops.slice(grad, array_ops.reshape(before, [-1]), array_ops.shape(value))
    return [inside, *[None] * (len(op.inputs) - 1)]


pad_v2_op.gradient(_pad_grad)


@mirror_pad_op.gradient
def _mirror_pad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("MirrorPadGrad", input=grad, paddings=op.inputs[1], mode=op.get_attr("mode")), None]


@mirror_pad_grad_op.gradient
def _mirror_pad_grad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("MirrorPad", input=grad, paddings=op.inputs[1], mode=op.get_attr("mode")), None]


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None,
        constant_values: Any = 0) -> Tensor:
    """`tensor` with `paddings[i] = (before, after)` more elements along axis i.

    They are `constant_values` (mode "CONSTANT"), or a mirror image without ("REFLECT") or with ("SYMMETRIC") the edge.
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and np.ndim(constant_values) == 0 and constant_values == 0:
            result = apply_op("Pad", input=tensor, paddings=paddings, name=name)
        else:
            result = apply_op("PadV2", input=tensor, paddings=paddings, constant_values=constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = apply_op("MirrorPad", input=tensor, paddings=paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _set_known_sizes(result)
    return result


def _set_known_sizes(result: Tensor) -> None:
    """Paddings packed from numbers and tensors tell the sizes of those axes for which both are numbers."""
    value, paddings = result.op.inputs[0], result.op.inputs[1]
    sizes = value.shape.sizes
    if sizes is None or result.shape.is_fully_defined() or paddings.op.type != "Pack":
        return
    known: list[int | None] = []
    for size, row in zip(sizes, paddings.op.inputs):
        both = tensor_util.constant_value(row)
        known.append(None if both is None or size is None else size + int(both.sum()))
    result.set_shape(known)
