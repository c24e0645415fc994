"""Embeddings of a varying number of ids a row, given as SparseTensors and combined into one vector a row."""

from __future__ import annotations

import warnings
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, sparse_ops
from tfsandbox.ops.embedding_dense import as_parts, embedding_lookup

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                            name: str | None = None, combiner: str | None = None, max_norm: Any = None) -> Tensor:
    """[rows, ...]: for each row of the SparseTensor `sp_ids` the combination of the embeddings at its ids.

    `combiner` is "sum", "mean" or "sqrtn" (the sum over the root of the sum of squared weights); `sp_weights` weighs
    the ids (None: all one). Every row but the last ones must have an id.
    """
    if combiner is None:
        warnings.warn(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.', stacklevel=2)
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = as_parts(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        for ours, theirs in ((sp_ids.values, sp_weights.values), (sp_ids.indices, sp_weights.indices),
                             (sp_ids.dense_shape, sp_weights.dense_shape)):
            ours.shape.assert_is_compatible_with(theirs.shape)
    from tfsandbox.ops import math_ops
    with ops.name_scope(name, "embedding_lookup_sparse", [*parts, sp_ids]) as name:
        rows = math_ops.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, places = array_ops.unique(sp_ids.values)
        embeddings = embedding_lookup(parts, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        if embeddings.dtype in (dtypes.float16, dtypes.bfloat16):
            embeddings = math_ops.cast(embeddings, dtypes.float32)
        if sp_weights is not None:
            return _weighted(embeddings, places, rows, sp_weights.values, combiner, name)
        combine = {"sum": math_ops.sparse_segment_sum, "mean": math_ops.sparse_segment_mean,
                   "sqrtn": math_ops.sparse_segment_sqrt_n}[combiner]
        return combine(embeddings, places, rows, name=name)


def _weighted(embeddings: Tensor, places: Tensor, rows: Tensor, weights: Tensor, combiner: str, name: str) -> Tensor:
    from tfsandbox.ops import math_ops
    if weights.dtype != embeddings.dtype:
        weights = math_ops.cast(weights, embeddings.dtype)
    embeddings = array_ops.gather(embeddings, places)
    ones = array_ops.fill(array_ops.expand_dims(array_ops.rank(embeddings) - 1, 0), 1)
    static = weights.shape
    weights = array_ops.reshape(weights, array_ops.concat([array_ops.shape(weights), ones], 0))
    if embeddings.shape.ndims is not None:
        weights.set_shape(static.concatenate([1] * (embeddings.shape.ndims - 1)))
    embeddings = embeddings * weights
    if combiner == "sum":
        return math_ops.segment_sum(embeddings, rows, name=name)
    summed = math_ops.segment_sum(embeddings, rows)
    if combiner == "mean":
        return math_ops.div(summed, math_ops.segment_sum(weights, rows), name=name)
    squares = math_ops.segment_sum(math_ops.pow(weights, 2), rows)
    return math_ops.div(summed, math_ops.sqrt(squares), name=name)


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                 combiner: str = "mean", default_id: int | None = None, name: str | None = None,
                                 partition_strategy: str = "div", max_norm: Any = None) -> Tensor:
    """As `embedding_lookup_sparse`, for ids and weights that may be invalid (negative) and rows that may be empty.

    What is invalid is left out; an empty row gives the embedding of `default_id`, or zeros. `sparse_ids` may have more
    than two axes: the last one is combined.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    parts = as_parts(embedding_weights)
    if not parts:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    from tfsandbox.ops import math_ops
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = [ops.convert_to_tensor(part, dtype=dtype) for part in parts]
    with ops.name_scope(name, "embedding_lookup", [*parts, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        known = shape.shape.as_list()[0]
        rank: Any = array_ops.size(shape) if known is None else known
        rows = math_ops.reduce_prod(array_ops.slice(shape, [0], [rank - 1]))
        ids = sparse_ops.sparse_reshape(sparse_ids, [rows, array_ops.gather(shape, rank - 1)])
        weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        ids, weights = _valid(ids, weights, combiner)
        ids, empty = sparse_ops.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_ops.sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(parts, ids, weights, combiner=combiner, partition_strategy=partition_strategy,
                                         name=None if default_id is None else scope, max_norm=max_norm)
        if default_id is None:
            flags = array_ops.tile(array_ops.reshape(empty, [-1, 1]),
                                   array_ops.stack([1, array_ops.shape(result)[1]]))
            result = array_ops.where(flags, array_ops.zeros_like(result), result, name=scope)
        whole = array_ops.reshape(result, array_ops.concat([
            array_ops.slice(math_ops.cast(shape, dtypes.int32), [0], [rank - 1]),
            array_ops.slice(array_ops.shape(result), [1], [-1])], 0))
        outer = TensorShape(None if known is None else [None] * (known - 1))
        whole.set_shape(outer.concatenate(result.shape[1:]))
        return whole


def _valid(ids: SparseTensor, weights: SparseTensor | None, combiner: str) -> tuple[SparseTensor, SparseTensor | None]:
    """Ids that are not negative, and weights that are positive unless they are only summed."""
    from tfsandbox.ops import math_ops
    valid = math_ops.greater_equal(ids.values, 0)
    if weights is None:
        return sparse_ops.sparse_retain(ids, valid), None
    valid = math_ops.logical_and(valid, array_ops.ones_like(weights.values, dtype=dtypes.bool))
    ids, weights = sparse_ops.sparse_retain(ids, valid), sparse_ops.sparse_retain(weights, valid)
    if combiner != "sum":
        positive = math_ops.greater(weights.values, 0)
        ids, weights = sparse_ops.sparse_retain(ids, positive), sparse_ops.sparse_retain(weights, positive)
    return ids, weights
