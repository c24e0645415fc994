"""Checks for NaN and Inf."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors, ops
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.framework.op_registry import register_op
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.shape_inference import unchanged

__all__ = ["add_check_numerics_ops", "check_numerics", "verify_tensor_all_finite"]

check_numerics_op = register_op("CheckNumerics", "tensor: T -> output: T",
                                "T: type in {bfloat16, float16, float32, float64}; message: string", stateful=True)
check_numerics_op.shape(unchanged)


@check_numerics_op.kernel(view=True)
def _check_numerics(tensor: Any, *, message: bytes) -> Any:
    # The sum of finite numbers times zero is zero; only what is not finite leaves a trace.
    if np.isfinite(np.add.reduce(tensor * tensor.dtype.type(0), axis=None)):
        return tensor
    nan, inf = bool(np.isnan(tensor).any()), bool(np.isinf(tensor).any())
    found = " and ".join(name for name, there in (("Inf", inf), ("NaN", nan)) if there)
    raise errors.InvalidArgumentError(None, None, f"{message.decode(errors='replace')} : Tensor had {found} values")


@check_numerics_op.gradient
def _check_numerics_grad(op: Operation, grad: Tensor) -> Tensor:
    return check_numerics(grad, "Not a number (NaN) or infinity (Inf) values detected in gradient. "
                                f"{op.get_attr('message')!r}")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; a run in which it holds NaN or Inf raises `InvalidArgumentError` with `message`."""
    return apply_op("CheckNumerics", tensor=tensor, message=message, name=name)


def verify_tensor_all_finite(t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None,
                             message: str | None = None) -> Tensor:
    """`t` (or `x`), given on only once it has been checked for NaN and Inf: see `check_numerics`."""
    value = _one_of("x", x, "t", t)
    text = _one_of("message", message, "msg", msg)
    return verify_tensor_all_finite_v2(value, text, name)


def _one_of(new: str, value: Any, old: str, old_value: Any) -> Any:
    if value is not None and old_value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'")
    return old_value if value is None else value


def verify_tensor_all_finite_v2(x: Any, message: str, name: str | None = None) -> Tensor:
    """`verify_tensor_all_finite` with TensorFlow 2's arguments."""
    from tfsandbox.ops import control_flow_ops
    with ops.name_scope(name, "VerifyFinite", [x]):
        x = ops.convert_to_tensor(x, name="x")
        with ops.colocate_with(x):
            return control_flow_ops.with_dependencies([check_numerics(x, message=message)], x)


def add_check_numerics_ops() -> Operation:
    """A node that checks every floating tensor of the graph, in the order they are made.

    Raises `ValueError` where a tensor lies in a branch of `tf.cond` or in a loop.
    """
    from tfsandbox.ops import control_flow_ops
    checks: list[Any] = []
    for op in ops.get_default_graph().get_operations():
        for output in op.outputs:
            if not output.dtype.base_dtype.is_floating:
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError("`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                                 "operations such as `tf.cond()` or `tf.while_loop()`.")
            with ops.get_default_graph().control_dependencies(checks):
                checks = [check_numerics(output, message=output.name)]
    return control_flow_ops.group(*checks)
