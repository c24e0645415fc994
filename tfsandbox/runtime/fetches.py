"""What `Session.run` is asked for: any nesting of fetches, taken apart into graph elements and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfsandbox.framework.graph import Graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor, SparseTensorValue

Rebuild = Callable[[list[Any]], Any]
_Find = Callable[[Any], Any]


class IndexedSlicesValue:
    """The numpy value of IndexedSlices."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    def __iter__(self) -> Any:
        return iter((self.values, self.indices, self.dense_shape))

    def __repr__(self) -> str:
        return f"IndexedSlicesValue(values={self.values!r}, indices={self.indices!r}, dense_shape={self.dense_shape!r})"


class FetchPlan:
    """The distinct elements of a fetch structure, and how their values are arranged."""

    def __init__(self, fetches: Any, graph: Graph) -> None:
        self.graph = graph
        self.elements: list[Any] = []
        self._places: dict[Any, int] = {}
        self.rebuild = self._visit(fetches)

    def _visit(self, fetch: Any) -> Rebuild:
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, dict):
            return self._mapping(fetch)
        if _is_attrs(fetch):
            names = [a.name for a in type(fetch).__attrs_attrs__]
            parts = [self._visit(getattr(fetch, name)) for name in names]
            return lambda values: type(fetch)(*[part(values) for part in parts])
        if isinstance(fetch, SparseTensor):
            places = [self._place(t) for t in (fetch.indices, fetch.values, fetch.dense_shape)]
            return lambda values: SparseTensorValue(*[values[p] for p in places])
        if isinstance(fetch, IndexedSlices):
            places = [self._place(t) for t in (fetch.values, fetch.indices, fetch.dense_shape) if t is not None]
            return lambda values: IndexedSlicesValue(*([values[p] for p in places] + [None])[:3])
        place = self._place(fetch)
        return lambda values: values[place]

    def _sequence(self, fetch: Any) -> Rebuild:
        beside = [item.op.name for item in fetch if hasattr(item, "_as_graph_element") and hasattr(item, "op")]
        if beside and any(item is None for item in fetch):
            raise TypeError(f"Fetch argument None has invalid type <class 'NoneType'>. It stands beside the variable "
                            f"{beside[0]!r}: a gradient is None where no derivative leads from the loss back to "
                            f"the variable. Leave such pairs out.")
        parts = [self._visit(item) for item in fetch]
        kind = type(fetch)
        if hasattr(fetch, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        if kind is list or not isinstance(fetch, tuple):
            return lambda values: [part(values) for part in parts]
        return lambda values: kind([part(values) for part in parts])

    def _mapping(self, fetch: dict[Any, Any]) -> Rebuild:
        parts = {key: self._visit(item) for key, item in fetch.items()}
        kind = type(fetch)
        if kind is dict:
            return lambda values: {key: part(values) for key, part in parts.items()}

        def rebuild(values: list[Any]) -> Any:
            result = kind()
            for key, part in parts.items():
                result[key] = part(values)
            return result
        return rebuild

    def _place(self, fetch: Any) -> int:
        element = self._element(fetch)
        if element not in self._places:
            self._places[element] = len(self.elements)
            self.elements.append(element)
        return self._places[element]

    def _element(self, fetch: Any) -> Any:
        if fetch is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>. "
                            "A gradient is None where no derivative leads from the loss back to the variable: "
                            "leave it out.")
        if isinstance(fetch, bytes):
            fetch = fetch.decode()
        if not isinstance(fetch, (str, Tensor, Operation)) and not hasattr(fetch, "_as_graph_element"):
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                            f"(Can not convert a {type(fetch).__name__} into a Tensor or Operation.)")
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                            f"({error})") from None
        except ValueError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None
        except KeyError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None
        if not self.graph.is_fetchable(element):
            raise ValueError(f"Operation {element.name!r} has been marked as not fetchable.")
        return element


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def structure_key(fetches: Any) -> Any:
    """A hashable key that two fetch structures share only if they ask for the same in the same shape."""
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *[structure_key(item) for item in fetches])
    if isinstance(fetches, dict):
        return (type(fetches), *[(key, structure_key(item)) for key, item in fetches.items()])
    return fetches
