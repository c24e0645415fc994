"""Lookup tables that programs write to."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.op_def_library import apply_op, apply_operation
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.saveable_object import SaveableObject, SaveSpec
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import lookup_tables


class LookupInterface:
    """A table with keys of one type and values of another."""

    _handle: Any = None

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
    def name(self) -> str:
        """The name of the table's node, without its scopes."""
        return self._handle.op.name.split("/")[-1]

    @property
    def resource_handle(self) -> Any:
        """The tensor that stands for the table."""
        return self._handle

    table_ref = resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """[], int64: how many keys there are."""
        raise NotImplementedError

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of `keys`."""
        raise NotImplementedError


class _Saveable(SaveableObject):
    """How a Saver writes and restores a table: its keys and its values."""

    def __init__(self, table: Any, name: str) -> None:
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")], name)

    def restore(self, restored_tensors: list[Any], restored_shapes: list[Any] | None) -> Operation:
        with ops.name_scope(f"{self.name}_table_restore"), ops.colocate_with(self.op.resource_handle):
            return apply_operation("LookupTableImportV2", table_handle=self.op.resource_handle,
                                   keys=restored_tensors[0], values=restored_tensors[1])


class _Mutable(LookupInterface):
    """What the tables have in common that programs write to."""

    _default_value: Tensor

    def _enter(self, checkpoint: bool) -> None:
        if checkpoint:
            ops.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _Saveable(self, self.name))

    @property
    def default_value(self) -> Tensor:
        """What keys have that are not in the table."""
        return self._default_value

    def size(self, name: str | None = None) -> Tensor:
        with ops.name_scope(name, f"{self.name}_Size", [self.resource_handle]), \
                ops.colocate_with(self.resource_handle):
            return apply_op("LookupTableSizeV2", table_handle=self.resource_handle)

    def lookup(self, keys: Any, name: str | None = None) -> Tensor:
        with ops.name_scope(name, f"{self.name}_lookup_table_find",
                            (self.resource_handle, keys, self._default_value)):
            keys = ops.convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            with ops.colocate_with(self.resource_handle):
                return apply_op("LookupTableFindV2", table_handle=self.resource_handle, keys=keys,
                                default_value=self._default_value)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Operation:
        """Enter keys with their values, or give them others."""
        with ops.name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            keys = ops.convert_to_tensor(keys, self._key_dtype, name="keys")
            values = ops.convert_to_tensor(values, self._value_dtype, name="values")
            with ops.colocate_with(self.resource_handle):
                return apply_operation("LookupTableInsertV2", table_handle=self.resource_handle, keys=keys,
                                       values=values)

    def remove(self, keys: Any, name: str | None = None) -> Operation:
        """Forget keys."""
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        with ops.name_scope(name, f"{self.name}_lookup_table_remove", (self.resource_handle, keys,
                                                                     self._default_value)):
            return apply_operation("LookupTableRemoveV2", table_handle=self.resource_handle, keys=keys)

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """(keys, values), in no order."""
        with ops.name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]), \
                ops.colocate_with(self.resource_handle):
            keys, values = apply_op("LookupTableExportV2", table_handle=self.resource_handle, Tkeys=self._key_dtype,
                                    Tvalues=self._value_dtype)
        values.set_shape(TensorShape([None]).concatenate(self._default_value.shape))
        return keys, values


class MutableHashTable(_Mutable):
    """A table with values of the shape of `default_value`. With `checkpoint` a Saver saves it."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable",
                 checkpoint: bool = True) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = ops.convert_to_tensor(default_value, dtype=self._value_dtype)
        options: dict[str, Any] = {"use_node_name_sharing": checkpoint, "key_dtype": self._key_dtype,
                                   "value_dtype": self._value_dtype, "name": name}
        if self._default_value.shape.ndims == 0:
            self._handle = apply_op(lookup_tables.mutable_op.name, **options)
        else:
            self._handle = apply_op(lookup_tables.of_tensors_op.name, value_shape=self._default_value.shape, **options)
        self._enter(checkpoint)


class DenseHashTable(_Mutable):
    """A MutableHashTable that keeps two keys for itself: what marks places as empty, and as deleted."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any,
                 initial_num_buckets: int | None = None, name: str = "MutableDenseHashTable",
                 checkpoint: bool = True) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = ops.convert_to_tensor(default_value, dtype=self._value_dtype, name="default_value")
        empty = ops.convert_to_tensor(empty_key, dtype=self._key_dtype, name="empty_key")
        deleted = ops.convert_to_tensor(deleted_key, dtype=self._key_dtype, name="deleted_key")
        self._handle = apply_op(
            lookup_tables.dense_op.name, empty_key=empty, deleted_key=deleted, use_node_name_sharing=checkpoint,
            value_dtype=self._value_dtype, value_shape=self._default_value.shape,
            initial_num_buckets=initial_num_buckets, name=name)
        self._enter(checkpoint)


MutableDenseHashTable = DenseHashTable
