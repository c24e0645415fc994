"""Which checkpoints a folder holds: the file `checkpoint`, and the files of a checkpoint."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

from tfsandbox.lib import checkpoint_state, tensor_bundle
from tfsandbox.platform import tf_logging

__all__ = [
    "CheckpointManager", "checkpoint_exists", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "latest_checkpoint", "meta_graph_filename", "remove_checkpoint",
    "update_checkpoint_state",
]


def _message(state: checkpoint_state.CheckpointState) -> Any:
    from tfsandbox.proto import checkpoint_state_pb2
    return checkpoint_state_pb2.CheckpointState(
        model_checkpoint_path=state.model_checkpoint_path,
        all_model_checkpoint_paths=state.all_model_checkpoint_paths,
        all_model_checkpoint_timestamps=state.all_model_checkpoint_timestamps or [],
        last_preserved_timestamp=state.last_preserved_timestamp or None)


def generate_checkpoint_state_proto(save_dir: str, model_checkpoint_path: str,
                                    all_model_checkpoint_paths: Sequence[str] | None = None,
                                    all_model_checkpoint_timestamps: Sequence[float] | None = None,
                                    last_preserved_timestamp: float | None = None) -> Any:
    """The CheckpointState message for a folder; paths become relative to it where `save_dir` is relative."""
    return _message(checkpoint_state.state_of(save_dir, model_checkpoint_path, all_model_checkpoint_paths,
                                              all_model_checkpoint_timestamps, last_preserved_timestamp))


def update_checkpoint_state(save_dir: str, model_checkpoint_path: str,
                            all_model_checkpoint_paths: Sequence[str] | None = None,
                            latest_filename: str | None = None,
                            all_model_checkpoint_timestamps: Sequence[float] | None = None,
                            last_preserved_timestamp: float | None = None) -> None:
    """Write the file `checkpoint` (or `latest_filename`) of a folder."""
    update_checkpoint_state_internal(save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename,
                                     False, all_model_checkpoint_timestamps, last_preserved_timestamp)


def update_checkpoint_state_internal(save_dir: str, model_checkpoint_path: str,
                                     all_model_checkpoint_paths: Sequence[str] | None = None,
                                     latest_filename: str | None = None, save_relative_paths: bool = False,
                                     all_model_checkpoint_timestamps: Sequence[float] | None = None,
                                     last_preserved_timestamp: float | None = None) -> None:
    """As `update_checkpoint_state`; `save_relative_paths` writes all paths relative to the folder."""
    name = latest_filename or checkpoint_state.DEFAULT_NAME
    paths = list(all_model_checkpoint_paths or [])
    if save_relative_paths:
        def relative(path: str) -> str:
            return os.path.relpath(path, save_dir or ".") if os.path.isabs(path) else path
        model_checkpoint_path, paths = relative(model_checkpoint_path), [relative(path) for path in paths]
    if os.path.join(save_dir, name) == model_checkpoint_path and not tensor_bundle.exists(model_checkpoint_path):
        raise RuntimeError(f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
                           "Please use a different save path.")
    state = checkpoint_state.state_of(save_dir, model_checkpoint_path, paths, all_model_checkpoint_timestamps,
                                      last_preserved_timestamp)
    checkpoint_state.write(save_dir, state, name)


def _read(checkpoint_dir: str, latest_filename: str | None) -> checkpoint_state.CheckpointState | None:
    try:
        return checkpoint_state.read(os.fspath(checkpoint_dir), latest_filename)
    except (ValueError, OSError) as error:
        tf_logging.warning("%s: %s", type(error).__name__, error)
        tf_logging.warning("%s: Checkpoint ignored", os.path.join(
            os.fspath(checkpoint_dir), latest_filename or checkpoint_state.DEFAULT_NAME))
        return None


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> Any:
    """The CheckpointState message of a folder, its paths joined to the folder; None where there is none."""
    state = _read(checkpoint_dir, latest_filename)
    return None if state is None else _message(state)


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """The path (prefix) of the latest checkpoint in a folder, or None."""
    state = _read(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if tensor_bundle.exists(state.model_checkpoint_path) or glob.glob(glob.escape(state.model_checkpoint_path)):
        return state.model_checkpoint_path
    tf_logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether the files of a checkpoint are there."""
    prefix = os.fspath(checkpoint_prefix)
    if tensor_bundle.exists(prefix):
        return True
    try:
        # A pattern matches too, as it does for the readers of older formats.
        return any(os.path.isfile(path) for path in glob.glob(prefix))
    except OSError:
        return False


