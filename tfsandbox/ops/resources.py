"""Resources that are no variables (tables, ...): the lists of them, and the nodes that initialise or report them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfsandbox.framework import constant_op, dtypes, ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import array_ops, control_flow_ops, math_ops

__all__: list[str] = []


@dataclass(frozen=True)
class _Resource:
    """A handle with the operation that creates the resource and the tensor that says whether it exists."""

    handle: Any
    create: Operation
    is_initialized: Tensor


def register_resource(handle: Any, create_op: Operation, is_initialized_op: Tensor, is_shared: bool = True) -> None:
    """Enter a resource into the graph's list of shared or of local ones."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    ops.add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Any]:
    """The resources that all workers share."""
    return ops.get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    """The resources of this worker alone."""
    return ops.get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(resource_list: Sequence[Any] | None = None,
                                   name: str = "report_uninitialized_resources") -> Tensor:
    """string[n]: the names of the resources that do not exist yet."""
    chosen = shared_resources() + local_resources() if resource_list is None else list(resource_list)
    with ops.name_scope(name), ops.device("/cpu:0"):
        if not chosen:
            return constant_op.constant([], dtype=dtypes.string)
        missing = math_ops.logical_not(array_ops.stack([r.is_initialized for r in chosen]))
        names = constant_op.constant([r.handle.name for r in chosen])
        return array_ops.boolean_mask(names, missing)


def initialize_resources(resource_list: Sequence[Any], name: str = "init") -> Operation:
    """An operation that creates the resources."""
    if resource_list:
        return control_flow_ops.group(*[r.create for r in resource_list], name=name)
    return control_flow_ops.no_op(name=name)
