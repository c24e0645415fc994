"""Rows of embedding matrices by id: one matrix, or one cut into parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import array_ops, data_flow_ops


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
                     validate_indices: bool = True, max_norm: Any = None) -> Tensor:
    """The rows of `params` at `ids`: shape ids.shape + params.shape[1:].

    `params` is a matrix, or a list of the parts it is cut into: row i of the whole is row i // n of part i % n
    (`partition_strategy="mod"`), or the parts follow one another ("div"). Rows longer than `max_norm` are shortened to
    it. A run with an id outside the matrix raises `InvalidArgumentError`.
    """
    return _lookup(params, ids, partition_strategy, name, max_norm)


def embedding_lookup_v2(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """`embedding_lookup` as TensorFlow 2 has it: parts follow one another."""
    return embedding_lookup(params, ids, "div", name, max_norm=max_norm)


def _lookup(params: Any, ids: Any, partition_strategy: str, name: str | None, max_norm: Any,
            transform: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    parts = as_parts(params)
    with ops.name_scope(name, "embedding_lookup", [*parts, ids]) as name:
        parts = ops.convert_n_to_tensor_or_indexed_slices(parts, name="params")
        ids = ops.convert_to_tensor(ids, name="ids")
        if len(parts) == 1 and (transform is None or ids.shape.ndims == 1):
            with ops.colocate_with(parts[0]):
                result = _clipped(array_ops.gather(parts[0], ids, name=name), ids, max_norm)
                if transform is not None:
                    result = transform(result)
            # The result itself is not bound to the place of the parameters.
            return array_ops.identity(result)
        return _lookup_in_parts(parts, ids, partition_strategy, name, max_norm, transform)


def as_parts(params: Any) -> list[Any]:
    """The parts of an embedding matrix: those of a list or a partitioned variable, or the matrix itself."""
    if isinstance(params, (list, tuple)):
        return list(params)
    if type(params).__name__ == "PartitionedVariable":
        return list(params)
    return [params]


def _lookup_in_parts(parts: Sequence[Tensor], ids: Tensor, partition_strategy: str, name: str, max_norm: Any,
                     transform: Callable[[Tensor], Tensor] | None) -> Tensor:
    from tfsandbox.ops import math_ops
    count = len(parts)
    flat = array_ops.reshape(ids, [-1])
    places = math_ops.range(array_ops.size(flat))
    if partition_strategy == "mod":
        part, row = flat % count, flat // count
    elif partition_strategy == "div":
        part, row = _consecutive(parts, flat)
    else:
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy}")
    part = math_ops.cast(part, dtypes.int32)
    rows = data_flow_ops.dynamic_partition(row, part, count)
    back = data_flow_ops.dynamic_partition(places, part, count)
    found = []
    for matrix, picked in zip(parts, rows):
        with ops.colocate_with(matrix):
            result = array_ops.gather(matrix, picked)
            found.append(result if transform is None else transform(_clipped(result, picked, max_norm)))
    merged = data_flow_ops.parallel_dynamic_stitch(back, found, name=name)
    rest = parts[0].shape[1:] if transform is None else merged.shape[1:]
    if transform is None:
        for matrix in parts[1:]:
            rest = rest.merge_with(matrix.shape[1:])
    if rest.is_fully_defined():
        merged = array_ops.reshape(merged, array_ops.concat([array_ops.shape(ids), rest], 0))
    elif transform is None:
        with ops.colocate_with(parts[0]):
            sizes = array_ops.shape(parts[0])
        merged = array_ops.reshape(merged, array_ops.concat([array_ops.shape(ids), sizes[1:]], 0))
    else:
        merged = array_ops.reshape(merged, array_ops.concat([array_ops.shape(ids), array_ops.shape(merged)[1:]], 0))
    merged.set_shape(ids.shape.concatenate(rest))
    return _clipped(merged, ids, max_norm) if transform is None else merged


def _consecutive(parts: Sequence[Tensor], flat: Tensor) -> tuple[Tensor, Tensor]:
    """(part, row in it) where the parts follow one another, the first of them one row longer where it is uneven."""
    from tfsandbox.ops import math_ops
    count = len(parts)
    sizes = [matrix.shape[0].value if matrix.shape.ndims is not None else None for matrix in parts]
    if all(size is not None for size in sizes):
        total = constant(sum(sizes), flat.dtype)  # type: ignore[arg-type]
    else:
        each: list[Any] = []
        for matrix, size in zip(parts, sizes):
            if size is not None:
                each.append(size)
            else:
                with ops.colocate_with(matrix):
                    each.append(array_ops.shape(matrix)[0])
        total = math_ops.reduce_sum(math_ops.cast(array_ops.stack(each), flat.dtype))
    per_part, longer = total // count, total % count
    part = math_ops.maximum(flat // (per_part + 1), (flat - longer) // per_part)
    row = array_ops.where(part < longer, flat % (per_part + 1), (flat - longer) % per_part)
    return part, row


def _clipped(rows: Tensor, ids: Tensor, max_norm: Any) -> Tensor:
    """`rows`, of shape ids.shape + ..., each not longer than `max_norm`."""
    if max_norm is None:
        return rows
    from tfsandbox.ops import clip_ops, math_ops
    known = ids.shape.ndims is not None and rows.shape.ndims is not None
    axes: Any
    if known:
        axes = list(range(ids.shape.ndims or 0, rows.shape.ndims or 0))
    else:
        first = ids.shape.ndims if ids.shape.ndims is not None else array_ops.rank(ids)
        last = rows.shape.ndims if rows.shape.ndims is not None else array_ops.rank(rows)
        axes = math_ops.range(first, last)
    return clip_ops.clip_by_norm(rows, max_norm, axes=axes)