def _time_of(prefix: str) -> float | None:
    for path in (tensor_bundle.index_path(prefix), prefix):
        try:
            return os.stat(path).st_mtime
        except OSError:
            continue
    return None


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """When the checkpoints that exist were written, in seconds since 1970."""
    times = [_time_of(os.fspath(prefix)) for prefix in checkpoint_prefixes]
    return [t for t in times if t is not None]


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file that holds the graph of a checkpoint."""
    return f"{checkpoint_filename}.{meta_graph_suffix}"


def remove_checkpoint(checkpoint_prefix: str, checkpoint_format_version: int = 2,
                      meta_graph_suffix: str = "meta") -> None:
    """Delete a checkpoint's files."""
    prefix = os.fspath(checkpoint_prefix)
    paths = [meta_graph_filename(prefix, meta_graph_suffix)]
    if checkpoint_format_version == 2:
        # The index first: without it the checkpoint is gone, whatever happens next.
        paths += [tensor_bundle.index_path(prefix), *glob.glob(glob.escape(prefix) + ".data-?????-of-?????")]
    else:
        paths += glob.glob(glob.escape(prefix))
    for path in paths:
        try:
            os.remove(path)
        except FileNotFoundError:
            continue


class CheckpointManager:
    """Keeps the last checkpoints of an object with `save(path, session=None)`-like `write`, in one folder.

    `checkpoint` has `write(prefix) -> path` and, for numbering, a `save_counter` or none. Raises `ValueError` unless
    `max_to_keep` is positive or None.
    """

    def __init__(self, checkpoint: Any, directory: str, max_to_keep: int | None,
                 keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt") -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._directory, self._max_to_keep = checkpoint, directory, max_to_keep
        self._keep_seconds = None if keep_checkpoint_every_n_hours is None else keep_checkpoint_every_n_hours * 3600.0
        self._prefix = os.path.join(directory, checkpoint_name)
        state = _read(directory, None)
        self._paths: dict[str, float] = {}
        self._latest: str | None = None
        self._last_preserved = time.time()
        self._count = 0
        if state is not None:
            times = state.all_model_checkpoint_timestamps or [time.time()] * len(state.all_model_checkpoint_paths)
            self._paths = dict(zip(state.all_model_checkpoint_paths, times))
            self._latest = state.model_checkpoint_path
            self._last_preserved = state.last_preserved_timestamp or self._last_preserved
            self._count = max((int(tail) for path in self._paths if (tail := path.rpartition("-")[2]).isdigit()),
                              default=0)

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the last one written."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths that are kept, oldest first."""
        return list(self._paths)

    def save(self, session: Any = None, checkpoint_number: Any = None) -> str:
        """Write the next checkpoint and delete what is too many; gives its path."""
        if checkpoint_number is None:
            self._count += 1
            checkpoint_number = self._count
        path = self._checkpoint.write(f"{self._prefix}-{int(checkpoint_number)}")
        self._latest = path
        self._paths.pop(path, None)
        self._paths[path] = time.time()
        self._sweep()
        update_checkpoint_state_internal(self._directory, path, list(self._paths), None, True,
                                         list(self._paths.values()), self._last_preserved)
        return path

    def _sweep(self) -> None:
        if self._max_to_keep is None:
            return
        while len(self._paths) > self._max_to_keep:
            path, written = next(iter(self._paths.items()))
            del self._paths[path]
            if self._keep_seconds is not None and written - self._keep_seconds >= self._last_preserved:
                self._last_preserved = written
                continue
            remove_checkpoint(path)
