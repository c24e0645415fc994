"""FileWriter: summaries and graphs into event files; `summary_iterator` reads them."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

from tfsandbox.framework import meta_graph
from tfsandbox.framework.graph import Graph
from tfsandbox.lib.events_writer import EventsWriter, read_events
from tfsandbox.platform import tf_logging
from tfsandbox.training import training_scope

__all__ = ["summary_iterator"]


class SummaryToEventTransformer:
    """Wraps what is added in Event messages and hands them to `event_writer.add_event`."""

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None) -> None:
        self.event_writer = event_writer
        self._session_run_tags: dict[str, bool] = {}
        self._seen_summary_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            definition = graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True)
            source = graph if isinstance(graph, Graph) else None
            self.add_meta_graph(meta_graph.export_scoped_meta_graph(graph_def=definition, graph=source)[0])

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Add a Summary message, or the bytes that running a summary op gives, at a step of training."""
        from tfsandbox.proto import event_pb2, summary_pb2
        if isinstance(summary, bytes):
            summary = summary_pb2.Summary.FromString(summary)
        message = summary_pb2.Summary()
        for value in summary.value:
            copied = message.value.add()
            copied.MergeFromString(value.SerializeToString())
            # TensorBoard keeps what a tag's first summary says of it.
            if value.metadata.ByteSize():
                if value.tag in self._seen_summary_tags:
                    copied.ClearField("metadata")
                self._seen_summary_tags.add(value.tag)
        self._add_event(event_pb2.Event(summary=message), global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Add a SessionLog message."""
        from tfsandbox.proto import event_pb2
        event = event_pb2.Event()
        event.session_log.MergeFromString(session_log.SerializeToString())
        self._add_event(event, global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Add a `tf.Graph`, which TensorBoard draws; `graph_def` is deprecated.

        Raises `ValueError` where both are given, `TypeError` for something else.
        """
        if graph_def is not None and graph is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            definition = given.as_graph_def(add_shapes=True)
        elif type(given).__name__ == "GraphDef":
            tf_logging.warning("Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object "
                               "instead, such as `sess.graph`.")
            definition = given
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        from tfsandbox.proto import event_pb2
        self._add_event(event_pb2.Event(graph_def=definition.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Add a MetaGraphDef; `TypeError` for anything else."""
        if type(meta_graph_def).__name__ != "MetaGraphDef":
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        from tfsandbox.proto import event_pb2
        self._add_event(event_pb2.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Add a RunMetadata message under a tag, which may be used once: else `ValueError`."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags[tag] = True
        from tfsandbox.proto import event_pb2
        event = event_pb2.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._add_event(event, global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


class EventFileWriter:
    """Event messages into one file. In a training scope with `is_chief=False` nothing is added and no file made."""

    def __init__(self, logdir: str, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str | None = None) -> None:
        self._logdir = os.fspath(logdir) if not isinstance(logdir, (str, bytes)) else str(logdir)
        self._writer = EventsWriter(self._logdir, max_queue, flush_secs, filename_suffix)
        self._open()

    def _open(self) -> None:
        if training_scope.is_chief():
            self._writer.open()

    def get_logdir(self) -> str:
        """The directory of the event file."""
        return self._logdir

    def add_event(self, event: Any) -> None:
        """Add an Event message; nothing happens after `close`."""
        if training_scope.is_chief():
            self._writer.write(event)

    def flush(self) -> None:
        """Make sure that every event is in the file."""
        self._writer.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._writer.close()

    def reopen(self) -> None:
        """After `close`: go on in a new file."""
        if self._writer.closed:
            self._writer.reopen()
            self._open()


class FileWriter(SummaryToEventTransformer):
    """Writes summaries and graphs to an event file in `logdir`, for TensorBoard.

    `graph` is added at once. `max_queue` events are held back, at most `flush_secs` seconds while events arrive.
    `session` is accepted: there the events go to the same file without nodes for it in the graph.
    """

    def __init__(self, logdir: Any, graph: Any = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None) -> None:
        self._closed = False
        self._writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        super().__init__(self, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The directory of the event file."""
        return self._writer.get_logdir()

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                          "is explicitly reopened.", stacklevel=4)

    def add_event(self, event: Any) -> None:
        """Add an Event message; after `close` only a warning is given."""
        self._warn_if_closed()
        self._writer.add_event(event)

    def flush(self) -> None:
        """Make sure that every event is in the file."""
        self._warn_if_closed()
        self._writer.flush()

    def close(self) -> None:
        """Flush and close the file; `reopen` makes the writer usable again."""
        self._writer.close()
        self._closed = True

    def reopen(self) -> None:
        """After `close`: go on in a new file. Does nothing where the writer is open."""
        self._writer.reopen()
        self._closed = False


SummaryWriter = FileWriter


class FileWriterCache:
    """One FileWriter for each directory, shared by all who ask for it."""

    _cache: dict[str, FileWriter] = {}
    _lock = threading.RLock()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a directory, made for the default graph at the first call."""
        from tfsandbox.framework.graph import get_default_graph
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear() -> None:
        """Close all writers and forget them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()


SummaryWriterCache = FileWriterCache


def summary_iterator(path: str) -> Iterator[Any]:
    """The Event messages of an event file.

    Raises `NotFoundError` if there is none, `DataLossError` for a damaged one.
    """
    return read_events(path)
