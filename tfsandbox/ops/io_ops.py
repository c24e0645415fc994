"""Checkpoints and files as ops."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.op_def_library import apply_op, apply_operation
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import UNKNOWN, ShapeContext, scalar
from tfsandbox.framework.shape_rules import merge, with_rank
from tfsandbox.framework.tensor_shape import TensorShape

__all__ = ["matching_files", "read_file", "write_file"]


def _text(value: Any) -> str:
    value = np.asarray(value, object).item() if not isinstance(value, (bytes, str)) else value
    return value.decode() if isinstance(value, bytes) else str(value)


def _texts(values: Any) -> list[str]:
    return [v.decode() if isinstance(v, bytes) else str(v) for v in np.asarray(values, object).ravel().tolist()]


# ------------------------------------------------------------ checkpoints

save_v2_op = register_op("SaveV2", "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes ->",
                         "dtypes: list(type) >= 1", stateful=True)
restore_v2_op = register_op("RestoreV2",
                            "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
                            "dtypes: list(type) >= 1", stateful=True)
merge_v2_checkpoints_op = register_op(
    "MergeV2Checkpoints", "checkpoint_prefixes: string, destination_prefix: string ->", "delete_old_dirs: bool = true",
    stateful=True)


def _names_and_slices_shape(c: ShapeContext) -> None:
    with_rank(c.shape(0), 0)
    merge(with_rank(c.shape(1), 1), with_rank(c.shape(2), 1))


@save_v2_op.shape
def _save_v2_shape(c: ShapeContext) -> list[TensorShape]:
    _names_and_slices_shape(c)
    return []


@save_v2_op.kernel
def _save_v2(prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: list[Any], *, dtypes: list[Any]) -> None:
    from tfsandbox.lib import tensor_bundle
    names, slices = _texts(tensor_names), _texts(shape_and_slices)
    if not len(names) == len(slices) == len(tensors):
        raise errors.InvalidArgumentError(
            None, None, f"Got {len(names)} tensor names, {len(slices)} shapes and slices, {len(tensors)} tensors")
    with tensor_bundle.BundleWriter(_text(prefix)) as writer:
        for name, part, value, dtype in zip(names, slices, tensors, dtypes):
            writer.add_slice(name, part, np.asarray(value), dtype.base_dtype.as_datatype_enum)


@restore_v2_op.shape
def _restore_v2_shape(c: ShapeContext) -> list[TensorShape]:
    _names_and_slices_shape(c)
    count = len(c.attr("dtypes"))
    slices = c.value(2)
    if slices is None or slices.size != count:
        return [UNKNOWN] * count
    from tfsandbox.lib.tensor_slice import parse_shape_and_slice
    shapes = []
    for text in _texts(slices):
        if not text:
            shapes.append(UNKNOWN)
            continue
        whole, piece = parse_shape_and_slice(text)
        shapes.append(TensorShape([end - start for start, end in piece.box(whole)]))
    return shapes


@restore_v2_op.kernel
def _restore_v2(prefix: Any, tensor_names: Any, shape_and_slices: Any, *, dtypes: list[Any]) -> tuple[Any, ...]:
    from tfsandbox.lib import tensor_bundle
    # Everything is read, and checked, before any variable is given its part.
    with tensor_bundle.BundleReader(_text(prefix)) as reader:
        return tuple(reader.restore(name, part, dtype.base_dtype.as_datatype_enum)
                     for name, part, dtype in zip(_texts(tensor_names), _texts(shape_and_slices), dtypes))


@merge_v2_checkpoints_op.kernel
def _merge_v2_checkpoints(checkpoint_prefixes: Any, destination_prefix: Any, *, delete_old_dirs: bool) -> None:
    from tfsandbox.lib import tensor_bundle
    tensor_bundle.merge(_texts(checkpoint_prefixes), _text(destination_prefix), delete_old_dirs)


def save_v2(prefix: Any, tensor_names: Sequence[str], shape_and_slices: Sequence[str], tensors: Sequence[Any],
            name: str | None = None) -> Operation:
    """An operation that writes tensors to the checkpoint files `prefix.*`."""
    return apply_operation("SaveV2", prefix=prefix, tensor_names=list(tensor_names),
                           shape_and_slices=list(shape_and_slices), tensors=list(tensors), name=name)


def restore_v2(prefix: Any, tensor_names: Sequence[str], shape_and_slices: Sequence[str], dtypes: Sequence[Any],
               name: str | None = None) -> list[Tensor]:
    """The tensors of those names, read from the checkpoint files `prefix.*`."""
    return apply_op("RestoreV2", prefix=prefix, tensor_names=list(tensor_names),
                    shape_and_slices=list(shape_and_slices), dtypes=list(dtypes), name=name)


def merge_v2_checkpoints(checkpoint_prefixes: Any, destination_prefix: Any, delete_old_dirs: bool = True,
                         name: str | None = None) -> Operation:
    """An operation that makes one checkpoint of several."""
    return apply_operation("MergeV2Checkpoints", checkpoint_prefixes=checkpoint_prefixes,
                           destination_prefix=destination_prefix, delete_old_dirs=delete_old_dirs, name=name)


sharded_filename_op = register_op(
    "ShardedFilename", "basename: string, shard: int32, num_shards: int32 -> filename: string")
sharded_filespec_op = register_op("ShardedFilespec", "basename: string, num_shards: int32 -> filename: string")
sharded_filename_op.shape(scalar)
sharded_filespec_op.shape(scalar)


@sharded_filename_op.kernel
def _sharded_filename(basename: Any, shard: Any, num_shards: Any) -> Any:
    return np.array(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode(), object)


@sharded_filespec_op.kernel
def _sharded_filespec(basename: Any, num_shards: Any) -> Any:
    return np.array(f"{_text(basename)}-?????-of-{int(num_shards):05d}".encode(), object)


def sharded_filename(basename: Any, shard: Any, num_shards: Any, name: str | None = None) -> Tensor:
    """`basename-00001-of-00004` for shard 1 of 4."""
    return apply_op("ShardedFilename", basename=basename, shard=shard, num_shards=num_shards, name=name)


# ------------------------------------------------------------ files

read_file_op = register_op("ReadFile", "filename: string -> contents: string")
write_file_op = register_op("WriteFile", "filename: string, contents: string ->", stateful=True)
matching_files_op = register_op("MatchingFiles", "pattern: string -> filenames: string")
# What a file holds is known only in the run.
read_file_op.foldable = matching_files_op.foldable = False
read_file_op.shape(scalar)


@read_file_op.kernel
def _read_file(filename: Any) -> Any:
    path = _text(filename)
    try:
        with open(path, "rb") as file:
            return np.array(file.read(), object)
    except OSError as error:
        raise errors.NotFoundError(None, None, f"{path}; {error.strerror}") from None


@write_file_op.kernel
def _write_file(filename: Any, contents: Any) -> None:
    path = _text(filename)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    data = np.asarray(contents, object).item()
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else str(data).encode())


@matching_files_op.shape
def _matching_files_shape(c: ShapeContext) -> TensorShape:
    return TensorShape([None])


@matching_files_op.kernel
def _matching_files(pattern: Any) -> Any:
    found = sorted({path for text in _texts(pattern) for path in glob.glob(text)})
    return np.array([path.encode() for path in found], object)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file, as a string scalar; `NotFoundError` in the run where it is missing."""
    return apply_op("ReadFile", filename=filename, name=name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """An operation that writes a file, and its folders where they are missing."""
    return apply_operation("WriteFile", filename=filename, contents=contents, name=name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The files that match a pattern, or one of several, sorted."""
    return apply_op("MatchingFiles", pattern=pattern, name=name)
