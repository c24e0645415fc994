"""`import tensorflow` gives the sandbox: one prefix rule in an import finder, and what is said of a missing name.

The modules are not copied: `tensorflow.python.training.saver` *is* the object `tfsandbox.training.saver`.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tfsandbox import _spawning

SANDBOX = "tfsandbox"

# The rule: a TensorFlow path is a sandbox path with another beginning. The longest beginning counts.
PREFIXES = {
    "tensorflow.core.example": "tfsandbox.proto",
    "tensorflow.core.framework": "tfsandbox.proto",
    "tensorflow.core.protobuf": "tfsandbox.proto",
    "tensorflow.core.util": "tfsandbox.proto",
    "tensorflow.core": "tfsandbox.proto",
    "tensorflow.compat.v1": SANDBOX,
    "tensorflow.python": SANDBOX,
    "tensorflow": SANDBOX,
}

# The packages that TensorFlow keeps below `tensorflow.python`; the others are public names.
_BELOW_PYTHON = frozenset(["client", "framework", "lib", "ops", "platform", "runtime", "training", "util"])


def sandbox_name(name: str) -> str | None:
    """The sandbox's path of a `tensorflow` path, None for any other name."""
    for prefix, own in PREFIXES.items():
        if name == prefix or name.startswith(prefix + "."):
            return own + name[len(prefix):]
    return None


def tensorflow_name(name: str) -> str:
    """The path that TensorFlow code uses for the module or attribute at a sandbox path."""
    _, _, rest = name.partition(".")
    if not rest:
        return "tensorflow"
    if rest.startswith("proto."):
        return "tensorflow.core.framework." + rest.removeprefix("proto.")
    if rest.split(".")[0] in _BELOW_PYTHON:
        return "tensorflow.python." + rest
    return "tensorflow." + rest


def install_as_tensorflow(pruning: str | None = None) -> None:
    """Make `import tensorflow`, and every `tensorflow.*` path, give the sandbox; again is harmless.

    `pruning="tensorflow"` makes `tf.graph_util.remove_training_nodes` do by default only what TensorFlow's does,
    until the alias is taken away.
    Raises RuntimeError if a real TensorFlow is already imported: its own late imports would find the sandbox.
    """
    real = None if _finder() else _imported_tensorflow()
    if real is not None:
        version = getattr(real, "__version__", "")
        raise RuntimeError(
            f"TensorFlow{' ' + str(version) if version else ''} is already imported in this process, and one process "
            "cannot exchange it: restart the kernel (or the program) and install the sandbox before the first "
            "`import tensorflow`. `import tfsandbox as tf` works beside it."
        )
    if pruning is not None:
        _set_pruning(pruning)
    finder = _finder()
    if finder is None:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
        finder.bind("tensorflow", sys.modules[SANDBOX])
        importlib.import_module("tensorflow.python")  # TensorFlow has it as an attribute
        _spawning.begin()
    finder.pruning = pruning or finder.pruning


def uninstall_as_tensorflow() -> None:
    """Take the alias away: `import tensorflow` gives the real one again where it is installed."""
    finder = _finder()
    if finder is not None:
        sys.meta_path.remove(finder)
        finder.unbind()
        _spawning.end()
        if finder.pruning is not None:
            _set_pruning("full")


def installed_as_tensorflow() -> bool:
    """True while `import tensorflow` gives the sandbox."""
    return _finder() is not None


def _set_pruning(mode: str) -> None:
    from tfsandbox.framework import graph_util

    graph_util.set_default_pruning(mode)


def _finder() -> _Finder | None:
    return next((finder for finder in sys.meta_path if isinstance(finder, _Finder)), None)


def _imported_tensorflow() -> ModuleType | None:
    """A TensorFlow module that is imported and is not the sandbox's; None blocks an import and is no module."""
    for name in sorted(sys.modules):
        if sandbox_name(name) and sys.modules[name] is not None:
            return sys.modules[name]
    return None


