"""A saver's nodes in a GraphDef, restricted to the variables that remain.

SaveV2 and RestoreV2 take the tensors' names, and the slices to save of them, as constants with one entry a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework.node_graph import NodeGraph
from tfsandbox.framework.tensor_proto import ndarray_to_proto

SAVE_OPS = frozenset({"Save", "SaveSlices", "SaveV2"})
RESTORE_OPS = frozenset({"Restore", "RestoreSlice", "RestoreV2"})

_TYPES_ATTR = {"Save": "T", "SaveSlices": "T", "SaveV2": "dtypes", "RestoreV2": "dtypes"}


def first_saved(op: str) -> int:
    """The first input of a saver's op that is a tensor to save."""
    return 2 if op == "Save" else 3


def name_inputs(op: str) -> range:
    """The inputs of a saver's op with an entry for each tensor."""
    return range(1, 2 if op == "Save" else 3)


def can_be_restricted(graph: NodeGraph, i: int) -> bool:
    """Whether a node is one of a saver's whose names and slices are constants, one for each tensor."""
    op = graph.ops[i]
    if op not in _TYPES_ATTR:
        return False
    count = len(graph.nodes[i].attr[_TYPES_ATTR[op]].list.type)
    if op in SAVE_OPS and len(graph.inputs[i]) - first_saved(op) != count:
        return False
    for place in name_inputs(op):
        value = graph.constant(graph.inputs[i][place][0]) if place < len(graph.inputs[i]) else None
        if value is None or value.shape != (count,):
            return False
    return True


def keep_types(node: Any, places: Sequence[int]) -> None:
    """Leave in a saver's NodeDef the types of the tensors at these places."""
    types = node.attr[_TYPES_ATTR[node.op]].list.type
    chosen = [types[place] for place in places]
    del types[:]
    types.extend(chosen)


def keep_entries(node: Any, value: np.ndarray, places: Sequence[int]) -> None:
    """Leave in a Const NodeDef of strings the entries at these places."""
    node.attr["value"].tensor.CopyFrom(ndarray_to_proto(value[list(places)]))


def new_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """`name`, or `name_1`, ... where it is taken."""
    candidate, number = name, 0
    while is_taken(candidate):
        number += 1
        candidate = f"{name}_{number}"
    return candidate
