"""Slices: tf.slice, tf.strided_slice and `tensor[...]`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfsandbox.framework import dtypes, errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext
from tfsandbox.framework.shape_rules import merge, unknown_of_rank, with_rank
from tfsandbox.framework.tensor_shape import Dimension, TensorShape
from tfsandbox.ops.kernel_values import as_array, text_of_sizes

_INDEX = "Index: type in {int32, int64}"
_MASKS = ("begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
          "shrink_axis_mask: int = 0")
_MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

slice_op = register_op("Slice", "input: T, begin: Index, size: Index -> output: T", f"T: type; {_INDEX}")


@slice_op.shape
def _slice_shape(c: ShapeContext) -> TensorShape:
    begin_shape, size_shape = with_rank(c.shape(1), 1), with_rank(c.shape(2), 1)
    count = merge(begin_shape, size_shape).sizes
    begin, size = c.value_as_shape(1), c.value_as_shape(2)
    rank = count[0] if count else None
    if rank is None:
        rank = begin.ndims if begin.ndims is not None else size.ndims
    if rank is None:
        return unknown_of_rank(c.shape(0).ndims)
    shape = with_rank(c.shape(0), rank)
    sizes = c.value(2)
    if begin.ndims is None or size.ndims is None or shape.sizes is None:
        return unknown_of_rank(rank)
    result = []
    for axis in range(rank):
        wanted = None if sizes is None else int(sizes[axis])
        if wanted == -1:
            whole, offset = shape.sizes[axis], begin.sizes[axis]  # type: ignore[index]
            result.append(None if whole is None or offset is None else whole - offset)
            if result[-1] is not None and result[-1] < 0:
                raise ValueError(f"Negative dimension size caused by subtracting {offset} from {whole}")
        else:
            if wanted is not None and wanted < -1:
                raise ValueError(f"Dimension size must be -1 or non-negative, but is {wanted}")
            result.append(size.sizes[axis])  # type: ignore[index]
    return TensorShape.from_sizes(tuple(result))


@slice_op.kernel(view=True)
def _slice(value: Any, begin: Any, size: Any) -> Any:
    rank = np.ndim(value)
    if len(begin) != rank or len(size) != rank:
        raise errors.InvalidArgumentError(
            None, None, f"Expected begin and size arguments to be 1-D tensors of size {rank}, but got shapes "
                        f"[{len(begin)}] and [{len(size)}] instead.")
    index = []
    for axis, (start, count, whole) in enumerate(zip(begin.tolist(), size.tolist(), np.shape(value))):
        if not 0 <= start <= whole:
            raise errors.InvalidArgumentError(None, None, f"Expected begin[{axis}] in [0, {whole}], but got {start}")
        stop = whole if count == -1 else start + count
        if not start <= stop <= whole:
            raise errors.InvalidArgumentError(None, None, f"Expected size[{axis}] in [0, {whole - start}], but got "
                                                          f"{count}")
        index.append(slice(start, stop))
    return value[tuple(index)]


@slice_op.emit
def _slice_emit(node: Any) -> str | None:
    begin, size, shape = node.value(1), node.value(2), node.shape(0)
    if begin is None or size is None or not shape.ndims or not shape.is_fully_defined():
        return None
    parts = []
    for start, count, whole in zip(begin.tolist(), size.tolist(), shape.sizes):
        stop = whole if count == -1 else start + count
        if not 0 <= start <= stop <= whole:
            return None
        parts.append(f"{start or ''}:{'' if stop == whole else stop}")
    return f"{{0}}[{', '.join(parts)}]"


@slice_op.gradient
def _slice_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    value, begin, _ = op.inputs
    rank = array_ops.rank(value)
    sizes = array_ops.shape(op.outputs[0])
    # One column of paddings before the slice, one after it.
    column = array_ops.stack([rank, 1])
    before = array_ops.reshape(begin, column)
    after = array_ops.reshape(array_ops.shape(value) - sizes - begin, column)
    return [array_ops.pad(grad, array_ops.concat([before, after], 1)), None, None]


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The block of `input_` that begins at `begin` [rank] and has the sizes `size` [rank]; -1 is all that is left."""
    return apply_op("Slice", input=input_, begin=begin, size=size, name=name)


# ------------------------------------------------------------ strided slices

strided_slice_op = register_op("StridedSlice", "input: T, begin: Index, end: Index, strides: Index -> output: T",
                               f"T: type; {_INDEX}; {_MASKS}")
