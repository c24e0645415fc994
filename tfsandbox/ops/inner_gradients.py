"""Gradients of a few nodes within a gradient function, in the scope where they are asked for."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import math_ops
from tfsandbox.ops.broadcasting import StaticUnbroadcast

__all__: list[str] = []


def inner_gradients(targets: Sequence[Tensor], grads: Sequence[Tensor], sources: Sequence[Tensor]) -> list[Any]:
    """The gradients with respect to `sources`, through nodes that lie between these and `targets`.

    As `tf.gradients` works, without a scope for each node, and for nodes of one output and without control flow.
    """
    between = _between(targets, sources)
    waiting = collections.Counter(t for op in between for t in op.inputs if t.op in between)
    for target in targets:
        waiting[target] += 0
    found: dict[Tensor, list[Tensor]] = collections.defaultdict(list)
    for target, grad in zip(targets, grads):
        found[target].append(grad)
    queue = collections.deque(target.op for target in targets)
    while queue:
        op = queue.popleft()
        grad = _sum(found[op.outputs[0]])
        wanted = [tensor in sources or tensor.op in between for tensor in op.inputs]
        for tensor, part in zip(op.inputs, _gradients_of(op, grad, wanted)):
            if part is not None:
                found[tensor].append(part)
        for tensor in op.inputs:
            if tensor.op in between:
                waiting[tensor] -= 1
                if waiting[tensor] == 0:
                    queue.append(tensor.op)
    return [_sum(found[source]) if source in found else None for source in sources]


def _between(targets: Sequence[Tensor], sources: Sequence[Tensor]) -> set[Operation]:
    """The operations on a way from a source to a target."""
    on_the_way: dict[Operation, bool] = {source.op: False for source in sources}

    def visit(op: Operation) -> bool:
        if op not in on_the_way:
            reached = [tensor in sources or visit(tensor.op) for tensor in op.inputs]
            on_the_way[op] = any(reached)
        return on_the_way[op]

    for target in targets:
        visit(target.op)
    return {op for op, yes in on_the_way.items() if yes}


def _gradients_of(op: Operation, grad: Tensor, wanted: list[bool]) -> Sequence[Any]:
    if wanted == [True, False]:
        if op.type == "Mul":
            return [StaticUnbroadcast(op, grad)(0, math_ops.multiply(grad, op.inputs[1]))]
        if op.type in ("AddV2", "Sub"):
            whole = op.inputs[1].shape.ndims == 0
            return [grad if whole else StaticUnbroadcast(op, grad)(0, grad)]
    function = ops.get_gradient_function(op)
    if function is None:
        return []
    result = function(op, grad)
    return result if isinstance(result, (list, tuple)) else [result]


def _sum(grads: list[Tensor]) -> Tensor:
    return grads[0] if len(grads) == 1 else math_ops.add_n(grads)
