"""Arguments in one form, and the collections that contrib layers note variables and outputs in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.shape_inference import constant_value as tensor_constant_value
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import control_flow_ops, variables


class NamedOutputs(NamedTuple):
    """A tensor and the name it goes by."""

    name: str
    outputs: Any


# ------------------------------------------------------------ collections


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Give a tensor an alias and add it to the collections (one name or several); gives the tensor."""
    if collections:
        append_tensor_alias(outputs, alias)
        ops.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Give a tensor one more alias."""
    # The end points of a network are known by their scopes, without the slash of a scope that is entered again.
    alias = alias.removesuffix("/")
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(alias)
    else:
        tensor.aliases = [alias]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The aliases of a tensor, else its name without the output's number."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    name = tensor.name
    return [name[:-2] if name.endswith(":0") else name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The aliases of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: Any, clear_collection: bool = False) -> OrderedDict[str, Any]:
    """{alias: tensor} of a collection, which is emptied with `clear_collection`."""
    items = ops.get_collection(collection)
    if clear_collection:
        ops.get_collection_ref(collection).clear()
    return OrderedDict((alias, tensor) for tensor in items for alias in get_tensor_aliases(tensor))


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for the variable `name`, of a list for all or a dict by name."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections


# ------------------------------------------------------------ conditions


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value of a constant or a Python value; None for a variable or what depends on the run.

    Raises `ValueError` for None, and for another type than `dtype`.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, variables.Variable)):
        return value
    if dtype is not None and value.dtype != dtypes.as_dtype(dtype):
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, variables.Variable) else tensor_constant_value(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """`fn1()` if the Python value `pred` is true, else `fn2()`."""
    if not callable(fn1):
        raise TypeError("fn1 must be callable.")
    if not callable(fn2):
        raise TypeError("fn2 must be callable.")
    return fn1() if pred else fn2()


def smart_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None) -> Any:
    """`fn1()` or `fn2()`: now where `pred` is known while building, else by `tf.cond`."""
    known = constant_value(pred)
    if known is not None:
        return static_cond(known, fn1, fn2)
    return control_flow_ops.cond(pred, fn1, fn2, name=name)


# ------------------------------------------------------------ shapes and sizes


def _known_dimension(shape: TensorShape, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return size


def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """The size of the last axis; `ValueError` where it is unknown or the rank below `min_rank`."""
    return _known_dimension(shape, -1, min_rank)


def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """The number of channels, axis 1 for 'channels_first' and else the last; `ValueError` as in `last_dimension`."""
    return _known_dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """(height, width) of an int for both, a pair, or a shape of rank 2; `ValueError` for anything else."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """An int n times, or a sequence or shape of n; `ValueError` unless n and all of them are positive."""
    if int(n) != n or n < 1:
        raise ValueError("n must be a positive integer")
    if isinstance(value, TensorShape):
        value = value.as_list()
    if hasattr(value, "__int__"):
        if int(value) < 1:
            raise ValueError(f"expected positive integer, but received {value}")
        return (int(value),) * n
    values = tuple(int(single) for single in value)
    if len(values) != n or any(single < 1 for single in values):
        raise ValueError(f"Expected sequence of {n} positive integers, but received {value}")
    return values