strided_slice_grad_op = register_op(
    "StridedSliceGrad", "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    f"T: type; {_INDEX}; {_MASKS}")
strided_slice_assign_op = register_op(
    "StridedSliceAssign", "ref: ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: ref(T)",
    f"T: type; {_INDEX}; {_MASKS}").no_gradient()
strided_slice_update_op = register_op(
    "TensorStridedSliceUpdate", "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    f"T: type; {_INDEX}; {_MASKS}")


class Masks(NamedTuple):
    """The masks of a strided slice: bit i says it of entry i of begin, end and strides."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


def _masks(attrs: Any) -> Masks:
    return Masks(*(attrs(name) for name in _MASK_NAMES))


def _dense_entries(count: int, rank: int, masks: Masks) -> list[tuple[str, int | None]]:
    """What each axis of input and result is made of, in order: (kind, entry).

    Kinds: "new" (an axis of size 1 that the input does not have), "index" (an axis that goes), "slice", and "all"
    (an axis that no entry speaks of). Raises `ValueError` where there are more entries than axes.
    """
    if bin(masks.ellipsis & ((1 << count) - 1)).count("1") > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    kinds: list[tuple[str, int | None]] = []
    for i in range(count):
        bit = 1 << i
        if masks.ellipsis & bit:
            kinds.append(("ellipsis", None))
        elif masks.new_axis & bit:
            kinds.append(("new", i))
        else:
            kinds.append(("index" if masks.shrink_axis & bit else "slice", i))
    if ("ellipsis", None) not in kinds:
        kinds.append(("ellipsis", None))
    used = sum(kind in ("index", "slice") for kind, _ in kinds)
    at = kinds.index(("ellipsis", None))
    if used > rank:
        raise ValueError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    return [*kinds[:at], *[("all", None)] * (rank - used), *kinds[at + 1:]]


@strided_slice_op.shape
def _strided_slice_shape(c: ShapeContext) -> TensorShape:
    entries = UNKNOWN
    for bound in (1, 2, 3):
        entries = merge(entries, with_rank(c.shape(bound), 1))
    sizes, strides = c.shape(0).sizes, c.value(3)
    if sizes is None or entries.sizes is None or entries.sizes[0] is None or strides is None:
        return UNKNOWN
    begin, end, masks = c.value(1), c.value(2), _masks(c.attr)
    result: list[int | None] = []
    axis = -1
    for kind, i in _dense_entries(len(strides), len(sizes), masks):
        if kind == "new":
            result.append(1)
            continue
        axis += 1
        whole = sizes[axis]
        if kind == "all":
            result.append(whole)
            continue
        assert i is not None
        stride = int(strides[i])
        if stride == 0:
            raise ValueError(f"strides[{i}] must be non-zero")
        if kind == "index":
            if stride < 0:
                raise ValueError("only stride 1 allowed on non-range indexing.")
            if begin is not None and end is not None and whole is not None and not masks.begin & (1 << i):
                place = int(begin[i]) + (whole if begin[i] < 0 else 0)
                if not 0 <= place < whole:
                    raise ValueError(f"slice index {place} of dimension {axis} out of bounds.")
            continue
        start = None if masks.begin & (1 << i) else begin[i] if begin is not None else "?"
        stop = None if masks.end & (1 << i) else end[i] if end is not None else "?"
        # Without knowing both ends nothing is said of the size, unless neither matters.
        if whole is None or start == "?" or stop == "?" or (
                (begin is None or end is None) and (start is not None or stop is not None)):
            result.append(None)
        else:
            result.append(len(range(*slice(start, stop, stride).indices(whole))))
    return TensorShape.from_sizes(tuple(result))


@strided_slice_grad_op.shape
def _strided_slice_grad_shape(c: ShapeContext) -> TensorShape:
    return c.value_as_shape(0)


@strided_slice_assign_op.shape
@strided_slice_update_op.shape
def _strided_slice_assign_shape(c: ShapeContext) -> TensorShape:
    return c.shape(0)


def numpy_index(rank: int, begin: Any, end: Any, strides: Any, masks: Masks, sizes: Any = None) -> tuple[Any, ...]:
    """The index that says in numpy what a strided slice says; with `sizes` its single places are checked."""
    try:
        entries = _dense_entries(len(strides), rank, masks)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from None
    begin, end, strides = begin.tolist(), end.tolist(), strides.tolist()
    index: list[Any] = []
    axis = -1
    for kind, i in entries:
        if kind == "new":
            index.append(None)
            continue
        axis += 1
        if kind == "all":
            index.append(slice(None))
            continue
        assert i is not None
        bit = 1 << i
        if strides[i] == 0:
            raise errors.InvalidArgumentError(None, None, f"strides[{i}] must be non-zero")
        if kind == "index":
            place = 0 if masks.begin & bit else begin[i]
            if strides[i] < 0:
                raise errors.InvalidArgumentError(None, None, "only stride 1 allowed on non-range indexing.")
            if sizes is not None:
                place += sizes[axis] if place < 0 else 0
                if not 0 <= place < sizes[axis]:
                    raise errors.InvalidArgumentError(None, None, f"slice index {place} of dimension {axis} out of "
                                                                  "bounds.")
            index.append(place)
        else:
            index.append(slice(None if masks.begin & bit else begin[i], None if masks.end & bit else end[i],
                               None if strides[i] == 1 else strides[i]))
    return tuple(index)


@strided_slice_op.kernel(view=True)
def _strided_slice(value: Any, begin: Any, end: Any, strides: Any, *, begin_mask: int, end_mask: int,
                   ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> Any:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    value = as_array(value)
    return value[numpy_index(value.ndim, begin, end, strides, masks, value.shape)]


@strided_slice_grad_op.kernel
def _strided_slice_back(shape: Any, begin: Any, end: Any, strides: Any, dy: Any, *, begin_mask: int, end_mask: int,
                        ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> Any:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = np.zeros(shape, dy.dtype)
    result[numpy_index(result.ndim, begin, end, strides, masks, result.shape)] = dy
    return result


@strided_slice_assign_op.kernel
def _strided_slice_assign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, *, begin_mask: int, end_mask: int,
                          ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> None:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    _assign(ref.read(), begin, end, strides, value, masks)


@strided_slice_update_op.kernel
def _strided_slice_update(target: Any, begin: Any, end: Any, strides: Any, value: Any, *, begin_mask: int,
                          end_mask: int, ellipsis_mask: int, new_axis_mask: int, shrink_axis_mask: int) -> Any:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = np.array(target)
    _assign(result, begin, end, strides, value, masks)
    return result


def _assign(target: np.ndarray, begin: Any, end: Any, strides: Any, value: Any, masks: Masks) -> None:
    index = numpy_index(target.ndim, begin, end, strides, masks, target.shape)
    wanted = np.shape(target[index])
    if np.shape(value) != wanted:
        texts = [text_of_sizes(sizes) for sizes in (wanted, np.shape(value))]
        raise errors.UnimplementedError(None, None, f"sliced l-value shape {texts[0]} does not match r-value shape "
                                                    f"{texts[1]}. Automatic broadcasting not yet implemented.")
    target[index] = value


def _index_text(node: Any, value: int, first: int) -> str | None:
    """The index in square brackets; None unless input `value` has a known shape and the bounds are constant."""
    sizes = node.shape(value).sizes if value >= 0 else node.output_shape().sizes
    begin, end, strides = (node.value(first + i) for i in range(3))
    if not sizes or None in sizes or begin is None or end is None or strides is None:
        return None
    masks = _masks(node.attr)
    try:
        index = numpy_index(len(sizes), begin, end, strides, masks, sizes)
    except errors.InvalidArgumentError:
        return None
    parts = []
    for item in index:
        if isinstance(item, slice):
            start = item.start if item.step is not None or item.start != 0 else None
            text = f"{'' if start is None else start}:"
            text += "" if item.stop is None else str(item.stop)
            text += "" if item.step is None else f":{item.step}"
            parts.append(text)
        else:
            parts.append(str(item))
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts)


@strided_slice_op.emit
def _strided_slice_emit(node: Any) -> str | None:
    text = _index_text(node, 0, 1)
    return None if text is None else f"{{0}}[{text}]"


@strided_slice_op.gradient
def _strided_slice_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    value, begin, end, strides = op.inputs
    sizes = array_ops.shape(value, out_type=begin.dtype)
    return [apply_op("StridedSliceGrad", shape=sizes, begin=begin, end=end, strides=strides, dy=grad,
                     **_mask_attrs(op)), None, None, None]


@strided_slice_grad_op.gradient
def _strided_slice_grad_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, begin, end, strides, _ = op.inputs
    return [None, None, None, None,
            apply_op("StridedSlice", input=grad, begin=begin, end=end, strides=strides, **_mask_attrs(op))]


@strided_slice_update_op.gradient
def _strided_slice_update_gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tfsandbox.ops import array_ops
    _, begin, end, strides, value = op.inputs
    masks = _mask_attrs(op)
    kept = apply_op("TensorStridedSliceUpdate", input=grad, begin=begin, end=end, strides=strides,
                    value=array_ops.zeros_like(value), **masks)
    placed = apply_op("StridedSlice", input=grad, begin=begin, end=end, strides=strides, **masks)
    return [kept, None, None, None, placed]


def _named_masks(*masks: int) -> dict[str, Any]:
    return dict(zip(_MASK_NAMES, masks))


def _mask_attrs(op: Operation) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in _MASK_NAMES}


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Tensor:
    """`input_[begin:end:strides]`, an entry an axis; bit i of a mask changes the meaning of entry i.

    begin_mask, end_mask: open on that side. ellipsis_mask: as many whole axes as are left. new_axis_mask: a new axis
    of size 1. shrink_axis_mask: the single place `begin`, without its axis. With `var` the result has a method
    `assign(value)` that changes that part of the variable.
    """
    if strides is None:
        from tfsandbox.ops.filling import ones_like
        strides = ones_like(begin)
    masks = _named_masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = apply_op("StridedSlice", input=input_, begin=begin, end=end, strides=strides, name=name, **masks)
    parent_name = name
    if not (var is None and isinstance(result, Tensor) and name is None):
        def assign(value: Any, name: str | None = None) -> Any:
            """Assign to the sliced part of the variable."""
            if var is None:
                raise ValueError("Sliced assignment is only supported for variables")
            if name is None:
                name = f"{parent_name}_assign"
            return var._strided_slice_assign(begin=begin, end=end, strides=strides, value=value, name=name, **masks)
        result.assign = assign  # type: ignore[attr-defined]
    return result


def strided_slice_assign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, begin_mask: int = 0,
                         end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
                         name: str | None = None) -> Tensor:
    """Assign to a strided slice of a variable's storage; gives the storage."""
    masks = _named_masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return apply_op("StridedSliceAssign", ref=ref, begin=begin, end=end, strides=strides, value=value, name=name,
                    **masks)


# ------------------------------------------------------------ tensor[...]

_BAD_INDEX = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
              "are valid indices, got {!r}")


def _check_index(index: Any) -> None:
    if isinstance(index, (int, np.integer, Dimension)):
        return
    dtype = getattr(index, "dtype", None)
    rank = index.shape.ndims if isinstance(index, Tensor) else np.ndim(index) if dtype is not None else None
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype in (dtypes.int32, dtypes.int64) and rank in (None, 0, 1):
        return
    raise TypeError(_BAD_INDEX.format(index))


def slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Tensor:
    """`tensor[slice_spec]`, as a StridedSlice named `strided_slice`; a boolean mask picks elements.

    An index is an int, a scalar int tensor, a slice of them, `...`, `None` (a new axis), or a tuple of these.
    Raises `TypeError` for anything else, `ValueError` for a place or an axis the tensor does not have.
    """
    if isinstance(slice_spec, (bool, np.bool_)) or (
            isinstance(slice_spec, (Tensor, np.ndarray)) and slice_spec.dtype == dtypes.bool):
        from tfsandbox.ops import array_ops
        return array_ops.boolean_mask(tensor=tensor, mask=slice_spec)
    entries = list(slice_spec) if isinstance(slice_spec, (list, tuple)) else [slice_spec]
    begin, end, strides = [], [], []
    new_axis_mask = shrink_axis_mask = begin_mask = end_mask = ellipsis_mask = 0
    for i, entry in enumerate(entries):
        if isinstance(entry, slice):
            for bound in (entry.start, entry.stop, entry.step):
                if bound is not None:
                    _check_index(bound)
            begin.append(0 if entry.start is None else entry.start)
            end.append(0 if entry.stop is None else entry.stop)
            strides.append(1 if entry.step is None else entry.step)
            begin_mask |= (entry.start is None) << i
            end_mask |= (entry.stop is None) << i
        elif entry is Ellipsis or entry is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            ellipsis_mask |= (entry is Ellipsis) << i
            new_axis_mask |= (entry is None) << i
        else:
            _check_index(entry)
            begin.append(entry)
            end.append(entry + 1)
            strides.append(1)
            shrink_axis_mask |= 1 << i
    with ops.name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as name:
        starts, ends, steps = _packed_bounds(begin, end, strides)
        return strided_slice(tensor, starts, ends, steps, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                             shrink_axis_mask, var=var, name=name)


def _packed_bounds(begin: list[Any], end: list[Any], strides: list[Any]) -> list[Tensor]:
    if not begin:
        return [constant([], dtype=dtypes.int32)] * 3
    from tfsandbox.ops.joining import stack
    packed = [stack(begin), stack(end), stack(strides)]
    if any(tensor.dtype == dtypes.int64 for tensor in packed):
        from tfsandbox.ops import math_ops
        packed = [tensor if tensor.dtype == dtypes.int64 else math_ops.cast(tensor, dtypes.int64)
                  for tensor in packed]
    return packed


def slice_helper_var(var: Any, slice_spec: Any) -> Tensor:
    """`variable[slice_spec]`: a slice of its value, with a method `assign`."""
    return slice_helper(var.value(), slice_spec, var)


Tensor._override_operator("__getitem__", slice_helper)
