"""Lookup tables: from keys to values, from words to their numbers and back."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, control_flow_ops, lookup_tables, math_ops, string_ops
from tfsandbox.ops.mutable_tables import (  # noqa: F401
    DenseHashTable,
    LookupInterface,
    MutableDenseHashTable,
    MutableHashTable,
)
from tfsandbox.ops.table_initializers import (  # noqa: F401
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
)

__all__ = ["initialize_all_tables", "tables_initializer"]


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initialises all tables of the graph; it does nothing where there are none."""
    initializers = ops.get_collection(GraphKeys.TABLE_INITIALIZERS)
    if initializers:
        return control_flow_ops.group(*initializers, name=name)
    return control_flow_ops.no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """Deprecated name of `tables_initializer`."""
    return tables_initializer(name)


# ------------------------------------------------------------ tables that are filled once


class InitializableLookupTableBase(LookupInterface):
    """A table that an initializer fills before it is used."""

    def __init__(self, default_value: Any, initializer: TableInitializerBase) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = ops.convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with([])
        self._initializer = initializer
        self._handle = self._create()
        self._init_op = initializer.initialize(self)

    def _create(self) -> Tensor:
        raise NotImplementedError

    @property
    def default_value(self) -> Tensor:
        """What keys have that are not in the table."""
        return self._default_value

    @property
    def init(self) -> Operation:
        """The node that fills the table."""
        return self._init_op

    initializer = init

    def size(self, name: str | None = None) -> Tensor:
        """[], int64: how many keys there are."""
        with ops.name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return apply_op("LookupTableSizeV2", table_handle=self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`, a Tensor or SparseTensor; the default where there is none."""
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        with ops.name_scope(name, f"{self.name}_Lookup", (self.resource_handle, values, self._default_value)):
            found = apply_op("LookupTableFindV2", table_handle=self.resource_handle, keys=values,
                             default_value=self._default_value)
        found.set_shape(values.shape)
        return SparseTensor(keys.indices, found, keys.dense_shape) if isinstance(keys, SparseTensor) else found


class StaticHashTable(InitializableLookupTableBase):
    """A table that does not change after its initializer ran."""

    def __init__(self, initializer: TableInitializerBase, default_value: Any, name: str | None = None) -> None:
        self._node_name = name or "hash_table"
        self._shared_name = initializer.shared_name or f"hash_table_{uuid.uuid4()}"
        super().__init__(default_value, initializer)

    def _create(self) -> Tensor:
        return apply_op(lookup_tables.hash_table_op.name, shared_name=self._shared_name, key_dtype=self._key_dtype,
                        value_dtype=self._value_dtype, name=self._node_name)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """(keys, values) of the table."""
        with ops.name_scope(name, f"{self.name}_export_values", [self.resource_handle]):
            keys, values = apply_op("LookupTableExportV2", table_handle=self.resource_handle, Tkeys=self._key_dtype,
                                    Tvalues=self._value_dtype)
        values.set_shape([None])
        return keys, values


class HashTable(StaticHashTable):
    """tf.contrib.lookup.HashTable: a StaticHashTable whose shared name the program may give."""

    def __init__(self, initializer: TableInitializerBase, default_value: Any, shared_name: str | None = None,
                 name: str | None = None) -> None:
        self._node_name = name or "hash_table"
        self._shared_name = shared_name or ""
        InitializableLookupTableBase.__init__(self, default_value, initializer)


# ------------------------------------------------------------ numbers for words outside of the vocabulary


class HasherSpec(NamedTuple):
    """How words outside of a vocabulary get numbers: the name of a hash, and its key."""

    hasher: str
    key: Any = None


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash that nobody can aim at who does not know the key of two numbers."""

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        """Check the key."""
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class _TableWithBuckets(LookupInterface):
    """A table of words, and numbers behind its last one for all others."""

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec, key_dtype: Any,
                 name: str) -> None:
        super().__init__(key_dtype, dtypes.int64)
        self._table, self._buckets, self._hasher, self._own_name = table, num_oov_buckets, hasher_spec, name

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._own_name

    @property
    def resource_handle(self) -> Any:
        """The handle of the table, None where there are only buckets."""
        return None if self._table is None else self._table.resource_handle

    @property
    def init(self) -> Operation:
        """The node that fills the table."""
        if self._table is None:
            with ops.name_scope(None, "init"):
                return control_flow_ops.no_op()
        return self._table.init

    initializer = init

    def size(self, name: str | None = None) -> Tensor:
        """[], int64: how many numbers there are."""
        with ops.name_scope(name, f"{self.name}_Size"):
            known = constant(0, dtype=dtypes.int64) if self._table is None else self._table.size()
            return known + self._buckets

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers, int64, of `keys`, a Tensor or SparseTensor."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = math_ops.cast(values, dtypes.int64)
        if self._buckets == 0:
            numbers = self._table.lookup(values, name=name)
        else:
            with ops.name_scope(name, f"{self.name}_Lookup"):
                numbers = self._hashed(values)
                if self._table is not None:
                    found = self._table.lookup(values)
                    numbers = math_ops.add(numbers, self._table.size())
                    known = math_ops.not_equal(found, self._table.default_value)
                    numbers = array_ops.where_v2(known, found, numbers)
        return SparseTensor(keys.indices, numbers, keys.dense_shape) if isinstance(keys, SparseTensor) else numbers

    def _hashed(self, values: Tensor) -> Tensor:
        strings = string_ops.as_string(values) if values.dtype != dtypes.string else values
        if self._hasher.hasher == "stronghash":
            return string_ops.string_to_hash_bucket_strong(strings, num_buckets=self._buckets, key=self._hasher.key,
                                                           name="hash_bucket")
        return string_ops.string_to_hash_bucket_fast(strings, num_buckets=self._buckets, name="hash_bucket")


class IdTableWithHashBuckets(_TableWithBuckets):
    """A table of ids, with `num_oov_buckets` ids more that words outside of it share by their hash."""

    def __init__(self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec,
                 name: str | None = None, key_dtype: Any = None) -> None:
        if name:
            name = name.rstrip("/")
        if table is not None:
            if key_dtype is None:
                key_dtype = table.key_dtype
            if table.key_dtype.is_integer != dtypes.as_dtype(key_dtype).is_integer:
                raise TypeError(f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype}.")
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {table.value_dtype}.")
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
            name = name or "hash_bucket"
        if hasher_spec.hasher not in ("fasthash", "stronghash"):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec.hasher}")
        super().__init__(table, num_oov_buckets, hasher_spec, key_dtype, name.split("/")[-1])


class StaticVocabularyTable(_TableWithBuckets):
    """Ids of the words of a vocabulary, and of `num_oov_buckets` buckets for all other words."""

    def __init__(self, initializer: TableInitializerBase | None, num_oov_buckets: int, lookup_key_dtype: Any = None,
                 name: str | None = None) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table = None
        if initializer is not None:
            key_dtype = initializer.key_dtype if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
            if initializer.key_dtype.is_integer != key_dtype.is_integer:
                raise TypeError(f"Invalid key dtype, expected {initializer.key_dtype} but got {key_dtype}.")
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {initializer.value_dtype}.")
            table = StaticHashTable(initializer, default_value=-1)
            name = name or table.name
        else:
            key_dtype = dtypes.string if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
            name = name or "hash_bucket"
        super().__init__(table, num_oov_buckets, FastHashSpec, key_dtype, name)


# ------------------------------------------------------------ vocabularies


def _check_buckets(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def _check_file(vocabulary_file: Any, vocab_size: int | None) -> None:
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")


def index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                          default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec,
                          key_dtype: Any = dtypes.string, name: str | None = None,
                          key_column_index: int = TextFileIndex.WHOLE_LINE,
                          value_column_index: int = TextFileIndex.LINE_NUMBER, delimiter: str = "\t") -> Any:
    """A table from words to the numbers of their lines in a file.

    Other words have `default_value`, or one of `num_oov_buckets` numbers after the last.
    """
    _check_file(vocabulary_file, vocab_size)
    _check_buckets(num_oov_buckets)
    key_dtype = dtypes.as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with ops.name_scope(name, "string_to_index"):
        with ops.name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, vocab_size=vocab_size, key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init", key_column_index=key_column_index, value_column_index=value_column_index,
                delimiter=delimiter)
            table: Any = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            table = IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype)
        return table


def index_table_from_tensor(mapping: Any = None, num_oov_buckets: int = 0, default_value: int = -1,
                            hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string,
                            name: str | None = None, vocabulary_list: Any = None) -> Any:
    """A table from the words in `mapping` to their places.

    Other words have `default_value`, or one of `num_oov_buckets` numbers after the last.
    """
    mapping = vocabulary_list if mapping is None else mapping
    if mapping is None:
        raise ValueError("mapping must be specified.")
    _check_buckets(num_oov_buckets)
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_integer and dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with ops.name_scope(name, "string_to_index"):
        keys = ops.convert_to_tensor(mapping)
        if keys.dtype.is_integer != dtype.is_integer or (not dtype.is_integer and keys.dtype.base_dtype != dtype):
            raise ValueError(f"Expected {'integer' if dtype.is_integer else dtype}, got {keys.dtype}.")
        numbers = math_ops.cast(math_ops.range(array_ops.size(keys)), dtypes.int64)
        with ops.name_scope(None, "hash_table"):
            keys = math_ops.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(keys, numbers, keys.dtype.base_dtype, dtypes.int64,
                                                    name="table_init")
            table: Any = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            table = IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)
        return table


def index_to_string_table_from_file(vocabulary_file: Any, vocab_size: int | None = None, default_value: str = "UNK",
                                    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
                                    value_column_index: int = TextFileIndex.WHOLE_LINE,
                                    delimiter: str = "\t") -> StaticHashTable:
    """A table from numbers of lines in a file to the words there."""
    _check_file(vocabulary_file, vocab_size)
    with ops.name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, vocab_size=vocab_size, name="table_init", key_column_index=key_column_index,
            value_column_index=value_column_index, delimiter=delimiter)
        return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(mapping: Any = None, default_value: str = "UNK", name: str | None = None,
                                      vocabulary_list: Any = None) -> StaticHashTable:
    """A table from places in `mapping` to the words there."""
    mapping = vocabulary_list if mapping is None else mapping
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with ops.name_scope(name, "index_to_string"):
        values = ops.convert_to_tensor(mapping, dtypes.string)
        keys = math_ops.cast(math_ops.range(array_ops.size(values)), dtypes.int64)
        initializer = KeyValueTensorInitializer(keys, values, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTable(initializer, default_value)


def string_to_index(tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None) -> Tensor:
    """Deprecated: the places in `mapping` of the words of `tensor`."""
    return index_table_from_tensor(mapping, default_value=default_value).lookup(tensor, name=name)


def index_to_string(tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None) -> Tensor:
    """Deprecated: the words of `mapping` at the places `tensor`."""
    return index_to_string_table_from_tensor(mapping, default_value).lookup(tensor, name=name)
