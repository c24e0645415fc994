"""From Python values to numpy arrays, by TensorFlow's rules for constants.

What is particular about them: int becomes int32 if every value fits, float becomes float32; a value is refused
(not rounded) if it is not of the kind of the type asked for; numpy arrays are converted as numpy does; strings
become object arrays of `bytes`; and a `shape` larger than the values repeats the last one.

A constant that is one value repeated (`tf.zeros([1000, 1000])`) is returned as a view with zero strides: it takes
no memory, and the GraphDef stores the one value, as TensorFlow's does. All results are to be taken as read-only.
"""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.dtypes import DType
from tfsandbox.framework.tensor_shape import Dimension, TensorShape

_MAX_INT32 = 2**31 - 1
_MIN_INT32 = -(2**31)
_MAX_FLOAT32 = float(np.finfo(np.float32).max)
_PLAIN_TYPES = frozenset({bool, int, float, complex, str, bytes})


def as_ndarray(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> np.ndarray:
    """Return `values` as the array a constant of them holds: see `as_ndarray_and_dtype`."""
    return as_ndarray_and_dtype(values, dtype, shape, verify_shape, allow_broadcast)[0]


def as_ndarray_and_dtype(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> tuple[np.ndarray, DType]:
    """Return the array that a constant of `values` holds, and its element type.

    `shape` reshapes and, if it is larger, repeats the last value; with `verify_shape` it must be the shape of the
    values, with `allow_broadcast` only a single value is repeated. TypeError for a value that is not of type `dtype`
    or no value at all, ValueError for lists of unequal length, for None, and for more values than `shape` takes.
    """
    if shape is None:
        # Graph building converts thousands of scalars: the usual ones take the short way.
        kind = type(values)
        if kind is float:
            if (dtype is None or dtype is dtypes.float32) and -_MAX_FLOAT32 <= values <= _MAX_FLOAT32:
                return np.array(values, np.float32), dtypes.float32
        elif kind is int:
            if (dtype is None or dtype is dtypes.int32) and _MIN_INT32 <= values <= _MAX_INT32:
                return np.array(values, np.int32), dtypes.int32
        elif kind is bool and (dtype is None or dtype is dtypes.bool):
            return np.array(values), dtypes.bool
        return converted(values, None if dtype is None else dtypes.as_dtype(dtype))
    sizes = _sizes_of(shape)
    array, found = converted(values, None if dtype is None else dtypes.as_dtype(dtype), sizes)
    return expanded(array, checked_sizes(array, sizes, verify_shape, allow_broadcast)), found


def _sizes_of(shape: Any) -> tuple[int, ...]:
    return tuple([int(size) for size in shape])


def converted(
    values: Any, dtype: DType | None, sizes: tuple[int, ...] | None = None
) -> tuple[np.ndarray, DType]:
    """Return `values` as an array in their own shape, and its element type.

    `sizes` matters only if it asks for no elements at all: then the values are not looked at.
    """
    if dtype is not None:
        dtype = dtype.base_dtype
    if isinstance(values, np.ndarray | np.generic):
        return _from_numpy(np.asarray(values), dtype)
    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, list | tuple):
        pass
    elif _has_array_form(values):
        return _from_numpy(np.asarray(values), dtype)
    if sizes is not None and 0 in sizes and (dtype is None or dtype.is_numpy_compatible):
        found = dtype or dtypes.float32
        return np.empty(sizes, found.as_numpy_dtype), found
    return _guessed(values) if dtype is None else (_of_type(values, dtype), dtype)


def _has_array_form(values: Any) -> bool:
    if isinstance(values, type) or _is_tensor_type(type(values)):
        return False
    return (
        callable(getattr(values, "__array__", None))
        or hasattr(values, "__array_interface__")
        or isinstance(values, bytearray | memoryview)
    )


# ---- numpy arrays -------------------------------------------------------------------------------------------------


def _from_numpy(array: np.ndarray, dtype: DType | None) -> tuple[np.ndarray, DType]:
    found = dtypes.as_dtype(array.dtype) if dtype is None else dtype
    target = found._array_dtype
    if target is None:
        raise TypeError(f"Incompatible types: {found} vs. {array.dtype}. Value is {array}")
    if found is dtypes.string:
        return _encoded(array), found
    if found is dtypes.bfloat16:
        return _bfloat16_from_numpy(array), found
    # Numbers out of range become what numpy makes of them, without its warnings; the caller's array may change
    # later, so this copies even if nothing is converted.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(target, order="C"), found


def _bfloat16_from_numpy(array: np.ndarray) -> np.ndarray:
    if array.dtype == dtypes.bfloat16._array_dtype:
        return array.copy()
    if array.dtype.name == "bfloat16":
        return np.array(array, order="C").view(np.uint16).view(dtypes.bfloat16.as_numpy_dtype)
    with np.errstate(over="ignore"):
        return dtypes.float32_to_bfloat16(array.astype(np.float32))


def _encoded(array: np.ndarray) -> np.ndarray:
    """Return the object array of `bytes` of an array of strings; TypeError if an element is no string."""
    found = np.empty(array.size, object)
    found[:] = [as_bytes(item) for item in array.ravel().tolist()]
    return found.reshape(array.shape)


def as_bytes(value: Any) -> bytes:
    """Return a string as `bytes`, text in UTF-8; TypeError for anything else."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return bytes(value)
    raise TypeError(f"Expected binary or unicode string, got {value!r}")


# ---- Python values ------------------------------------------------------------------------------------------------


def _guessed(values: Any) -> tuple[np.ndarray, DType]:
    """Convert Python values to the type they have: float32, int32 (int64 if need be), bool, string, ..."""
    first = _first_leaf(values)
    if isinstance(first, str | bytes):
        return _strings(values), dtypes.string
    try:
        array = np.array(values)
    except (ValueError, TypeError, NotImplementedError) as error:  # the last is what a graph tensor says
        _refuse(values, error)
    kind = array.dtype.kind
    if kind in "OSU" or array.shape != _dense_sizes(values):
        _refuse(values, None)
    if array.dtype == np.float64:
        return _narrowed_to_float32(array), dtypes.float32
    if array.dtype == np.int64:
        narrow = array.astype(np.int32)
        if np.array_equal(narrow, array):
            return narrow, dtypes.int32
    return array, dtypes.as_dtype(array.dtype)


def _narrowed_to_float32(array: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _of_type(values: Any, dtype: DType) -> np.ndarray:
    """Convert Python values to `dtype`, refusing those of another kind."""
    leaf_types = _leaf_types(values, list if dtype.is_quantized else Sequence)
    for leaf_type in leaf_types:
        if not _accepts(dtype, leaf_type):
            _refuse_leaf(values, dtype)
    target = dtype._array_dtype
    if target is None:
        try:
            found = str(np.array(values).dtype)
        except ValueError:  # lists of unequal length
            found = "object"
        raise TypeError(f"Incompatible types: {dtype} vs. {found}. Value is {values}")
    if dtype is dtypes.string:
        return _strings(values)
    if dtype.is_quantized:
        return np.array(values, target)
    if dtype.is_integer:
        array = _wrapped_integers(values, target)
    elif dtype.is_bool:
        array = np.array(values, target)
    else:
        with np.errstate(over="ignore"):
            if dtype is dtypes.bfloat16:
                array = dtypes.float32_to_bfloat16(np.array(values, np.float32))
            else:
                array = np.array(values, target)
    if array.shape != _dense_sizes(values):
        _refuse_sparse(array.shape, values)
    return array


def _wrapped_integers(values: Any, target: np.dtype[Any]) -> np.ndarray:
    """Convert ints of up to 64 bits; those that do not fit `target` wrap around, as in TensorFlow."""
    array = np.array(values)
    if array.size == 0 or array.dtype == np.int64 or array.dtype.kind == "b":
        return array.astype(target)
    if target == np.uint64:
        try:
            return np.array(values, target)
        except OverflowError:  # a negative number, which wraps
            pass
    if array.dtype.kind in "fu" and any(int(value) > np.iinfo(np.int64).max for value in _leaves(values)):
        raise OverflowError("Python int too large to convert to C long")
    # Dimensions and numpy's other integer types.
    return np.array(values, np.int64).astype(target)


def _strings(values: Any) -> np.ndarray:
    """Return the object array of `bytes` of (lists of) strings."""
    sizes = _dense_sizes(values)
    leaves = list(_leaves(values)) if sizes else [values]
    if sizes and len(leaves) != math.prod(sizes):
        _refuse(values, None)
    found = np.empty(len(leaves), object)
    try:
        found[:] = [as_bytes(leaf) for leaf in leaves]
    except TypeError as error:
        _refuse(values, error)
    return found.reshape(sizes)


@functools.lru_cache(maxsize=1024)
def _accepts(dtype: DType, leaf_type: Any) -> bool:
    """True if a Python value of `leaf_type` may become an element of `dtype`."""
    if dtype.is_integer:
        return issubclass(leaf_type, numbers.Integral | Dimension)
    if dtype.is_floating:
        return issubclass(leaf_type, numbers.Real)
    if dtype.is_complex:
        return issubclass(leaf_type, numbers.Complex)
    if dtype.is_bool:
        return issubclass(leaf_type, bool)
    if dtype.is_quantized:
        return issubclass(leaf_type, tuple)
    if dtype is dtypes.string:
        return issubclass(leaf_type, str | bytes)
    return not _is_tensor_type(leaf_type)


def _is_tensor_type(leaf_type: type) -> bool:
    from tfsandbox.framework.operation import Tensor

    return issubclass(leaf_type, Tensor)


# ---- the structure of nested lists --------------------------------------------------------------------------------


def _is_sequence_type(leaf_type: type, sequence: type) -> bool:
    return issubclass(leaf_type, sequence) and not issubclass(leaf_type, str | bytes)


def _leaf_types(values: Any, sequence: type) -> set[type]:
    """Return the types of the values in (nested) sequences; a set, so that long lists cost little."""
    if type(values) in _PLAIN_TYPES or not _is_sequence_type(type(values), sequence):
        return {type(values)}
    found = set(map(type, values))
    if found <= _PLAIN_TYPES or not any(_is_sequence_type(leaf_type, sequence) for leaf_type in found):
        return found
    return set().union(*(_leaf_types(value, sequence) for value in values))


def _leaves(values: Any, sequence: type = Sequence) -> Any:
    """Yield the values in (nested) sequences, in order."""
    if type(values) in _PLAIN_TYPES or not _is_sequence_type(type(values), sequence):
        yield values
        return
    for value in values:
        yield from _leaves(value, sequence)


def _first_leaf(values: Any) -> Any:
    while isinstance(values, list | tuple):
        if not values:
            return None
        values = values[0]
    return values


def _dense_sizes(values: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, judged by the first of each."""
    sizes = []
    while isinstance(values, list | tuple):
        sizes.append(len(values))
        if not values:
            break
        values = values[0]
    return tuple(sizes)


def _common_sizes(values: Any) -> tuple[int, ...]:
    """Return the leading sizes on which all nested lists agree."""
    sizes = []
    level = [values]
    while level and all(isinstance(value, list | tuple) for value in level):
        if len({len(value) for value in level}) != 1:
            break
        sizes.append(len(level[0]))
        level = [item for value in level for item in value]
    return tuple(sizes)


# ---- refusals, in TensorFlow's words ------------------------------------------------------------------------------


def _refuse(values: Any, reason: Exception | None) -> NoReturn:
    """Raise the error that says why values without a given type make no constant."""
    if any(_is_tensor_type(leaf_type) for leaf_type in _leaf_types(values, Sequence)):
        raise TypeError("List of Tensors when single Tensor expected") from reason
    sizes = _common_sizes(values)
    if reason is None and sizes == _dense_sizes(values):
        # What numpy made of it shows what is in the way (an array within a list, say).
        try:
            sizes = np.array(values).shape
        except (ValueError, TypeError):
            pass
    if sizes != _dense_sizes(values):
        _refuse_sparse(sizes, values)
    raise TypeError(
        f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}. "
        "Consider casting elements to a supported type."
    ) from reason


