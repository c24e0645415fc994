"""`%load_ext tfsandbox` and `%unload_ext tfsandbox`: everything that loading adds, unloading takes away."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from tfsandbox.notebook import completion, display_formatters, tensorflow_version
from tfsandbox.notebook.magics import MAGIC_NAMES, TensorFlowMagics

_HOOK = "complete_command"
_loaded: dict[int, bool] = {}
"""By the id of the shell: whether loading made `import tensorflow` mean the sandbox."""


def load_ipython_extension(ipython: Any) -> None:
    """Add magics, completion and pictures; let `import tensorflow` mean the sandbox if nothing else is installed."""
    if id(ipython) in _loaded:
        unload_ipython_extension(ipython)
    ipython.register_magics(TensorFlowMagics)
    if hasattr(ipython.Completer, "custom_matchers"):
        ipython.Completer.custom_matchers.append(_Matcher(ipython))
    else:  # before IPython 8.6
        for name in MAGIC_NAMES:
            ipython.set_hook(_HOOK, partial(_complete, ipython), str_key=f"%{name}")
    display_formatters.register(ipython)
    _loaded[id(ipython)] = _select_if_missing()


def unload_ipython_extension(ipython: Any) -> None:
    """Take away what loading added. What the user selected with %tensorflow_version stays."""
    if id(ipython) not in _loaded:
        return
    lines = ipython.magics_manager.magics["line"]
    for name in MAGIC_NAMES:
        if isinstance(getattr(lines.get(name), "__self__", None), TensorFlowMagics):
            del lines[name]
    ipython.magics_manager.registry.pop(TensorFlowMagics.__name__, None)
    matchers = getattr(ipython.Completer, "custom_matchers", [])
    matchers[:] = [matcher for matcher in matchers if not isinstance(matcher, _Matcher)]
    dispatcher = ipython.strdispatchers.get(_HOOK)
    for name in MAGIC_NAMES:
        getattr(dispatcher, "strs", {}).pop(f"%{name}", None)
    display_formatters.unregister(ipython)
    if _loaded.pop(id(ipython)):
        tensorflow_version.deselect()


def _complete(shell: Any, _: Any, event: Any) -> list[str]:
    return completion.complete(shell, event)


class _Matcher:
    """The words for a magic's line and only those: Python's builtins after `%tf_graph --` are no answer."""

    matcher_api_version = 2
    matcher_priority = 200.0
    matcher_identifier = "tfsandbox.magics"

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.__qualname__ = self.matcher_identifier  # IPython asks for both, as of a function

    def __call__(self, context: Any) -> dict[str, Any]:
        """IPython's matcher result for its completion context."""
        line = context.text_until_cursor.lstrip()
        command = line.split(maxsplit=1)[0] if line else ""
        if command.lstrip("%") not in MAGIC_NAMES or not command.startswith("%") or context.token.startswith("%"):
            return {"completions": [], "suppress": False}
        from IPython.core.completer import SimpleCompletion

        event = SimpleNamespace(line=line, command=command, symbol=context.token)
        words = completion.complete(self.shell, event)
        return {"completions": [SimpleCompletion(word) for word in words], "suppress": True, "ordered": True}


def _select_if_missing() -> bool:
    """Select 1.x where no TensorFlow is installed, and say in one line what `import tensorflow` gives."""
    if tensorflow_version.alias_installed():
        print("tfsandbox is loaded: `import tensorflow as tf` gives the sandbox, a TensorFlow 1.x.")
        return False
    if tensorflow_version.real_tensorflow_installed():
        print("tfsandbox is loaded: `import tensorflow` still gives the installed TensorFlow; "
              "%tensorflow_version 1.x makes it the sandbox.")
        return False
    tensorflow_version.select("1.x")
    print("tfsandbox is loaded: `import tensorflow as tf` gives the sandbox, a TensorFlow 1.x.")
    return True
