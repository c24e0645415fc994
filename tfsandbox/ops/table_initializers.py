"""What fills a lookup table: tensors of keys and values, or a text file."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.op_def_library import apply_operation
from tfsandbox.framework.operation import Operation
from tfsandbox.ops import lookup_tables


class TableInitializerBase:
    """Types of keys and values, and the node that fills a table."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        """The type of the values."""
        return self._value_dtype

    @property
    def shared_name(self) -> str | None:
        """The name under which tables with the same contents are one; None: they are not shared."""
        return None

    def initialize(self, table: Any) -> Operation:
        """The node that fills the table, entered into the graph's list."""
        if table.key_dtype != self._key_dtype or table.value_dtype != self._value_dtype:
            raise TypeError(f"Invalid dtypes: the table takes {table.key_dtype} and {table.value_dtype}, the "
                            f"initializer gives {self._key_dtype} and {self._value_dtype}.")
        node = self._node(table)
        ops.add_to_collection(GraphKeys.TABLE_INITIALIZERS, node)
        return node

    def _node(self, table: Any) -> Operation:
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from tensors or lists."""

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
                 name: str | None = None) -> None:
        self._keys = ops.convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = ops.convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def _node(self, table: Any) -> Operation:
        with ops.name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            return apply_operation("LookupTableImportV2", table_handle=table.resource_handle, keys=self._keys,
                                   values=self._values)


class TextFileIndex:
    """What of a line of a file is meant."""

    WHOLE_LINE = lookup_tables.WHOLE_LINE
    LINE_NUMBER = lookup_tables.LINE_NUMBER


class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file: columns, the whole line, or its number (see `TextFileIndex`)."""

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None) -> None:
        if not isinstance(filename, ops.Tensor) and not filename:
            raise ValueError("Filename required")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        if key_index < -2:
            raise ValueError(f"Invalid key index {key_index}.")
        if key_index == TextFileIndex.LINE_NUMBER and key_dtype != dtypes.int64:
            raise ValueError(f"Signature mismatch. Keys must be dtype {dtypes.int64}, got {key_dtype}.")
        if key_index == TextFileIndex.WHOLE_LINE and not key_dtype.is_integer and key_dtype != dtypes.string:
            raise ValueError(f"Signature mismatch. Keys must be integer or string, got {key_dtype}.")
        if value_index < -2:
            raise ValueError(f"Invalid value index {value_index}.")
        if value_index == TextFileIndex.LINE_NUMBER and value_dtype != dtypes.int64:
            raise ValueError(f"Signature mismatch. Values must be dtype {dtypes.int64}, got {value_dtype}.")
        if value_index == TextFileIndex.WHOLE_LINE and value_dtype != dtypes.string:
            raise ValueError(f"Signature mismatch. Values must be dtype {dtypes.string}, got {value_dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._key_index, self._value_index, self._vocab_size = key_index, value_index, vocab_size
        self._delimiter, self._name, self._filename_arg = delimiter, name or "text_file_init", filename
        self._filename = ops.convert_to_tensor(filename, dtype=dtypes.string, name="asset_path")
        ops.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        super().__init__(key_dtype, value_dtype)

    @property
    def shared_name(self) -> str | None:
        """Tables from the same columns of a file are one."""
        size = "" if self._vocab_size is None else f"_{self._vocab_size}"
        return f"hash_table_{self._filename_arg}{size}_{self._key_index}_{self._value_index}"

    def _node(self, table: Any) -> Operation:
        with ops.name_scope(self._name, "text_file_init", (table.resource_handle,)):
            return apply_operation(
                "InitializeTableFromTextFileV2", table_handle=table.resource_handle, filename=self._filename,
                key_index=self._key_index, value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size, delimiter=self._delimiter)


class TextFileStringTableInitializer(TextFileInitializer):
    """From the numbers of lines to the lines."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
                 value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_string_table_init") -> None:
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size,
                         delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """From the lines to their numbers."""

    def __init__(self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
                 value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None,
                 delimiter: str = "\t", name: str | None = "text_file_id_table_init",
                 key_dtype: Any = dtypes.string) -> None:
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size,
                         delimiter, name)
