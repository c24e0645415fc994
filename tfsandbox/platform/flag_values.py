"""FLAGS: the flags that are defined, their values, and the reading of a command line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.platform.flag_types import (
    CantOpenFlagFileError,
    DuplicateFlagError,
    Error,
    Flag,
    FlagNameConflictsWithMethodError,
    IllegalFlagValueError,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
)

__all__ = ["FlagHolder", "FlagValues"]

Validator = tuple[tuple[str, ...], Callable[..., bool], str]


class FlagValues:
    """The flags by name: `FLAGS.name` is a value, `FLAGS["name"]` the flag; `FLAGS(argv)` reads a command line."""

    def __init__(self) -> None:
        state = self.__dict__
        state["_table"] = {}
        state["_modules"] = {}
        state["_parsed"] = False
        state["_lazy_argv"] = None
        state["_validators"] = []

    # ------------------------------------------------------------ the flags

    def _flags(self) -> dict[str, Flag]:
        return self.__dict__["_table"]

    def __getitem__(self, name: str) -> Flag:
        return self._flags()[name]

    def __setitem__(self, name: str, flag: Flag) -> None:
        if not isinstance(flag, Flag):
            raise IllegalFlagValueError(f"Expect Flag instances, found type {type(flag)}. Maybe you didn't mean to use "
                                        f"FlagValue.__setitem__?")
        if not isinstance(name, str):
            raise Error("Flag name must be a string")
        if not name:
            raise Error("Flag name cannot be empty")
        if " " in name:
            raise Error("Flag name cannot contain a space")
        if hasattr(type(self), name):
            raise FlagNameConflictsWithMethodError(
                f'Cannot create a flag named "{name}". It conflicts with a method on class "{type(self).__name__}".')
        module = _calling_module()
        for taken in (name, flag.short_name):
            old = self._flags().get(taken) if taken else None
            if old is not None and old is not flag and not flag.allow_override and not old.allow_override:
                raise DuplicateFlagError(
                    f"The flag '{taken}' is defined twice. First from {self.find_module_defining_flag(old.name)}, "
                    f"Second from {module}.  Description from first occurrence: {old.help} (In a notebook, "
                    f"`delattr(FLAGS, {taken!r})` first lets the cell run again.)")
        self._flags()[name] = flag
        if flag.short_name:
            self._flags()[flag.short_name] = flag
        self.__dict__["_modules"][name] = module

    def __contains__(self, name: object) -> bool:
        return name in self._flags()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._flags()))

    def __len__(self) -> int:
        return len(self._flags())

    def __dir__(self) -> list[str]:
        return sorted([*self._flags(), *super().__dir__()])

    def __getattr__(self, name: str) -> Any:
        flag = self.__dict__.get("_table", {}).get(name)
        if flag is None:
            raise AttributeError(name)
        if not self.is_parsed():
            self._parse_lazily(name)
        return flag.value

    def __setattr__(self, name: str, value: Any) -> None:
        flag = self._flags().get(name)
        if flag is None:
            raise UnrecognizedFlagError(name)
        before = flag.value, flag.using_default_value
        flag.value, flag.using_default_value = value, False
        try:
            self._validate([v for v in self.__dict__["_validators"] if name in v[0]])
            parser: Any = flag.parser
            if value is not None and hasattr(parser, "is_outside_bounds") and not isinstance(value, list) and (
                    isinstance(value, str) or parser.is_outside_bounds(value)):
                raise IllegalFlagValueError(f"flag --{name}={value}: {value} is not {parser.syntactic_help}")
        except IllegalFlagValueError:
            flag.value, flag.using_default_value = before
            raise

    def __delattr__(self, name: str) -> None:
        flag = self._flags().get(name)
        if flag is None:
            raise AttributeError(name)
        for key in [key for key, value in self._flags().items() if value is flag]:
            del self._flags()[key]
        self.__dict__["_validators"][:] = [v for v in self.__dict__["_validators"] if name not in v[0]]

    def set_default(self, name: str, value: Any) -> None:
        """Change a flag's default."""
        if name not in self:
            raise UnrecognizedFlagError(name)
        self[name].set_default(value)
        self._validate([v for v in self.__dict__["_validators"] if name in v[0]])

    def flag_values_dict(self) -> dict[str, Any]:
        """{name: value} of all flags."""
        return {name: flag.value for name, flag in self._flags().items()}

    def find_module_defining_flag(self, flagname: str, default: Any = None) -> Any:
        """The name of the module that defined a flag."""
        return self.__dict__["_modules"].get(flagname, default)

    def append_flag_values(self, flag_values: FlagValues) -> None:
        """Take over the flags of another one."""
        for name, flag in flag_values._flags().items():
            if name == flag.name:
                self[name] = flag

    def remove_flag_values(self, flag_values: Any) -> None:
        """Drop the flags of another one."""
        for name in list(flag_values):
            delattr(self, name)

    # ------------------------------------------------------------ the command line

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read a command line; gives the program's name and what is no flag.

        Raises `UnrecognizedFlagError` for an undefined flag unless `known_only`, `IllegalFlagValueError` for a value
        that a flag cannot have, `Error` for a flag without its value.
        """
        if isinstance(argv, (str, bytes)):
            raise TypeError("argv should be a tuple/list of strings, not bytes or string.")
        if not argv:
            raise ValueError("argv cannot be an empty list, and must contain the program name as the first element.")
        rest = self._parse_arguments(self.read_flags_from_files(list(argv[1:])), known_only)
        self.__dict__["_parsed"] = True
        self._validate(self.__dict__["_validators"])
        return [argv[0], *rest]

    def _parse_arguments(self, arguments: list[str], known_only: bool) -> list[str]:
        rest: list[str] = []
        unknown: list[tuple[str, str]] = []
        accepted: set[str] = set()
        waiting = iter(arguments)
        for argument in waiting:
            if not argument.startswith("-") or argument == "-":
                rest.append(argument)
                continue
            if argument == "--":
                rest += waiting
                break
            name, equals, value = argument[2 if argument.startswith("--") else 1:].partition("=")
            if name == "undefok":
                accepted.update(word.strip() for word in (value if equals else next(waiting, "")).split(","))
                continue
            flag = self._flags().get(name)
            if flag is not None and flag.boolean:
                flag.parse(value if equals else True)
            elif flag is not None:
                if not equals:
                    following = next(waiting, None)
                    if following is None:
                        raise Error(f"Missing value for flag {argument}")
                    value = following
                flag.parse(value)
            elif name.startswith("no") and getattr(self._flags().get(name[2:]), "boolean", False):
                if equals:
                    raise ValueError(f"{argument} does not take an argument")
                self._flags()[name[2:]].parse(False)
            elif known_only:
                rest.append(argument)
            else:
                unknown.append((name, value))
        for name, value in unknown:
            if name not in accepted and not (name.startswith("no") and name[2:] in accepted):
                near = difflib.get_close_matches(name, self._flags(), 3, 0.55)
                raise UnrecognizedFlagError(name, value, suggestions=near)
        return rest

    def read_flags_from_files(self, argv: Sequence[str], force_gnu: bool = True) -> list[str]:
        """The arguments with each `--flagfile=PATH` replaced by the lines of the file; `#` and `//` begin comments."""
        result: list[str] = []
        waiting = iter(argv)
        for argument in waiting:
            if argument == "--":
                return [*result, argument, *waiting]
            name, equals, value = argument.lstrip("-").partition("=")
            if not argument.startswith("-") or name != "flagfile" or "flagfile" in self:
                result.append(argument)
                continue
            path = value if equals else next(waiting, None)
            if path is None:
                raise IllegalFlagValueError("--flagfile with no argument")
            try:
                with open(path, encoding="utf-8") as file:
                    lines = [line.strip() for line in file]
            except OSError as error:
                raise CantOpenFlagFileError(f"ERROR:: Unable to open flagfile: {error}") from None
            result += self.read_flags_from_files([line for line in lines if line and not line.startswith(("#", "//"))])
        return result

    def parse_lazily_from(self, argv: Callable[[], Sequence[str]], known_only: Callable[[], bool]) -> None:
        """Read this command line by itself when somebody first asks for a value."""
        self.__dict__["_lazy_argv"] = (argv, known_only)

    def _parse_lazily(self, name: str) -> None:
        if self.__dict__["_lazy_argv"] is None:
            raise UnparsedFlagAccessError(f"Trying to access flag --{name} before flags were parsed.")
        argv, known_only = self.__dict__["_lazy_argv"]
        self(argv(), known_only=known_only())

    def is_parsed(self) -> bool:
        """Whether a command line was read."""
        return self.__dict__["_parsed"]

    def mark_as_parsed(self) -> None:
        """Let values be read without a command line."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Back to the defaults, as before a command line was read."""
        for flag in self._flags().values():
            flag.unparse()
        self.__dict__["_parsed"] = False

    # ------------------------------------------------------------ validators

    def add_validator(self, names: tuple[str, ...], checker: Callable[..., bool], message: str) -> None:
        """`checker` is asked whenever one of the flags changes: with the value of one flag, a dict of several."""
        for name in names:
            self._flags()[name]
        self.__dict__["_validators"].append((names, checker, message))

    def _validate(self, validators: Sequence[Validator]) -> None:
        for names, checker, message in validators:
            values = {name: self._flags()[name].value for name in names}
            one = len(names) == 1 and not getattr(checker, "takes_dict", False)
            try:
                good = checker(values[names[0]] if one else values)
            except Error as error:
                good, message = False, str(error)
            if not good:
                shown = ", ".join(f"{name}={value}" for name, value in values.items())
                raise IllegalFlagValueError(f"flag --{shown}: {message}" if one else f"flags {shown}: {message}")

    # ------------------------------------------------------------ text

    def flags_into_string(self) -> str:
        """The flags as they stand in a flagfile."""
        return "".join(flag.serialize() + "\n" for name, flag in self._flags().items()
                       if name == flag.name and flag.value is not None)

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """The help text of all flags, by the module that defines them."""
        modules: dict[str, list[str]] = {}
        for name, flag in self._flags().items():
            if name == flag.name:
                modules.setdefault(self.find_module_defining_flag(name), []).append(name)
        return "\n".join(self._module_text(module, names, prefix) for module, names in sorted(modules.items()))

    def main_module_help(self) -> str:
        """The help text of the flags that the program itself defines."""
        return self.module_help(_main_name())

    def module_help(self, module: Any) -> str:
        """The help text of the flags that a module defines."""
        name = module if isinstance(module, str) else module.__name__
        names = [flag.name for key, flag in self._flags().items()
                 if key == flag.name and self.find_module_defining_flag(key) == name]
        return self._module_text(name, names, "") if names else ""

    def _module_text(self, module: str, names: list[str], prefix: str) -> str:
        lines = [f"\n{prefix}{module}:"]
        for name in sorted(names):
            flag = self._flags()[name]
            short = f"-{flag.short_name}," if flag.short_name else ""
            lines.append(f"{prefix}  {short}--{'[no]' if flag.boolean else ''}{name}: {flag.help}")
            if flag.default_as_str:
                lines.append(f"{prefix}    (default: {flag.default_as_str})")
            if flag.parser.syntactic_help:
                lines.append(f"{prefix}    ({flag.parser.syntactic_help})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.get_help()


class FlagHolder:
    """What a `DEFINE_` function gives: the flag, whose `value` is read when asked for."""

    def __init__(self, flag_values: FlagValues, flag: Flag) -> None:
        self._flag_values, self._flag = flag_values, flag

    @property
    def name(self) -> str:
        return self._flag.name

    @property
    def value(self) -> Any:
        """The flag's value; the command line must have been read."""
        return getattr(self._flag_values, self._flag.name)

    @property
    def default(self) -> Any:
        """The flag's default."""
        return self._flag.default

    @property
    def present(self) -> bool:
        """Whether the command line has the flag."""
        return self._flag.present > 0

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"unsupported operand type(s) for ==: 'FlagHolder' and '{type(other).__name__}': you may have "
                        f"meant to use '.value'")

    def __bool__(self) -> bool:
        raise TypeError("bool() not supported for instances of type 'FlagHolder': you may have meant to use '.value'")

    __hash__ = None  # type: ignore[assignment]


def _main_name() -> str:
    return sys.argv[0] if sys.argv and sys.argv[0] else "__main__"


def _calling_module() -> str:
    """The name of the nearest module that is not one of these: it defines the flag."""
    frame: Any = sys._getframe(1)
    own = ("tfsandbox.platform.flag", "functools")
    while frame is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame = frame.f_back
    name = frame.f_globals.get("__name__", "__main__") if frame is not None else "__main__"
    return _main_name() if name == "__main__" else name
