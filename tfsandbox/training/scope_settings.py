"""Checks of what a training scope is given."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfsandbox.training.variable_selection import is_variable

MODIFIERS = ("learning_rate_multiplier", "clip_norm", "clip_value", "gradient_transform")


def check_names(given: Iterable[str], function: str, known: tuple[str, ...]) -> None:
    """Raises `TypeError` for a keyword that is not known, with the nearest that is."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{hint} "
                            f"It takes: {', '.join(known)}.")


def checked_function(name: str, value: Any, kind: str) -> Callable[..., Any] | None:
    """A function or None. Raises `TypeError` for something else."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be {kind}, but is {type(value).__name__}: {value!r}")
    return value


def checked_multiplier(value: Any) -> tuple[float, dict[Any, float]]:
    """The factor of all variables, and those of single ones. Raises `TypeError` for what is no number."""
    if value is None:
        return 1.0, {}
    if isinstance(value, dict):
        for variable, factor in value.items():
            if not is_variable(variable):
                raise TypeError(f"learning_rate_multiplier must be a number or {{variable: number}}, but has the key "
                                f"{variable!r}")
            _check_number("learning_rate_multiplier", factor)
        return 1.0, {variable: float(factor) for variable, factor in value.items()}
    _check_number("learning_rate_multiplier", value)
    return float(value), {}


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise TypeError(f"{name} must be a number, but is {type(value).__name__}: {value!r}")


def checked_positive(name: str, value: Any) -> float | None:
    """A positive number or None. Raises `TypeError` and `ValueError` for something else."""
    if value is None:
        return None
    _check_number(name, value)
    if not value > 0:
        raise ValueError(f"{name} must be positive, but is {value!r}")
    return float(value)
