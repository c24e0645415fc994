"""arg_scope: default arguments for the calls in a block, by function or class.

`add_arg_scope` lets a function take its defaults from the scopes around a call. All of `tf.contrib.layers` does;
beyond TensorFlow, so do `tf.losses`, `tf.layers` and `tf.nn`, and every class of the sandbox, such as an optimizer.
Outside a scope such a call costs one look into an empty dict.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

Scope = dict[str, dict[str, Any]]
Target = TypeVar("Target", bound=Callable[..., Any])


class _Scopes(threading.local):
    """The scopes that this thread is in: the arguments of each target, by its key; the innermost last."""

    def __init__(self) -> None:
        self.current: Scope = {}


_scopes = _Scopes()


def add_arg_scope(func: Target) -> Target:
    """Decorator: let `arg_scope` set arguments of a function.

    What the function does not take is an error when it is called, as in TensorFlow; `accept_arg_scope` says it earlier.
    """
    key = str(func)

    @functools.wraps(func)
    def func_with_args(*args: Any, **kwargs: Any) -> Any:
        given = _scopes.current.get(key)
        if given:
            kwargs = _filled_in(func, given, args, kwargs)
        return func(*args, **kwargs)

    func_with_args._key_op = key  # type: ignore[attr-defined]
    return func_with_args  # type: ignore[return-value]


def accept_arg_scope(func: Target) -> Target:
    """Decorator for functions that TensorFlow's `arg_scope` refuses.

    An argument that they do not take is a `TypeError` as soon as a scope names it.
    """
    accepting: Any = add_arg_scope(func)
    accepting._checks_arg_scope = True
    return accepting


def accept_arg_scopes(namespace: dict[str, Any], leave: Collection[str] = ()) -> None:
    """Exchange the public functions of a namespace, all but those of `leave`, by ones that accept arg scopes.

    Whoever imports them from where they are defined has them as they are.
    """
    for name, value in list(namespace.items()):
        if inspect.isfunction(value) and not name.startswith("_") and name not in leave:
            namespace[name] = accept_arg_scope(value)


def _can_accept(cls: type) -> bool:
    """Whether it is a class of the sandbox, or one that is made from it, and constructed by `__init__`."""
    package = __name__.partition(".")[0]
    own = any(base.__module__.partition(".")[0] == package for base in cls.__mro__)
    return own and cls.__init__ is not object.__init__  # type: ignore[misc]


def _accept_in_class(cls: type) -> str:
    """Let a class take arguments from scopes, from now on; gives its key."""
    # The address tells apart classes of one name, such as those that a notebook's cell defines again.
    key = f"{cls} at {id(cls):#x}"
    construct = cls.__init__  # type: ignore[misc]

    @functools.wraps(construct)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        # A subclass that constructs its base has its own arguments for it.
        given = _scopes.current.get(key) if type(self) is cls else None
        if given:
            kwargs = _filled_in(cls, given, args, kwargs)
        construct(self, *args, **kwargs)

    cls.__init__ = __init__  # type: ignore[misc]
    cls._key_op = key  # type: ignore[attr-defined]
    return key


def _filled_in(target: Callable[..., Any], given: Mapping[str, Any], args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a call with those of the scope; `TypeError` for one that the target does not take."""
    names, positional = _parameters(target)
    for name in given:
        if names is not None and name not in names:
            raise TypeError(_unexpected(target, name))
        if name in positional[:len(args)]:
            raise TypeError(f"{target.__name__}() got multiple values for argument {name!r}: one by its position and "
                            f"one from an arg_scope. Pass it as {name}=...")
    return {**given, **kwargs}


def _unexpected(target: Callable[..., Any], name: str) -> str:
    names, _ = _parameters(target)
    return (f"{target.__name__}() got an unexpected keyword argument {name!r} from an arg_scope. "
            f"It takes: {', '.join(names or ())}")


@functools.cache
def _parameters(target: Callable[..., Any]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The names that can be given as keywords, None if any can, and the names by position."""
    parameters = inspect.signature(target).parameters.values()
    positional = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None, positional
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)), positional


def _own_key(op: Any) -> str | None:
    # A subclass has its base's attribute, but not its scope.
    return vars(op).get("_key_op") if inspect.isclass(op) else getattr(op, "_key_op", None)


def arg_scope_func_key(op: Any) -> str:
    """What a scope knows a function or class by."""
    return _own_key(op) or str(op)


def has_arg_scope(func: Any) -> bool:
    """Whether `arg_scope` can set arguments of it."""
    return _own_key(func) is not None or inspect.isclass(func) and _can_accept(func)


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a decorated function that have defaults."""
    assert has_arg_scope(func)
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


def current_arg_scope() -> Scope:
    """The arguments that are set where this is called, by the keys of functions and classes."""
    return _scopes.current


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Context manager: calls inside of these functions and classes get `kwargs` where the call does not give them.

    `list_ops_or_scope` is a list or tuple of them, or a scope that an earlier one gave, to be used again as it was,
    without the scopes around. Yields the scope, a dict.

    Raises `TypeError` for another first argument, `ValueError` for what is not decorated with `add_arg_scope`. An
    argument that a function does not take is a `TypeError` naming both.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling adictionary, kwargs must be empty.")
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = {key: dict(given) for key, given in _scopes.current.items()}
        for op in list_ops_or_scope:
            scope.setdefault(_checked_key(op, kwargs), {}).update(kwargs)
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    outer = _scopes.current
    _scopes.current = scope
    try:
        yield scope
    finally:
        _scopes.current = outer


def _checked_key(op: Any, given: Mapping[str, Any]) -> str:
    key = _own_key(op)
    if key is None and inspect.isclass(op) and _can_accept(op):
        key = _accept_in_class(op)
    if key is None:
        name = getattr(op, "__name__", repr(op))
        raise ValueError(f"{(getattr(op, '__module__', None), name)} is not decorated with @add_arg_scope: make "
                         f"`scoped = tf.contrib.framework.add_arg_scope({name})`, and name and call that")
    if inspect.isclass(op) or hasattr(op, "_checks_arg_scope"):
        names, _ = _parameters(op)
        for name in given:
            if names is not None and name not in names:
                raise TypeError(_unexpected(op, name))
    return key
