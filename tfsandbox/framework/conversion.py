"""convert_to_tensor and the registry of conversion functions behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Tensor

ConversionFunction = Callable[..., Any]

# (priority, order of registration, types, function); lower priority is asked first.
_CONVERSIONS: list[tuple[int, int, tuple[type, ...], ConversionFunction]] = []
_BY_TYPE: dict[type, list[ConversionFunction]] = {}


def register_tensor_conversion_function(base_type: Any, conversion_func: ConversionFunction,
                                        priority: int = 100) -> None:
    """Register how values of a type become tensors.

    `conversion_func(value, dtype=None, name=None, as_ref=False)` returns a Tensor or NotImplemented.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _CONVERSIONS.append((priority, len(_CONVERSIONS), types, conversion_func))
    _CONVERSIONS.sort(key=lambda entry: entry[:2])
    _BY_TYPE.clear()


def _functions_for(kind: type) -> list[ConversionFunction]:
    found = _BY_TYPE.get(kind)
    if found is None:
        found = [function for _, _, types, function in _CONVERSIONS if issubclass(kind, types)]
        _BY_TYPE[kind] = found
    return found


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
                      dtype_hint: Any = None, as_ref: bool = False) -> Tensor:
    """A Tensor for a Python value, numpy array, variable or Tensor.

    `dtype` must be met (`ValueError` for a Tensor of another type, `TypeError` or `ValueError` for a value that does
    not fit); `preferred_dtype` is taken where it fits.
    """
    if dtype is not None and type(dtype) is not dtypes.DType:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!r}")
        return value
    preferred = dtype_hint if preferred_dtype is None else preferred_dtype
    if preferred is not None:
        preferred = dtypes.as_dtype(preferred)
    for function in _functions_for(type(value)):
        result = NotImplemented
        if dtype is None and preferred is not None:
            try:
                result = function(value, dtype=preferred, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented
            if result is not NotImplemented and result.dtype.base_dtype != preferred.base_dtype:
                raise TypeError(f"convert_to_tensor did not convert to the preferred dtype: {result.dtype.name} vs "
                                f"{preferred.name}")
        if result is NotImplemented:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(f"Conversion function {function!r} returned incompatible dtype: requested = "
                               f"{dtype.base_dtype.name}, actual = {result.dtype.name}")
        return result
    raise TypeError(f"Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function registered.")


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None,
                                        as_ref: bool = False) -> Any:
    """As `convert_to_tensor`, but IndexedSlices and other composite values pass."""
    if isinstance(value, IndexedSlices) or getattr(value, "_is_composite_tensor", False):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                             f"{value.dtype.name}: {value!s}")
        return value
    return convert_to_tensor(value, dtype=dtype, name=name, as_ref=as_ref)


def convert_n_to_tensor(values: Sequence[Any], dtype: Any = None, name: str | None = None,
                        preferred_dtype: Any = None, as_ref: bool = False) -> list[Tensor]:
    """Tensors for several values; the i-th new constant is called `name_i`."""
    return [convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}", preferred_dtype, as_ref=as_ref)
            for i, value in enumerate(values)]


def convert_n_to_tensor_or_indexed_slices(values: Sequence[Any], dtype: Any = None,
                                          name: str | None = None) -> list[Any]:
    """As `convert_n_to_tensor`; IndexedSlices and None pass."""
    return [value if value is None else
            convert_to_tensor_or_indexed_slices(value, dtype, None if name is None else f"{name}_{i}")
            for i, value in enumerate(values)]


def graph_from_inputs(values: Sequence[Any], graph: Graph | None = None) -> Graph:
    """The one graph that all graph elements among `values` belong to; `ValueError` where they disagree."""
    current = get_default_graph()
    found, first = graph, None
    for value in values:
        item = value
        if not isinstance(item, Tensor) and not hasattr(item, "graph"):
            continue
        if item is None or isinstance(item, np.ndarray):
            continue
        item_graph = item.graph
        if not isinstance(item_graph, Graph):
            continue
        if found is None:
            found, first = item_graph, item
        elif item_graph is not found:
            if graph is not None:
                raise ValueError(f"{item!r} is not from the passed-in graph.")
            raise ValueError(f"{item!r} must be from the same graph as {first!r}.")
    return found or current
