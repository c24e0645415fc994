"""Embeddings: vectors for whole numbers, as layers with a variable `embeddings`."""

from __future__ import annotations

from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, embedding_ops, math_ops, variable_scope
from tfsandbox.platform import tf_logging

__all__ = ["bow_encoder", "embed_sequence", "embedding_lookup_unique", "safe_embedding_lookup_sparse"]


def embed_sequence(ids: Any, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
                   reuse: Any = None) -> Tensor:
    """Whole numbers [n, length] below `vocab_size` -> their vectors [n, length, embed_dim].

    `unique`: each number is looked up once. Raises `ValueError` where a new variable's sizes are not given.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
                         f"{vocab_size} and embed_dim={embed_dim}")
    with variable_scope.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        embeddings = contrib_variables.model_variable("embeddings", shape=shape, initializer=initializer,
                                                      regularizer=regularizer, trainable=trainable)
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return embedding_ops.embedding_lookup(embeddings, ids)


def bow_encoder(ids: Any, vocab_size: int, embed_dim: int, sparse_lookup: bool = True, initializer: Any = None,
                regularizer: Any = None, trainable: bool = True, scope: Any = None, reuse: Any = None) -> Tensor:
    """The mean of the vectors of a bag of words: [n, words] -> [n, embed_dim]; words of 0 (or '') do not count."""
    with variable_scope.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = contrib_variables.model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer,
            trainable=trainable)
        if sparse_lookup:
            sparse_ids = ids if isinstance(ids, SparseTensor) else _present(ids)
            return safe_embedding_lookup_sparse([embeddings], sparse_ids, combiner="mean", default_id=0)
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return math_ops.reduce_mean(embedding_ops.embedding_lookup(embeddings, ids), axis=1)


def _present(dense: Any) -> SparseTensor:
    """The elements that are not the mark of nothing: '' for strings, else 0."""
    with ops.name_scope("DenseToSparseTensor"):
        dense = ops.convert_to_tensor(dense)
        nothing: Any = "" if dense.dtype == dtypes.string else 0
        nothing = math_ops.cast(nothing, dense.dtype, name="ignore_value")
        indices = array_ops.where(math_ops.not_equal(dense, nothing), name="indices")
        return SparseTensor(indices=indices, values=array_ops.gather_nd(dense, indices, name="values"),
                            dense_shape=array_ops.shape(dense, out_type=dtypes.int64, name="dense_shape"))


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                 combiner: str | None = None, default_id: Any = None, name: str | None = None,
                                 partition_strategy: str = "div", max_norm: float | None = None) -> Tensor:
    """`tf.nn.safe_embedding_lookup_sparse`, with the mean as combiner unless another is named."""
    if combiner is None:
        tf_logging.warning('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return embedding_ops.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights=sparse_weights, combiner=combiner, default_id=default_id,
        name=name, partition_strategy=partition_strategy, max_norm=max_norm)


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod",
                            name: str | None = None) -> Tensor:
    """`tf.nn.embedding_lookup` that looks each id up once, however often it stands in `ids`."""
    with ops.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = ops.convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, math_ops.reduce_prod(shape, keepdims=True))
        unique, places = array_ops.unique(flat)
        vectors = embedding_ops.embedding_lookup(params, unique, partition_strategy)
        rows = array_ops.gather(vectors, places)
        outputs = array_ops.reshape(rows, array_ops.concat([shape, array_ops.shape(vectors)[1:]], 0))
        outputs.set_shape(ids.get_shape().concatenate(vectors.get_shape()[1:]))
        return outputs
