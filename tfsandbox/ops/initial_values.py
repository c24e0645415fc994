"""Initial values that depend on other variables: they must not read those before they are initialised.

`tf.Variable(other * 2.0)` may be initialised in the same run as `other`, in any order. So the nodes of the initial
value that depend on a variable are made once more, on the variable's `initialized_value()` in place of its value.
"""

from __future__ import annotations

from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.framework.operation import Operation, Tensor

_VARIABLE_OPS = ("Variable", "VariableV2")
_SAFE_OPS = ("IsVariableInitialized",)
_ON_VALUES = {"RefSwitch": "Switch", "RefMerge": "Merge", "RefIdentity": "Identity", "RefEnter": "Enter",
              "RefExit": "Exit", "RefNextIteration": "NextIteration"}


def without_uninitialized_reads(initial_value: Tensor, name: str) -> Tensor:
    """`initial_value`, or a copy of its nodes that reads initialised values; `name` is the new variable's.

    An initial value that is computed in a loop is given back as it is.
    """
    copies: dict[Operation, Any] = {}
    if _has_cycle(initial_value.op):
        return initial_value
    return _safe_tensor(initial_value, "_" + name, copies)


def _has_cycle(start: Operation) -> bool:
    done: set[Operation] = set()
    path: set[Operation] = set()
    stack: list[tuple[Operation, bool]] = [(start, False)]
    while stack:
        op, leaving = stack.pop()
        if leaving:
            path.discard(op)
            done.add(op)
            continue
        if op in path:
            return True
        if op in done:
            continue
        path.add(op)
        stack.append((op, True))
        for before in [tensor.op for tensor in op.inputs] + op.control_inputs:
            if before in path:
                return True
            if before not in done:
                stack.append((before, False))
    return False


def _safe_tensor(tensor: Tensor, suffix: str, copies: dict[Operation, Any]) -> Tensor:
    op = tensor.op
    if op.type in _SAFE_OPS:
        return tensor
    if op.type in _VARIABLE_OPS:
        if op not in copies:
            variable = _variable_of(op)
            copies[op] = None if variable is None else variable.initialized_value()
        return tensor if copies[op] is None else copies[op]
    if op not in copies:
        copies[op] = _safe_op(op, suffix, copies)
    return copies[op].outputs[tensor.value_index]


def _safe_op(op: Operation, suffix: str, copies: dict[Operation, Any]) -> Operation:
    """`op`, or the copy of it on safe inputs if some input is not safe."""
    inputs = [_safe_tensor(tensor, suffix, copies) for tensor in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs)):
        return op
    op_type = op.type
    if op_type in _ON_VALUES and not inputs[0].dtype._is_ref_dtype:
        op_type = _ON_VALUES[op_type]
    # The copy keeps its place in the graph, whatever scope the new variable is made in.
    with ops.name_scope(None):
        return op.graph.create_op(op_type, inputs, name=op.name + suffix, attrs=dict(op._attrs))


def _variable_of(op: Operation) -> Any:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if getattr(variable, "op", None) is op:
                return variable
    return None
