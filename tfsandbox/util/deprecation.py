"""Decorators that say, once, that a function or an argument is old."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

_PRINT_DEPRECATION_WARNINGS = True
"""Programs set this to False."""


def _warn(function: Callable[..., Any], text: str) -> None:
    if _PRINT_DEPRECATION_WARNINGS:
        # The logger stands a floor above; whoever deprecates something at run time has it.
        logger = sys.modules.get("tfsandbox.platform.tf_logging")
        if logger is not None:
            logger.warning("From %s.%s: %s", function.__module__, function.__qualname__, text)


def _removal(date: str | None) -> str:
    return f"after {date}" if date else "in a future version"


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[..., Any]:
    """Decorator: calls of the function log that it will be removed, and what to do instead."""
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        warned = False

        @functools.wraps(function)
        def old(*args: Any, **kwargs: Any) -> Any:
            nonlocal warned
            if not (warned and warn_once):
                warned = True
                _warn(function, f"is deprecated and will be removed {_removal(date)}.\n"
                                f"Instructions for updating:\n{instructions}")
            return function(*args, **kwargs)

        own = inspect.getdoc(function) or ""
        first, _, rest = own.partition("\n")
        old.__doc__ = (f"{first or 'DEPRECATED FUNCTION'}{' (deprecated)' if first else ''}\n\nWarning: THIS FUNCTION "
                       f"IS DEPRECATED. It will be removed {_removal(date)}.\nInstructions for updating:\n"
                       f"{instructions}\n{rest}")
        return old

    return decorate


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any,
                    **kwargs: Any) -> Callable[..., Any]:
    """Decorator: calls that give one of these arguments log that it is old.

    An argument is a name, or (name, value that is still fine).
    """
    names = [name if isinstance(name, tuple) else (name,) for name in deprecated_arg_names_or_tuples]
    return _deprecated_when(date, instructions, kwargs.get("warn_once", True), lambda given: [
        name for name, *fine in names if name in given and given[name] not in fine])


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True,
                          **deprecated_kwargs: Any) -> Callable[..., Any]:
    """Decorator: calls that give an argument one of these values log that it is old."""
    return _deprecated_when(date, instructions, warn_once, lambda given: [
        name for name, value in deprecated_kwargs.items() if name in given and given[name] == value])


def _deprecated_when(date: str | None, instructions: str, warn_once: bool,
                     old_names: Callable[[dict[str, Any]], list[str]]) -> Callable[..., Any]:
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature, warned = inspect.signature(function), set()

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if _PRINT_DEPRECATION_WARNINGS:
                for name in old_names(signature.bind_partial(*args, **kwargs).arguments):
                    if name not in warned or not warn_once:
                        warned.add(name)
                        _warn(function, f"calling with {name} is deprecated and will be removed {_removal(date)}.\n"
                                        f"Instructions for updating:\n{instructions}")
            return function(*args, **kwargs)

        return checked

    return decorate
