"""tf.parse_example and its like: features of serialized `tf.train.Example` messages as tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops import array_ops, example_parsing, sparse_ops
from tfsandbox.ops.decoding_ops import (  # noqa: F401
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_raw,
    deserialize_many_sparse,
    parse_tensor,
    serialize_many_sparse,
    serialize_sparse,
    serialize_tensor,
)

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature", "decode_compressed", "decode_csv",
    "decode_json_example", "decode_raw", "deserialize_many_sparse", "parse_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "serialize_many_sparse", "serialize_sparse", "serialize_tensor",
]


class VarLenFeature(NamedTuple):
    """A feature with any number of values; it becomes a SparseTensor."""

    dtype: Any


class FixedLenFeature(NamedTuple):
    """A feature of a given shape; it becomes a Tensor. Without a default it must be there."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature [n, *shape] of any length; it becomes a Tensor, shorter ones filled up with the default in a batch."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A SparseTensor whose indices and values are features of their own."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class _Wanted:
    """What features a program asks for, sorted by name."""

    def __init__(self) -> None:
        self.sparse: dict[str, dtypes.DType] = {}
        self.dense: dict[str, dtypes.DType] = {}
        self.shapes: dict[str, Any] = {}
        self.defaults: dict[str, Any] = {}
        self.merged: dict[str, SparseFeature] = {}
        # Names of dense sequences that may be missing.
        self.optional: list[str] = []

    def add_sparse(self, key: str, dtype: Any) -> None:
        """A sparse feature; one that is asked for twice must have one type."""
        dtype = dtypes.as_dtype(dtype)
        if self.sparse.get(key, dtype) != dtype:
            raise ValueError(f"Conflicting type {self.sparse[key]} vs {dtype} for feature {key}.")
        self.sparse[key] = dtype


def _wanted(features: Mapping[str, Any], sequences: bool = False) -> _Wanted:
    """The features by kind; `sequences` are those of the lists in a SequenceExample."""
    wanted = _Wanted()
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, VarLenFeature):
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            wanted.add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature) and not sequences:
            _add_merged(wanted, key, feature)
        elif isinstance(feature, FixedLenFeature) and not sequences:
            _check_dense(key, feature)
            wanted.dense[key], wanted.shapes[key] = dtypes.as_dtype(feature.dtype), TensorShape(feature.shape)
            if any(size is None for size in wanted.shapes[key].as_list()[:1]):
                raise ValueError(f"First dimension of shape for feature {key} unknown. Consider using "
                                 "FixedLenSequenceFeature.")
            if feature.default_value is not None:
                wanted.defaults[key] = feature.default_value
        elif isinstance(feature, FixedLenSequenceFeature):
            _check_dense(key, feature)
            shape = TensorShape(feature.shape)
            wanted.dense[key] = dtypes.as_dtype(feature.dtype)
            wanted.shapes[key] = shape if sequences else TensorShape([None]).concatenate(shape)
            if sequences:
                if feature.allow_missing:
                    wanted.optional.append(key)
                if feature.default_value is not None:
                    raise ValueError("Unsupported: FixedLenSequenceFeature requires default_value to be None.")
                continue
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            if feature.default_value is not None:
                wanted.defaults[key] = feature.default_value
        else:
            raise ValueError(f"Invalid feature {key}:{feature}.")
    return wanted


def _check_dense(key: str, feature: Any) -> None:
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    if feature.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")


def _add_merged(wanted: _Wanted, key: str, feature: SparseFeature) -> None:
    if not feature.index_key:
        raise ValueError(f"Missing index_key for SparseFeature {key}.")
    if not feature.value_key:
        raise ValueError(f"Missing value_key for SparseFeature {key}.")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    index_keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
    for index_key in sorted(index_keys):
        wanted.add_sparse(index_key, dtypes.int64)
    wanted.add_sparse(feature.value_key, feature.dtype)
    wanted.merged[key] = feature


def _dense_defaults(wanted: _Wanted) -> list[Tensor]:
    """The defaults of the dense features as tensors; an empty one where the feature must be there."""
    result = []
    for key, dtype in wanted.dense.items():
        shape, value = wanted.shapes[key], wanted.defaults.get(key)
        label = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
        if shape.ndims and shape.as_list()[0] is None:
            # What fills up shorter sequences.
            if value is None:
                value = constant("" if dtype == dtypes.string else 0, dtype=dtype)
            else:
                value = ops.convert_to_tensor(value, dtype=dtype, name=f"padding_{label}")
                value = array_ops.reshape(value, [])
        elif value is None:
            value = constant([], dtype=dtype)
        else:
            if not isinstance(value, Tensor):
                value = ops.convert_to_tensor(value, dtype=dtype, name=f"key_{label}")
            value = array_ops.reshape(value, shape)
        result.append(value)
    return result


def _collected(wanted: _Wanted, groups: Sequence[Any]) -> dict[str, Any]:
    """The outputs (indices, values, shapes, dense values) by name."""
    indices, values, shapes, dense = groups
    found: dict[str, Any] = {key: SparseTensor(*parts) for key, *parts in zip(wanted.sparse, indices, values, shapes)}
    found.update(zip(wanted.dense, dense))
    return found


