"""Values read from a variable that the same run changes: which results must be copies to stay what they are.

Reading a variable costs nothing here: a read, and a view of it (a transpose, a slice), is the variable's memory. As
long as the update comes last that is the value it should be. Where an update comes before the last use of a view, the
view is copied when it is made. What TensorFlow gives on without a copy (`FORWARDS`) is the variable's memory there too.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfsandbox.framework.operation import Operation
from tfsandbox.runtime.order import mutates
from tfsandbox.runtime.values import Plan, storage_of

FORWARDS = frozenset(["AddN", "Cast", "CheckNumerics", "EnsureShape", "ExpandDims", "GuaranteeConst", "Identity",
                      "IdentityN", "Merge", "Print", "RefMerge", "Reshape", "Squeeze"])
"""Ops that may give their input itself on; the result of any other op is a value of its own."""


def mutated_storages(ops: Iterable[Operation]) -> set[str]:
    """The variables that these nodes change."""
    found = set()
    seen: set[Operation] = set()
    for op in ops:
        if mutates(op):
            for tensor in op._inputs:
                # What gives a ref on has it from its own first input.
                while tensor._dtype._is_ref_dtype and tensor._op not in seen:
                    seen.add(tensor._op)
                    if not tensor._op._inputs:
                        found.add(storage_of(tensor._op))
                        break
                    tensor = tensor._op._inputs[0]
    return found


def mark_copies(plan: Plan) -> None:
    """Mark the steps whose result is a view of a variable that changes before the last use of the view."""
    end = len(plan.steps)
    changes: dict[str, int] = {}  # where a variable changes next: the walk goes backwards
    last: dict[tuple[Operation, int], int] = {}
    for value in plan.fetches:
        last[value.op, value.index] = end
        last.update({(predicate.op, predicate.index): end for c in value.conditions for predicate, _ in c})
    for position in range(end - 1, -1, -1):
        step = plan.steps[position]
        if mutates(step.op):
            changes.update({name: position for v in step.inputs if v.kind == "ref" for name in v.storages})
        until = max([position, *(last.get((v.op, v.index), position) for v in step.outputs if v.storages)])
        if step.op.type not in FORWARDS:
            step.copies = any(changes.get(name, end + 1) <= until for v in step.outputs for name in v.storages)
        for value in step.inputs:
            key = value.op, value.index
            last[key] = max(last.get(key, position), position if step.copies else until)
        for conditions in (step.conditions, *(v.conditions for v in step.inputs)):
            last.update({(predicate.op, predicate.index): end for c in conditions for predicate, _ in c})
