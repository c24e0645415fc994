"""warm_start: begin with some variables of an earlier training."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.ops import variables
from tfsandbox.training import checkpoint_utils

__all__ = ["warm_start"]


def warm_start(ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None,
               var_name_to_prev_var_name: dict[str, str] | None = None) -> None:
    """Make the initializers of variables read a checkpoint.

    `vars_to_warm_start`: a pattern that names of trainable variables begin with, a list of such patterns for all
    variables, a list of variables, or None: none. `var_name_to_prev_var_name`: {name: name in the checkpoint}.

    Raises `ValueError` where nothing matches, `NotImplementedError` for vocabularies.
    """
    if var_name_to_vocab_info:
        raise NotImplementedError("tfsandbox cannot remap vocabularies: warm_start takes no var_name_to_vocab_info.")
    previous = var_name_to_prev_var_name or {}
    if vars_to_warm_start is None:
        return
    if isinstance(vars_to_warm_start, str):
        chosen = ops.get_collection(GraphKeys.TRAINABLE_VARIABLES, vars_to_warm_start)
    elif isinstance(vars_to_warm_start, list) and all(isinstance(v, str) for v in vars_to_warm_start):
        chosen = [v for pattern in vars_to_warm_start for v in ops.get_collection(GraphKeys.GLOBAL_VARIABLES, pattern)]
    elif isinstance(vars_to_warm_start, list) and all(isinstance(v, variables.Variable) for v in vars_to_warm_start):
        chosen = vars_to_warm_start
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                         f"{[type(v) for v in vars_to_warm_start]}")
    if not chosen:
        raise ValueError(f"vars_to_warm_start={vars_to_warm_start!r} matches no variable. There are: "
                         f"{[v.op.name for v in variables.global_variables()]}")
    unused = set(previous) - {v.op.name for v in chosen}
    if unused:
        raise ValueError(f"You provided the following variables in var_name_to_prev_var_name that were not used: "
                         f"{sorted(unused)}.  Perhaps you misspelled them?  Here is the list of viable variable names: "
                         f"{sorted({v.op.name for v in chosen})}")
    checkpoint_utils.init_from_checkpoint(
        ckpt_to_initialize_from, {previous.get(v.op.name, v.op.name): v for v in dict.fromkeys(chosen)})
