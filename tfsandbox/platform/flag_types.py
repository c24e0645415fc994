"""Command line flags: their types, and one flag with its value."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "ArgumentParser", "BooleanFlag", "BooleanParser", "CantOpenFlagFileError", "DuplicateFlagError", "EnumClassFlag",
    "EnumClassParser", "EnumFlag", "EnumParser", "Error", "Flag", "FlagNameConflictsWithMethodError", "FloatParser",
    "IllegalFlagValueError", "IntegerParser", "ListParser", "MultiFlag", "UnparsedFlagAccessError",
    "UnrecognizedFlagError", "ValidationError", "WhitespaceSeparatedListParser",
]


class Error(Exception):
    """What is wrong with flags."""


class CantOpenFlagFileError(Error):
    """The file of `--flagfile` cannot be read."""


class DuplicateFlagError(Error):
    """A flag is defined twice."""


class FlagNameConflictsWithMethodError(Error):
    """A flag has the name of a method of FLAGS."""


class IllegalFlagValueError(Error):
    """A value that the flag cannot have."""


class UnparsedFlagAccessError(AttributeError, Error):
    """A flag is read before the command line was."""


class UnrecognizedFlagError(Error):
    """A flag on the command line that is not defined."""

    def __init__(self, flagname: str, flagvalue: Any = "", suggestions: Sequence[str] | None = None) -> None:
        self.flagname, self.flagvalue = flagname, flagvalue
        tip = f". Did you mean: {', '.join(suggestions)} ?" if suggestions else ""
        super().__init__(f"Unknown command line flag '{flagname}'{tip}")


class ValidationError(Error):
    """A validator refuses the value."""


class ArgumentParser:
    """From the text of the command line to a value; this one leaves text as it is."""

    syntactic_help = ""

    def parse(self, argument: Any) -> Any:
        """The value; TypeError or ValueError for one that is none."""
        if not isinstance(argument, str):
            raise TypeError(f'flag value must be a string, found "{type(argument)}"')
        return argument

    def flag_type(self) -> str:
        """The type's name in help texts."""
        return "string"

    def serialize(self, value: Any) -> str:
        """The text of a value, which `parse` reads."""
        return str(value)


class _NumberParser(ArgumentParser):
    number_article, number_name = "a", "number"

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        name = f"{self.number_article} {self.number_name}"
        if lower_bound is not None and upper_bound is not None:
            self.syntactic_help = f"{name} in the range [{lower_bound}, {upper_bound}]"
        elif lower_bound == 0:
            self.syntactic_help = f"a non-negative {self.number_name}"
        elif upper_bound == 0:
            self.syntactic_help = f"a non-positive {self.number_name}"
        elif lower_bound is not None or upper_bound is not None:
            bound = f"<= {upper_bound}" if lower_bound is None else f">= {lower_bound}"
            self.syntactic_help = f"{self.number_name} {bound}"
        else:
            self.syntactic_help = name

    def is_outside_bounds(self, value: Any) -> bool:
        """Whether a number is too small or too large."""
        return (self.lower_bound is not None and value < self.lower_bound) or (
            self.upper_bound is not None and value > self.upper_bound)

    def convert(self, argument: Any) -> Any:
        """The number."""
        raise NotImplementedError

    def parse(self, argument: Any) -> Any:
        value = self.convert(argument)
        if self.is_outside_bounds(value):
            raise ValueError(f"{value} is not {self.syntactic_help}")
        return value


class FloatParser(_NumberParser):
    """A float."""

    def convert(self, argument: Any) -> float:
        if isinstance(argument, bool) or not isinstance(argument, (int, float, str)):
            raise TypeError(f"Expect argument to be a string, int, or float, found {type(argument)}")
        return float(argument)

    def flag_type(self) -> str:
        return "float"


