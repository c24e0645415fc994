"""Gradients of Switch, Merge and their kin outside of loops."""

from __future__ import annotations

from typing import Any

from tfsandbox.framework.op_registry import get
from tfsandbox.framework.operation import Operation
from tfsandbox.ops import control_flow_context as context_lib


def _switch_grad(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of the two outputs meet in a Merge; where one is missing, zeros come from its branch."""
    context = op._get_control_flow_context()
    if context is not None and context.is_while():
        raise NotImplementedError("the gradient of a while loop is not there yet")
    if isinstance(context, context_lib.CondContext):
        zero_grad = grads[1 - context.branch]
        # None for a Switch of a type that has no gradient.
        if zero_grad is None:
            return [None, None]
        return [context_lib.merge(list(grads), name="cond_grad")[0], None]
    false_grad = context_lib.switch(grads[0], op.inputs[1])[0]
    true_grad = context_lib.switch(grads[1], op.inputs[1])[1]
    return [context_lib.merge([false_grad, true_grad])[0], None]


def _merge_grad(op: Operation, grad: Any, _: Any) -> Any:
    """The gradient goes to the branch that ran, through a Switch on the condition's predicate."""
    input_op = op.inputs[0].op
    context = context_lib.output_context(input_op)
    if context is not None and context.is_while():
        raise NotImplementedError("the gradient of a while loop is not there yet")
    if isinstance(context, context_lib.CondContext):
        return context_lib.switch_ref_or_tensor(grad, context.pred, name="cond_grad")
    from tfsandbox.ops import math_ops
    return [context_lib.switch_ref_or_tensor(grad, math_ops.equal(op.outputs[1], i))[1]
            for i in range(len(op.inputs))]


for _name in ("Switch", "RefSwitch"):
    get(_name).gradient(_switch_grad)
for _name in ("Merge", "RefMerge"):
    get(_name).gradient(_merge_grad)

