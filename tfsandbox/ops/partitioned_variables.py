"""Variables cut into parts along one axis, and the partitioners that say where.

On one machine a partitioned variable is only the sum of its parts; programs that were written for several devices run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.conversion import register_tensor_conversion_function
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, control_flow_ops


class PartitionInfo:
    """What an initializer is told of the part it makes: the whole shape and where the part begins."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        self.full_shape, self.var_offset = list(full_shape), list(var_offset)

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis that is cut, for a part of that shape; None where the part is the whole."""
        for axis, (size, whole) in enumerate(zip(shape, self.full_shape)):
            if size != whole:
                return axis
        return None


class PartitionedVariable:
    """The parts of one variable. As a tensor it is their concatenation."""

    __array_priority__ = 100

    def __init__(self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Any],
                 partitions: Sequence[int]) -> None:
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if len(variable_list) < 1:
            raise ValueError(f"PartitionedVariable must have at least one variable: {variable_list}")
        self._name, self._shape, self._dtype = name, TensorShape(shape), dtypes.as_dtype(dtype)
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._partitions = list(partitions)
        self._as_tensor: Tensor | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def _partition_axes(self) -> list[int]:
        if all(p == 1 for p in self._partitions):
            return [0]
        return [i for i, p in enumerate(self._partitions) if p > 1]

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with ops.name_scope(None):
                return array_ops.identity(self._variable_list[0], name=self._name)
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(f"Cannot concatenate along more than one dimension: {axes}. "
                                      "Multi-axis partition concat is not supported")
        with ops.name_scope(self._name + "/ConcatPartitions/"):
            joined = array_ops.concat(self._variable_list, axes[0])
        with ops.name_scope(None):
            return array_ops.identity(joined, name=self._name)

    def as_tensor(self) -> Tensor:
        """The parts, joined."""
        with ops.control_dependencies(None):
            return self._concat()

    value = as_tensor

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    @property
    def graph(self) -> Any:
        return self._variable_list[0].graph

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _apply(self, method: str, value: Any, **options: Any) -> Any:
        axes = self._partition_axes()
        sizes = [v.shape.as_list()[axes[0]] for v in self._variable_list]
        parts = array_ops.split(value, sizes, axis=axes[0])
        results = [getattr(v, method)(part, **options) for v, part in zip(self._variable_list, parts)]
        return control_flow_ops.group(*results)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """An operation that assigns every part its slice of `value`."""
        return self._apply("assign", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """An operation that adds to every part its slice of `value`."""
        return self._apply("assign_add", value, use_locking=use_locking, name=name, read_value=read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """An operation that subtracts from every part its slice of `value`."""
        return self._apply("assign_sub", value, use_locking=use_locking, name=name, read_value=read_value)

    @staticmethod
    def _TensorConversionFunction(v: PartitionedVariable, dtype: Any = None, name: str | None = None,
                                  as_ref: bool = False) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(v.dtype):
            raise ValueError(f"Incompatible type conversion requested to type '{dtypes.as_dtype(dtype).name}' for "
                             f"variable of type '{v.dtype.name}'")
        if as_ref:
            raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
        return v.as_tensor()


register_tensor_conversion_function(PartitionedVariable, PartitionedVariable._TensorConversionFunction)


# ------------------------------------------------------------ where to cut


def sliced_axis(partitions: Sequence[int]) -> tuple[int, int]:
    """(the axis that is cut, into how many parts); `ValueError` where more than one is."""
    cut = [(axis, count) for axis, count in enumerate(partitions) if count > 1]
    if len(cut) > 1:
        raise ValueError(f"Can only partition a variable along one dimension: {list(partitions)}")
    return cut[0] if cut else (0, 1)


def checked_partitions(partitioner: Any, shape: TensorShape, dtype: dtypes.DType) -> list[int]:
    """What the partitioner says for a shape; `ValueError` where it makes no sense."""
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.ndims:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: "
                         f"{partitions} vs. {shape}")
    if any(p < 1 for p in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    return list(partitions)


def slices(shape: Sequence[int], partitions: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of every part; the first parts are one longer where the size does not divide."""
    axis, count = sliced_axis(partitions)
    if not shape:
        yield [], []
        return
    size, longer = divmod(shape[axis], count)
    begin = 0
    for i in range(count):
        length = size + (i < longer)
        offset, part = [0] * len(shape), list(shape)
        offset[axis], part[axis] = begin, length
        yield offset, part
        begin += length


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Any:
    """A partitioner that cuts `axis` into `num_shards` parts, or fewer where it is shorter."""
    def partitioner(shape: Any, **_: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, int(shape[axis]))
        return partitions
    return partitioner


def _element_size(dtype: dtypes.DType, bytes_per_string_element: int) -> int:
    return bytes_per_string_element if dtype.base_dtype == dtypes.string else dtype.size


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16,
                                   max_shards: int | None = None) -> Any:
    """A partitioner that cuts `axis` into parts of at most `max_shard_bytes`."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        shape = TensorShape(shape)
        if not shape.is_fully_defined() or not shape.ndims:
            raise ValueError(f"shape is not a fully defined shape of rank 1 or more: {shape}")
        partitions = [1] * shape.ndims
        sizes = shape.as_list()
        per_slice = (shape.num_elements() or 0) // max(sizes[axis] or 1, 1) * \
            _element_size(dtypes.as_dtype(dtype), bytes_per_string_element)
        slices_each = max(1, max_shard_bytes // max(per_slice, 1))
        shards = int(math.ceil(1.0 * (sizes[axis] or 0) / slices_each))
        partitions[axis] = max(1, min(shards, max_shards) if max_shards else shards)
        return partitions
    return partitioner


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10,
                                 bytes_per_string_element: int = 16) -> Any:
    """A partitioner that cuts `axis` into at most `max_partitions` parts of at least `min_slice_size` bytes."""
    def partitioner(shape: Any, dtype: Any) -> list[int]:
        shape = TensorShape(shape)
        if axis >= len(shape):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        total = (shape.num_elements() or 0) * _element_size(dtypes.as_dtype(dtype), bytes_per_string_element)
        partitions = [1] * (shape.ndims or 0)
        partitions[axis] = max(1, min(int(shape[axis]), max_partitions, total // min_slice_size))
        return partitions
    return partitioner


def create_partitioned_variables(shape: Sequence[int], slicing: Sequence[int], initializer: Any,
                                 dtype: Any = dtypes.float32, trainable: bool = True, collections: Any = None,
                                 name: str | None = None, reuse: Any = None) -> list[Any]:
    """Deprecated: the parts of a variable cut as `slicing` says, as a list."""
    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a new Partitioned Variable must have the length: shape: "
                         f"{shape}, slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError(f"A new Partitioned Variable must have rank at least 1: shape: {shape}")
    from tfsandbox.ops import variable_scope
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        store = variable_scope._get_default_variable_store()
        whole = store.get_variable(
            scope.name, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable, reuse=scope.reuse,
            partitioner=lambda **_: slicing, collections=collections)
        return list(whole)