class IntegerParser(_NumberParser):
    """An integer, also as 0x1f or 0o17."""

    number_article, number_name = "an", "integer"

    def convert(self, argument: Any) -> int:
        if isinstance(argument, bool) or not isinstance(argument, (int, str)):
            raise TypeError(f"Expect argument to be a string or int, found {type(argument)}")
        if isinstance(argument, str):
            base = {"0x": 16, "0o": 8}.get(argument.strip().lstrip("+-")[:2].lower(), 10)
            return int(argument, base)
        return argument

    def flag_type(self) -> str:
        return "int"


class BooleanParser(ArgumentParser):
    """true, t, 1 or false, f, 0."""

    def parse(self, argument: Any) -> bool:
        if isinstance(argument, str):
            if argument.lower() in ("true", "t", "1"):
                return True
            if argument.lower() in ("false", "f", "0"):
                return False
        elif isinstance(argument, (int, float)) and argument in (0, 1):
            return bool(argument)
        raise ValueError("Non-boolean argument to boolean flag", argument)

    def flag_type(self) -> str:
        return "bool"


class EnumParser(ArgumentParser):
    """One of some words."""

    def __init__(self, enum_values: Sequence[str], case_sensitive: bool = True) -> None:
        if not enum_values:
            raise ValueError(f'enum_values cannot be empty, found "{enum_values}"')
        self.enum_values, self.case_sensitive = list(enum_values), case_sensitive

    def parse(self, argument: Any) -> Any:
        for value in self.enum_values:
            if argument == value or (not self.case_sensitive and str(argument).upper() == value.upper()):
                return value
        raise ValueError(f"value should be one of <{'|'.join(self.enum_values)}>")

    def flag_type(self) -> str:
        return "string enum"


class EnumClassParser(ArgumentParser):
    """A member of an Enum class, by its name."""

    def __init__(self, enum_class: type[enum.Enum], case_sensitive: bool = False) -> None:
        if not issubclass(enum_class, enum.Enum):
            raise TypeError(f"{enum_class} is not a subclass of Enum.")
        if not enum_class.__members__:
            raise ValueError("enum_class cannot be empty, but \"{enum_class}\" is empty.")
        self.enum_class, self._case_sensitive = enum_class, case_sensitive

    @property
    def member_names(self) -> list[str]:
        return [name if self._case_sensitive else name.lower() for name in self.enum_class.__members__]

    def parse(self, argument: Any) -> Any:
        if isinstance(argument, self.enum_class):
            return argument
        for name, member in self.enum_class.__members__.items():
            if argument == name or (not self._case_sensitive and str(argument).lower() == name.lower()):
                return member
        raise ValueError(f"value should be one of <{'|'.join(self.member_names)}>")

    def flag_type(self) -> str:
        return "enum class"

    def serialize(self, value: Any) -> str:
        return value.name if self._case_sensitive else value.name.lower()


class ListParser(ArgumentParser):
    """Words with commas between them."""

    def parse(self, argument: Any) -> list[str]:
        if isinstance(argument, (list, tuple)):
            return list(argument)
        if not argument:
            return []
        try:
            return [word.strip() for word in next(csv.reader([argument], strict=True))]
        except csv.Error as error:
            raise ValueError(f"Unable to parse the value {argument!r} as a comma separated list: {error}") from None

    def flag_type(self) -> str:
        return "comma separated list of strings"

    def serialize(self, value: Any) -> str:
        out = io.StringIO()
        csv.writer(out).writerow([str(word) for word in value])
        return out.getvalue().strip()


class WhitespaceSeparatedListParser(ArgumentParser):
    """Words with spaces between them, or, with `comma_compat`, commas."""

    def __init__(self, comma_compat: bool = False) -> None:
        self._comma_compat = comma_compat

    def parse(self, argument: Any) -> list[str]:
        if isinstance(argument, (list, tuple)):
            return list(argument)
        if not argument:
            return []
        return (argument.replace(",", " ") if self._comma_compat else argument).split()

    def flag_type(self) -> str:
        return "whitespace separated list of strings"

    def serialize(self, value: Any) -> str:
        return " ".join(value)