def _merged(features: Mapping[str, Any], wanted: _Wanted, found: dict[str, Any]) -> dict[str, Any]:
    """What was asked for: sparse features put together, and what they were made of left out."""
    for key in sorted(wanted.merged):
        feature = wanted.merged[key]
        if isinstance(feature.index_key, str):
            ids: Any = found[feature.index_key]
        else:
            ids = [found[index_key] for index_key in feature.index_key]
        found[key] = sparse_ops.sparse_merge_impl(ids, found[feature.value_key], vocab_size=feature.size,
                                                  already_sorted=feature.already_sorted)
    return {key: value for key, value in found.items() if key in features}


def parse_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                  example_names: Any = None) -> dict[str, Any]:
    """The features of a batch of serialized `tf.train.Example` messages, by name: Tensors [n, ...] and SparseTensors.

    `features` says for each name a VarLenFeature, FixedLenFeature, FixedLenSequenceFeature or SparseFeature. A run
    raises `InvalidArgumentError` where a message does not fit; `example_names` help to find it.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    wanted = _wanted(features)
    return _merged(features, wanted, _parse_batch(serialized, example_names, wanted, name))


def _parse_batch(serialized: Any, example_names: Any, wanted: _Wanted, name: str | None) -> dict[str, Any]:
    with ops.name_scope(name, "ParseExample", [serialized, example_names]):
        names = [] if example_names is None else example_names
        groups = apply_op(
            example_parsing.parse_example_op.name, serialized=serialized, names=names, sparse_keys=list(wanted.sparse),
            dense_keys=list(wanted.dense), dense_defaults=_dense_defaults(wanted),
            sparse_types=list(wanted.sparse.values()), dense_shapes=list(wanted.shapes.values()), name=name)
        return _collected(wanted, groups)


def parse_single_example(serialized: Any, features: Mapping[str, Any], name: str | None = None,
                         example_names: Any = None) -> dict[str, Any]:
    """As `parse_example`, of one message: the tensors have no batch axis."""
    if not features:
        raise ValueError("Missing features.")
    wanted = _wanted(features)
    if example_names is not None:
        return _merged(features, wanted, _parse_one_by_name(serialized, wanted, name, example_names))
    with ops.name_scope(name, "ParseSingleExample", [serialized]):
        groups = apply_op(
            example_parsing.parse_single_op.name, serialized=serialized, dense_defaults=_dense_defaults(wanted),
            num_sparse=len(wanted.sparse), sparse_keys=list(wanted.sparse), sparse_types=list(wanted.sparse.values()),
            dense_keys=list(wanted.dense), dense_shapes=list(wanted.shapes.values()), name=name)
    return _merged(features, wanted, _collected(wanted, groups))


def _parse_one_by_name(serialized: Any, wanted: _Wanted, name: str | None, example_names: Any) -> dict[str, Any]:
    """One message as a batch of one, because only batches have names."""
    with ops.name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = array_ops.expand_dims(ops.convert_to_tensor(serialized), 0)
        names = array_ops.expand_dims(ops.convert_to_tensor(example_names), 0)
        found = _parse_batch(serialized, names, wanted, None)
        for key in wanted.dense:
            label = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            found[key] = array_ops.squeeze(found[key], [0], name=f"Squeeze_{label}")
        for key in wanted.sparse:
            label = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            part = found[key]
            found[key] = SparseTensor(
                array_ops.slice(part.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{label}"), part.values,
                array_ops.slice(part.dense_shape, [1], [-1], name=f"Squeeze_Shape_{label}"))
        return found


def parse_single_sequence_example(serialized: Any, context_features: Mapping[str, Any] | None = None,
                                  sequence_features: Mapping[str, Any] | None = None, example_name: Any = None,
                                  name: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """(features of the context, features of the lists [length, ...]) of a serialized `tf.train.SequenceExample`."""
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context, sequences = _wanted(context_features or {}), _wanted(sequence_features or {}, sequences=True)
    with ops.name_scope(name, "ParseSingleSequenceExample", [serialized]):
        groups = apply_op(
            example_parsing.parse_sequence_op.name, serialized=serialized,
            feature_list_dense_missing_assumed_empty=np.array([key.encode() for key in sequences.optional], object),
            context_sparse_keys=list(context.sparse), context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(sequences.sparse), feature_list_dense_keys=list(sequences.dense),
            context_dense_defaults=_dense_defaults(context), debug_name=example_name or "",
            context_sparse_types=list(context.sparse.values()),
            feature_list_dense_types=list(sequences.dense.values()),
            context_dense_shapes=list(context.shapes.values()),
            feature_list_sparse_types=list(sequences.sparse.values()),
            feature_list_dense_shapes=list(sequences.shapes.values()), name=name)
    return (_merged(context_features or {}, context, _collected(context, groups[:4])),
            _collected(sequences, groups[4:]))
