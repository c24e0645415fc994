"""How objects show themselves in a notebook, without anything here importing IPython.

The notebook floor puts its renderer here when it is loaded; until then objects are text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

renderer: Callable[[Any], dict[str, Any] | None] | None = None
"""From an object to its MIME bundle, or None where it has no picture."""


def mimebundle(value: Any) -> dict[str, Any]:
    """The MIME bundle of an object: a picture where the notebook floor is loaded, else its text."""
    if renderer is not None:
        bundle = renderer(value)
        if bundle is not None:
            return bundle
    return {"text/plain": repr(value)}
