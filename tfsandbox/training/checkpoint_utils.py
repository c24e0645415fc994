"""Looking into checkpoints, and starting variables from them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.lib import tensor_bundle
from tfsandbox.ops import io_ops, variable_scope, variables
from tfsandbox.platform import tf_logging
from tfsandbox.training import checkpoint_management
from tfsandbox.training.saving import saveable_object_util

__all__ = [
    "NewCheckpointReader", "checkpoints_iterator", "init_from_checkpoint", "list_variables", "load_checkpoint",
    "load_variable", "wait_for_new_checkpoint",
]


class CheckpointReader:
    """Reads the tensors of one checkpoint. `NotFoundError` where there is none."""

    def __init__(self, filepattern: Any) -> None:
        name = filepattern.decode() if isinstance(filepattern, bytes) else os.fspath(filepattern)
        self._reader = tensor_bundle.BundleReader(name)

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a tensor of that name."""
        return self._reader.has(_text(tensor_str))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """{name: shape}."""
        return {name: list(self._reader.shape(name)) for name in self._reader.names()}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """{name: type}."""
        return {name: dtypes.as_dtype(self._reader.dtype(name)) for name in self._reader.names()}

    def get_tensor(self, tensor_str: Any) -> Any:
        """The value of that name, a numpy array; `NotFoundError` where there is none."""
        value = self._reader.get(_text(tensor_str))
        return value[()] if not value.ndim else value

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type and shape."""
        return self._reader.debug_string().encode()


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """A reader of the checkpoint with that path; `NotFoundError` where there is none."""
    return CheckpointReader(filepattern)


def _checkpoint_filename(ckpt_dir_or_file: Any) -> str:
    path = os.fspath(ckpt_dir_or_file)
    return checkpoint_management.latest_checkpoint(path) or path if os.path.isdir(path) else path


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one in a folder."""
    return NewCheckpointReader(_checkpoint_filename(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """The value of one variable in a checkpoint; a trailing `:0` is ignored."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(name, shape) of all variables in a checkpoint, by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def wait_for_new_checkpoint(checkpoint_dir: str, last_checkpoint: str | None = None, seconds_to_sleep: float = 1,
                            timeout: float | None = None) -> str | None:
    """The first checkpoint after `last_checkpoint`; None where none comes in `timeout` seconds."""
    tf_logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = None if timeout is None else time.time() + timeout
    while True:
        found = checkpoint_management.latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            return found
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir: str, min_interval_secs: float = 0, timeout: float | None = None,
                         timeout_fn: Callable[[], bool] | None = None) -> Iterator[str]:
    """The checkpoints of a folder as they appear; ends after `timeout` seconds without one, if `timeout_fn` agrees."""
    path = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if not timeout_fn or timeout_fn():
                return
            continue
        begun = time.time()
        path = new
        yield path
        left = begun + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


# ------------------------------------------------------------ initial values from a checkpoint


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: dict[str, Any]) -> None:
    """Make the initializers of variables read a checkpoint.

    `assignment_map`: {name in the checkpoint: variable, its name, or the list of its parts}; a name with a trailing
    slash on both sides maps scopes, `"/"` being the outermost.

    Raises `ValueError` where the checkpoint lacks a tensor, shapes differ, or no variable has that name.
    """
    path = _checkpoint_filename(ckpt_dir_or_file)
    reader = load_checkpoint(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    for in_checkpoint, target in sorted(assignment_map.items()):
        if _is_variable(target) or (isinstance(target, list) and all(_is_variable(v) for v in target)):
            _initialize(target, in_checkpoint, path, shapes, ckpt_dir_or_file)
            continue
        variables_there = variable_scope._get_default_variable_store()._vars
        if target in variables_there:
            _initialize(variables_there[target], in_checkpoint, path, shapes, ckpt_dir_or_file)
            continue
        parts = _parts(target, variables_there)
        if parts:
            _initialize(parts, in_checkpoint, path, shapes, ckpt_dir_or_file)
            continue
        _initialize_scope(in_checkpoint, target, variables_there, path, shapes, ckpt_dir_or_file)


def _initialize_scope(in_checkpoint: str, target: str, there: dict[str, Any], path: str,
                      shapes: dict[str, list[int]], given: Any) -> None:
    if "/" in target and not target.endswith("/") or "/" in in_checkpoint and not in_checkpoint.endswith("/") \
            or not target.endswith("/") or not in_checkpoint.endswith("/"):
        raise ValueError(f"Assignment map with scope only name {target} should map to scope only {in_checkpoint}. "
                         "Should be 'scope/': 'other_scope/'.")
    # A part belongs to its whole variable.
    names = dict.fromkeys(name.partition("/part_")[0] if "/part_" in name else name
                          for name in there if target == "/" or name.startswith(target))
    for name in names:
        rest = name if target == "/" else name[len(target):]
        stored = rest if in_checkpoint == "/" else in_checkpoint + rest
        if stored.endswith("/"):
            stored = stored[:-1]
        if stored not in shapes:
            raise ValueError(f"Tensor {stored} ({rest} in {in_checkpoint}) is not found in {given} checkpoint")
        variable = there.get(name)
        _initialize(_parts(name, there) if variable is None else variable, stored, path, shapes, given)


def _is_variable(value: Any) -> bool:
    return isinstance(value, variables.Variable)


def _parts(name: Any, there: dict[str, Any]) -> list[Any] | None:
    parts: list[Any] = []
    while f"{name}/part_{len(parts)}" in there:
        parts.append(there[f"{name}/part_{len(parts)}"])
    return parts or None


def _initialize(variable: Any, name: str, path: str, shapes: dict[str, list[int]], given: Any) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {given} checkpoint {shapes}")
    if _is_variable(variable):
        if not variable.get_shape().is_compatible_with(TensorShape(shapes[name])):
            raise ValueError(f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with shape of "
                             f"tensor {name} ({shapes[name]}) from checkpoint reader.")
        _set_checkpoint_initializer(variable, path, name, "")
        return
    for part in variable:
        info = part._get_save_slice_info()
        if info is None:
            raise ValueError(f"{part.name} is no part of a variable: give the variable itself, not a list.")
        if list(info.full_shape) != shapes[name]:
            raise ValueError(f"Shape of partitioned variable {info.full_name} ({list(info.full_shape)}) doesn't match "
                             f"with shape of tensor {name} ({shapes[name]}) from checkpoint reader.")
        _set_checkpoint_initializer(part, path, name, info.spec)


def _set_checkpoint_initializer(variable: Any, path: str, name: str, slice_spec: str,
                                node_name: str = "checkpoint_initializer") -> None:
    with ops.device(variable.device), ops.device("/cpu:0"):
        restored = io_ops.restore_v2(path, [name], [slice_spec], [variable.dtype.base_dtype], name=node_name)[0]
        saveables: list[Any] = []
        for key, op in saveable_object_util.op_list_to_dict([variable]).items():
            saveables += list(saveable_object_util.saveable_objects_for_op(op, key))
        variable._initializer_op = saveables[0].restore([restored], restored_shapes=None).op
        restored.set_shape(variable.shape)
        variable._initial_value = restored
