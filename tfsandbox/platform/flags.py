"""tf.flags: command line flags, with the names and rules of absl's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfsandbox.platform import flag_types
from tfsandbox.platform.flag_types import *  # noqa: F403
from tfsandbox.platform.flag_types import (
    ArgumentParser,
    BooleanFlag,
    EnumClassFlag,
    EnumClassParser,
    EnumFlag,
    EnumParser,
    Flag,
    FloatParser,
    IntegerParser,
    ListParser,
    MultiFlag,
    ValidationError,
    WhitespaceSeparatedListParser,
)
from tfsandbox.platform.flag_values import FlagHolder, FlagValues
from tfsandbox.platform.tf_logging import warning

__all__ = [*flag_types.__all__, *[
    "DEFINE", "DEFINE_alias", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag",
    "DEFINE_float", "DEFINE_integer", "DEFINE_list", "DEFINE_multi", "DEFINE_multi_enum", "DEFINE_multi_enum_class",
    "DEFINE_multi_float", "DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_spaceseplist", "DEFINE_string",
    "FLAGS", "FlagHolder", "FlagValues", "adopt_module_key_flags", "declare_key_flag", "disclaim_key_flags",
    "flag_dict_to_args", "mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive", "mark_flags_as_required", "multi_flags_validator",
    "register_multi_flags_validator", "register_validator", "validator",
]]

FLAGS = FlagValues()
# Programs read FLAGS.name without tf.app.run. A notebook's command line is that of its kernel: its flags are not ours.
FLAGS.parse_lazily_from(lambda: sys.argv or [""], lambda: "ipykernel" in sys.modules)

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_names(function: Callable[..., FlagHolder]) -> Callable[..., FlagHolder]:
    """Let a DEFINE_ function take TensorFlow's old names for its arguments."""

    @functools.wraps(function)
    def define(*args: Any, **kwargs: Any) -> FlagHolder:
        if any(name in kwargs for name in _OLD_NAMES):
            warning("Use of the keyword argument names (flag_name, default_value, docstring) is deprecated, please use "
                    "(name, default, help) instead.")
            kwargs = {_OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
        return function(*args, **kwargs)
    return define


def DEFINE_flag(flag: Flag, flag_values: FlagValues = FLAGS, module_name: str | None = None,
                required: bool = False) -> FlagHolder:
    """Define a flag that is made already. `DuplicateFlagError` where there is one of that name."""
    if required and flag.default is not None:
        raise ValueError(f"Required flag --{flag.name} cannot have a non-None default")
    flag_values[flag.name] = flag
    if module_name:
        flag_values.__dict__["_modules"][flag.name] = module_name
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag)


