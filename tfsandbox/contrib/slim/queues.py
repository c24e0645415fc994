"""Queue runners for a block: they start with it and stop at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfsandbox.framework import ops
from tfsandbox.framework.graph import GraphKeys
from tfsandbox.training import coordinator

__all__ = ["NestedQueueRunnerError", "QueueRunners"]


class NestedQueueRunnerError(Exception):
    """A block of queue runners inside another one."""


@contextmanager
def QueueRunners(session: Any) -> Iterator[list[Any]]:
    """Context manager: the threads of the graph's queue runners run inside."""
    coord = coordinator.Coordinator()
    threads: list[Any] = []
    for runner in ops.get_collection(GraphKeys.QUEUE_RUNNERS):
        threads.extend(runner.create_threads(session, coord=coord, daemon=True, start=True))
    try:
        yield threads
    finally:
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=120)
