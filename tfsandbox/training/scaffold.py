"""Scaffold: what a monitored session needs of the graph; and the creators of sessions."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys, get_default_graph
from tfsandbox.framework.operation import Operation
from tfsandbox.ops import array_ops, control_flow_ops, lookup_ops, resources, summary_ops, variables
from tfsandbox.platform import tf_logging
from tfsandbox.runtime.session import Session
from tfsandbox.training import chief
from tfsandbox.training.saver import Saver
from tfsandbox.training.session_manager import SessionManager


def _default_init_op() -> Operation:
    return control_flow_ops.group(variables.global_variables_initializer(),
                                  resources.initialize_resources(resources.shared_resources()),
                                  *ops.get_collection("saved_model_initializers"))


def _default_ready_op() -> Any:
    return array_ops.concat([variables.report_uninitialized_variables(), resources.report_uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Any:
    return array_ops.concat([
        variables.report_uninitialized_variables(variables.global_variables()),
        resources.report_uninitialized_resources(resources.shared_resources())], 0)


def default_saver() -> Saver:
    """The saver of the graph's collection, made for all variables where it is empty.

    Raises `RuntimeError` where the collection holds several.
    """
    savers = ops.get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
                           "passing it to the constructor.")
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    ops.add_to_collection(GraphKeys.SAVERS, saver)
    return saver


class Scaffold:
    """The operations by which a monitored session starts: each is given, or found in a collection, or made.

    Args:
      init_op: initialises the variables where there is no checkpoint; run with `init_feed_dict`.
      init_fn: function `(scaffold, session)`, called after `init_op`.
      ready_op, ready_for_local_init_op: tensors with the names of what is not initialised yet.
      local_init_op: run in every new session.
      summary_op: all summaries, merged.
      saver: by default saves all variables, sharded.
      copy_from_scaffold: gives what is None here; `TypeError` unless it is a Scaffold.
    """

    def __init__(self, init_op: Any = None, init_feed_dict: dict[Any, Any] | None = None,
                 init_fn: Callable[[Scaffold, Any], Any] | None = None, ready_op: Any = None,
                 ready_for_local_init_op: Any = None, local_init_op: Any = None, summary_op: Any = None,
                 saver: Any = None, copy_from_scaffold: Scaffold | None = None) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(value: Any, attribute: str) -> Any:
            return value if value is not None else getattr(copy_from_scaffold, attribute, None)

        self._init_op = given(init_op, "_init_op")
        self._init_feed_dict = given(init_feed_dict, "_init_feed_dict")
        self._user_init_fn = given(init_fn, "_user_init_fn")
        self._ready_op = given(ready_op, "_ready_op")
        self._ready_for_local_init_op = given(ready_for_local_init_op, "_ready_for_local_init_op")
        self._local_init_op = given(local_init_op, "_local_init_op")
        self._summary_op = given(summary_op, "_summary_op")
        self._saver = given(saver, "_saver")

    def finalize(self) -> Scaffold:
        """Make what is missing, and finalize the graph."""
        def found(value: Any, name: str, key: str, default: Callable[[], Any]) -> Any:
            return value if value is not None else Scaffold.get_or_default(name, key, default)

        self._init_op = found(self._init_op, "init_op", GraphKeys.INIT_OP, _default_init_op)
        self._ready_op = found(self._ready_op, "ready_op", GraphKeys.READY_OP, _default_ready_op)
        self._ready_for_local_init_op = found(self._ready_for_local_init_op, "ready_for_local_init_op",
                                              GraphKeys.READY_FOR_LOCAL_INIT_OP, _default_ready_for_local_init_op)
        self._local_init_op = found(self._local_init_op, "local_init_op", GraphKeys.LOCAL_INIT_OP,
                                    Scaffold.default_local_init_op)
        self._summary_op = found(self._summary_op, "summary_op", GraphKeys.SUMMARY_OP, summary_ops.merge_all)
        if self._saver is None:
            self._saver = default_saver()
        self._saver.build()
        get_default_graph().finalize()
        tf_logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """The init function with the scaffold filled in: it takes a session."""
        function = self._user_init_fn
        return (lambda session: function(self, session)) if function else None

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def saver(self) -> Any:
        return self._saver

    @property
    def init_feed_dict(self) -> dict[Any, Any] | None:
        return self._init_feed_dict

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """The item of a collection, made and entered by `default_constructor` where it is empty.

        Raises `RuntimeError` where it holds several.
        """
        items = ops.get_collection(collection_key)
        if items:
            if len(items) > 1:
                raise RuntimeError(f'More than one item in the collection "{collection_key}". Please indicate which '
                                   "one to use by passing it to the tf.Scaffold constructor as:  "
                                   f"tf.Scaffold({arg_name}=item to use)")
            return items[0]
        item = default_constructor()
        if item is not None:
            ops.add_to_collection(collection_key, item)
        return item

    @staticmethod
    def default_local_init_op() -> Operation:
        """An operation that initialises local variables, tables and local resources."""
        return control_flow_ops.group(variables.local_variables_initializer(), lookup_ops.tables_initializer(),
                                      resources.initialize_resources(resources.local_resources()))


class SessionCreator(abc.ABC):
    """Makes sessions for a monitored session, one at the start and one after each failure."""

    @abc.abstractmethod
    def create_session(self) -> Session:
        """A session that is ready for use."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ScaffoldSessionCreator(SessionCreator):
    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._manager: SessionManager | None = None
        self._master, self._config = master, config

    def _session_manager(self) -> SessionManager:
        self._scaffold.finalize()
        if self._manager is None:
            self._manager = SessionManager(
                local_init_op=self._scaffold.local_init_op, ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op, graph=get_default_graph())
        return self._manager


class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions that restore the checkpoint in `checkpoint_dir`, or initialise the variables.

    `checkpoint_filename_with_path` names one checkpoint instead.
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir, self._checkpoint_filename_with_path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session whose variables have values. Workers of the same graph find it."""
        manager = self._session_manager()
        session = manager.prepare_session(
            self._master, saver=self._scaffold.saver, checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path, config=self._config,
            init_op=self._scaffold.init_op, init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn)
        chief.announce(session)
        return session


class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions that wait, at most `max_wait_secs`, until the chief has initialised the variables."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 max_wait_secs: float | None = 30 * 60) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """A session on the chief's variables; `DeadlineExceededError` where there is no chief in time."""
        was_finalized = get_default_graph().finalized
        return self._session_manager().wait_for_session(self._master, config=self._config,
                                                        max_wait_secs=self._max_wait_secs,
                                                        unlock_graph=not was_finalized)