class Flag:
    """One flag: its type, default, help text and value."""

    boolean = False

    def __init__(self, parser: ArgumentParser, serializer: Any, name: str, default: Any, help_string: str | None,
                 short_name: str | None = None, boolean: bool = False, allow_override: bool = False,
                 allow_overwrite: bool = True, allow_hide_cpp: bool = False) -> None:
        self.parser, self.serializer, self.name = parser, serializer, name
        self.help = help_string or "(no help available)"
        self.short_name, self.allow_override, self.allow_overwrite = short_name, allow_override, allow_overwrite
        self.boolean = boolean or self.boolean
        self.present = 0
        self.using_default_value = True
        self.validators: list[tuple[tuple[str, ...], Callable[..., bool], str]] = []
        self.default = self.default_unparsed = None
        self.set_default(default)

    @property
    def value(self) -> Any:
        """What the flag is now."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def _parse(self, argument: Any) -> Any:
        try:
            return self.parser.parse(argument)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={argument}: {error}") from None

    def set_default(self, value: Any) -> None:
        """Change the default, and the value where it is the default."""
        self.default_unparsed = value
        self.default = None if value is None else self._parse(value)
        if self.using_default_value:
            self._value = self.default

    def parse(self, argument: Any) -> None:
        """Take a value from the command line."""
        self.value = self._parse(argument)
        self.present += 1
        self.using_default_value = False

    def unparse(self) -> None:
        """Back to the default."""
        self._value = self.default
        self.using_default_value, self.present = True, 0

    @property
    def default_as_str(self) -> str | None:
        """The default for help texts."""
        if self.default is None:
            return None
        if self.boolean:
            return repr("true" if self.default else "false")
        return repr(self.parser.serialize(self.default))

    def flag_type(self) -> str:
        """The type's name in help texts."""
        return self.parser.flag_type()

    def serialize(self) -> str:
        """The flag as it stands on a command line."""
        if self.value is None:
            return ""
        if self.boolean:
            return f"--{'' if self.value else 'no'}{self.name}"
        return f"--{self.name}={self.parser.serialize(self.value)}"


class BooleanFlag(Flag):
    """A flag that is there or not: `--name` or `--noname`."""

    boolean = True

    def __init__(self, name: str, default: Any, help: str | None, short_name: str | None = None, **args: Any) -> None:
        super().__init__(BooleanParser(), None, name, default, help, short_name, **args)


class EnumFlag(Flag):
    """A flag that is one of some words."""

    def __init__(self, name: str, default: Any, help: str | None, enum_values: Sequence[str],
                 short_name: str | None = None, case_sensitive: bool = True, **args: Any) -> None:
        super().__init__(EnumParser(enum_values, case_sensitive), None, name, default, help, short_name, **args)
        self.help = f"<{'|'.join(enum_values)}>: {self.help}"


class EnumClassFlag(Flag):
    """A flag that is a member of an Enum class."""

    def __init__(self, name: str, default: Any, help: str | None, enum_class: type[enum.Enum],
                 short_name: str | None = None, case_sensitive: bool = False, **args: Any) -> None:
        parser = EnumClassParser(enum_class, case_sensitive)
        super().__init__(parser, None, name, default, help, short_name, **args)
        self.help = f"<{'|'.join(parser.member_names)}>: {self.help}"


class MultiFlag(Flag):
    """A flag that may be given several times: its value is a list."""

    def _parse(self, argument: Any) -> list[Any]:
        many = argument if isinstance(argument, (list, tuple)) else [argument]
        return [super(MultiFlag, self)._parse(item) for item in many]

    def parse(self, argument: Any) -> None:
        found = self._parse(argument)
        self.value = [*self.value, *found] if self.present else found
        self.present += 1
        self.using_default_value = False

    def flag_type(self) -> str:
        return f"multi {self.parser.flag_type()}"

    @property
    def default_as_str(self) -> str | None:
        if self.default is None:
            return None
        return repr(",".join(repr(self.parser.serialize(item)) for item in self.default))

    def serialize(self) -> str:
        return "\n".join(f"--{self.name}={self.parser.serialize(item)}" for item in self.value or [])
