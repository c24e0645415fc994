"""Every registered op has the schema it has in TensorFlow 1.15.5, as recorded in recorded/ops.txt."""

from pathlib import Path

import pytest

import tfsandbox  # noqa: F401  (registers the ops)
from tfsandbox.framework import op_registry

RECORDED = {}
for line in (Path(__file__).parent / "recorded" / "ops.txt").read_text().splitlines():
    name, signature, attrs, flags = line.split(" | ")
    RECORDED[name] = (signature, attrs, set(flags.split()))

FLAGS = ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input")


def described(definition: op_registry.OpDef) -> tuple:
    attrs = {attr.name: (attr.type, repr(attr.default), attr.allowed and frozenset(attr.allowed), attr.minimum)
             for attr in definition.attrs.values()}
    return definition.inputs, definition.outputs, attrs, {f for f in FLAGS if getattr(definition, f)}


@pytest.mark.parametrize("name", sorted(op_registry.registered()))
def test_schema_is_tensorflows(name: str) -> None:
    assert name in RECORDED, "TensorFlow 1.15.5 has no such op"
    signature, attrs, flags = RECORDED[name]
    expected = op_registry.OpDef(name, signature, attrs, stateful="is_stateful" in flags,
                                 commutative="is_commutative" in flags, aggregate="is_aggregate" in flags,
                                 allows_uninitialized_input="allows_uninitialized_input" in flags)
    assert described(op_registry.get(name)) == described(expected)