class _Finder(MetaPathFinder):
    """The meta-path finder behind `import tensorflow...`."""

    def __init__(self) -> None:
        self.pruning: str | None = None  # the default that was asked for with the alias
        self._displaced: dict[str, Any] = {}  # what sys.modules held under a name before
        self._bound: dict[str, ModuleType] = {}
        self._attributes: list[tuple[ModuleType, str]] = []  # set by the import system on the way

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a `tensorflow` path; ModuleNotFoundError names the nearest module there is."""
        own = sandbox_name(name)
        if own is None:
            return None
        module = _find_module(name, own)
        if module is None:
            raise ModuleNotFoundError(_missing_module(name), name=name)
        return ModuleSpec(name, _Loader(self, module), is_package=hasattr(module, "__path__"))

    def bind(self, name: str, module: ModuleType) -> None:
        """Let `name` stand for the module in sys.modules."""
        if name not in self._bound:
            if name in sys.modules and sys.modules[name] is None:
                self._displaced[name] = None
            self._bound[name] = module
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        holder = self._bound.get(parent)
        if holder is not None and child not in vars(holder):
            self._attributes.append((holder, child))
        explain_missing_names(module)

    def unbind(self) -> None:
        """Leave sys.modules and the modules as they were before the first bind."""
        for name, module in self._bound.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
        sys.modules.update(self._displaced)
        for holder, child in self._attributes:
            value = vars(holder).get(child)
            if value is not sys.modules.get(f"{holder.__name__}.{child}"):
                vars(holder).pop(child, None)


class _Loader(Loader):
    """Gives the sandbox's module in place of the empty one that the import system made."""

    def __init__(self, finder: _Finder, module: ModuleType) -> None:
        self._finder = finder
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        """None: an empty module, so that the import system leaves the sandbox's `__spec__` alone."""

    def exec_module(self, module: ModuleType) -> None:
        """Exchange the empty module."""
        assert module.__spec__ is not None
        self._finder.bind(module.__spec__.name, self._module)


def _find_module(name: str, own: str) -> ModuleType | None:
    """The sandbox's module at the path `own`: a file, or a namespace that stands as an attribute."""
    module = _import(own)
    if module is None:
        parent, _, child = name.rpartition(".")
        module = getattr(sys.modules.get(parent), child, None)
        if not isinstance(module, ModuleType):
            return None
        sys.modules.setdefault(own, module)  # `from ... import` looks below the module's own name
    if own.count(".") == 1 and not hasattr(module, "__path__"):
        module.__path__ = []  # a namespace may hold others: tensorflow.nn.rnn_cell, tensorflow.compat.v1
    return module


def _import(own: str) -> ModuleType | None:
    """The module of that name, None if there is none; an import error inside of it is an error."""
    try:
        return importlib.import_module(own)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if own == missing or own.startswith(missing + "."):
            return None
        raise


def _submodule(package: ModuleType, name: str) -> ModuleType | None:
    """A package's module that nobody has imported yet."""
    if name.startswith("_") or not getattr(package, "__path__", None):
        return None
    return _import(f"{package.__name__}.{name}")


# ------------------------------------------------------------ names that are not there


def explain_missing_names(module: ModuleType) -> None:
    """Give a module, and what is later imported below it, an answer for names that it lacks (`missing_error`)."""
    own = vars(module).get("__getattr__")
    if not getattr(own, "explains", False):

        def __getattr__(name: str) -> Any:
            if own is not None:
                try:
                    return own(name)
                except AttributeError as error:
                    if not _raised_by(error, own):
                        raise
            # TensorFlow has all of its modules imported, so code uses them as attributes: tf.contrib.slim.
            below = _submodule(module, name)
            if below is None:
                raise missing_error(module, name, sys._getframe(1)) from None
            return below

        __getattr__.explains = True  # type: ignore[attr-defined]
        vars(module)["__getattr__"] = __getattr__
    if type(module) is ModuleType and getattr(module, "__path__", None):
        module.__class__ = _Namespace
    for child in list(vars(module).values()):
        if isinstance(child, ModuleType) and child.__name__.rpartition(".")[0] == module.__name__:
            explain_missing_names(child)


class _Namespace(ModuleType):
    """A package whose modules explain what they lack, from the moment that the import system sets them."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            explain_missing_names(value)


class _MissingName(AttributeError):
    """An AttributeError whose text is searched for when somebody reads it: `hasattr` must not wait for that."""

    def __str__(self) -> str:
        return missing_name(*self.args)

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return AttributeError, (str(self),)


_MissingName.__name__ = _MissingName.__qualname__ = "AttributeError"  # as it is shown
_MissingName.__module__ = "builtins"


def _raised_by(error: BaseException, function: FunctionType) -> bool:
    """True if the function itself raised the error that its caller caught, not something that it called."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_code is function.__code__


def missing_error(module: ModuleType, name: str, asker: FrameType | None = None) -> AttributeError | ImportError:
    """The error for a name that the module lacks, in the type that reaches whoever asked.

    `from m import n` swallows an AttributeError and its text, so where the asking frame stands at that
    instruction the error is an ImportError.
    """
    if name.startswith("__") and name.endswith("__"):
        return AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    if asker is not None and _at_from_import(asker):
        path = getattr(module, "__file__", None)
        return ImportError(missing_name(module, name), name=module.__name__, path=path)
    return _MissingName(module.__name__, name, name=name, obj=None)  # no obj: Python adds no guess of its own


