"""Which TensorFlow `import tensorflow` gives in this kernel."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Any


def _package() -> Any:
    """The package that this file belongs to: the alias is a matter of the whole, a floor above this one."""
    return sys.modules[__name__.partition(".")[0]]


def alias_installed() -> bool:
    """Whether `import tensorflow` gives the sandbox."""
    module = sys.modules.get("tensorflow")
    return module is not None and module is _package()


def real_tensorflow_installed() -> bool:
    """Whether a TensorFlow is there to import; it is not imported to find out."""
    if alias_installed():
        return False
    try:
        return importlib.util.find_spec("tensorflow") is not None
    except (ImportError, ValueError):
        return "tensorflow" in sys.modules


def select(version: str) -> str:
    """Make `import tensorflow` mean the sandbox (1.x) or what it meant before (2.x); what to tell the user.

    Raises ValueError for another version and RuntimeError where a real TensorFlow is already imported.
    """
    match = re.match(r"^([12])(\.(x|\d+)){0,2}$", version)
    if match is None:
        raise ValueError(f"%tensorflow_version takes 1.x or 2.x, not {version!r}.")
    exact = "" if version.endswith("x") else f" (a number of a major version: {version} means {match.group(1)}.x)"
    package = _package()
    if match.group(1) == "1":
        package.install_as_tensorflow()
        return f"TensorFlow 1.x selected{exact}: `import tensorflow` gives the sandbox."
    was_installed = alias_installed()
    package.uninstall_as_tensorflow()
    if real_tensorflow_installed():
        return f"TensorFlow 2.x selected{exact}: `import tensorflow` gives the installed TensorFlow."
    undone = "`import tensorflow` no longer gives the sandbox" if was_installed else "Nothing to undo"
    return f"{undone}, and no other TensorFlow is installed here."


def deselect() -> None:
    """Let `import tensorflow` mean again what it meant before."""
    _package().uninstall_as_tensorflow()


def status() -> str:
    """What is selected, and what there is."""
    if alias_installed():
        current = "1.x (the sandbox)"
    elif real_tensorflow_installed():
        current = "the installed TensorFlow"
    else:
        current = "none: `import tensorflow` fails"
    return f"Selected: {current}. Available: 1.x (the sandbox), 2.x (the TensorFlow that is installed, if any)."
