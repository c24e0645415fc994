"""What the plan relies on of every kernel: a result it calls its own is nobody else's, and has the type it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfsandbox as tf
from tests.ops.gradient_cases import Case, numbers
from tests.ops.test_gradients import CASES
from tfsandbox.framework import op_registry
from tfsandbox.framework.op_def_library import apply_op_helper

PURE = sorted(name for name, op in op_registry.registered().items()
              if op.kernel_fn is not None and op.state_fn is None and not op.is_stateful and op.outputs
              and not any(arg.is_ref for arg in op.inputs))


def arguments_of(definition: op_registry.OpDef) -> list[dict[str, Any]]:
    cases = CASES.get(definition.name)
    if cases:
        return [case.arguments for case in cases]
    found: dict[str, Any] = {}
    for arg in definition.inputs:
        allowed = definition.attrs[arg.type_attr].allowed if arg.type_attr else None
        if arg.type is not None:
            dtype = arg.type
        elif allowed is None or tf.float32 in allowed:
            dtype = tf.float32
        else:
            dtype = next((t for t in (tf.int32, tf.bool, tf.complex64, tf.string) if t in allowed), allowed[0])
        if dtype == tf.string:
            value: Any = np.array([[b"a", b"bc"]], object)
        else:
            value = (numbers(2, 3) * 2).astype(dtype.as_numpy_dtype)
        found[arg.name] = [value, value.copy()] if arg.is_list else value
    return [Case(found).arguments]


@pytest.mark.parametrize("name", PURE)
def test_results_are_owned_and_typed(name: str) -> None:
    definition = op_registry.get(name)
    for arguments in arguments_of(definition):
        with tf.Graph().as_default():
            given = {}
            for arg in definition.inputs:
                value = arguments[arg.name]
                given[arg.name] = [tf.constant(v) for v in value] if arg.is_list else tf.constant(value)
            attrs = {k: v for k, v in arguments.items() if k not in given}
            try:
                op = apply_op_helper(name, None, {**given, **attrs})
            except (TypeError, ValueError) as error:
                pytest.skip(f"the made-up inputs do not fit: {str(error)[:80]}")
            inputs = [np.array(t.op._attrs["value"]) for t in op.inputs]
            before = [i.tobytes() if i.dtype != object else list(i.ravel()) for i in inputs]
            try:
                with np.errstate(all="ignore"):
                    results = definition.evaluate(inputs, op._attrs)
            except Exception as error:  # noqa: BLE001
                pytest.skip(f"the made-up inputs do not fit: {str(error)[:80]}")
            after = [i.tobytes() if i.dtype != object else list(i.ravel()) for i in inputs]
            assert before == after, "the kernel changed an input"
            assert len(results) == len(op.outputs)
            for result, tensor in zip(results, op.outputs):
                expected = tensor.dtype.base_dtype
                assert isinstance(result, np.ndarray | np.generic), f"gave {type(result)}, not numpy"
                if expected.is_numpy_compatible and expected != tf.string:
                    assert result.dtype == expected.as_numpy_dtype, f"gave {result.dtype}, not {expected.name}"
                assert tensor.shape.is_compatible_with(result.shape), f"gave {result.shape}, not {tensor.shape}"
                if not definition.is_view and isinstance(result, np.ndarray) and result.size:
                    assert result.flags.writeable, "gave a read-only array as its own: it needs view=True"
                    assert not any(np.shares_memory(result, i) for i in inputs), "gave memory of an input as its own"
