"""HParams: named hyperparameters that keep their types, set from text such as `learning_rate=0.1,layers=[3,4]`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["HParams", "parse_values"]

# name, an optional [index], "=", then [a list] or a value up to the next comma; blanks around the commas.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*((?P<value>[^,\[]*)|\[(?P<list>[^\]]*)\])($|,\s*)")


def _parsed(kind: type, name: str, text: str, values: str) -> Any:
    """A value of that type from its text."""
    try:
        if kind is bool:
            return {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}[text]
        return kind(text)
    except (ValueError, KeyError):
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in "
                         f"{values}") from None


def parse_values(values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """{name: value} of text such as `a=1,b=[2,3],c[0]=4`; single elements give {name: {index: value}}.

    Raises `ValueError` for text of another form, a name without a type in `type_map` (unless `ignore_unknown`), a
    value that is not of its type, and a second value for one name.
    """
    result: dict[str, Any] = {}
    place = 0
    while place < len(values):
        match = _ASSIGNMENT.match(values, place)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[place:]}")
        place = match.end()
        name, index = match["name"], match["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        elements = isinstance(result.get(name), dict)
        if name in result and (index is None or not elements or int(index) in result[name]):
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        if match["list"] is not None:
            if index is not None:
                raise ValueError("Assignment of a list to a list index.")
            parts = [part.strip() for part in match["list"].split(",") if part.strip()]
            result[name] = [_parsed(kind, name, part, values) for part in parts]
        elif index is not None:
            result.setdefault(name, {})[int(index)] = _parsed(kind, name, match["value"].strip(), values)
        else:
            result[name] = _parsed(kind, name, match["value"].strip(), values)
    return result


def _cast(name: str, kind: type, value: Any) -> Any:
    """The value as one of the type, where nothing is lost: an int is a float, but no float an int."""
    fits = value is not None and not (
        (kind is bool) != isinstance(value, bool)
        or issubclass(kind, (str, bytes)) != isinstance(value, (str, bytes))
        or (issubclass(kind, int) and not isinstance(value, int)))
    if kind is type(None):
        return value
    if not fits:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


class HParams:
    """Hyperparameters as attributes. Each keeps the type of its first value, and whether it is a list.

    `HParams(learning_rate=0.1, layers=[3, 4])`, then `parse("learning_rate=0.5")`.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise ValueError("hparam_def: HParams are not read from messages; use parse_json")
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """A new hyperparameter; `ValueError` for a name that is taken and for an empty list."""
        if hasattr(self, name):
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = (type(value[0]) if is_list else type(value), is_list)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value; `KeyError` for an unknown name, `ValueError` for a value of another type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}." if is_list else
                             f"Must not pass a list for single-valued parameter: {name}")
        setattr(self, name, [_cast(name, kind, v) for v in value] if is_list else _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Remove a hyperparameter, if there is one of that name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Set values from text, `name=value,name=[value,value]`; see `parse_values` for its errors."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Set values by name."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def parse_json(self, values_json: str) -> HParams:
        """Set values from a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent: int | None = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as a JSON object; functions are left out."""
        def undefined(value: Any) -> Any:
            if callable(value):
                raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
            return str(value)

        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys, default=undefined)

    def values(self) -> dict[str, Any]:
        """{name: value}."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or `default`; `ValueError` where the default is not of the value's type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            text = f"list<{kind}>" if is_list else str(kind)
            fail = f"Hparam '{key}' of type '{text}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(fail)
            try:
                for value in default if is_list else [default]:
                    _cast(key, kind, value)
            except ValueError as error:
                raise ValueError(f"{fail}. {error}") from None
        return getattr(self, key)

    def set_model_structure(self, model_structure: Any) -> None:
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"HParams({sorted(self.values().items())})"

    # Whatever the names are.
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'HParams' object has no attribute '{name}'")
