"""Assertions on ranks and shapes: what is known while building is checked at once, the rest in every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops, tensor_util
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, type_checks

__all__ = ["assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar", "assert_shapes"]


def _as_tensor(x: Any) -> Any:
    return x if isinstance(x, SparseTensor) else ops.convert_to_tensor(x, name="x")


def _known_rank(rank: Tensor) -> int | None:
    value = tensor_util.constant_value(rank)
    if value is None:
        return None
    if value.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(value)


def _assert_ranks(x: Any, ranks: Sequence[Tensor], holds: Callable[[int, list[int]], bool],
                  condition: Callable[[Tensor], Tensor], failure: Callable[[int], str], data: Sequence[Any],
                  summarize: int | None) -> Operation:
    from tfsandbox.ops import control_flow_ops
    for rank in ranks:
        type_checks.assert_type(rank, dtypes.int32)
    known = [_known_rank(rank) for rank in ranks]
    found = x.get_shape().ndims
    if None not in known and found is not None:
        if not holds(found, known):  # type: ignore[arg-type]
            raise ValueError(failure(found))
        return control_flow_ops.no_op(name="static_checks_determined_all_ok")
    result = condition(array_ops.rank(x))
    for rank, value in zip(ranks, known):
        if value is None:
            check = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            result = control_flow_ops.with_dependencies([check], result)
    return control_flow_ops.Assert(result, list(data), summarize=summarize)


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Operation:
    """`x` has that rank: `ValueError` at once where it is known not to, else a node that checks it in every run.

    `data`, `summarize` and `message` as in `assert_equal`.
    """
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "assert_rank", (x, rank, *(data or []))):
        x = _as_tensor(x)
        rank = ops.convert_to_tensor(rank, name="rank")
        if data is None:
            data = [message or "", f"Tensor {x.name} must have rank", rank, "Received shape: ", array_ops.shape(x)]
        return _assert_ranks(
            x, [rank], lambda found, known: found == known[0], lambda actual: math_ops.equal(actual, rank),
            lambda found: f"{message or ''}.  Tensor {x.name} must have rank {_known_rank(rank)}.  Received rank "
                          f"{found}, shape {x.get_shape()}", data, summarize)


def assert_rank_at_least(x: Any, rank: Any, data: Any = None, summarize: int | None = None,
                         message: str | None = None, name: str | None = None) -> Operation:
    """As `assert_rank`: `x` has that rank or a higher one."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "assert_rank_at_least", (x, rank, *(data or []))):
        x = _as_tensor(x)
        rank = ops.convert_to_tensor(rank, name="rank")
        if data is None:
            data = [message or "", f"Tensor {x.name} must have rank at least", rank, "Received shape: ",
                    array_ops.shape(x)]
        return _assert_ranks(
            x, [rank], lambda found, known: found >= known[0], lambda actual: math_ops.greater_equal(actual, rank),
            lambda found: f"{message or ''}.  Tensor {x.name} must have rank at least {_known_rank(rank)}.  Received "
                          f"rank {found}, shape {x.get_shape()}", data, summarize)


def assert_rank_in(x: Any, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                   name: str | None = None) -> Operation:
    """As `assert_rank`: `x` has one of these ranks."""
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "assert_rank_in", (x, *ranks, *(data or []))):
        x = _as_tensor(x)
        ranks = [ops.convert_to_tensor(rank, name="rank") for rank in ranks]
        if data is None:
            data = [message or "", f"Tensor {x.name} must have rank in", *ranks, "Received shape: ",
                    array_ops.shape(x)]

        def condition(actual: Tensor) -> Tensor:
            result = None
            for rank in ranks:
                equal = math_ops.equal(rank, actual)
                result = equal if result is None else math_ops.logical_or(result, equal)
            assert result is not None
            return result

        def failure(found: int) -> str:
            listed = ", ".join(repr(tensor_util.constant_value(rank)) for rank in ranks)
            return (f"{message or ''}.  Tensor {x.name} must have rank in ({listed}).  Received rank {found}, shape "
                    f"{x.get_shape()}")

        return _assert_ranks(x, ranks, lambda found, known: found in known, condition, failure, data, summarize)


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor`; `ValueError` at once unless it is known to be a scalar."""
    with ops.name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = ops.convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {tensor.shape}.")
        return tensor


def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                  name: str | None = None) -> Operation:
    """Tensors have shapes that agree: a dict or list of (tensor, shape), a shape being sizes and symbols.

    A symbol such as "N" stands for one size wherever it appears; None for any size. What is known not to hold raises
    `ValueError` at once.
    """
    from tfsandbox.ops import control_flow_ops, math_ops
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    with ops.name_scope(name, "assert_shapes", [pairs, data]):
        entries = [(_as_tensor(x), _as_sizes(wanted)) for x, wanted in pairs]
        found = [_sizes_of(x) for x, _ in entries]
        checks = []
        for x, wanted in entries:
            ranks = [0, 1] if len(wanted) == 1 else [len(wanted)]
            function: Any = assert_rank_in if len(ranks) > 1 else assert_rank
            checks.append(function(x=x, data=data, summarize=summarize, message=message,
                                   **({"ranks": ranks} if len(ranks) > 1 else {"rank": ranks[0]})))
        symbols: dict[Any, tuple[str, Any]] = {}
        for (x, wanted), sizes in zip(entries, found):
            for axis, (symbol, size) in enumerate(zip(wanted, sizes)):
                if symbol is None:
                    continue
                if isinstance(symbol, int):
                    source, expected = "Specified explicitly", symbol
                elif symbol in symbols:
                    source, expected = symbols[symbol]
                else:
                    symbols[symbol] = (f"Specified by tensor {x.name} dimension {axis}", size)
                    continue
                if isinstance(size, int) and isinstance(expected, int):
                    if size != expected:
                        raise ValueError(
                            f"{message or ''}.  {source}.  Tensor {x.name} dimension {axis} must have size "
                            f"{expected}.  Received size {size}, shape {x.get_shape()}")
                    continue
                condition = math_ops.equal(size, expected)
                shown = data if data is not None else [
                    message or "", source, f"Tensor {x.name} dimension", axis, "must have size", expected,
                    "Received shape: ", array_ops.shape(x)]
                checks.append(control_flow_ops.Assert(condition, shown, summarize=summarize))
        return control_flow_ops.group(*checks)


def _as_sizes(wanted: Any) -> tuple[Any, ...]:
    from tfsandbox.framework.tensor_shape import Dimension, TensorShape
    if isinstance(wanted, TensorShape):
        return tuple(wanted.as_list())
    if not isinstance(wanted, (list, tuple, str)):
        wanted = (wanted,)
    return tuple(size.value if isinstance(size, Dimension) else size for size in wanted)


def _sizes_of(x: Any) -> list[Any]:
    """The sizes of a tensor: numbers where they are known, else elements of its shape."""
    known = x.get_shape()
    sizes = array_ops.shape(x)
    if known.ndims is None:
        raise ValueError(f"Unable to check the shape of {x.name}: its rank is not known.")
    return [sizes[i] if size is None else size for i, size in enumerate(known.as_list())]
