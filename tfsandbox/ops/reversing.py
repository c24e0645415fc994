"""Ops that turn axes round: reverse, reverse_sequence, roll."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge, merge_sizes, with_rank, with_rank_at_least
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array

_REVERSIBLE = ("T: type in {uint8, int8, uint16, int16, int32, int64, bool, bfloat16, float16, float32, float64, "
               "complex64, complex128, string}")

reverse_v2_op = register_op("ReverseV2", "tensor: T, axis: Tidx -> output: T",
                            f"Tidx: type in {{int32, int64}} = int32; {_REVERSIBLE}")
reverse_op = register_op("Reverse", "tensor: T, dims: bool -> output: T",
                         _REVERSIBLE.replace(" bfloat16,", ""))


@reverse_v2_op.shape
def _reverse_v2_shape(c: ShapeContext) -> TensorShape:
    shape, axes = c.shape(0), c.value(1)
    with_rank(c.shape(1), 1)
    if axes is None or shape.sizes is None:
        return shape
    rank = len(shape.sizes)
    seen: set[int] = set()
    for i, axis in enumerate(axes.tolist()):
        if not -rank <= axis < rank:
            raise ValueError(f"'axis'[{i}] = {axis} is out of valid range [0, {rank - 1}")
        if axis % rank in seen:
            raise ValueError(f"axis {axis % rank} specified more than once.")
        seen.add(axis % rank)
    return shape


@reverse_op.shape
def _reverse_shape(c: ShapeContext) -> TensorShape:
    count = with_rank(c.shape(1), 1).sizes
    assert count is not None
    return c.shape(0) if count[0] is None else with_rank(c.shape(0), count[0])


@reverse_v2_op.kernel(view=True)
def _reverse_v2(tensor: Any, axis: Any) -> Any:
    rank = np.ndim(tensor)
    index = [slice(None)] * rank
    for i, place in enumerate(axis.tolist()):
        if not -rank <= place < rank:
            raise errors.InvalidArgumentError(None, None, f"'axis'[{i}] = {place} is out of valid range [0, {rank - 1}")
        if index[place].step is not None:
            raise errors.InvalidArgumentError(None, None, f"axis {place % rank} specified more than once.")
        index[place] = slice(None, None, -1)
    return tensor[tuple(index)] if index else tensor


@reverse_op.kernel(view=True)
def _reverse(tensor: Any, dims: Any) -> Any:
    return tensor[tuple(slice(None, None, -1) if flag else slice(None) for flag in dims.tolist())]


@reverse_v2_op.gradient
def _reverse_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [reverse(grad, op.inputs[1]), None]


@reverse_op.gradient
def _reverse_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [apply_op("Reverse", tensor=grad, dims=op.inputs[1]), None]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """`tensor` with the order along each axis of the vector `axis` reversed."""
    return apply_op("ReverseV2", tensor=tensor, axis=axis, name=name)


reverse_v2 = reverse

reverse_sequence_op = register_op("ReverseSequence", "input: T, seq_lengths: Tlen -> output: T",
                                  "seq_dim: int; batch_dim: int = 0; T: type; Tlen: type in {int32, int64} = int64")


@reverse_sequence_op.shape
def _reverse_sequence_shape(c: ShapeContext) -> TensorShape:
    shape, lengths = c.shape(0), with_rank(c.shape(1), 1)
    seq_dim, batch_dim = c.attr("seq_dim"), c.attr("batch_dim")
    if shape.sizes is None:
        return UNKNOWN
    rank = len(shape.sizes)
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= rank:
            raise ValueError(f"{name} must be < input rank: {axis} vs. {rank}")
    assert lengths.sizes is not None
    batch = merge_sizes(shape.sizes[batch_dim], lengths.sizes[0])
    return TensorShape.from_sizes((*shape.sizes[:batch_dim], batch, *shape.sizes[batch_dim + 1:]))


@reverse_sequence_op.kernel
def _reverse_sequence(value: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    if seq_dim == batch_dim:
        raise errors.InvalidArgumentError(None, None, f"batch_dim == seq_dim == {seq_dim}")
    size, batches = value.shape[seq_dim], value.shape[batch_dim]
    if len(seq_lengths) != batches:
        raise errors.InvalidArgumentError(None, None, f"Length of seq_lens != input.dims({batch_dim}), "
                                                      f"({len(seq_lengths)} vs. {batches})")
    for i, length in enumerate(seq_lengths.tolist()):
        if not 0 <= length <= size:
            what = f"seq_lens({i}) < 0" if length < 0 else f"seq_lens({i}) > input.dims({seq_dim})"
            raise errors.InvalidArgumentError(None, None, what)
    moved = np.moveaxis(value, (batch_dim, seq_dim), (0, 1))
    steps = np.arange(size)
    lengths = seq_lengths[:, None]
    places = np.where(steps < lengths, lengths - 1 - steps, steps)
    return np.moveaxis(moved[np.arange(batches)[:, None], places], (0, 1), (batch_dim, seq_dim))


@reverse_sequence_op.gradient
def _reverse_sequence_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [reverse_sequence(grad, batch_axis=op.get_attr("batch_dim"), seq_axis=op.get_attr("seq_dim"),
                             seq_lengths=op.inputs[1]), None]


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
                     name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None) -> Tensor:
    """`input` with the first `seq_lengths[i]` steps along `seq_axis` of each batch i reversed; the rest stays."""
    seq_dim = _one_of("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_dim = _one_of("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_dim is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    return apply_op("ReverseSequence", input=input, seq_lengths=seq_lengths, seq_dim=seq_dim,
                    batch_dim=0 if batch_dim is None else batch_dim, name=name)


def _one_of(new: str, value: Any, old: str, old_value: Any) -> Any:
    if value is not None and old_value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'")
    return old_value if value is None else value


roll_op = register_op("Roll", "input: T, shift: Tshift, axis: Taxis -> output: T",
                      "T: type; Tshift: type in {int32, int64}; Taxis: type in {int32, int64}")


@roll_op.shape
def _roll_shape(c: ShapeContext) -> TensorShape:
    with_rank_at_least(c.shape(0), 1)
    for i in (1, 2):
        if c.shape(i).ndims is not None and c.shape(i).ndims > 1:  # type: ignore[operator]
            raise ValueError(f"Shape must be at most rank 1 but is rank {c.shape(i).ndims}")
    merge(c.shape(1), c.shape(2))
    return c.shape(0)


@roll_op.kernel
def _roll(value: Any, shift: Any, axis: Any) -> Any:
    rank = np.ndim(value)
    if not rank:
        raise errors.InvalidArgumentError(None, None, "input must be 1-D or higher")
    shifts, axes = as_array(shift).ravel().tolist(), as_array(axis).ravel().tolist()
    if np.shape(shift) != np.shape(axis):
        raise errors.InvalidArgumentError(None, None, "shift and axis must have the same size")
    for place in axes:
        if not -rank <= place < rank:
            raise errors.InvalidArgumentError(None, None, f"axis {place} is out of range")
    return np.roll(value, shifts, axes)


@roll_op.gradient
def _roll_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [roll(grad, -op.inputs[1], op.inputs[2]), None, None]


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """`input` shifted cyclically by `shift[i]` places along `axis[i]`."""
    return apply_op("Roll", input=input, shift=shift, axis=axis, name=name)
