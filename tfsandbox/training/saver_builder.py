"""The nodes that a Saver adds to the graph: one that writes a checkpoint, one that reads it and assigns."""

from __future__ import annotations

import uuid
from typing import Any

from tfsandbox.framework import constant_op, ops
from tfsandbox.framework.graph import get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, control_flow_ops, io_ops, string_ops
from tfsandbox.training.saving import saveable_object, saveable_object_util

Saveables = list[saveable_object.SaveableObject]


class BulkSaverBuilder:
    """Builds a Saver's nodes, with one RestoreV2 for all that is restored."""

    SaveSpec = saveable_object.SaveSpec
    SaveableObject = saveable_object.SaveableObject

    def __init__(self, write_version: int = 2) -> None:
        self._write_version = write_version

    def build(self, names_to_saveables: Any, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
              keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
              restore_sequentially: bool = False, filename: str = "model") -> Any:
        """Add the nodes and give the SaverDef message that names them."""
        saveables = saveable_object_util.validate_and_slice_inputs(names_to_saveables)
        with ops.name_scope(name, "save", [saveable.op for saveable in saveables]) as scope:
            path = array_ops.placeholder_with_default(filename or "model", shape=(), name="filename")
            # Programs feed the tensor called Const.
            path = array_ops.placeholder_with_default(path, shape=(), name="Const")
            if sharded:
                by_device = _by_device(saveables)
                saved = self._add_sharded_save(path, by_device)
                restored = self._add_sharded_restore(path, by_device, reshape)
            else:
                saved = self._add_save(path, saveables)
                restored = self._add_restore(path, saveables, reshape, "restore_all")
        assert restored.name == scope + "restore_all", restored.name
        from tfsandbox.proto import saver_pb2
        message = saver_pb2.SaverDef(
            filename_tensor_name=path.name, save_tensor_name=saved.name, restore_op_name=restored.name,
            max_to_keep=max_to_keep, sharded=sharded, keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours)
        message.version = self._write_version  # type: ignore[assignment]
        return message

    def save_op(self, filename_tensor: Any, saveables: Saveables) -> Operation:
        """The node that writes."""
        names, slices, tensors = [], [], []
        for saveable in saveables:
            for spec in saveable.specs:
                names.append(spec.name)
                slices.append(spec.slice_spec)
                tensors.append(spec.tensor)
        return io_ops.save_v2(filename_tensor, names, slices, tensors)

    def bulk_restore(self, filename_tensor: Any, saveables: Saveables) -> list[Tensor]:
        """The tensors of all specs, in order, read by one node."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        return io_ops.restore_v2(filename_tensor, [spec.name for spec in specs], [spec.slice_spec for spec in specs],
                                 [spec.dtype for spec in specs])

    def _add_save(self, path: Tensor, saveables: Saveables) -> Tensor:
        written = self.save_op(path, saveables)
        return control_flow_ops.with_dependencies([written], path)

    def _add_restore(self, path: Tensor, saveables: Saveables, reshape: bool, name: str) -> Operation:
        tensors = self.bulk_restore(path, saveables)
        assigned = []
        at = 0
        for saveable in saveables:
            shapes = None
            if reshape:
                shapes = []
                for spec in saveable.specs:
                    tensor = spec.tensor
                    shape = tensor.get_shape()
                    shapes.append(shape if shape.is_fully_defined() else array_ops.shape(tensor))
            parts = tensors[at:at + len(saveable.specs)]
            at += len(saveable.specs)
            assigned.append(saveable.restore(parts, shapes))
        return control_flow_ops.group(*assigned, name=name)

    def _add_sharded_save(self, path: Tensor, by_device: list[tuple[str, Saveables]]) -> Tensor:
        """Every device's part goes to files of its own, in a folder of its own until all are merged."""
        temporary = string_ops.string_join([path, f"_temp_{uuid.uuid4().hex}/part"])
        count = constant_op.constant(len(by_device), name="num_shards")
        prefixes, saved = [], []
        for shard, (device, saveables) in enumerate(by_device):
            with get_default_graph().device(device or None):
                prefix = io_ops.sharded_filename(temporary, shard, count)
                prefixes.append(prefix)
                saved.append(self._add_save(prefix, saveables))
        with ops.control_dependencies([tensor.op for tensor in saved]):
            merged = io_ops.merge_v2_checkpoints(prefixes, path, delete_old_dirs=True)
            with ops.control_dependencies([merged]):
                return array_ops.identity(path)

    def _add_sharded_restore(self, path: Tensor, by_device: list[tuple[str, Saveables]], reshape: bool) -> Operation:
        restored = [self._add_restore(path, saveables, reshape, "restore_shard") for _, saveables in by_device]
        return control_flow_ops.group(*restored, name="restore_all")


def _by_device(saveables: Saveables) -> list[tuple[str, Saveables]]:
    groups: dict[str, Saveables] = {}
    for saveable in saveables:
        groups.setdefault(saveable.device or "", []).append(saveable)
    return sorted(groups.items())


BaseSaverBuilder = BulkSaverBuilder
