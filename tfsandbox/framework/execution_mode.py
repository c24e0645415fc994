"""Switches between TensorFlow's modes: the sandbox has graphs, and variables of one kind."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "control_flow_v2_enabled", "disable_control_flow_v2", "disable_eager_execution", "disable_resource_variables",
    "disable_tensor_equality", "disable_v2_behavior", "disable_v2_tensorshape", "enable_eager_execution",
    "enable_resource_variables", "enable_v2_behavior", "executing_eagerly", "resource_variables_enabled",
]


def _not_here(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.{name}() is not in the sandbox: it is a TensorFlow 1 with graphs and sessions, in which a tensor has its "
        "value in a run. Leave the call out and use `with tf.Session() as sess: sess.run(tensor)`; inside a "
        "tf.py_function tensors do have values.")


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> NoReturn:
    """`NotImplementedError`: the sandbox builds graphs."""
    _not_here("enable_eager_execution")


def enable_v2_behavior() -> NoReturn:
    """`NotImplementedError`: the sandbox is a TensorFlow 1."""
    _not_here("enable_v2_behavior")


def executing_eagerly() -> bool:
    """False."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do."""


def disable_v2_behavior() -> None:
    """Nothing to do."""


def disable_v2_tensorshape() -> None:
    """Nothing to do: the sizes of a shape are Dimensions."""


def disable_tensor_equality() -> None:
    """Nothing to do: `==` of tensors compares identity."""


def disable_control_flow_v2() -> None:
    """Nothing to do: conditions and loops are nodes of the graph."""


def control_flow_v2_enabled() -> bool:
    """False."""
    return False


def enable_resource_variables() -> None:
    """Accepted: there is one kind of variable, and its reads are ordered as those of resource variables are."""


def disable_resource_variables() -> None:
    """Nothing to do."""


def resource_variables_enabled() -> bool:
    """False."""
    return False
