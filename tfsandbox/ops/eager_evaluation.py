"""Tensors that have their values at once: what the function of a `tf.py_function` works on.

They are nodes of a graph of their own, whose values are computed when somebody asks, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfsandbox.framework import errors
from tfsandbox.framework.graph import Graph
from tfsandbox.framework.operation import Operation, Tensor

__all__: list[str] = []


class EagerTensor(Tensor):
    """A tensor with a value."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The value, an array or numpy scalar."""
        value = evaluate([self])[0]
        return value.copy() if isinstance(value, np.ndarray) and value.ndim else np.asarray(value)[()]

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> Any:
        return self.numpy()

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __index__(self) -> int:
        return int(self.numpy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.numpy(), dtype)

    def __len__(self) -> int:
        return len(self.numpy())

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self.numpy()!r}>"

    __str__ = __repr__


class EagerGraph(Graph):
    """A graph whose tensors have values."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[Tensor, Any] = {}
        self.op_states: dict[Operation, Any] = {}

    def create_op(self, *args: Any, **kwargs: Any) -> Operation:
        """As in `Graph`; the outputs are `EagerTensor`s."""
        op = super().create_op(*args, **kwargs)
        for tensor in op.outputs:
            tensor.__class__ = EagerTensor
        return op


def evaluate(tensors: Sequence[Tensor]) -> list[Any]:
    """The values of tensors of an EagerGraph, in order.

    Raises `UnimplementedError` for variables and other nodes that live in a session.
    """
    for tensor in tensors:
        _compute(tensor)
    return [tensor.graph.values[tensor] for tensor in tensors]  # type: ignore[attr-defined]


def _compute(target: Tensor) -> None:
    graph: Any = target.graph
    waiting = [target.op]
    while waiting:
        op = waiting[-1]
        if op.outputs and op.outputs[0] in graph.values:
            waiting.pop()
            continue
        missing = [t.op for t in op.inputs if t not in graph.values]
        if missing:
            waiting += missing
            continue
        for tensor, value in zip(op.outputs, _run(op, graph)):
            graph.values[tensor] = value
        waiting.pop()


def _run(op: Operation, graph: EagerGraph) -> tuple[Any, ...]:
    definition = op._op_def
    if definition.kernel_fn is None or any(arg.is_ref for arg in (*definition.inputs, *definition.outputs)):
        raise errors.UnimplementedError(
            None, op, f"{op.type} cannot run inside a tf.py_function: variables, loops and queues live in a session")
    if op.type == "Const":
        return (op._attrs["value"],)
    keywords = {name: op._attrs[name] for name in definition.kernel_attrs}
    if definition.kernel_wants_state:
        assert definition.state_fn is not None
        if op not in graph.op_states:
            graph.op_states[op] = definition.state_fn(op, None)
        keywords["state"] = graph.op_states[op]
    inputs = definition.group_inputs([graph.values[t] for t in op.inputs], op._attrs)
    with np.errstate(all="ignore"):
        result = definition.kernel_fn(*inputs, **keywords)
    return result if isinstance(result, tuple) else (result,)
