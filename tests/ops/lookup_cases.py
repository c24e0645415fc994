"""Expressions on lookup tables for `record_expressions.py` and `test_expressions.py`; see `expression_outcomes.py`.

Files are named from the root of the project.
"""
# ruff: noqa: E501

from __future__ import annotations

INPUTS = {
    "words": ("string", [3], [b"two", b"three", b"one"]),
    "any": ("string", None, [[b"alpha"], [b"delta"]]),
    "ids": ("int64", [3], [1, 5, 0]),
    "ints": ("int32", [2], [2, 7]),
}

STATIC = """
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], tf.constant([1, 2], tf.int64)), -5).lookup(words)
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [1.5, 2.5]), 0.0, name='t').lookup(words, name='look')
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], ['a', 'b'], key_dtype=tf.int64, value_dtype=tf.string, name='kv'), '?').lookup(ids) | tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2]), 0).size()
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2]), 0).lookup(ids) | tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2]), 'x') | tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'one'], [1, 2]), 0).size()
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2, 3]), 0).size() | tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), 0).lookup(ints) | tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['one'], [1]), 0).lookup(tf.SparseTensor([[0]], ['one'], [2]))
tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2]), 0).lookup(any) | tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(['one', 'two'], [1, 2]), 0, shared_name='shared').lookup(words)
"""

FILES = """
tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, 0, tf.int64, 1), -1).lookup(words) | tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), '-').lookup(ids)
tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/none.txt', tf.string, 0, tf.int64, 1), -1).lookup(words) | tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, 0, tf.int64, 5), -1).lookup(words)
tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, tf.lookup.TextFileIndex.LINE_NUMBER, tf.int64, 1), -1).lookup(words) | tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, -7, tf.int64, 1), -1)
tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, 0, tf.int64, 1, vocab_size=2), -1).size() | tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer('tests/ops/recorded/pairs.txt', tf.string, 0, tf.int64, 1, vocab_size=5), -1).size()
tf.contrib.lookup.index_table_from_file('tests/ops/recorded/vocabulary.txt').lookup(any) | tf.contrib.lookup.index_table_from_file('tests/ops/recorded/vocabulary.txt', num_oov_buckets=2, vocab_size=3).lookup(any) | tf.contrib.lookup.index_table_from_file('tests/ops/recorded/vocabulary.txt', default_value=9, name='v').lookup(any)
tf.contrib.lookup.index_to_string_table_from_file('tests/ops/recorded/vocabulary.txt').lookup(ids) | tf.contrib.lookup.index_to_string_table_from_file('tests/ops/recorded/vocabulary.txt', vocab_size=3, default_value='?').lookup(ids) | tf.contrib.lookup.index_table_from_file('')
"""

VOCABULARIES = """
tf.contrib.lookup.index_table_from_tensor(['one', 'two']).lookup(words) | tf.contrib.lookup.index_table_from_tensor(['one', 'two'], num_oov_buckets=3).lookup(words) | tf.contrib.lookup.index_table_from_tensor(['one', 'two'], default_value=7).lookup(words)
tf.contrib.lookup.index_table_from_tensor([4, 7, 2], dtype=tf.int32).lookup(ints) | tf.contrib.lookup.index_table_from_tensor([4, 7], num_oov_buckets=1, dtype=tf.int64).lookup(ids) | tf.contrib.lookup.index_table_from_tensor(None) | tf.contrib.lookup.index_table_from_tensor([1.5], dtype=tf.float32)
tf.contrib.lookup.index_to_string_table_from_tensor(['one', 'two']).lookup(ids) | tf.contrib.lookup.index_to_string_table_from_tensor(['one', 'two'], default_value='?').lookup(ids) | tf.contrib.lookup.index_table_from_tensor(['a'], num_oov_buckets=-1) | tf.contrib.lookup.index_table_from_tensor(['one', 'two'], num_oov_buckets=2).size()
tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], tf.constant([0, 1], tf.int64)), 2).lookup(words) | tf.lookup.StaticVocabularyTable(None, 5).lookup(words) | tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['one', 'two'], [0, 1]), 2) | tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['one'], tf.constant([0], tf.int64)), 0)
tf.contrib.lookup.IdTableWithHashBuckets(tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(['one'], tf.constant([0], tf.int64)), -1), 4, hasher_spec=tf.contrib.lookup.StrongHashSpec((1, 2))).lookup(words)
"""

MUTABLE = """
tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).lookup(words) | tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name='m').size() | tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).insert(words, ids) | tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 1.0]).lookup(ids)
tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).export() | tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).insert(ids, ids) | tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1).remove(words)
tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=-2, deleted_key=-3).lookup(ids) | tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.5, -1, -2, initial_num_buckets=8).insert(ids, [1.0, 2.0, 3.0])
"""

GROUPS = [("static", STATIC), ("files", FILES), ("vocabularies", VOCABULARIES), ("mutable", MUTABLE)]