def _refuse_sparse(sizes: tuple[int, ...], values: Any) -> NoReturn:
    raise ValueError(
        f"Argument must be a dense tensor: {values} - got shape {list(sizes)}, "
        f"but wanted {list(_dense_sizes(values))}."
    )


def _refuse_leaf(values: Any, dtype: DType) -> NoReturn:
    for leaf in _leaves(values, list if dtype.is_quantized else Sequence):
        leaf_type: Any = type(leaf)
        if not _accepts(dtype, leaf_type):
            break
    # numpy's scalars are shown as the numbers they are, whatever the numpy version makes of their repr.
    shown = leaf.item() if isinstance(leaf, np.generic) else leaf
    type_name = "bool_" if isinstance(leaf, np.bool_) else leaf_type.__name__
    raise TypeError(f"Expected {dtype.name}, got {shown!r} of type '{type_name}' instead.")


# ---- shapes -------------------------------------------------------------------------------------------------------


def checked_sizes(
    array: np.ndarray, shape: Any, verify_shape: bool, allow_broadcast: bool
) -> tuple[int, ...]:
    """Return `shape` as a tuple; TypeError or ValueError if an array of these values cannot have it."""
    sizes = _sizes_of(shape)
    count = math.prod(sizes)
    if allow_broadcast:
        fits = array.shape in ((1,), ()) or array.size == count
    else:
        fits = not verify_shape or array.shape == sizes
    if not fits:
        raise TypeError(f"Expected Tensor's shape: {sizes}, got {array.shape}.")
    if not allow_broadcast and array.size > count:
        raise ValueError(
            f"Too many elements provided. Needed at most {count}, but received {array.size}"
        )
    TensorShape(sizes)  # refuses a negative size
    return sizes


def expanded(array: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return an array of shape `sizes` with the values of `array`, then its last one again; zeros if it has none."""
    count = math.prod(sizes)
    if array.size == count:
        return array.reshape(sizes)
    if array.size <= 1:
        empty = b"" if array.dtype == object else np.zeros((), array.dtype)
        value = np.array(empty, array.dtype) if array.size == 0 else array.reshape(())
        return np.broadcast_to(value, sizes)
    found = np.empty(count, array.dtype)
    found[: array.size] = array.ravel()
    found[array.size :] = found[array.size - 1]
    return found.reshape(sizes)
