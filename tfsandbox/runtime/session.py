"""Session: runs of a graph. Each distinct run is planned and compiled once and kept."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfsandbox.framework import dtypes, errors, stacks
from tfsandbox.framework.array_conversion import as_ndarray
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.indexed_slices import IndexedSlices
from tfsandbox.framework.operation import Operation, Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.framework.tensor_shape import TensorShape
from tfsandbox.runtime import plan as plan_lib
from tfsandbox.runtime import rewrites
from tfsandbox.runtime.emit import Program
from tfsandbox.runtime.executable import Executable, compile_plan
from tfsandbox.runtime.fetches import FetchPlan, Rebuild, structure_key
from tfsandbox.runtime.order import needed_ops
from tfsandbox.runtime.state import SessionState

MAX_SHAPES = 16
"""Plans of one run made for particular shapes; further shapes share one plan that assumes nothing."""

MAX_PROGRAMS = 512
"""Compiled programs a graph keeps."""

_programs_lock = threading.Lock()


class _Feed:
    """One fed tensor: what arrays for it must be."""

    __slots__ = ("tensor", "dtype", "shape", "accepts", "looked_through")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        base = tensor.dtype.base_dtype
        # dtypes that numpy lacks (bfloat16, ...) are kept as another type's bits.
        self.dtype: Any = np.dtype(getattr(base, "_array_dtype", None) or base.as_numpy_dtype)
        self.shape = tensor.shape
        # The arrays to be taken as they are; those of objects, or of bits, may hold anything.
        self.looked_through = self.dtype == object or base == dtypes.bfloat16
        self.accepts: Any = ... if self.looked_through else self.dtype

    def convert(self, value: Any) -> np.ndarray:
        """The array for a fed value; `TypeError`/`ValueError` where it is none."""
        if isinstance(value, Tensor):
            raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                            "scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor "
                            f"object was {value} which was passed to the feed with key {self.tensor}.")
        if self.looked_through:
            return as_ndarray(value, self.tensor.dtype.base_dtype)
        try:
            array = np.asarray(value, self.dtype)
        except OverflowError:
            array = np.asarray(value)
            if array.dtype.kind not in "iu":
                raise self._misfit(value) from None
            array = array.astype(self.dtype)
        if isinstance(value, int) and array[()] != value:
            raise self._misfit(value)
        return array

    def _misfit(self, value: Any) -> TypeError:
        return TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                         f"{self.tensor.dtype.base_dtype.as_numpy_dtype}. Try explicitly setting the type of the feed "
                         f"tensor to a larger type (e.g. int64).")

    def check(self, array: np.ndarray) -> None:
        """`ValueError` where the shape does not fit the tensor."""
        if not self.shape.is_compatible_with(array.shape):
            raise ValueError(f"Cannot feed value of shape {array.shape!r} for Tensor {self.tensor.name!r}, which has "
                             f"shape {str(self.shape)!r}")


class _Call:
    """One (fetches, fed tensors, rewrites) combination of a session."""

    __slots__ = ("feeds", "targets", "fetches", "rebuild", "rewrites", "variants", "places", "expand", "mutations",
                 "single")

    def __init__(self, feeds: list[_Feed], targets: list[Operation], fetches: list[Tensor], places: list[int | None],
                 rebuild: Rebuild, active: tuple[rewrites.PlanRewrite, ...], expand: Any, mutations: int,
                 single: bool) -> None:
        self.single = single
        self.feeds, self.targets, self.fetches, self.places = feeds, targets, fetches, places
        self.rebuild, self.rewrites, self.expand, self.mutations = rebuild, active, expand, mutations
        self.variants: dict[Any, Executable] = {}


class BaseSession:
    """What Session and InteractiveSession share: the graph, its state and `run`."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._graph = graph if graph is not None else get_default_graph()
        self._target, self._config = target, config
        self._closed = False
        self._state = SessionState()
        self._calls: dict[Any, _Call] = {}
        self._unfinished = 0    # runs under way, and runs that raised
        self._calls_for = -1
        self._lock = threading.RLock()

    @property
    def graph(self) -> Graph:
        """The graph this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef protobuf."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> str:
        return self._target

    def list_devices(self) -> list[str]:
        """The one device there is."""
        return ["/job:localhost/replica:0/task:0/device:CPU:0"]

    def close(self) -> None:
        """Free what the session holds; further runs raise `RuntimeError`."""
        self._closed = True
        self._calls.clear()
        for resource in list(self._state.op_states.values()):
            close = getattr(resource, "close_session", None)
            if close is not None:
                close()
        self._state = SessionState()

    def as_default(self) -> contextlib.AbstractContextManager[Any]:
        """Context manager: `tensor.eval()` and `op.run()` of this thread use this session."""
        return stacks.sessions.pushed(self)

    # ------------------------------------------------------------ run

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        """Compute `fetches`, any nesting of tensors, operations, variables and names; their values come so nested.

        `feed_dict` maps tensors (or names) to values that stand in for them. An operation gives None.

        Raises `RuntimeError` on a closed session, `ValueError`/`TypeError` for what cannot be fetched or fed, and the
        `tf.errors` of the nodes that fail, with the node named. A run that fails or is interrupted leaves every
        variable as it was before or after its own update.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        self._unfinished += 1
        active = rewrites.active.rewrites
        key: Any
        try:
            kind = fetches.__class__
            key = (fetches if kind is Tensor or kind is Operation else structure_key(fetches),
                   tuple(feed_dict) if feed_dict else (), active)
            call = self._calls.get(key)
        except TypeError:
            key = call = None
        if call is None or call.mutations != self._graph._mutations:
            call = self._prepare(fetches, feed_dict, active)
            if self._calls_for != call.mutations:
                # The graph has grown: what was prepared for it as it was is never used again.
                self._calls, self._calls_for = {}, call.mutations
            if key is not None:
                self._calls[key] = call
        arguments: list[Any] = []
        shapes: Any = ()
        if feed_dict:
            values = feed_dict.values() if call.expand is None else call.expand(feed_dict)
            for feed, value in zip(call.feeds, values):
                if value.__class__ is not np.ndarray or (value.dtype is not feed.accepts
                                                         and value.dtype != feed.accepts):
                    value = feed.convert(value)
                arguments.append(value)
            shapes = tuple([value.shape for value in arguments])
        executable = call.variants.get(shapes)
        if executable is None:
            executable = self._variant(call, arguments)
        if executable.unchecked:
            executable.check_initialized()
        try:
            results = executable.call(executable.run, *arguments)
        except Exception as error:
            explained = executable.explain(error)
            if explained is error:
                raise
            raise explained from error
        self._unfinished -= 1
        if call.single:
            # One tensor or one operation: nothing to arrange.
            if not results:
                return None
            value = results[0]
            return value if value.__class__ is not np.ndarray or value.ndim else value[()]
        results = [value[()] if value.__class__ is np.ndarray and not value.ndim else value for value in results]
        return call.rebuild([None if place is None else results[place] for place in call.places])

    def _prepare(self, fetches: Any, feed_dict: dict[Any, Any] | None,
                 active: tuple[rewrites.PlanRewrite, ...]) -> _Call:
        """Everything about a run that does not depend on the values fed."""
        if not self._graph._nodes_by_name and not _empty(fetches):
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        if feed_dict and not isinstance(feed_dict, Mapping):
            raise TypeError(f"feed_dict must be a dictionary, but got {type(feed_dict)}")
        for rewrite in active:
            rewrite.begin(self)
        plan = FetchPlan(fetches, self._graph)
        feeds: list[_Feed] = []
        expanders: list[Callable[[Any], list[Any]]] = []
        simple = True
        for key in feed_dict or {}:
            tensors, expand = self._feed_tensors(key)
            simple = simple and expand is None
            expanders.append(expand or (lambda value: [value]))
            for tensor in tensors:
                if not self._graph.is_feedable(tensor):
                    raise ValueError(f"Tensor {tensor.name} may not be fed.")
                feeds.append(_Feed(tensor))
        def expand_all(given: dict[Any, Any]) -> list[Any]:
            return [part for expander, value in zip(expanders, given.values()) for part in expander(value)]
        targets = [e for e in plan.elements if isinstance(e, Operation)]
        tensors = [e for e in plan.elements if isinstance(e, Tensor)]
        places = [tensors.index(e) if isinstance(e, Tensor) else None for e in plan.elements]
        return _Call(feeds, targets, tensors, places, plan.rebuild, active, None if simple else expand_all,
                     self._graph._mutations, plan.elements == [fetches])

    def _feed_tensors(self, key: Any) -> tuple[list[Tensor], Callable[[Any], list[Any]] | None]:
        """The tensors one feed key stands for, and how its value is spread over them (None: it is the one value)."""
        if isinstance(key, SparseTensor):
            return [key.indices, key.values, key.dense_shape], lambda value: _parts_of(value, 3, key)
        if isinstance(key, IndexedSlices):
            parts = [key.values, key.indices] + ([key.dense_shape] if key.dense_shape is not None else [])
            return parts, lambda value: _parts_of(value, len(parts), key)
        try:
            return [self._graph.as_graph_element(key, allow_operation=False)], None
        except (TypeError, ValueError, KeyError) as error:
            text = error.args[0] if error.args else error
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None

    def _variant(self, call: _Call, arguments: list[np.ndarray]) -> Executable:
        """The executable for these shapes, made now if need be."""
        shapes: Any = tuple(a.shape for a in arguments)
        for feed, array in zip(call.feeds, arguments):
            feed.check(array)
        with self._lock:
            if len(call.variants) >= MAX_SHAPES:
                shapes = None
                if None in call.variants:
                    return call.variants[None]
            program = self._program(call, shapes)
            executable = Executable(program, self._state)
            call.variants[shapes] = executable
            return executable

    def _program(self, call: _Call, shapes: Any) -> Program:
        """The compiled program for a run, shared by all sessions of the graph."""
        cache = self._graph._caches.setdefault("programs", {})
        key = (tuple(call.targets), tuple(call.fetches), tuple(f.tensor for f in call.feeds), shapes, call.rewrites,
               call.mutations)
        program = cache.get(key)
        if program is None:
            static = None if shapes is None else [TensorShape(s) for s in shapes]
            program = compile_plan(plan_lib.make_plan(call.targets, call.fetches, [f.tensor for f in call.feeds],
                                                      static, call.rewrites))
            with _programs_lock:
                oldest = next(iter(cache), key)
                if oldest[-1] != call.mutations:
                    cache.clear()  # made for the graph before it grew
                elif len(cache) >= MAX_PROGRAMS:
                    del cache[oldest]
                cache[key] = program
        return program

    def program(self, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Program:
        """The program that `run(fetches, feed_dict)` would execute, without running it."""
        call = self._prepare(fetches, feed_dict, rewrites.active.rewrites)
        values = [] if not feed_dict else list(feed_dict.values()) if call.expand is None else call.expand(feed_dict)
        arrays = [feed.convert(value) for feed, value in zip(call.feeds, values)]
        for feed, array in zip(call.feeds, arrays):
            feed.check(array)
        return self._program(call, tuple(a.shape for a in arrays))

    # ------------------------------------------------------------ callables and partial runs

    def make_callable(self, fetches: Any, feed_list: list[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """A function of the values for `feed_list`, in that order, that runs `fetches`."""
        feed_list = [] if feed_list is None else feed_list
        if not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")

        self._prepare(fetches, dict.fromkeys(feed_list), ())  # what is wrong with them is said now

        def call(*values: Any, **_: Any) -> Any:
            if len(values) != len(feed_list):
                raise ValueError(f"Expected {len(feed_list)} positional arguments for the feeds, got {len(values)}")
            return self.run(fetches, dict(zip(feed_list, values)))
        return call

    def partial_run_setup(self, fetches: Any, feeds: list[Any] | None = None) -> PartialRun:
        """Begin a run that is fed and fetched in several steps; gives the handle for `partial_run`."""
        plan = FetchPlan(fetches, self._graph)
        tensors = [self._feed_tensors(key)[0][0] for key in feeds or []]
        return PartialRun(plan.elements, tensors)

    def partial_run(self, handle: PartialRun, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """One step of a partial run: nothing that an earlier step computed is computed again."""
        return handle.step(self, fetches, feed_dict or {})

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Nothing to do: sessions share no containers here."""


class PartialRun:
    """What the steps of one partial run have been fed and have computed so far."""

    def __init__(self, fetches: list[Any], feeds: list[Tensor]) -> None:
        self.fetches, self.feeds = set(fetches), set(feeds)
        self.known: dict[Tensor, Any] = {}
        self.done: set[Operation] = set()

    def step(self, session: BaseSession, fetches: Any, feed_dict: dict[Any, Any]) -> Any:
        """Run the new fetches on all that is known."""
        plan = FetchPlan(fetches, session.graph)
        for element in plan.elements:
            if element not in self.fetches:
                raise errors.InvalidArgumentError(None, None, f"The fetch {element.name} was not specified in "
                                                              "partial_run_setup.")
        for key, value in feed_dict.items():
            tensor = session._feed_tensors(key)[0][0]
            if tensor not in self.feeds:
                raise errors.InvalidArgumentError(None, None, f"The feed {tensor.name} was not specified in "
                                                              "partial_run_setup.")
            if tensor in self.known:
                raise errors.InvalidArgumentError(None, None, f"The feed {tensor.name} had already been fed.")
            self.known[tensor] = value
        wanted = [e.op if isinstance(e, Tensor) else e for e in plan.elements if e not in self.known]
        ops = [op for op in needed_ops(wanted, set(self.known), ()) if op not in self.done]
        tensors = [t for op in ops for t in op.outputs if not t.dtype._is_ref_dtype and t not in self.known
                   and op.type not in ("Switch", "Merge")]
        targets = [e for e in plan.elements if isinstance(e, Operation) or e.dtype._is_ref_dtype]
        values, direct = session.run([tensors, targets], dict(self.known))
        self.known.update(zip(tensors, values))
        self.done.update(ops)
        found = {**self.known, **dict(zip(targets, direct))}
        return plan.rebuild([found[element] for element in plan.elements])


def _parts_of(value: Any, count: int, key: Any) -> list[Any]:
    parts = list(value)
    if isinstance(key, IndexedSlices) and len(parts) == 3:
        parts = parts[:count]  # the value of slices without a dense shape has None there
    if len(parts) != count:
        raise ValueError(f"Cannot feed {len(parts)} values for {key}, which takes {count}")
    return parts


def _empty(fetches: Any) -> bool:
    return isinstance(fetches, (list, tuple, dict)) and not fetches


class Session(BaseSession):
    """A session on the default or the given graph; as a context manager it is the default session and graph."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[contextlib.ExitStack] = []

    def __enter__(self) -> Session:
        stack = contextlib.ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        self._contexts.append(stack)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._contexts.pop().__exit__(kind, error, trace)
        self.close()


class InteractiveSession(BaseSession):
    """A session that is the default one from its construction until `close()`: for a notebook."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._stack = contextlib.ExitStack()
        stacks.sessions.enforce_nesting = False
        if graph is not None:
            self._stack.enter_context(graph.as_default())
        self._stack.enter_context(self.as_default())

    def close(self) -> None:
        """Close the session and take it off the stack of default sessions."""
        super().close()
        self._stack.close()
