"""The names of `tensorflow.python.framework.ops`: graphs, nodes, scopes and conversions, gathered."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import op_registry, stacks
from tfsandbox.framework.conversion import (  # noqa: F401
    convert_n_to_tensor,
    convert_n_to_tensor_or_indexed_slices,
    convert_to_tensor,
    convert_to_tensor_or_indexed_slices,
    graph_from_inputs,
    register_tensor_conversion_function,
)
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph, reset_default_graph  # noqa: F401
from tfsandbox.framework.indexed_slices import IndexedSlices  # noqa: F401
from tfsandbox.framework.operation import Operation, Tensor, uid  # noqa: F401

internal_convert_to_tensor = convert_to_tensor
internal_convert_n_to_tensor = convert_n_to_tensor
internal_convert_to_tensor_or_indexed_slices = convert_to_tensor_or_indexed_slices
_get_graph_from_inputs = graph_from_inputs


def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return stacks.default_session()


class RegisterGradient:
    """Decorator: register a gradient function under an op type or any other name (for gradient_override_map)."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        op_registry.register_gradient(self._op_type, function)
        return function


def NotDifferentiable(op_type: str) -> None:
    """Say that ops of this type have no gradient."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    op_registry.register_gradient(op_type, None)


NoGradient = NotDifferentiable


def get_gradient_function(op: Operation) -> Callable[..., Any] | None:
    """The gradient function of a node; None where there is none on purpose; `LookupError` where none is registered."""
    if not op.inputs:
        return None
    override = op._attrs.get("_gradient_op_type")
    return op_registry.gradient_of(override.decode() if override is not None else op.type)


class name_scope:
    """Context manager for the body of a function that makes nodes.

    `name_scope(name, default_name, values)`: checks that `values` are of one graph, makes that graph the default,
    and opens the scope `name`, or `default_name` where `name` is None. Yields the scope with a trailing slash.
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None) -> None:
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to "
                            f"pass this into the `values` kwarg.")
        self._name = default_name if name is None else name
        self._given = name
        self._default_name = default_name
        self._values = values
        self._contexts: list[tuple[Any, Any]] = []

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(f"At least one of name ({self._given}) and default_name ({self._default_name}) must be "
                             f"provided.")
        values = self._values if isinstance(self._values, (list, tuple)) else []
        graph = graph_from_inputs(_flat(values))
        default, scope = graph.as_default(), graph.name_scope(self._name)
        default.__enter__()
        try:
            prefix = scope.__enter__()
        except BaseException as error:
            default.__exit__(type(error), error, error.__traceback__)
            raise
        self._contexts.append((default, scope))
        return prefix

    def __exit__(self, *error: Any) -> None:
        default, scope = self._contexts.pop()
        try:
            scope.__exit__(*error)
        finally:
            default.__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import functools

        @functools.wraps(function)
        def scoped(*args: Any, **kwargs: Any) -> Any:
            with name_scope(self._given, self._default_name, self._values):
                return function(*args, **kwargs)
        return scoped


def _flat(values: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            flat += _flat(value)
        else:
            flat.append(value)
    return flat


def name_from_scope_name(name: str) -> str:
    """The name a scope stands for: without its trailing slash."""
    return name[:-1] if name and name.endswith("/") else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """`name` without the scope in front; a `loc:@` or `^` prefix stays."""
    if not export_scope:
        return name
    import re
    scope = export_scope[:-1] if export_scope.endswith("/") else export_scope
    return re.sub(rf"^((?:loc:@|\^)?){re.escape(scope)}/", r"\1", name, count=1)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """`name` with the scope in front, behind a `loc:@` or `^` prefix."""
    if not import_scope:
        return name
    scope = import_scope[:-1] if import_scope.endswith("/") else import_scope
    for prefix in ("loc:@", "^"):
        if name.startswith(prefix):
            return f"{prefix}{scope}/{name[len(prefix):]}"
    return f"{scope}/{name}"


def control_dependencies(control_inputs: Any) -> Any:
    """`control_dependencies` of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> Any:
    """`device` of the default graph."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """`colocate_with` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


_colocate_with_for_gradient = colocate_with


def container(container_name: str) -> Any:
    """`container` of the default graph."""
    return get_default_graph().container(container_name)


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lift nodes out of control flow and control dependencies: where variables are made."""
    graph = get_default_graph()
    scope = graph.get_name_scope()
    with graph.control_dependencies(None), graph.name_scope(scope + "/" if scope else None):
        yield


def add_to_collection(name: Any, value: Any) -> None:
    """Append to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph, filtered by `scope`."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """A collection of the default graph itself."""
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list[Any]:
    """The names of all collections of the default graph."""
    return get_default_graph().get_all_collection_keys()


_PROTO_FUNCTIONS: dict[Any, tuple[Any, Any, Any]] = {}


def register_proto_function(collection_name: Any, proto_type: Any = None, to_proto: Any = None,
                            from_proto: Any = None) -> None:
    """Register how the items of a collection are written to and read from a MetaGraphDef.

    `proto_type` may be a function returning the message class, so that protobuf is imported only when needed.
    """
    _PROTO_FUNCTIONS[collection_name] = (proto_type, to_proto, from_proto)


def get_collection_proto_type(collection_name: Any) -> Any:
    """The message class a collection's items are written as, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[0]


def get_to_proto_function(collection_name: Any) -> Any:
    """How a collection's items are written, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[1]


def get_from_proto_function(collection_name: Any) -> Any:
    """How a collection's items are read, or None."""
    return _PROTO_FUNCTIONS.get(collection_name, (None, None, None))[2]


def is_dense_tensor_like(value: Any) -> bool:
    """Whether `value` stands for a tensor: one, or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def executing_eagerly_outside_functions() -> bool:
    """False: there is no eager execution here."""
    return False


def inside_function() -> bool:
    """False: graphs of functions are built elsewhere."""
    return False


def dismantle_graph(graph: Graph) -> None:
    """Nothing to do: a graph here holds no native memory."""
