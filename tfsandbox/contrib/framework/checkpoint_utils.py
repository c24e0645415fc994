"""Looking into checkpoints, with contrib's names of the arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfsandbox.training import checkpoint_utils

__all__ = ["init_from_checkpoint", "list_variables", "load_checkpoint", "load_variable"]


def load_checkpoint(filepattern: str) -> Any:
    """A reader of a checkpoint, or of the latest one in a folder."""
    return checkpoint_utils.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """The value of one variable in a checkpoint."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """(name, shape) of all variables in a checkpoint, by name."""
    return checkpoint_utils.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """Make the initializers of variables read a checkpoint; see `tf.train.init_from_checkpoint`."""
    checkpoint_utils.init_from_checkpoint(checkpoint_dir, dict(assignment_map))
