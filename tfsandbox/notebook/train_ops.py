"""Which op of a graph trains, what it makes smaller, and what a step of it must be fed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfsandbox.notebook.backward import find_backward
from tfsandbox.notebook.engine_records import graph_model
from tfsandbox.notebook.roles import apply_kind


def find_train_ops(graph: Any) -> list[Any]:
    """The operations that run whole training steps, the newest last.

    Whatever ends in updates by a gradient and is read by nothing: a group of a train op and a moving average, say.
    Where that is not one, those that optimizers and the program have put into the collection.
    """
    from tfsandbox.framework.graph import GraphKeys

    model = graph_model(graph)
    collected = [getattr(item, "op", item) for item in graph.get_collection(GraphKeys.TRAIN_OP)]
    begun = {operation.name for operation in collected}
    reached: set[str] = set()
    read: set[str] = set()
    for node in model.nodes:  # in the order of making: inputs come first
        sources = [name for name, _ in node.input_nodes()] + list(node.control_inputs)
        if node.name in begun or apply_kind(node.op) or any(name in reached for name in sources):
            reached.add(node.name)
            read.update(name for name in sources if name in reached)
    ends = [graph.get_operation_by_name(node.name) for node in model.nodes
            if node.name in reached and node.name not in read]
    return ends if len(ends) == 1 or not collected else list(dict.fromkeys(collected))


def find_losses(graph: Any, train_op: Any = None) -> list[Any]:
    """The scalar tensors that were differentiated for a train op; of the whole graph without one."""
    model = graph_model(graph)
    differentiated: set[str] | None = None
    if train_op is not None and train_op.name in model:
        # The backward pass begins at constants: a train op need not depend on its loss, but on gradients of it.
        differentiated = {model.node(name).of for name in model.ancestors([train_op.name])
                          if model.node(name).role == "gradient"}
    found = []
    for name in find_backward(model).losses:
        if differentiated is None or name in differentiated:
            tensor = graph.get_tensor_by_name(f"{name}:0")
            if tensor.shape.ndims in (0, None):
                found.append(tensor)
    return found


def needed_placeholders(graph: Any, operations: Iterable[Any]) -> list[str]:
    """The names of the placeholders that a run of some operations must be fed."""
    model = graph_model(graph)
    inside = model.ancestors([operation.name for operation in operations])
    return [node.name for node in model.nodes if node.name in inside and node.op in ("Placeholder", "PlaceholderV2")]
