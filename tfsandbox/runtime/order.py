"""Which nodes a run needs, and in which order they run."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from tfsandbox.framework import errors
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.runtime.rewrites import PlanRewrite


def needed_ops(targets: Iterable[Operation], feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """The nodes that the targets depend on, up to what is fed."""
    seen: set[Operation] = set()
    stack = list(targets)
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        for source in sources(op, feeds, rewrites):
            if source not in seen:
                stack.append(source)
    return list(seen)


def input_of(op: Operation, index: int, rewrites: Sequence[PlanRewrite]) -> Tensor:
    """An input of a node, after rewrites; an inner scope's answer builds on those around it."""
    for rewrite in reversed(rewrites):
        tensor = rewrite.input(op, index)
        if tensor is not None:
            return tensor
    return op._inputs[index]


def sources(op: Operation, feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """The nodes one node waits for. A skipped node needs only the storage it gives on, and its control inputs."""
    found = []
    skipped = any(rewrite.skips(op) for rewrite in rewrites)
    for i in range(len(op._inputs)):
        tensor = input_of(op, i, rewrites)
        if tensor not in feeds and not (skipped and not tensor._dtype._is_ref_dtype):
            found.append(tensor._op)
    return found + op._control_inputs


def mutates(op: Operation) -> bool:
    """Whether the node changes a variable."""
    return any(arg.is_ref for arg in op._op_def.inputs) and op.type not in _REF_READERS


_REF_READERS = {"RefSwitch", "RefIdentity", "RefMerge", "RefEnter", "RefExit", "RefNextIteration", "RefSelect",
                "IsVariableInitialized"}


def ordered_ops(ops: list[Operation], feeds: set[Tensor], rewrites: Sequence[PlanRewrite]) -> list[Operation]:
    """Topological order; among nodes that are ready those that change variables come last.

    So a value read from a variable is the one before this run's update, unless the graph says otherwise.
    """
    waiting: dict[Operation, int] = {}
    users: dict[Operation, list[Operation]] = {op: [] for op in ops}
    for op in ops:
        before = set(sources(op, feeds, rewrites))
        waiting[op] = len(before)
        for source in before:
            users[source].append(op)
    ready = [(mutates(op), op._id, op) for op in ops if not waiting[op]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, _, op = heapq.heappop(ready)
        order.append(op)
        for user in users[op]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (mutates(user), user._id, user))
    if len(order) < len(ops):
        stuck = next(op for op in ops if waiting[op])
        if any(op.type in ("NextIteration", "RefNextIteration") for op in ops):
            raise errors.UnimplementedError(
                None, stuck, f"the sandbox builds tf.while_loop but does not run it yet (node {stuck.name}). What "
                             f"works instead: a Python loop that builds the steps one by one, tf.nn.static_rnn.")
        raise errors.InvalidArgumentError(None, stuck, f"the graph has a cycle through node {stuck.name}")
    return order
