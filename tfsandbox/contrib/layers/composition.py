"""Layers applied one after the other: `stack` with arguments for each, `repeat` with the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.ops import variable_scope


def _name_of(layer: Any, otherwise: str) -> str:
    """The name of a layer function, also behind functools.partial."""
    name = getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", None)
    return name or otherwise


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """layer(layer(inputs, *args, **kwargs), ...): the scopes of the layers are `scope/scope_1`, `scope/scope_2`, ..."""
    scope = kwargs.pop("scope", None)
    with variable_scope.variable_scope(scope, "Repeat", [inputs]):
        outputs = ops.convert_to_tensor(inputs)
        name = _name_of(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Layers one after the other, each with its own arguments: `stack(x, fully_connected, [32, 64])`.

    An entry of `stack_args` is one argument, or a list or tuple of them. The scopes of the layers are `scope/scope_1`,
    `scope/scope_2`, ...
    """
    scope = kwargs.pop("scope", None)
    with variable_scope.variable_scope(scope, "Stack", [inputs]):
        outputs = ops.convert_to_tensor(inputs)
        name = _name_of(layer, "stack") if scope is None else scope
        for i, given in enumerate(stack_args):
            arguments = given if isinstance(given, (list, tuple)) else [given]
            outputs = layer(outputs, *arguments, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs
