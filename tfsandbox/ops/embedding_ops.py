"""The names of `tensorflow.python.ops.embedding_ops`: rows of embedding matrices by id."""

from __future__ import annotations

from tfsandbox.ops.embedding_dense import embedding_lookup, embedding_lookup_v2  # noqa: F401
from tfsandbox.ops.embedding_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse  # noqa: F401

__all__: list[str] = []
