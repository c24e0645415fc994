"""What a plan is made of: values, the steps that compute them, and the conditions under which they are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.tensor_shape import TensorShape

Condition = frozenset[tuple["Value", bool]]
"""A conjunction: these predicates have these values."""

Conditions = frozenset[Condition]
"""When a node runs: any of these conjunctions. `ALWAYS` is the empty conjunction alone."""

ALWAYS: Conditions = frozenset([frozenset()])


def storage_of(op: Operation) -> str:
    """What a variable's storage goes by in a session: two nodes with one shared_name are one variable."""
    return (op._attrs.get("shared_name") or b"").decode() or op.name


class Buffer:
    """Memory that one or several values share."""

    __slots__ = ("owned", "pinned", "last_use")

    def __init__(self, owned: bool) -> None:
        self.owned = owned      # made by a step of this plan: nobody else sees it
        self.pinned = False     # a view of it may be anywhere: never write into it
        self.last_use = -1


class Value:
    """A value in a plan: fed, constant, a variable's storage, or computed by a step."""

    __slots__ = ("kind", "dtype", "shape", "constant", "op", "index", "buffer", "conditions", "name",
                 "reshaped_from", "storages")

    def __init__(self, kind: str, tensor: Tensor, shape: TensorShape, constant: Any = None, owned: bool = False,
                 conditions: Conditions = ALWAYS) -> None:
        self.kind = kind                # "feed" | "constant" | "ref" | "read" | "computed"
        self.dtype = tensor._dtype.base_dtype
        self.op, self.index = tensor._op, tensor._value_index
        self.shape = shape
        self.constant = constant
        self.buffer = Buffer(owned)
        self.conditions = conditions
        self.name = ""
        self.reshaped_from: Value | None = None  # the same elements in another shape
        # The variables whose memory this may be: it changes when they do.
        self.storages: frozenset[str] = frozenset([storage_of(tensor._op)] if kind in ("ref", "read") else ())

    @property
    def nbytes(self) -> int | None:
        """Bytes of the value, where its shape is known."""
        count = self.shape.num_elements()
        return None if count is None else count * self.dtype.size


@dataclass
class Step:
    """One node that computes: its inputs and outputs, and when it runs."""

    op: Operation
    inputs: list[Value]
    outputs: list[Value]
    conditions: Conditions = ALWAYS
    template: str | None = None  # the expression, where a simplification found a shorter one
    misfit: str = ""  # why the shapes of the inputs do not fit the op: all the step can do is raise
    copies: bool = False  # the result is a view of a variable that changes while the view is in use


@dataclass
class Plan:
    """What a run does. `elided` says of every needed node without a step why it has none."""

    feeds: list[Value]
    steps: list[Step]
    fetches: list[Value]
    elided: dict[Operation, str] = field(default_factory=dict)


def both(a: Conditions, b: Conditions) -> Conditions:
    """When both hold: the empty set where they contradict each other."""
    if a is ALWAYS or a == ALWAYS:
        return b
    if b is ALWAYS or b == ALWAYS or a == b:
        return a
    result = set()
    for left in a:
        for right in b:
            joined = left | right
            if not any((predicate, not outcome) in joined for predicate, outcome in joined):
                result.add(joined)
    return _simplified(result)


def any_of(parts: Sequence[Conditions]) -> Conditions:
    """When any of them holds."""
    return _simplified({conjunction for part in parts for conjunction in part})


def _simplified(conjunctions: set[Condition]) -> Conditions:
    """`p and q or p and not q` is `p`; a conjunction that another one implies goes."""
    changed = True
    while changed:
        changed = False
        for a in list(conjunctions):
            for literal in a:
                flipped = (a - {literal}) | {(literal[0], not literal[1])}
                if flipped in conjunctions:
                    conjunctions -= {a, flipped}
                    conjunctions.add(a - {literal})
                    changed = True
                    break
            if changed:
                break
    kept = {a for a in conjunctions if not any(b < a for b in conjunctions)}
    return ALWAYS if frozenset() in kept else frozenset(kept)
