"""Resource variables by name only: the one kind of variable there is stands in for them."""

from __future__ import annotations

from typing import Any

from tfsandbox.ops.variables import Variable


class ResourceVariable(Variable):
    """A Variable; see `Variable`."""


def is_resource_variable(var: Any) -> bool:
    """Whether a variable was asked for as a ResourceVariable."""
    return isinstance(var, ResourceVariable)
