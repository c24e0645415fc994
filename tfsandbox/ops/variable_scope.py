"""get_variable and the scopes that name, share and configure its variables."""

from __future__ import annotations

import enum
import functools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.graph import Graph, GraphKeys, get_default_graph
from tfsandbox.ops import variables
from tfsandbox.ops.partitioned_variables import (
    create_partitioned_variables,
    fixed_size_partitioner,
    min_max_variable_partitioner,
    variable_axis_size_partitioner,
)
from tfsandbox.ops.variable_store import VariableStore
from tfsandbox.ops.variables import VariableAggregation, VariableSynchronization

__all__ = [
    "AUTO_REUSE", "VariableScope", "create_partitioned_variables", "disable_resource_variables",
    "enable_resource_variables", "fixed_size_partitioner", "get_local_variable", "get_variable",
    "get_variable_scope", "min_max_variable_partitioner", "no_regularizer", "resource_variables_enabled",
    "variable_axis_size_partitioner", "variable_op_scope", "variable_scope",
]


class _ReuseMode(enum.Enum):
    """Third value of a scope's `reuse`: use the variable if it exists, else make it."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE

_resource_variables = False


def enable_resource_variables() -> None:
    """Accepted; variables stay the one kind there is."""
    global _resource_variables
    _resource_variables = True


def disable_resource_variables() -> None:
    """Accepted; variables stay the one kind there is."""
    global _resource_variables
    _resource_variables = False


def resource_variables_enabled() -> bool:
    """What was last asked for with `enable_resource_variables` or `disable_resource_variables`."""
    return _resource_variables


def no_regularizer(_: Any) -> None:
    """The regularizer that overrides a scope's regularizer with none."""
    return None


# ------------------------------------------------------------ scopes


class VariableScope:
    """What a `tf.variable_scope` sets for the get_variable calls in it: a name prefix and defaults."""

    def __init__(self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None,
                 caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
                 name_scope: str = "", dtype: Any = dtypes.float32, use_resource: bool | None = None,
                 constraint: Any = None) -> None:
        self._name, self._name_scope, self._reuse = name, name_scope, reuse
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._dtype = custom_getter, dtype
        self._use_resource, self._constraint = use_resource, constraint

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with this scope, with a trailing slash: `tf.name_scope` of it re-enters."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        return self._constraint

    def reuse_variables(self) -> None:
        """From here on the scope's variables must exist already."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """The items of a collection whose names lie in this scope."""
        return ops.get_collection(name, re.escape(self._name) + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: VariableStore, name: str | None, shape: Any = None, dtype: Any = None,
                     initializer: Any = None, regularizer: Any = None, reuse: Any = None,
                     trainable: bool | None = None, collections: Any = None, caching_device: Any = None,
                     partitioner: Any = None, validate_shape: bool = True, use_resource: bool | None = None,
                     custom_getter: Any = None, constraint: Any = None,
                     synchronization: Any = VariableSynchronization.AUTO,
                     aggregation: Any = VariableAggregation.NONE) -> Any:
        """The variable of that name in this scope, with the scope's defaults filled in."""
        if name is None:
            full_name: Any = self.name or None
        else:
            full_name = f"{self.name}/{name}" if self.name else name
        # The variable's nodes are named after the variable scope alone, not after name scopes around the call.
        with ops.name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                given = ops.convert_to_tensor(initializer).dtype.base_dtype
                if given != dtypes.as_dtype(dtype).base_dtype:
                    raise ValueError(f"Initializer type '{given!s}' and explicit dtype "
                                     f"'{dtypes.as_dtype(dtype)!s}' don't match.")
            return var_store.get_variable(
                full_name, shape=shape, dtype=self._dtype if dtype is None else dtype,
                initializer=self._initializer if initializer is None else initializer,
                regularizer=self._regularizer if regularizer is None else regularizer,
                reuse=self._reuse if reuse is None else reuse, trainable=trainable, collections=collections,
                caching_device=self._caching_device if caching_device is None else caching_device,
                partitioner=self._partitioner if partitioner is None else partitioner,
                validate_shape=validate_shape,
                use_resource=self._use_resource if use_resource is None else use_resource,
                custom_getter=self._custom_getter if custom_getter is None else custom_getter,
                constraint=self._constraint if constraint is None else constraint,
                synchronization=synchronization, aggregation=aggregation)


