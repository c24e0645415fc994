"""Nested structures of lists, tuples, named tuples and dicts: flatten them, pack them, map over them.

Dicts are taken in the order of their sorted keys. With `expand_composites`, sparse tensors and indexed slices are
taken apart too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def is_sequence(value: Any) -> bool:
    """Whether `value` is a structure (strings and arrays are not)."""
    return isinstance(value, (list, tuple, Mapping)) and not isinstance(value, (str, bytes))


is_nested = is_sequence


def _components(value: Any) -> list[Any] | None:
    """The tensors of a composite value, or None if it is none."""
    if not getattr(value, "_is_composite_tensor", False) and type(value).__name__ != "IndexedSlices":
        return None
    if type(value).__name__ == "IndexedSlices":
        return [part for part in (value.values, value.indices, value.dense_shape) if part is not None]
    return [value.indices, value.values, value.dense_shape]


def _sorted_keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _children(value: Any) -> list[Any]:
    return [value[key] for key in _sorted_keys(value)] if isinstance(value, Mapping) else list(value)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, depth first."""
    if is_sequence(structure):
        return [leaf for child in _children(structure) for leaf in flatten(child, expand_composites)]
    parts = _components(structure) if expand_composites else None
    return [structure] if parts is None else parts


def _rebuild(structure: Any, children: list[Any]) -> Any:
    if isinstance(structure, Mapping):
        found = dict(zip(_sorted_keys(structure), children))
        result = type(structure)() if not isinstance(structure, dict) or type(structure) is not dict else {}
        for key in structure:
            result[key] = found[key]  # type: ignore[index]
        return result
    if hasattr(structure, "_fields"):
        return type(structure)(*children)
    return type(structure)(children)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """`flat_sequence` arranged like `structure`; `ValueError` where the counts differ."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure) and len(flat_sequence) != 1 and not expand_composites:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
                         f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    leaves = iter(flat_sequence)

    def build(part: Any) -> Any:
        if is_sequence(part):
            built = {}
            for key, child in zip(_sorted_keys(part), _children(part)) if isinstance(part, Mapping) else \
                    enumerate(part):
                built[key] = build(child)
            return _rebuild(part, list(built.values()))
        parts = _components(part) if expand_composites else None
        if parts is None:
            return next(leaves)
        values = [next(leaves) for _ in parts]
        return type(part)(*values)
    return build(structure)


def map_structure(func: Callable[..., Any], *structures: Any, **kwargs: Any) -> Any:
    """`func` applied to corresponding leaves, in the structure of the first."""
    expand = kwargs.pop("expand_composites", False)
    check_types = kwargs.pop("check_types", True)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{kwargs}`")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types=check_types, expand_composites=expand)
    flat = [flatten(structure, expand) for structure in structures]
    return pack_sequence_as(structures[0], [func(*leaves) for leaves in zip(*flat)], expand)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """`ValueError` where two structures nest differently, `TypeError` where their sequence types differ."""
    if is_sequence(nest1) != is_sequence(nest2):
        first, second = (nest1, nest2) if is_sequence(nest1) else (nest2, nest1)
        raise ValueError(
            f"The two structures don't have the same nested structure.\n\nFirst structure: type="
            f"{type(nest1).__name__} str={nest1}\n\nSecond structure: type={type(nest2).__name__} str={nest2}\n\n"
            f'More specifically: Substructure "type={type(first).__name__} str={first}" is a sequence, while '
            f'substructure "type={type(second).__name__} str={second}" is not')
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2) and not (
            isinstance(nest1, Mapping) and isinstance(nest2, Mapping)):
        raise TypeError(f"The two structures don't have the same sequence type. First structure has type "
                        f"{type(nest1)}, while second structure has type {type(nest2)}.")
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(f"The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{list(nest1)}, while second structure has keys {list(nest2)}")
    children1, children2 = _children(nest1), _children(nest2)
    if len(children1) != len(children2):
        raise ValueError(f"The two structures don't have the same number of elements.\n\nFirst structure: {nest1}\n\n"
                         f"Second structure: {nest2}")
    for one, two in zip(children1, children2):
        assert_same_structure(one, two, check_types, expand_composites)
