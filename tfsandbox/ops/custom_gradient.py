"""custom_gradient: a function that brings its own gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfsandbox.framework import op_registry, ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.ops import passing
from tfsandbox.util import nest

__all__ = ["custom_gradient"]

_VARIABLE_KEYS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function of tensors that gives `(result, grad_fn)`.

    `grad_fn` takes a gradient for each tensor of the result and gives one for each argument. A function that uses
    variables needs a `grad_fn` with a keyword `variables`, which gives `(gradients of the arguments, of the
    variables)`.

    The decorated function raises `ValueError` for keyword arguments, `TypeError` for variables made in it or without
    a `grad_fn` that takes them.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager "
                             "execution is enabled.")
        return _build(f, args)
    return decorated


def _build(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    name = f"CustomGradient-{ops.uid()}"
    arguments = [ops.convert_to_tensor(x) for x in args]
    before = set(_variables())
    result, grad_fn = f(*arguments)
    if set(_variables()) - before:
        raise TypeError("All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
                        "Ensure that no `variable_scope` is created with `use_resource=False`. Make the variables "
                        "before you call the function.")
    flat = [ops.convert_to_tensor(x) for x in nest.flatten(result)]
    for tensor in flat:
        passing.identity(tensor)  # nothing uses these; TensorFlow's graph has them, and later names depend on that
    variables = _used_variables(flat, arguments)
    if variables and not _takes_variables(grad_fn):
        raise TypeError("If using @custom_gradient with a function that uses variables, then grad_fn must accept a "
                        "keyword argument 'variables'.")

    def gradient(op: Operation, *grads: Any) -> list[Any]:
        upstream = grads[:len(flat)]
        if not variables:
            return [None] * len(flat) + nest.flatten(grad_fn(*upstream))
        of_arguments, of_variables = grad_fn(*upstream, variables=variables)
        if len(of_variables) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        return [None] * len(flat) + nest.flatten(of_arguments) + list(of_variables)

    op_registry.register_gradient(name, gradient)
    values = [ops.convert_to_tensor(v) for v in variables]
    with get_default_graph().gradient_override_map({"IdentityN": name}):
        tensors = passing.identity_n([*flat, *arguments, *values])
    return nest.pack_sequence_as(result, tensors[:len(flat)])


def _variables() -> list[Any]:
    return list(dict.fromkeys(v for key in _VARIABLE_KEYS for v in ops.get_collection(key)))


def _used_variables(results: Sequence[Tensor], arguments: Sequence[Tensor]) -> list[Any]:
    """The variables that the results are computed from, other than through the arguments."""
    of_op = {v.op: v for v in _variables() if hasattr(v, "initializer")}
    found: dict[Any, None] = {}
    seen = {t.op for t in arguments}
    waiting = [t.op for t in results]
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in of_op:
            found[of_op[op]] = None
        waiting += [t.op for t in op.inputs]
    return list(found)


def _takes_variables(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return "variables" in parameters or any(p.kind == p.VAR_KEYWORD for p in parameters.values())