class _ScopeStore(threading.local):
    """A thread's current variable scope in a graph, and how often each scope name was opened."""

    def __init__(self) -> None:
        self.current_scope = VariableScope(False)
        self.counts: dict[str, int] = {}

    def open(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def close_inner(self, name: str) -> None:
        """Forget the scopes inside: entering the scope again finds them unused."""
        for key in self.counts:
            if not name or key.startswith(name + "/"):
                self.counts[key] = 0

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)


def _get_default_variable_store() -> VariableStore:
    return get_default_graph()._caches.setdefault("variable_store", VariableStore())


def get_variable_scope_store() -> _ScopeStore:
    """The state of the default graph's variable scopes."""
    return get_default_graph()._caches.setdefault("variable_scopes", _ScopeStore())


def get_variable_scope() -> VariableScope:
    """The innermost variable scope."""
    return get_variable_scope_store().current_scope


def _unique_scope_name(prefix: str) -> str:
    store = get_variable_scope_store()
    current = store.current_scope
    name = f"{current.name}/{prefix}" if current.name else prefix
    if not store.count(name):
        return prefix
    number = 1
    while store.count(f"{name}_{number}"):
        number += 1
    return f"{prefix}_{number}"


def _composed(custom_getter: Any, outer_getter: Any) -> Any:
    """An inner scope's getter around an outer scope's."""
    if outer_getter is None:
        return custom_getter

    def composed(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return custom_getter(functools.partial(outer_getter, getter), *args, **kwargs)
    return composed


@contextmanager
def _pure_variable_scope(name_or_scope: Any, reuse: Any = None, initializer: Any = None, regularizer: Any = None,
                         caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
                         old_name_scope: str | None = None, dtype: Any = None, use_resource: bool | None = None,
                         constraint: Any = None) -> Iterator[VariableScope]:
    """The variable scope alone, without a name scope."""
    store = get_variable_scope_store()
    outer = store.current_scope
    jump = isinstance(name_or_scope, VariableScope)
    if jump:
        base, name = name_or_scope, name_or_scope.name
    else:
        base, name = outer, f"{outer.name}/{name_or_scope}" if outer.name else name_or_scope
    scope = VariableScope(
        reuse or base.reuse, name=name, initializer=base.initializer, regularizer=base.regularizer,
        caching_device=base.caching_device, partitioner=base.partitioner, custom_getter=base.custom_getter,
        name_scope=(name_or_scope.original_name_scope if jump else name) if old_name_scope is None else old_name_scope,
        dtype=base.dtype if dtype is None else dtype,
        use_resource=base.use_resource if use_resource is None else use_resource,
        constraint=base.constraint if constraint is None else constraint)
    if initializer is not None:
        scope.set_initializer(initializer)
    if regularizer is not None:
        scope.set_regularizer(regularizer)
    if caching_device is not None:
        scope.set_caching_device(caching_device)
    if partitioner is not None:
        scope.set_partitioner(partitioner)
    if custom_getter is not None:
        scope.set_custom_getter(_composed(custom_getter, base.custom_getter))
    counts = dict(store.counts)
    store.open(name)
    store.current_scope = scope
    try:
        yield scope
    finally:
        store.close_inner(name)
        if jump:
            store.counts = counts
        store.current_scope = outer


class variable_scope:
    """Context manager: prefix and defaults for the get_variable calls inside; also opens a name scope.

    `name_or_scope` is a name, or a VariableScope to enter again; without it `default_name` is made unique. Yields the
    VariableScope. Names, sharing (`reuse`: None, True or AUTO_REUSE), `initializer`, `regularizer`, `partitioner`,
    `custom_getter`, `caching_device`, `dtype`, `constraint` are inherited by inner scopes.

    Raises `TypeError` and `ValueError` where arguments do not go together.
    """

    def __init__(self, name_or_scope: Any, default_name: str | None = None, values: Sequence[Any] | None = None,
                 initializer: Any = None, regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                 custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: bool | None = None,
                 constraint: Any = None, auxiliary_name_scope: bool = True) -> None:
        self._name_or_scope, self._default_name = name_or_scope, default_name
        self._values = [] if values is None else list(values)
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not (isinstance(reuse, (bool, type(None))) or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._reuse = False if reuse is False else reuse
        self._auxiliary_name_scope = auxiliary_name_scope
        self._options = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                             partitioner=partitioner, custom_getter=custom_getter, dtype=dtype,
                             use_resource=use_resource, constraint=constraint)
        self._graph: Graph = ops._get_graph_from_inputs(ops._flat(self._values))
        self._stack: ExitStack | None = None

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            if self._graph is not get_default_graph():
                stack.enter_context(self._graph.as_default())
            scope = self._enter(stack)
            self._stack = stack.pop_all()
            return scope

    def _enter(self, stack: ExitStack) -> VariableScope:
        name_or_scope = self._name_or_scope
        current = self._graph.get_name_scope()
        current = current + "/" if current else ""
        if name_or_scope is not None:
            if not isinstance(name_or_scope, (str, VariableScope)):
                raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
            name = name_or_scope if isinstance(name_or_scope, str) else name_or_scope.name.split("/")[-1]
            if name and self._auxiliary_name_scope:
                current = stack.enter_context(ops.name_scope(name))
            if isinstance(name_or_scope, VariableScope):
                current = name_or_scope.original_name_scope
            return stack.enter_context(_pure_variable_scope(
                name_or_scope, reuse=self._reuse, old_name_scope=current, **self._options))
        if self._reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        assert self._default_name is not None
        if self._auxiliary_name_scope:
            current = stack.enter_context(ops.name_scope(self._default_name))
        return stack.enter_context(_pure_variable_scope(
            _unique_scope_name(self._default_name), old_name_scope=current, **self._options))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        assert self._stack is not None
        self._stack.__exit__(kind, error, trace)


@contextmanager
def variable_op_scope(values: Sequence[Any], name_or_scope: Any, default_name: str | None = None,
                      initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
                      partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
                      use_resource: bool | None = None, constraint: Any = None) -> Iterator[VariableScope]:
    """Deprecated: `variable_scope` with `values` in front."""
    with variable_scope(name_or_scope, default_name=default_name, values=values, initializer=initializer,
                        regularizer=regularizer, caching_device=caching_device, partitioner=partitioner,
                        custom_getter=custom_getter, reuse=reuse, dtype=dtype, use_resource=use_resource,
                        constraint=constraint) as scope:
        yield scope


# ------------------------------------------------------------ functions


def get_variable(name: str | None, shape: Any = None, dtype: Any = None, initializer: Any = None,
                 regularizer: Callable[[Any], Any] | None = None, trainable: bool | None = None,
                 collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                 validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                 constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
                 aggregation: Any = VariableAggregation.NONE) -> Any:
    """The variable `name` of the current variable scope: a new one, or the one there is where the scope reuses.

    `initializer` is a function of (shape, dtype), a value (then without `shape`), or None: the scope's, else Glorot's
    for floats and zeros for integers. `regularizer(variable)` is added to REGULARIZATION_LOSSES when it is made.

    Raises `ValueError` for a variable that exists where none should, or that is missing where it should be reused, and
    where shape, dtype or initializer do not go together.
    """
    return get_variable_scope().get_variable(
        _get_default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections, caching_device=caching_device,
        partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
        custom_getter=custom_getter, constraint=constraint, synchronization=synchronization, aggregation=aggregation)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                       regularizer: Callable[[Any], Any] | None = None, trainable: bool = False,
                       collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                       validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                       constraint: Any = None, synchronization: Any = VariableSynchronization.AUTO,
                       aggregation: Any = VariableAggregation.NONE) -> Any:
    """`get_variable` for a variable that is not trained and not saved: it goes to LOCAL_VARIABLES."""
    collections = [*(collections or []), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                        trainable=False, collections=collections, caching_device=caching_device,
                        partitioner=partitioner, validate_shape=validate_shape, use_resource=use_resource,
                        custom_getter=custom_getter, constraint=constraint, synchronization=synchronization,
                        aggregation=aggregation)


def variable(initial_value: Any = None, **kwargs: Any) -> Any:
    """A new Variable, made as the creator scopes say."""
    return variables.Variable(initial_value=initial_value, **kwargs)


