"""Rewrites of a run that come from outside the graph: what a training scope changes while it is active.

A rewrite says of a node that it is skipped (a node that updates a variable leaves it as it is; what must run before
it still runs), or that one of its inputs comes from another tensor. The rewrites active in a thread are part of the
key under which a plan is kept, so they cost nothing after the first run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfsandbox.framework.operation import Operation, Tensor
    from tfsandbox.runtime.session import BaseSession


class PlanRewrite:
    """Base class of rewrites; each instance is its own key."""

    def begin(self, session: BaseSession) -> None:
        """Called before the first run of each kind that a session makes under the rewrite."""

    def prepare(self, ops: list[Operation]) -> None:
        """Called with the nodes a run needs, before the questions below: the place to build nodes."""

    def skips(self, op: Operation) -> bool:
        """Whether the node does nothing in this run."""
        return False

    def input(self, op: Operation, index: int) -> Tensor | None:
        """The tensor that stands in place of an input, or None."""
        return None


class _Active(threading.local):
    def __init__(self) -> None:
        self.rewrites: tuple[PlanRewrite, ...] = ()


active = _Active()


@contextmanager
def activated(rewrite: PlanRewrite) -> Iterator[None]:
    """Context manager: runs of this thread are rewritten so; nests."""
    outer = active.rewrites
    active.rewrites = (*outer, rewrite)
    try:
        yield
    finally:
        active.rewrites = outer
