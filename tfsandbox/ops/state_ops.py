"""Variables in the graph and the ops that change them.

A variable is a node `VariableV2` whose output is a reference; what changes it takes the reference. At run time the
reference is a `Ref` (`runtime.state`), and a kernel changes its `value` in one numpy statement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, shape_inference
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import merge, text
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib import row_updates
from tfsandbox.ops.kernel_values import text_of_sizes

__all__ = [
    "assign", "assign_add", "assign_sub", "batch_scatter_update", "count_up_to", "scatter_add", "scatter_div",
    "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update",
    "scatter_sub", "scatter_update",
]

_VARIABLE_ATTRS = "shape: shape; dtype: type; container: string = ''; shared_name: string = ''"

variable_v2_op = register_op("VariableV2", "-> ref: ref(dtype)", _VARIABLE_ATTRS, stateful=True)
variable_v1_op = register_op("Variable", "-> ref: ref(dtype)", _VARIABLE_ATTRS, stateful=True)


@variable_v2_op.shape
def _variable_shape(c: ShapeContext) -> TensorShape:
    return c.attr("shape")


@variable_v1_op.shape
def _variable_v1_shape(c: ShapeContext) -> TensorShape:
    # The older op has no way to say "unknown" but the empty shape.
    shape: TensorShape = c.attr("shape")
    return shape if shape.ndims else shape_inference.UNKNOWN


def variable_op_v2(shape: Any, dtype: Any, name: str = "Variable", container: str = "",
                   shared_name: str = "") -> Tensor:
    """A new variable node; its output is the reference."""
    return apply_op("VariableV2", shape=shape, dtype=dtype, container=container, shared_name=shared_name, name=name)


def variable_op(shape: Any, dtype: Any, name: str = "Variable", set_shape: bool = True, container: str = "",
                shared_name: str = "") -> Tensor:
    """As `variable_op_v2`; with `set_shape=False` the static shape stays unknown."""
    if not set_shape:
        shape = shape_inference.UNKNOWN
    return variable_op_v2(shape, dtype, name, container, shared_name)


is_variable_initialized_op = register_op("IsVariableInitialized", "ref: ref(dtype) -> is_initialized: bool",
                                         "dtype: type", allows_uninitialized_input=True)
is_variable_initialized_op.shape(shape_inference.scalar)


@is_variable_initialized_op.kernel
def _is_variable_initialized(ref: Any) -> np.bool_:
    return np.bool_(ref.value is not None)


@is_variable_initialized_op.emit
def _is_variable_initialized_emit(node: Any) -> str:
    return "np.bool_({0}.value is not None)"


def is_variable_initialized(ref: Any, name: str | None = None) -> Tensor:
    """bool scalar: whether the variable holds a value in the session."""
    if ref.dtype._is_ref_dtype:
        return apply_op("IsVariableInitialized", ref=ref, name=name)
    return ref.is_initialized(name=name)


# ------------------------------------------------------------ assignment

assign_op = register_op("Assign", "ref: ref(T), value: T -> output_ref: ref(T)",
                        "T: type; validate_shape: bool = true; use_locking: bool = true",
                        allows_uninitialized_input=True)
assign_op.no_gradient()


@assign_op.shape
def _assign_shape(c: ShapeContext) -> TensorShape:
    return merge(c.shape(0), c.shape(1)) if c.attr("validate_shape") else c.shape(1)


@assign_op.kernel
def _assign(ref: Any, value: Any, *, validate_shape: bool) -> None:
    if validate_shape and np.shape(value) != ref.shape:
        raise errors.InvalidArgumentError(
            None, None, f"Assign requires shapes of both tensors to match. lhs shape= {text_of_sizes(ref.shape)} "
                        f"rhs shape= {text_of_sizes(np.shape(value))}")
    ref.assign(value)


@assign_op.emit
def _assign_emit(node: Any) -> str | None:
    shapes = node.shape(0), node.shape(1)
    if all(shape.is_fully_defined() for shape in shapes) and shapes[0].as_list() == shapes[1].as_list():
        return "{0}.assign({1})"
    return None


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


def _same_shapes(c: ShapeContext) -> TensorShape:
    return merge(c.shape(0), c.shape(1))


def _change_op(name: str, ufunc: np.ufunc, sign: str) -> OpDef:
    definition = register_op(name, "ref: ref(T), value: T -> output_ref: ref(T)",
                             "T: type in {numbertype}; use_locking: bool = false")
    definition.no_gradient()
    definition.shape(_same_shapes)

    def kernel(ref: Any, value: Any) -> None:
        old = ref.read()
        if np.shape(value) != old.shape:
            raise errors.InvalidArgumentError(None, None, "Parameters and update must be the same size")
        ufunc(old, value, out=old)

    kernel.__name__ = _snake(name)
    definition.kernel(kernel)

    def emit(node: Any) -> str | None:
        return f"{{0}}.value {sign}= {{1}}" if _assign_emit(node) else None

    definition.emit(emit)
    return definition


assign_add_op = _change_op("AssignAdd", np.add, "+")
assign_sub_op = _change_op("AssignSub", np.subtract, "-")


def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Any:
    """Put `value` into the variable `ref`; gives the variable's storage after that."""
    if ref.dtype._is_ref_dtype:
        return apply_op("Assign", ref=ref, value=value, validate_shape=validate_shape, use_locking=use_locking,
                        name=name)
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add `value` to the variable `ref`; gives the variable's storage after that."""
    if ref.dtype._is_ref_dtype:
        return apply_op("AssignAdd", ref=ref, value=value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract `value` from the variable `ref`; gives the variable's storage after that."""
    if ref.dtype._is_ref_dtype:
        return apply_op("AssignSub", ref=ref, value=value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


count_up_to_op = register_op("CountUpTo", "ref: ref(T) -> output: T", "limit: int; T: type in {int32, int64}")


@count_up_to_op.shape
def _count_up_to_shape(c: ShapeContext) -> TensorShape:
    if c.shape(0).ndims not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {c.shape(0).ndims}")
    return c.shape(0)


@count_up_to_op.kernel
def _count_up_to(ref: Any, *, limit: int) -> Any:
    before = ref.read()[()]
    if before >= limit:
        raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
    ref.value[...] = before + 1
    return before


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """The integer variable's value before it is incremented; `OutOfRangeError` once it has reached `limit`."""
    return apply_op("CountUpTo", ref=ref, limit=limit, name=name)


# ------------------------------------------------------------ scattered updates

_SCATTER_INPUTS = "ref: ref(T), indices: Tindices, updates: T -> output_ref: ref(T)"
_MIN_MAX_TYPES = "float16, bfloat16, float32, float64, int32, int64"


def _scatter_shape(c: ShapeContext) -> TensorShape:
    shape, indices, updates = c.shape(0), c.shape(1), c.shape(2)
    if shape.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if updates.ndims != 0 and shape.ndims is not None:
        merge(updates, indices.concatenate(shape[1:]))
    return shape


def _bad_index(indices: np.ndarray, limit: int) -> errors.InvalidArgumentError:
    flat = indices.ravel()
    at = int(np.flatnonzero((flat < 0) | (flat >= limit))[0])
    place = ",".join(str(int(i)) for i in np.unravel_index(at, indices.shape))
    return errors.InvalidArgumentError(None, None, f"indices[{place}] = {flat[at]} is not in [0, {limit})")


def check_rows(indices: np.ndarray, limit: int) -> None:
    """`InvalidArgumentError` unless all of `indices` are in [0, limit)."""
    if indices.size and (indices.min() < 0 or indices.max() >= limit):
        raise _bad_index(indices, limit)


def _scatter_op(name: str, rule: Any, types: str = "numbertype", locking: str = "false") -> OpDef:
    kind = f"T: type in {{{types}}}" if types else "T: type"
    definition = register_op(name, _SCATTER_INPUTS, f"{kind}; Tindices: type in {{int32, int64}}; "
                                                    f"use_locking: bool = {locking}")
    definition.shape(_scatter_shape)

    def kernel(ref: Any, indices: Any, updates: Any) -> None:
        value = ref.read()
        indices, updates = np.asarray(indices), np.asarray(updates)
        check_rows(indices, value.shape[0])
        if updates.ndim and updates.shape != indices.shape + value.shape[1:]:
            raise errors.InvalidArgumentError(
                None, None, "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                            f"updates.shape {text_of_sizes(updates.shape)}, indices.shape "
                            f"{text_of_sizes(indices.shape)}, params.shape {text_of_sizes(value.shape)}")
        if not indices.size:
            return
        if rule is None:
            value[indices] = updates
        else:
            row_updates.update(rule, value, indices, updates)

    kernel.__name__ = _snake(name)
    definition.kernel(kernel)
    return definition


def _divide(a: Any, b: Any) -> Any:
    # Integers are divided towards zero, as in C.
    return np.trunc(np.true_divide(a, b)).astype(a.dtype) if a.dtype.kind in "iu" else np.divide(a, b)


scatter_update_op = _scatter_op("ScatterUpdate", None, "", "true")
scatter_add_op = _scatter_op("ScatterAdd", np.add)
scatter_sub_op = _scatter_op("ScatterSub", np.subtract)
scatter_mul_op = _scatter_op("ScatterMul", np.multiply)
scatter_div_op = _scatter_op("ScatterDiv", _divide)
scatter_min_op = _scatter_op("ScatterMin", np.minimum, _MIN_MAX_TYPES)
scatter_max_op = _scatter_op("ScatterMax", np.maximum, _MIN_MAX_TYPES)
for _definition in (scatter_add_op, scatter_sub_op, scatter_mul_op, scatter_div_op):
    _definition.no_gradient()


def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Replace rows of a variable; `updates` has the shape of `indices` followed by a row's, or is a scalar."""
    return apply_op("ScatterUpdate", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Add to rows of a variable; a row named twice gets both."""
    return apply_op("ScatterAdd", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Subtract from rows of a variable."""
    return apply_op("ScatterSub", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_mul(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Multiply rows of a variable."""
    return apply_op("ScatterMul", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_div(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Divide rows of a variable."""
    return apply_op("ScatterDiv", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_min(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Elementwise minimum of rows of a variable and `updates`."""
    return apply_op("ScatterMin", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_max(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Elementwise maximum of rows of a variable and `updates`."""
    return apply_op("ScatterMax", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


# ------------------------------------------------------------ scattered updates of slices and elements


def _scatter_nd_shape(c: ShapeContext) -> TensorShape:
    shape, indices, updates = c.shape(0), c.shape(1), c.shape(2)
    if indices.ndims == 0 or updates.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if shape.ndims is None or indices.ndims is None or updates.ndims is None or indices[-1].value is None:
        return shape
    outer, inner = indices.ndims - 1, indices[-1].value
    if inner > shape.ndims:
        return shape
    for what, left, right in (
            (f"The outer {outer} dimensions of indices.shape={text(indices)} must match the outer {outer} dimensions "
             f"of updates.shape={text(updates)}", indices[:outer], updates[:outer]),
            (f"The inner {shape.ndims - inner} dimensions of input.shape={text(shape)} must match the inner "
             f"{updates.ndims - outer} dimensions of updates.shape={text(updates)}", shape[inner:], updates[outer:])):
        try:
            merge(left, right)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    return shape


def flat_places(indices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The index vectors [..., k] as positions among the slices of an array of that shape; bounds are checked."""
    inner = indices.shape[-1]
    outer_shape = shape[:inner]
    flat = indices.reshape(-1, inner)
    bad = ((flat < 0) | (flat >= np.array(outer_shape, np.int64))).any(axis=1)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        place = ",".join(str(int(i)) for i in np.unravel_index(at, indices.shape[:-1])) if indices.ndim > 1 else ""
        raise errors.InvalidArgumentError(
            None, None, f"indices[{place}] = [{', '.join(map(str, flat[at].tolist()))}] does not index into shape "
                        f"{text_of_sizes(shape)}")
    if not inner:
        return np.zeros(len(flat), np.intp)
    return np.ravel_multi_index(tuple(flat.T), outer_shape)


def _scatter_nd_op(name: str, rule: Any, locking: str = "false") -> OpDef:
    kind = "T: type in {numbertype}" if rule is not None else "T: type"
    definition = register_op(name, _SCATTER_INPUTS, f"{kind}; Tindices: type in {{int32, int64}}; "
                                                    f"use_locking: bool = {locking}")
    definition.shape(_scatter_nd_shape)

    def kernel(ref: Any, indices: Any, updates: Any) -> None:
        value = ref.read()
        indices, updates = np.asarray(indices), np.asarray(updates)
        inner, outer = indices.shape[-1], indices.ndim - 1
        if inner > value.ndim or updates.shape != indices.shape[:-1] + value.shape[inner:]:
            raise errors.InvalidArgumentError(
                None, None, "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
                            f"updates.shape: {text_of_sizes(updates.shape)}, indices.shape: "
                            f"{text_of_sizes(indices.shape)}, params_shape: {text_of_sizes(value.shape)}, "
                            f"slice_dim: {inner}, and batch_dim: {outer}")
        if not indices.size:
            return
        slices = value.reshape(-1, *value.shape[inner:])
        places = flat_places(indices, value.shape)
        updates = updates.reshape(places.shape + slices.shape[1:])
        if rule is None:
            slices[places] = updates
        else:
            row_updates.update(rule, slices, places, updates)

    kernel.__name__ = _snake(name)
    definition.kernel(kernel)
    return definition


scatter_nd_update_op = _scatter_nd_op("ScatterNdUpdate", None, "true").no_gradient()
scatter_nd_add_op = _scatter_nd_op("ScatterNdAdd", np.add).no_gradient()
scatter_nd_sub_op = _scatter_nd_op("ScatterNdSub", np.subtract).no_gradient()


def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """Replace the slices of a variable that the last axis of `indices` names."""
    return apply_op("ScatterNdUpdate", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Add to the slices of a variable that the last axis of `indices` names."""
    return apply_op("ScatterNdAdd", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def scatter_nd_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Subtract from the slices of a variable that the last axis of `indices` names."""
    return apply_op("ScatterNdSub", ref=ref, indices=indices, updates=updates, use_locking=use_locking, name=name)


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True,
                         name: str | None = None) -> Any:
    """Replace `ref[i1, ..., indices[i1, ..., j]]` by `updates[i1, ..., j]`: a scatter_update for every batch entry."""
    from tfsandbox.framework import dtypes, ops
    from tfsandbox.ops import array_ops, math_ops
    with ops.name_scope(name):
        indices = ops.convert_to_tensor(indices, name="indices")
        shape = array_ops.shape(indices)
        batch_dims = indices.get_shape().ndims - 1
        columns = array_ops.expand_dims(indices, axis=-1)
        tiles = []
        for axis in range(batch_dims):
            count = math_ops.cast(shape[axis], dtype=dtypes.int32)
            ones = [1] * axis
            after = [1] * (batch_dims - axis)
            numbers = array_ops.reshape(apply_op("Range", start=0, limit=count, delta=1), [*ones, count, *after, 1])
            tiles.append(numbers * array_ops.ones_like(columns, dtype=dtypes.int32))
        places = array_ops.concat([*tiles, columns], axis=-1)
        return scatter_nd_update(ref, places, updates, use_locking)
