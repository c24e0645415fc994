"""Saver: variables to checkpoint files and back."""

from __future__ import annotations

import numbers
import os
import time
from collections.abc import Iterable
from typing import Any

from tfsandbox.framework import errors, meta_graph, ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.ops import variables
from tfsandbox.platform import tf_logging
from tfsandbox.training import checkpoint_management, training_util
from tfsandbox.training.checkpoint_management import (  # noqa: F401
    checkpoint_exists,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from tfsandbox.training.saver_builder import BaseSaverBuilder, BulkSaverBuilder

V1, V2 = 1, 2


class Saver:
    """Writes variables to checkpoint files and restores them.

    Args: `var_list`: a list of variables, or {name in the checkpoint: variable}; None: all global variables.
    `max_to_keep`: how many of the last checkpoints are kept (None or 0: all); besides these, one every
    `keep_checkpoint_every_n_hours`. `sharded`: a file for each device. `reshape`: restore into variables of another
    shape. `allow_empty`: no error without variables. `name` prefixes the nodes. `write_version` V1 is accepted, but
    what is written is always V2.

    Raises `ValueError` where there is nothing to save or names collide, `TypeError` for what is no variable.
    """

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False,
                 max_to_keep: int | None = 5, keep_checkpoint_every_n_hours: float = 10000.0,
                 name: str | None = None, restore_sequentially: bool = False, saver_def: Any = None,
                 builder: Any = None, defer_build: bool = False, allow_empty: bool = False, write_version: int = V2,
                 pad_step_number: bool = False, save_relative_paths: bool = False,
                 filename: str | None = None) -> None:
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        if saver_def is not None and type(saver_def).__name__ != "SaverDef":
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
        self._var_list, self._reshape, self._sharded = var_list, reshape, sharded
        self._max_to_keep, self._keep_checkpoint_every_n_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._name, self._restore_sequentially = name, restore_sequentially
        self.saver_def, self._builder = saver_def, builder
        self._allow_empty, self._write_version = allow_empty, write_version
        self._pad_step_number, self._save_relative_paths = pad_step_number, save_relative_paths
        self._filename = filename
        self._is_built = self._is_empty = False
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self._next_checkpoint_time = 0.0
        if not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self) -> None:
        """Add the nodes; called at once unless `defer_build`."""
        if self._is_built:
            return
        self._is_built = True
        if not self.saver_def or self._builder:
            if self._builder is None:
                self._builder = BulkSaverBuilder(self._write_version)
            if self._var_list is None:
                self._var_list = variables._all_saveable_objects()
            if not self._var_list:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self.saver_def = self._builder.build(
                self._var_list, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep or 0,
                keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours, name=self._name,
                restore_sequentially=self._restore_sequentially, filename=self._filename or "model")
        elif self._name:
            # A definition from elsewhere, whose nodes were imported under a scope.
            self.saver_def.filename_tensor_name = ops.prepend_name_scope(self.saver_def.filename_tensor_name,
                                                                         self._name)
            self.saver_def.save_tensor_name = ops.prepend_name_scope(self.saver_def.save_tensor_name, self._name)
            self.saver_def.restore_op_name = ops.prepend_name_scope(self.saver_def.restore_op_name, self._name)
        self._check_saver_def()
        self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _check_saver_def(self) -> None:
        if not self.saver_def.save_tensor_name:
            raise ValueError(f"saver_def must specify the save_tensor_name: {self.saver_def!s}")
        if not self.saver_def.restore_op_name:
            raise ValueError(f"saver_def must specify the restore_op_name: {self.saver_def!s}")

    # ------------------------------------------------------------ the last checkpoints

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints written that were not deleted yet, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Deprecated: take these as the last checkpoints, of unknown age."""
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Take these as the last checkpoints, with the times they were written."""
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Iterable[str]) -> None:
        """Take those of these checkpoints that exist as the last ones: after a restart."""
        found = [path for path in checkpoint_paths if checkpoint_management.checkpoint_exists(path)]
        times = checkpoint_management.get_checkpoint_mtimes(found)
        self._last_checkpoints = list(zip(found, times))

    def _record(self, path: str) -> None:
        if not self.saver_def.max_to_keep:
            return
        self._last_checkpoints = [(p, t) for p, t in self._last_checkpoints if p != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > self.saver_def.max_to_keep:
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix: str) -> None:
        if not self._checkpoints_to_be_deleted:
            return
        path, written = self._checkpoints_to_be_deleted.pop(0)
        if written > self._next_checkpoint_time:
            self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            checkpoint_management.remove_checkpoint(path, V2, meta_graph_suffix)
        except OSError as error:
            tf_logging.warning("Ignoring: %s", error)

    # ------------------------------------------------------------ save and restore

    def save(self, sess: Any, save_path: str, global_step: Any = None, latest_filename: str | None = None,
             meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
             strip_default_attrs: bool = False, save_debug_info: bool = False) -> str | None:
        """Write a checkpoint and give its path: `save_path`, or `save_path-STEP` with a `global_step`.

        Files: `PATH.data-00000-of-00001` and `PATH.index`, the graph in `PATH.meta`, and the folder's list in
        `checkpoint` (`latest_filename`). A process killed meanwhile leaves the previous checkpoint in place. Inside a
        training scope that is not the chief's nothing is written, and None is given.

        Folders that are missing are made. Raises `TypeError` without a session, `ValueError` for a `latest_filename`
        with a path or a folder that cannot be made, `RuntimeError` before `build()`.
        """
        from tfsandbox.training import training_scope
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if not training_scope.is_chief():
            return None
        latest_filename = "checkpoint" if latest_filename is None else latest_filename
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = os.fspath(save_path)
        if global_step is not None:
            if not isinstance(global_step, numbers.Integral):
                global_step = training_util.global_step(sess, global_step)
            number = f"{global_step:08d}" if self._pad_step_number else str(global_step)
            checkpoint_file = f"{save_path}-{number}"
        else:
            # TensorFlow refuses a checkpoint of the name `checkpoint`, the state's own, as its V1 format had to. No V2
            # file bears the bare name, so here '/path/to/your/checkpoint' is a path like any other.
            checkpoint_file = save_path
        if not (hasattr(sess, "run") and hasattr(sess, "graph")):
            raise TypeError(f"'sess' must be a Session; {sess}")
        if not os.path.basename(save_path):
            raise ValueError(f"'save_path' names no file: {save_path!r}")
        if self._is_empty:
            self._write_meta_graph(sess, checkpoint_file, meta_graph_suffix, write_meta_graph, strip_default_attrs)
            return None
        try:
            written = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: checkpoint_file})
        except (errors.AlreadyExistsError, errors.FailedPreconditionError, errors.NotFoundError) as error:
            if os.path.isdir(os.path.dirname(save_path) or "."):
                raise
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from error
        path = written.decode() if isinstance(written, bytes) else str(written)
        if write_state:
            self._record(path)
            checkpoint_management.update_checkpoint_state_internal(
                save_dir=os.path.dirname(save_path), model_checkpoint_path=path,
                all_model_checkpoint_paths=self.last_checkpoints, latest_filename=latest_filename,
                save_relative_paths=self._save_relative_paths)
            self._delete_old(meta_graph_suffix)
        self._write_meta_graph(sess, checkpoint_file, meta_graph_suffix, write_meta_graph, strip_default_attrs)
        return path

    def _write_meta_graph(self, sess: Any, checkpoint_file: str, suffix: str, wanted: bool,
                          strip_default_attrs: bool) -> None:
        if not wanted:
            return
        with sess.graph.as_default():
            self.export_meta_graph(checkpoint_management.meta_graph_filename(checkpoint_file, suffix),
                                   strip_default_attrs=strip_default_attrs)

    def restore(self, sess: Any, save_path: str | None) -> None:
        """Give the variables the values of a checkpoint. They need not be initialised.

        Raises `ValueError` where there is no such checkpoint, `NotFoundError` where a variable is not in it,
        `InvalidArgumentError` where shape or type differ, `DataLossError` for a damaged file; then no variable
        has changed, unless shapes differ.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = os.fspath(save_path)
        if not checkpoint_management.checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        tf_logging.info("Restoring parameters from %s", prefix)
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: prefix})
        except errors.NotFoundError as error:
            raise _with_explanation(error, "a Variable name or other graph key that is missing from the checkpoint") \
                from None
        except errors.InvalidArgumentError as error:
            raise _with_explanation(error, "a mismatch between the current graph and the graph from the checkpoint") \
                from None

    # ------------------------------------------------------------ protobuf

    def as_saver_def(self) -> Any:
        """The SaverDef message; None for an empty Saver."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef message; None for a Saver outside `export_scope`."""
        if export_scope is None:
            return self.saver_def
        if not (self.saver_def.filename_tensor_name.startswith(export_scope)
                and self.saver_def.save_tensor_name.startswith(export_scope)
                and self.saver_def.restore_op_name.startswith(export_scope)):
            return None
        message = type(self.saver_def)()
        message.CopyFrom(self.saver_def)
        message.filename_tensor_name = ops.strip_name_scope(message.filename_tensor_name, export_scope)
        message.save_tensor_name = ops.strip_name_scope(message.save_tensor_name, export_scope)
        message.restore_op_name = ops.strip_name_scope(message.restore_op_name, export_scope)
        return message

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """The Saver whose nodes are in the default graph already."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(self, filename: str | None = None, collection_list: Any = None, as_text: bool = False,
                          export_scope: str | None = None, clear_devices: bool = False,
                          clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                          save_debug_info: bool = False) -> Any:
        """The MetaGraphDef of the default graph with this Saver, written to `filename` where one is given."""
        return export_meta_graph(
            filename=filename, graph_def=get_default_graph().as_graph_def(add_shapes=True), saver_def=self.saver_def,
            collection_list=collection_list, as_text=as_text, export_scope=export_scope, clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers, strip_default_attrs=strip_default_attrs)


def _with_explanation(error: errors.OpError, likely: str) -> errors.OpError:
    kind: Any = type(error)
    return kind(
        error.node_def, error.op,
        f"Restoring from checkpoint failed. This is most likely due to {likely}. Please ensure that you have not "
        f"altered the graph expected based on the checkpoint. Original error:\n\n{error.message}")


def _saver_def_type() -> Any:
    from tfsandbox.proto import saver_pb2
    return saver_pb2.SaverDef


ops.register_proto_function(GraphKeys.SAVERS, proto_type=_saver_def_type, to_proto=Saver.to_proto,
                            from_proto=Saver.from_proto)


def export_meta_graph(filename: str | None = None, meta_info_def: Any = None, graph_def: Any = None,
                      saver_def: Any = None, collection_list: Any = None, as_text: bool = False,
                      graph: Graph | None = None, export_scope: str | None = None, clear_devices: bool = False,
                      clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                      save_debug_info: bool = False, **kwargs: Any) -> Any:
    """The MetaGraphDef of a graph (or of one name scope of it), written to `filename` where one is given."""
    return meta_graph.export_scoped_meta_graph(
        filename=filename, meta_info_def=meta_info_def, graph_def=graph_def, saver_def=saver_def,
        collection_list=collection_list, as_text=as_text, graph=graph, export_scope=export_scope,
        clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs, **kwargs)[0]


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
                      **kwargs: Any) -> Saver | None:
    """Add the graph of a MetaGraphDef (or its file) to the default graph; gives the Saver for its variables.

    None where there are no variables.
    """
    message = meta_graph_or_file if hasattr(meta_graph_or_file, "collection_def") else \
        meta_graph.read_meta_graph_file(os.fspath(meta_graph_or_file))
    imported = meta_graph.import_scoped_meta_graph(message, clear_devices=clear_devices, import_scope=import_scope,
                                                   **kwargs)
    if message.HasField("saver_def"):
        scope = import_scope
        if imported:
            # The scope may have been given a number.
            key, sample = next(iter(imported.items()))
            scope = sample.name[:-len(":0" + key)]
        definition = type(message.saver_def)()
        definition.CopyFrom(message.saver_def)
        return Saver(saver_def=definition, name=scope)
    if variables._all_saveable_objects(scope=import_scope):
        return Saver()
    tf_logging.info("Saver not created because there are no variables in the graph to restore")
    return None


__all__ = ["BaseSaverBuilder", "BulkSaverBuilder", "Saver", "export_meta_graph", "import_meta_graph"]
