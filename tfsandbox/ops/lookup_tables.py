"""The ops of lookup tables. A handle is the table itself, which a session keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_registry import OpDef, register_op
from tfsandbox.framework.operation import Operation
from tfsandbox.framework.shape_inference import ShapeContext, scalar
from tfsandbox.framework.shape_rules import merge, with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.kernel_values import as_array, text_of_shape


class Table:
    """A dictionary from keys to values, which are numbers, strings or arrays of one shape."""

    def __init__(self, key_dtype: dtypes.DType, value_dtype: dtypes.DType, value_shape: tuple[int, ...] = (),
                 reserved: Iterable[Any] = (), writable: bool = True) -> None:
        self.key_type, self.value_type = key_dtype.as_numpy_dtype, value_dtype.as_numpy_dtype
        self.value_shape = value_shape
        # The keys that mark places of a dense table as empty and as deleted.
        self.reserved = dict(zip(reserved, ("empty_key", "deleted_key")))
        self.writable = writable
        self.initialized = writable
        self.entries: dict[Any, Any] = {}

    def find(self, keys: Any, default: Any) -> np.ndarray:
        """The values [*keys.shape, *value shape] of the keys, `default` where there is none."""
        if not self.initialized:
            raise errors.FailedPreconditionError(None, None, "Table not initialized.")
        array, default = as_array(keys), as_array(default)
        result = np.empty((*array.shape, *self.value_shape), self.value_type)
        flat = result.reshape(-1, *self.value_shape)
        entries = self.entries
        fallback = default if self.value_shape else default.item() if default.dtype == object else default[()]
        for i, key in enumerate(self._checked(array)):
            flat[i] = entries.get(key, fallback)
        return result

    def insert(self, keys: Any, values: Any) -> None:
        """Enter keys with their values; a table that is not written to takes each key once."""
        array, values = as_array(keys), as_array(values)
        wanted = (*array.shape, *self.value_shape)
        if values.shape != wanted:
            raise errors.InvalidArgumentError(
                None, None, f"Expected shape [{','.join(map(str, wanted))}] for value, got {text_of_shape(values)}")
        rows = values.reshape(-1, *self.value_shape)
        self._enter(zip(self._checked(array), list(rows) if self.value_shape else rows.tolist()))

    def load(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Fill the table, from a file say."""
        self._enter(pairs)

    def _enter(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        if self.writable:
            self.entries.update(pairs)
            return
        entries: dict[Any, Any] = {}
        for key, value in pairs:
            if entries.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(
                    None, None, f"HashTable has different value for same key. Key {_text(key)} has "
                                f"{_text(entries[key])} and trying to add value {_text(value)}")
        self.entries, self.initialized = entries, True

    def remove(self, keys: Any) -> None:
        """Forget keys."""
        for key in self._checked(as_array(keys)):
            self.entries.pop(key, None)

    def _checked(self, keys: np.ndarray) -> list[Any]:
        found = keys.ravel().tolist()
        if self.reserved:
            for key in found:
                if key in self.reserved:
                    raise errors.InvalidArgumentError(
                        None, None, f"Using the {self.reserved[key]} as a table key is not allowed")
        return found

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """(keys, values), what came last first."""
        count = len(self.entries)
        keys, values = np.empty(count, self.key_type), np.empty((count, *self.value_shape), self.value_type)
        for i, (key, value) in enumerate(reversed(self.entries.items())):
            keys[i], values[i] = key, value
        return keys, values


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else f"{value:g}" if isinstance(
        value, float) else str(value)


# ------------------------------------------------------------ tables

_NAMES = "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false; "
_TYPES = "key_dtype: type; value_dtype: type"
hash_table_op = register_op("HashTableV2", "-> table_handle: resource", _NAMES + _TYPES, stateful=True)
mutable_op = register_op("MutableHashTableV2", "-> table_handle: resource", _NAMES + _TYPES, stateful=True)
of_tensors_op = register_op("MutableHashTableOfTensorsV2", "-> table_handle: resource",
                            _NAMES + _TYPES + "; value_shape: shape = []", stateful=True)
dense_op = register_op(
    "MutableDenseHashTableV2", "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    _NAMES + _TYPES + "; value_shape: shape = []; initial_num_buckets: int = 131072; max_load_factor: float = 0.8",
    stateful=True)
for _table_op in (hash_table_op, mutable_op, of_tensors_op, dense_op):
    _table_op.shape(scalar)
    _table_op.no_gradient()


def _shared(op: Operation, session_state: Any, table: Table) -> Table:
    """The table of that name in the session; a name is shared by nodes that ask for it."""
    name = op._attrs["shared_name"].decode() or op.name
    return session_state.resources.setdefault(("table", op._attrs["container"], name), table)


@hash_table_op.state
def _hash_table_state(op: Operation, session_state: Any) -> Table:
    return _shared(op, session_state, Table(op._attrs["key_dtype"], op._attrs["value_dtype"], writable=False))


@mutable_op.state
def _mutable_state(op: Operation, session_state: Any) -> Table:
    return _shared(op, session_state, Table(op._attrs["key_dtype"], op._attrs["value_dtype"]))


@of_tensors_op.state
def _of_tensors_state(op: Operation, session_state: Any) -> Table:
    shape = tuple(op._attrs["value_shape"].as_list())
    return _shared(op, session_state, Table(op._attrs["key_dtype"], op._attrs["value_dtype"], shape))


@dense_op.state
def _dense_state(op: Operation, session_state: Any) -> Table:
    shape = tuple(op._attrs["value_shape"].as_list())
    return _shared(op, session_state, Table(op._attrs["key_dtype"], op._attrs["value_dtype"], shape))


def _handle(*, state: Table) -> Table:
    return state


hash_table_op.kernel(_handle)
mutable_op.kernel(_handle)
of_tensors_op.kernel(_handle)


@dense_op.kernel
def _dense_handle(empty_key: Any, deleted_key: Any, *, state: Table) -> Table:
    if not state.reserved:
        keys = [as_array(key).tolist() for key in (empty_key, deleted_key)]
        if keys[0] == keys[1]:
            raise errors.InvalidArgumentError(None, None, "Empty and deleted keys cannot have same value")
        state.reserved = dict(zip(keys, ("empty_key", "deleted_key")))
    return state


# ------------------------------------------------------------ what is done with them


def _table_function(name: str, signature: str, attrs: str = "") -> OpDef:
    return register_op(name, signature, attrs, stateful=True).no_gradient()


find_op = _table_function("LookupTableFindV2", "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout",
                          "Tin: type; Tout: type")
insert_op = _table_function("LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout ->",
                            "Tin: type; Tout: type")
import_op = _table_function("LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout ->",
                            "Tin: type; Tout: type")
initialize_op = _table_function("InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval ->",
                                "Tkey: type; Tval: type")
remove_op = _table_function("LookupTableRemoveV2", "table_handle: resource, keys: Tin ->", "Tin: type")
size_op = _table_function("LookupTableSizeV2", "table_handle: resource -> size: int64")
export_op = _table_function("LookupTableExportV2", "table_handle: resource -> keys: Tkeys, values: Tvalues",
                            "Tkeys: type; Tvalues: type")
from_file_op = _table_function(
    "InitializeTableFromTextFileV2", "table_handle: resource, filename: string ->",
    "key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\\t'")
size_op.shape(scalar)


@find_op.shape
def _find_shape(c: ShapeContext) -> TensorShape:
    with_rank(c.shape(0), 0)
    keys, value = c.shape(1), c.shape(2)
    return TensorShape(None) if keys.sizes is None or value.sizes is None else keys.concatenate(value)


@import_op.shape
@initialize_op.shape
def _import_shape(c: ShapeContext) -> list[TensorShape]:
    keys, values = c.shape(1), c.shape(2)
    if keys.sizes and values.sizes:
        merge(keys, TensorShape.from_sizes(values.sizes[:len(keys.sizes)]))
    return []


@export_op.shape
def _export_shape(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([None]), TensorShape(None)]


@find_op.kernel
def _find(table_handle: Table, keys: Any, default_value: Any) -> Any:
    return table_handle.find(keys, default_value)


@insert_op.kernel
def _insert(table_handle: Table, keys: Any, values: Any) -> tuple[()]:
    table_handle.insert(keys, values)
    return ()


@import_op.kernel
def _import(table_handle: Table, keys: Any, values: Any) -> tuple[()]:
    if table_handle.writable:
        table_handle.entries = {}
    if table_handle.reserved:
        # TensorFlow saves a dense table with its empty places.
        held = [key not in table_handle.reserved for key in as_array(keys).ravel().tolist()]
        keys = as_array(keys).reshape(-1)[held]
        values = as_array(values).reshape(-1, *table_handle.value_shape)[held]
    table_handle.insert(keys, values)
    return ()


@initialize_op.kernel
def _initialize(table_handle: Table, keys: Any, values: Any) -> tuple[()]:
    table_handle.insert(keys, values)
    return ()


@remove_op.kernel
def _remove(table_handle: Table, keys: Any) -> tuple[()]:
    table_handle.remove(keys)
    return ()


@size_op.kernel
def _size(table_handle: Table) -> Any:
    return np.int64(len(table_handle.entries))


@export_op.kernel
def _export(table_handle: Table) -> tuple[Any, Any]:
    return table_handle.export()


# ------------------------------------------------------------ from files

LINE_NUMBER, WHOLE_LINE = -1, -2


@from_file_op.kernel
def _from_file(table_handle: Table, filename: Any, *, key_index: int, value_index: int, vocab_size: int,
               delimiter: bytes) -> tuple[()]:
    name = as_array(filename).item().decode()
    pairs = list(_pairs(table_handle, name, key_index, value_index, vocab_size, delimiter))
    if vocab_size >= 0 and len(pairs) != vocab_size:
        raise errors.InvalidArgumentError(
            None, None, f"Invalid vocab_size in {name}: expected {vocab_size} but got {len(pairs)}")
    table_handle.load(pairs)
    return ()


def _pairs(table: Table, name: str, key_index: int, value_index: int, vocab_size: int,
           delimiter: bytes) -> Iterator[tuple[Any, Any]]:
    """(key, value) of every line."""
    try:
        lines = Path(name).read_bytes().split(b"\n")
    except OSError as error:
        raise errors.NotFoundError(None, None, f"{name}; {error.strerror}") from None
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines):
        if number == vocab_size:
            return
        columns = line.split(delimiter)
        most = max(key_index, value_index)
        if len(columns) <= most:
            raise errors.InvalidArgumentError(
                None, None, f"Invalid number of columns in {name} line {number} ({line.decode(errors='replace')}) : "
                            f"expected {most} got {len(columns)}")
        parts = [number if index == LINE_NUMBER else line if index == WHOLE_LINE else columns[index]
                 for index in (key_index, value_index)]
        yield _parsed(parts[0], table.key_type, number), _parsed(parts[1], table.value_type, number)


def _parsed(text: Any, kind: Any, line: int) -> Any:
    if not isinstance(text, bytes) or kind in (object, np.object_):
        return text
    try:
        return kind(text.decode()).item()
    except ValueError:
        name = {np.float32: "float", np.float64: "double"}.get(kind, np.dtype(kind).name)
        raise errors.InvalidArgumentError(
            None, None, f"Field {text.decode(errors='replace')} in line {line} is not a valid {name}.") from None