def missing_name(module: ModuleType | str, name: str) -> str:
    """The text "tfsandbox has no tensorflow.m.n; the nearest it has is ..." for a name that a module lacks."""
    if isinstance(module, str):
        path = module
        holder = sys.modules.get(module)
    else:
        path, holder = module.__name__, module
    path = _asked_path(path)
    here = [] if holder is None else [*_public_names(holder), *_modules_below(holder)]
    return _missing_text(path, name, here, itertools.chain(_all_names(), _all_modules()))


def _missing_module(asked: str) -> str:
    """The same text for a module path that the import system was asked for."""
    parent, _, child = asked.rpartition(".")
    here = _modules_below(sys.modules[parent])
    return _missing_text(parent, child, here, _all_modules())


def _missing_text(path: str, name: str, here: list[str], everywhere: Iterable[tuple[str, str]]) -> str:
    """The text; `here` are the names at the path, `everywhere` gives names and their full paths.

    The same name elsewhere is nearer than a similar one.
    """
    import difflib

    asked = f"{path}.{name}"
    anywhere: dict[str, str] = {}
    for other, full in everywhere:
        anywhere.setdefault(other, full)
    nearest = anywhere.get(name)
    # One spelling mistake in a short name; a looser likeness only misleads (keras, zeros).
    for paths, likeness in (({other: f"{path}.{other}" for other in here}, 0.7), (anywhere, 0.8)):
        if nearest is None:
            close = difflib.get_close_matches(name, paths, n=1, cutoff=likeness)
            nearest = paths[close[0]] if close else None
    if nearest is None or nearest == asked:
        return f"{SANDBOX} has no {asked}, and nothing of a similar name"
    return f"{SANDBOX} has no {asked}; the nearest it has is {nearest}"


def _asked_path(path: str) -> str:
    """The `tensorflow` path under which a sandbox module was imported, else the usual one."""
    finder = _finder()
    module = sys.modules.get(path)
    if finder is not None and module is not None:
        names = [name for name, bound in finder._bound.items() if bound is module]
        if names:
            return min(names, key=len)
    return tensorflow_name(path)


def _public_names(module: ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def _modules_below(module: ModuleType) -> list[str]:
    """The names of the modules in a package, loaded or not."""
    spaces = [name for name in _public_names(module) if isinstance(vars(module).get(name), ModuleType)]
    return [name for name in [*_module_files(list(getattr(module, "__path__", []))), *spaces] if name != "python"]


def _all_names() -> Iterator[tuple[str, str]]:
    """Every public name below `tfsandbox` with its path, the shortest paths first.

    Namespaces that are imported on first use are imported for it, so this is for when a text is read.
    """
    root = sys.modules[SANDBOX]
    seen = {id(root)}
    level = [(SANDBOX, root)]
    while level:
        below = []
        for path, module in level:
            for name in _public_names(module):
                value = _value(module, name)
                if value is None:
                    continue
                if isinstance(value, ModuleType):
                    if not value.__name__.startswith(SANDBOX) or id(value) in seen:
                        continue
                    seen.add(id(value))
                    below.append((f"{path}.{name}", value))
                yield name, tensorflow_name(f"{path}.{name}")
        level = below


def _value(module: ModuleType, name: str) -> Any:
    """What a module has under a name of its `dir()`, None where that is promised and not there."""
    try:
        return getattr(module, name)
    except (AttributeError, ImportError):
        return None


def _all_modules() -> Iterator[tuple[str, str]]:
    """Every module below `tfsandbox`, loaded or not, by the last part of its path, the shortest paths first."""
    level = [(SANDBOX, list(sys.modules[SANDBOX].__path__))]
    while level:
        below = []
        for path, folders in level:
            for name in _module_files(folders):
                yield name, tensorflow_name(f"{path}.{name}")
                below.append((f"{path}.{name}", [f"{folder}/{name}" for folder in folders]))
        level = below


def _module_files(folders: list[str]) -> list[str]:
    import pkgutil

    return sorted(entry.name for entry in pkgutil.iter_modules(folders) if not entry.name.startswith("_"))


def _at_from_import(frame: FrameType) -> bool:
    """True if the frame's current instruction is the one that `from m import n` fetches a name with."""
    from opcode import opmap

    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]