def DEFINE(parser: ArgumentParser, name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS,
           serializer: Any = None, module_name: str | None = None, required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag of any type, by its parser."""
    return DEFINE_flag(Flag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


@_with_old_names
def DEFINE_string(name: str, default: str | None, help: str | None, flag_values: FlagValues = FLAGS,
                  required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag of text."""
    return DEFINE(ArgumentParser(), name, default, help, flag_values, required=required, **args)


@_with_old_names
def DEFINE_boolean(name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS,
                   module_name: str | None = None, required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag that is there or not: `--name`, `--noname`, `--name=true`."""
    return DEFINE_flag(BooleanFlag(name, default, help, **args), flag_values, module_name, required)


DEFINE_bool = DEFINE_boolean


@_with_old_names
def DEFINE_float(name: str, default: Any, help: str | None, lower_bound: float | None = None,
                 upper_bound: float | None = None, flag_values: FlagValues = FLAGS, required: bool = False,
                 **args: Any) -> FlagHolder:
    """Define a flag that is a float within bounds."""
    return DEFINE(FloatParser(lower_bound, upper_bound), name, default, help, flag_values, required=required, **args)


@_with_old_names
def DEFINE_integer(name: str, default: Any, help: str | None, lower_bound: int | None = None,
                   upper_bound: int | None = None, flag_values: FlagValues = FLAGS, required: bool = False,
                   **args: Any) -> FlagHolder:
    """Define a flag that is an integer within bounds."""
    return DEFINE(IntegerParser(lower_bound, upper_bound), name, default, help, flag_values, required=required, **args)


def DEFINE_enum(name: str, default: str | None, enum_values: Sequence[str], help: str | None,
                flag_values: FlagValues = FLAGS, module_name: str | None = None, required: bool = False,
                **args: Any) -> FlagHolder:
    """Define a flag that is one of some words."""
    return DEFINE_flag(EnumFlag(name, default, help, enum_values, **args), flag_values, module_name, required)


def DEFINE_enum_class(name: str, default: Any, enum_class: Any, help: str | None, flag_values: FlagValues = FLAGS,
                      module_name: str | None = None, case_sensitive: bool = False, required: bool = False,
                      **args: Any) -> FlagHolder:
    """Define a flag that is a member of an Enum class."""
    flag = EnumClassFlag(name, default, help, enum_class, case_sensitive=case_sensitive, **args)
    return DEFINE_flag(flag, flag_values, module_name, required)


def DEFINE_list(name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS, required: bool = False,
                **args: Any) -> FlagHolder:
    """Define a flag that is a list of words: `--name=a,b`."""
    return DEFINE(ListParser(), name, default, help, flag_values, required=required, **args)


def DEFINE_spaceseplist(name: str, default: Any, help: str | None, comma_compat: bool = False,
                        flag_values: FlagValues = FLAGS, required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag that is a list of words: `--name="a b"`."""
    return DEFINE(WhitespaceSeparatedListParser(comma_compat), name, default, help, flag_values, required=required,
                  **args)


def DEFINE_multi(parser: ArgumentParser, serializer: Any, name: str, default: Any, help: str | None,
                 flag_values: FlagValues = FLAGS, module_name: str | None = None, required: bool = False,
                 **args: Any) -> FlagHolder:
    """Define a flag that may be given several times, by the parser of one value."""
    return DEFINE_flag(MultiFlag(parser, serializer, name, default, help, **args), flag_values, module_name, required)


def DEFINE_multi_string(name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS,
                        required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag of text that may be given several times."""
    return DEFINE_multi(ArgumentParser(), None, name, default, help, flag_values, required=required, **args)


def DEFINE_multi_integer(name: str, default: Any, help: str | None, lower_bound: int | None = None,
                         upper_bound: int | None = None, flag_values: FlagValues = FLAGS, required: bool = False,
                         **args: Any) -> FlagHolder:
    """Define an integer flag that may be given several times."""
    return DEFINE_multi(IntegerParser(lower_bound, upper_bound), None, name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_float(name: str, default: Any, help: str | None, lower_bound: float | None = None,
                       upper_bound: float | None = None, flag_values: FlagValues = FLAGS, required: bool = False,
                       **args: Any) -> FlagHolder:
    """Define a float flag that may be given several times."""
    return DEFINE_multi(FloatParser(lower_bound, upper_bound), None, name, default, help, flag_values,
                        required=required, **args)


def DEFINE_multi_enum(name: str, default: Any, enum_values: Sequence[str], help: str | None,
                      flag_values: FlagValues = FLAGS, case_sensitive: bool = True, required: bool = False,
                      **args: Any) -> FlagHolder:
    """Define a flag that is some of some words."""
    parser = EnumParser(enum_values, case_sensitive)
    return DEFINE_multi(parser, None, name, default, f"<{'|'.join(enum_values)}>: {help}", flag_values,
                        required=required, **args)


def DEFINE_multi_enum_class(name: str, default: Any, enum_class: Any, help: str | None,
                            flag_values: FlagValues = FLAGS, module_name: str | None = None,
                            case_sensitive: bool = False, required: bool = False, **args: Any) -> FlagHolder:
    """Define a flag that is some members of an Enum class."""
    return DEFINE_multi(EnumClassParser(enum_class, case_sensitive), None, name, default, help, flag_values,
                        module_name, required, **args)


class _Alias(Flag):
    """Another name of a flag."""

    def __init__(self, name: str, original: Flag) -> None:
        self._original = original
        super().__init__(original.parser, original.serializer, name, original.default,
                         f"Alias for --{original.name}.", boolean=original.boolean)

    @property
    def value(self) -> Any:
        return self._original.value

    @value.setter
    def value(self, value: Any) -> None:
        self._original.value = value

    def parse(self, argument: Any) -> None:
        self._original.parse(argument)
        self.present += 1


def DEFINE_alias(name: str, original_name: str, flag_values: FlagValues = FLAGS,
                 module_name: str | None = None) -> FlagHolder:
    """Define another name of a flag; `UnrecognizedFlagError` where there is no such flag."""
    if original_name not in flag_values:
        raise flag_types.UnrecognizedFlagError(original_name)
    return DEFINE_flag(_Alias(name, flag_values[original_name]), flag_values, module_name)


# ------------------------------------------------------------ validators


def register_validator(flag_name: str, checker: Callable[[Any], bool], message: str = "Flag validation failed",
                       flag_values: FlagValues = FLAGS) -> None:
    """Refuse, with `message`, values of a flag for which `checker(value)` is False; KeyError for an unknown flag."""
    flag_values.add_validator((flag_name,), checker, message)


def validator(flag_name: str, message: str = "Flag validation failed",
              flag_values: FlagValues = FLAGS) -> Callable[[Callable[[Any], bool]], Callable[[Any], bool]]:
    """Decorator form of `register_validator`."""
    def decorate(function: Callable[[Any], bool]) -> Callable[[Any], bool]:
        register_validator(flag_name, function, message, flag_values)
        return function
    return decorate


def register_multi_flags_validator(flag_names: Sequence[str], multi_flags_checker: Callable[[dict[str, Any]], bool],
                                   message: str = "Flags validation failed", flag_values: FlagValues = FLAGS) -> None:
    """Refuse values for which the checker, given a dict of the flags' values, is False."""
    def checker(values: dict[str, Any]) -> bool:
        return multi_flags_checker(values)
    checker.takes_dict = True  # type: ignore[attr-defined]
    flag_values.add_validator(tuple(flag_names), checker, message)


def multi_flags_validator(flag_names: Sequence[str], message: str = "Flag validation failed",
                          flag_values: FlagValues = FLAGS) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Decorator form of `register_multi_flags_validator`."""
    def decorate(function: Callable[..., bool]) -> Callable[..., bool]:
        register_multi_flags_validator(flag_names, function, message, flag_values)
        return function
    return decorate


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """Refuse a command line that leaves the flag None."""
    register_validator(flag_name, lambda value: value is not None,
                       f"Flag --{flag_name} must have a value other than None.", flag_values)


def mark_flags_as_required(flag_names: Iterable[str], flag_values: FlagValues = FLAGS) -> None:
    """Refuse a command line that leaves one of the flags None."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def _exclusive(flag_names: Sequence[str], required: bool, flag_values: FlagValues, given: Callable[[Any], bool],
               what: str) -> None:
    def checker(values: dict[str, Any]) -> bool:
        count = sum(1 for value in values.values() if given(value))
        if count == 1 or (not required and count == 0):
            return True
        raise ValidationError(f"{'Exactly' if required else 'At most'} one of ({', '.join(flag_names)}) must {what}.")
    register_multi_flags_validator(flag_names, checker, flag_values=flag_values)


def mark_flags_as_mutual_exclusive(flag_names: Sequence[str], required: bool = False,
                                   flag_values: FlagValues = FLAGS) -> None:
    """Let at most one of the flags be other than None; exactly one with `required`."""
    _exclusive(flag_names, required, flag_values, lambda v: v is not None, "have a value other than None")


def mark_bool_flags_as_mutual_exclusive(flag_names: Sequence[str], required: bool = False,
                                        flag_values: FlagValues = FLAGS) -> None:
    """Let at most one of the flags be True; exactly one with `required`."""
    _exclusive(flag_names, required, flag_values, bool, "be True")


# ------------------------------------------------------------ key flags, which only order help texts


def declare_key_flag(flag_name: Any, flag_values: FlagValues = FLAGS) -> None:
    """Accepted: help texts here name every flag of the program."""


def adopt_module_key_flags(module: Any, flag_values: FlagValues = FLAGS) -> None:
    """Accepted: help texts here name every flag of the program."""


def disclaim_key_flags() -> None:
    """Accepted: help texts here name every flag of the program."""


def flag_dict_to_args(flag_map: dict[str, Any], multi_flags: Any = None) -> Iterable[str]:
    """The command line of {name: value}."""
    for name, value in flag_map.items():
        if value is None:
            yield f"--{name}"
        elif isinstance(value, bool):
            yield f"--{'' if value else 'no'}{name}"
        elif isinstance(value, (list, tuple)) and multi_flags and name in multi_flags:
            yield from (f"--{name}={item}" for item in value)
        elif isinstance(value, (list, tuple)):
            yield f"--{name}={','.join(str(item) for item in value)}"
        else:
            yield f"--{name}={value}"
