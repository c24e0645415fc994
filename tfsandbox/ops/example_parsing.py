"""The ops that parse serialized Example and SequenceExample messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.shape_inference import ShapeContext
from tfsandbox.framework.shape_rules import with_rank
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.ops.decoding_ops import type_text
from tfsandbox.ops.kernel_values import as_array

_TYPES = "{float32, int64, string}"
parse_example_op = register_op(
    "ParseExample",
    "serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, dense_defaults: Tdense "
    "-> sparse_indices: Nsparse*int64, sparse_values: sparse_types, sparse_shapes: Nsparse*int64, dense_values: Tdense",
    f"Nsparse: int >= 0; Ndense: int >= 0; sparse_types: list(type) in {_TYPES} >= 0; "
    f"Tdense: list(type) in {_TYPES} >= 0; dense_shapes: list(shape) >= 0").no_gradient()
parse_single_op = register_op(
    "ParseSingleExample",
    "serialized: string, dense_defaults: Tdense -> sparse_indices: num_sparse*int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse*int64, dense_values: Tdense",
    "num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "
    f"sparse_types: list(type) in {_TYPES} >= 0; Tdense: list(type) in {_TYPES} >= 0; dense_shapes: list(shape) >= 0"
).no_gradient()
parse_sequence_op = register_op(
    "ParseSingleSequenceExample",
    "serialized: string, feature_list_dense_missing_assumed_empty: string, context_sparse_keys: "
    "Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, feature_list_sparse_keys: "
    "Nfeature_list_sparse*string, feature_list_dense_keys: Nfeature_list_dense*string, context_dense_defaults: "
    "Tcontext_dense, debug_name: string -> context_sparse_indices: Ncontext_sparse*int64, context_sparse_values: "
    "context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, feature_list_dense_values: feature_list_dense_types",
    "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; "
    f"Nfeature_list_dense: int >= 0 = 0; context_sparse_types: list(type) in {_TYPES} >= 0 = []; "
    f"Tcontext_dense: list(type) in {_TYPES} >= 0 = []; feature_list_dense_types: list(type) in {_TYPES} >= 0 = []; "
    f"context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: list(type) in {_TYPES} >= 0 = []; "
    "feature_list_dense_shapes: list(shape) >= 0 = []").no_gradient()


# ------------------------------------------------------------ shapes


def _sparse_shapes(count: int, rank: int) -> list[TensorShape]:
    return [TensorShape([None, rank])] * count + [TensorShape([None])] * count + [TensorShape([rank])] * count


@parse_example_op.shape
def _parse_example_shape(c: ShapeContext) -> list[TensorShape]:
    batch = with_rank(c.shape(0), 1)
    return _sparse_shapes(c.attr("Nsparse"), 2) + [batch.concatenate(shape) for shape in c.attr("dense_shapes")]


@parse_single_op.shape
def _parse_single_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 0)
    return _sparse_shapes(c.attr("num_sparse"), 1) + list(c.attr("dense_shapes"))


@parse_sequence_op.shape
def _parse_sequence_shape(c: ShapeContext) -> list[TensorShape]:
    with_rank(c.shape(0), 0)
    return [*_sparse_shapes(c.attr("Ncontext_sparse"), 1), *c.attr("context_dense_shapes"),
            *_sparse_shapes(c.attr("Nfeature_list_sparse"), 2),
            *[TensorShape([None]).concatenate(shape) for shape in c.attr("feature_list_dense_shapes")]]


# ------------------------------------------------------------ messages


def _invalid(message: str) -> Exception:
    return errors.InvalidArgumentError(None, None, message)


def _message(data: bytes, kind: str) -> Any:
    from google.protobuf.message import DecodeError

    from tfsandbox.proto import example_pb2
    try:
        return getattr(example_pb2, kind).FromString(data)
    except DecodeError:
        raise _invalid(f"Could not parse example input, value: '{data.decode('latin1')}'") from None


_LISTS = {"float_list": dtypes.float32, "int64_list": dtypes.int64, "bytes_list": dtypes.string}


def _contents(feature: Any) -> tuple[dtypes.DType | None, Any]:
    """(type, values) of a feature; None where it says nothing."""
    kind = feature.WhichOneof("kind")
    return (None, []) if kind is None else (_LISTS[kind], getattr(feature, kind).value)


def _array(values: Any, dtype: dtypes.DType) -> np.ndarray:
    if dtype != dtypes.string:
        return np.array(values, dtype.as_numpy_dtype)
    result = np.empty(len(values), object)
    result[:] = list(values)
    return result


def _shape_text(shape: TensorShape) -> str:
    return "[" + ",".join("?" if size is None else str(size) for size in shape.as_list()) + "]"


def _row(features: Any, key: str, dtype: dtypes.DType, prefix: str, index: str) -> np.ndarray | None:
    """The values of a sparse feature; none where it is not there."""
    if key not in features:
        return _array([], dtype)
    found, values = _contents(features[key])
    if found is None:
        return _array([], dtype)
    if found != dtype:
        raise _invalid(f"{prefix}Key: {key}{index}.  Data types don't match. Expected type: {type_text(dtype)}, Actual "
                       f"type: {type_text(found)}")
    return _array(values, dtype)


def _dense(features: Any, key: str, dtype: dtypes.DType, prefix: str, index: str) -> np.ndarray | None:
    """The values of a dense feature; None where it is not there."""
    if key not in features:
        return None
    found, values = _contents(features[key])
    if found is None:
        return None
    if found != dtype:
        raise _invalid(f"{prefix}Key: {key}{index}.  Data types don't match. Data type: {type_text(found)} but "
                       f"expected type: {type_text(dtype)}")
    return _array(values, dtype)


def _missing(prefix: str, key: str, dtype: dtypes.DType) -> Exception:
    return _invalid(f"{prefix}Feature: {key} (data type: {type_text(dtype)}) is required but could not be found.")


def _is_variable(shape: TensorShape) -> bool:
    return bool(shape.ndims) and shape.as_list()[0] is None


# ------------------------------------------------------------ batches


def _text(value: Any) -> str:
    return as_array(value).item().decode()


@parse_example_op.kernel
def _parse_example(serialized: Any, names: Any, sparse_keys: list[Any], dense_keys: list[Any],
                   dense_defaults: list[Any], *, sparse_types: Sequence[dtypes.DType],
                   Tdense: Sequence[dtypes.DType], dense_shapes: Sequence[TensorShape]) -> tuple[Any, ...]:
    examples = [_message(data, "Example").features.feature for data in serialized.tolist()]
    labels = [name.decode() for name in names.tolist()] or ["<unknown>"] * len(examples)
    prefixes = [f"Name: {label}, " for label in labels]
    indices: list[Any] = []
    values: list[Any] = []
    shapes: list[Any] = []
    for key, dtype in zip(map(_text, sparse_keys), sparse_types):
        rows = [_row(features, key, dtype, prefix, f", Index: {i}")
                for i, (features, prefix) in enumerate(zip(examples, prefixes))]
        parts = _sparse_rows(rows, dtype)
        for group, part in zip((indices, values, shapes), parts):
            group.append(part)
    dense = [_dense_batch(examples, prefixes, key, default, dtype, shape) for key, default, dtype, shape in
             zip(map(_text, dense_keys), dense_defaults, Tdense, dense_shapes)]
    return (*indices, *values, *shapes, *dense)


def _sparse_rows(rows: list[Any], dtype: dtypes.DType) -> tuple[Any, Any, Any]:
    """(indices [n, 2], values, shape) of rows of different lengths."""
    lengths = [len(row) for row in rows]
    pairs = [(i, j) for i, length in enumerate(lengths) for j in range(length)]
    indices = np.array(pairs, np.int64).reshape(-1, 2)
    values = np.concatenate(rows) if rows else _array([], dtype)
    return indices, values, np.array([len(rows), max(lengths, default=0)], np.int64)


def _dense_batch(examples: Sequence[Any], prefixes: Sequence[str], key: str, default: Any, dtype: dtypes.DType,
                 shape: TensorShape) -> np.ndarray:
    default = as_array(default)
    variable = _is_variable(shape)
    sizes: list[Any] = shape.as_list()
    step = int(np.prod(sizes[1:])) if variable else int(np.prod(sizes))
    rows = []
    for i, (features, prefix) in enumerate(zip(examples, prefixes)):
        row = _dense(features, key, dtype, prefix, f", Index: {i}")
        if row is None:
            if not variable and not default.size:
                raise _missing(prefix, key, dtype)
            row = _array([], dtype) if variable else default.reshape(-1)
        elif variable and len(row) % step:
            raise _invalid(f"{prefix}Key: {key}, Index: {i}.  Number of {type_text(dtype)} values is not a multiple of "
                           f"stride length. Saw {len(row)} values but output shape is: {_shape_text(shape)}")
        elif not variable and len(row) != step:
            raise _invalid(f"{prefix}Key: {key}, Index: {i}.  Number of {type_text(dtype)} values != expected.  Values "
                           f"size: {len(row)} but output shape: {_shape_text(shape)}")
        rows.append(row)
    if not variable:
        return np.concatenate(rows).reshape(len(rows), *sizes) if rows else _array([], dtype).reshape(0, *sizes)
    longest = max((len(row) for row in rows), default=0)
    result = np.empty((len(rows), longest), rows[0].dtype if rows else dtype.as_numpy_dtype)
    result[...] = default.reshape(-1)[0] if default.size else 0
    for line, row in zip(result, rows):
        line[:len(row)] = row
    return result.reshape(len(rows), longest // step, *sizes[1:])


# ------------------------------------------------------------ single messages


@parse_single_op.kernel
def _parse_single(serialized: Any, dense_defaults: list[Any], *, sparse_keys: Sequence[bytes],
                  dense_keys: Sequence[bytes], sparse_types: Sequence[dtypes.DType], Tdense: Sequence[dtypes.DType],
                  dense_shapes: Sequence[TensorShape]) -> tuple[Any, ...]:
    features = _message(as_array(serialized).item(), "Example").features.feature
    rows = [_row(features, key.decode(), dtype, "", "") for key, dtype in zip(sparse_keys, sparse_types)]
    dense = []
    for name, default, dtype, shape in zip(dense_keys, dense_defaults, Tdense, dense_shapes):
        key, default = name.decode(), as_array(default)
        row = _dense(features, key, dtype, "", "")
        sizes: list[Any] = shape.as_list()
        if _is_variable(shape):
            row = _array([], dtype) if row is None else row
            step = int(np.prod(sizes[1:]))
            fits, sizes = not len(row) % step, [len(row) // step, *sizes[1:]]
        elif row is None:
            if not default.size:
                raise _missing("", key, dtype)
            row, fits = default, True
        else:
            fits = len(row) == int(np.prod(sizes))
        if not fits:
            raise _invalid(f"Key: {key}.  Can't parse serialized Example.")
        dense.append(row.reshape(sizes))
    return (*[np.arange(len(row))[:, None] for row in rows if row is not None], *rows,
            *[np.array([len(row)], np.int64) for row in rows if row is not None], *dense)


@parse_sequence_op.kernel
def _parse_sequence(
        serialized: Any, feature_list_dense_missing_assumed_empty: Any, context_sparse_keys: list[Any],
        context_dense_keys: list[Any], feature_list_sparse_keys: list[Any], feature_list_dense_keys: list[Any],
        context_dense_defaults: list[Any], debug_name: Any, *, context_sparse_types: Sequence[dtypes.DType],
        Tcontext_dense: Sequence[dtypes.DType], feature_list_dense_types: Sequence[dtypes.DType],
        context_dense_shapes: Sequence[TensorShape], feature_list_sparse_types: Sequence[dtypes.DType],
        feature_list_dense_shapes: Sequence[TensorShape]) -> tuple[Any, ...]:
    example = _message(as_array(serialized).item(), "SequenceExample")
    prefix = f"Name: {_text(debug_name)}, "
    context, lists = example.context.feature, example.feature_lists.feature_list
    rows = []
    for key, dtype in zip(map(_text, context_sparse_keys), context_sparse_types):
        rows.append(_typed(context[key], dtype, f"{prefix}Context feature: {key}") if key in context
                    else _array([], dtype))
    dense = []
    for key, default, dtype, shape in zip(map(_text, context_dense_keys), context_dense_defaults, Tcontext_dense,
                                          context_dense_shapes):
        if key in context and context[key].WhichOneof("kind"):
            row = _typed(context[key], dtype, f"{prefix}Context feature: {key}")
            dense.append(_fitting(row, dtype, shape, f"{prefix}Key: {key}, Index: 0"))
        elif np.size(default):
            dense.append(as_array(default))
        else:
            raise _invalid(f"{prefix}Context feature '{key}' is required but could not be found.")
    groups = ([np.arange(len(row))[:, None] for row in rows], rows,
              [np.array([len(row)], np.int64) for row in rows], dense)
    optional = set(as_array(feature_list_dense_missing_assumed_empty).tolist())
    sparse = []
    for key, dtype in zip(map(_text, feature_list_sparse_keys), feature_list_sparse_types):
        steps = lists[key].feature if key in lists else []
        sparse.append(_sparse_rows([_typed(step, dtype, f"{prefix}Feature List: {key}, Index: {i}")
                                    for i, step in enumerate(steps)], dtype))
    sequences = []
    for key, dtype, shape in zip(map(_text, feature_list_dense_keys), feature_list_dense_types,
                                 feature_list_dense_shapes):
        if key not in lists and key.encode() not in optional:
            raise _invalid(f"{prefix}Feature list '{key}' is required but could not be found.  Did you mean to include "
                           "it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?")
        found = [_fitting(_typed(step, dtype, f"{prefix}Feature list: {key}, Index: {i}"), dtype, shape,
                          f"{prefix}Key: {key}, Index: {i}")
                 for i, step in enumerate(lists[key].feature if key in lists else [])]
        sequences.append(np.stack(found) if found else _array([], dtype).reshape(0, *shape.as_list()))
    return (*groups[0], *groups[1], *groups[2], *groups[3], *[part[0] for part in sparse],
            *[part[1] for part in sparse], *[part[2] for part in sparse], *sequences)


def _typed(feature: Any, dtype: dtypes.DType, where: str) -> np.ndarray:
    found, values = _contents(feature)
    if found is not None and found != dtype:
        raise _invalid(f"{where}.  Data types don't match. Expected type: {type_text(dtype)}  Feature is: {feature}")
    return _array(values, dtype)


def _fitting(row: np.ndarray, dtype: dtypes.DType, shape: TensorShape, where: str) -> np.ndarray:
    sizes: list[Any] = shape.as_list()
    if len(row) != int(np.prod(sizes)):
        raise _invalid(f"{where}.  Number of {type_text(dtype)} values != expected.  values size: {len(row)} but "
                       f"output shape: {_shape_text(shape)}")
    return row.reshape(sizes)
