"""The update ops as functions, under TensorFlow's names: for optimizers that programs write themselves.

`apply_adam(var, m, v, beta1_power, ..., grad, use_locking=False, use_nesterov=False, name=None)`: the op's inputs in
order, then its attributes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import op_registry
from tfsandbox.framework.op_def_library import apply_op
from tfsandbox.ops import training_ops as _training_ops  # noqa: F401  (registers the ops)

_UPDATE = re.compile(r"(?:Sparse)?Apply[A-Z]\w*$")


def _snake(name: str) -> str:
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def _function(definition: op_registry.OpDef) -> Callable[..., Any]:
    types = {arg.type_attr for arg in definition.inputs}
    parameters = [inspect.Parameter(arg.name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for arg in definition.inputs]
    parameters += [inspect.Parameter(attr.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=attr.default)
                   for attr in definition.attrs.values() if attr.name not in types]
    parameters.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return apply_op(definition.name, **bound.arguments)

    function.__name__ = function.__qualname__ = _snake(definition.name)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = f"A node {definition.name}; gives the variable's storage after the update."
    return function


_FUNCTIONS = {_snake(name): name for name in op_registry.registered() if _UPDATE.match(name)}


def __getattr__(name: str) -> Any:
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = _function(op_registry.get(_FUNCTIONS[name]))
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS})
