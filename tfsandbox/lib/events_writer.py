"""Event files, which TensorBoard reads: records of Event messages, of which the first gives the format's version."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from tfsandbox.lib.io import file_io, tf_record

VERSION = "brain.Event:2"


class EventsWriter:
    """Writes Event messages to a new file in a directory; several threads may.

    Args:
      logdir: the directory, made where it is missing.
      max_queue: how many events may be held back before they are written.
      flush_secs: after how many seconds the next event makes sure that all are in the file.
      filename_suffix: ends the name `events.out.tfevents.<seconds>.<host>`.
    """

    def __init__(self, logdir: str, max_queue: int = 10, flush_secs: float = 120,
                 filename_suffix: str | None = None) -> None:
        self.logdir = logdir
        self._max_queue, self._flush_secs, self._suffix = max_queue, flush_secs, filename_suffix or ""
        self._lock = threading.RLock()
        self._file: tf_record.TFRecordWriter | None = None
        self._unwritten = 0
        self._next_flush = 0.0
        self.closed = False
        self.path: str | None = None

    def open(self) -> None:
        """Make the file; `write` does it where it has not been done."""
        with self._lock:
            if self._file is not None:
                return
            if not file_io.is_directory(self.logdir):
                file_io.recursive_create_dir(self.logdir)
            now = time.time()
            base = os.path.join(self.logdir, f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}")
            path, number = base + self._suffix, 0
            while os.path.exists(path):  # two writers in one second must not share a file
                number += 1
                path = f"{base}.{number}{self._suffix}"
            self.path, self._file = path, tf_record.TFRecordWriter(path)
            from tfsandbox.proto import event_pb2
            self._file.write(event_pb2.Event(wall_time=float(int(now)), file_version=VERSION).SerializeToString())
            self._file.flush()
            self._next_flush = now + self._flush_secs

    def write(self, event: Any) -> None:
        """Append an Event message; nothing happens after `close`."""
        data = event.SerializeToString()
        with self._lock:
            if self.closed:
                return
            self.open()
            assert self._file is not None
            self._file.write(data)
            self._unwritten += 1
            now = time.time()
            if self._unwritten > self._max_queue or now > self._next_flush:
                self._file.flush()
                self._unwritten, self._next_flush = 0, now + self._flush_secs

    def flush(self) -> None:
        """Make sure that every event is in the file."""
        with self._lock:
            if self._file is not None:
                self._file.flush()
                self._unwritten = 0

    def close(self) -> None:
        """Flush and close the file."""
        with self._lock:
            file, self._file, self.closed = self._file, None, True
            if file is not None:
                file.close()

    def reopen(self) -> None:
        """After `close`: go on in a new file."""
        with self._lock:
            self.closed = False


def read_events(path: str) -> Iterator[Any]:
    """The Event messages of a file. Raises NotFoundError, or DataLossError for a damaged file."""
    from tfsandbox.proto import event_pb2
    for record in tf_record.tf_record_iterator(path):
        yield event_pb2.Event.FromString(record)
