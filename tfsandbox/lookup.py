"""tf.lookup: lookup tables."""

# ruff: noqa: F401

from types import SimpleNamespace

from tfsandbox.ops.lookup_ops import DenseHashTable as _DenseHashTable
from tfsandbox.ops.lookup_ops import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

experimental = SimpleNamespace(DenseHashTable=_DenseHashTable)
