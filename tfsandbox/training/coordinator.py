"""Coordinator: how several threads stop together, and where the error of one of them goes."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfsandbox.framework import errors
from tfsandbox.platform import tf_logging


class Coordinator:
    """Threads ask `should_stop()`, any of them may `request_stop()`, and `join()` waits for all and raises the error.

    `clean_stop_exception_types` are the errors that only mean "stop", by default `OutOfRangeError`.
    """

    def __init__(self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None) -> None:
        self._clean_stop_exception_types = ((errors.OutOfRangeError,) if clean_stop_exception_types is None
                                            else tuple(clean_stop_exception_types))
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; `ex`, an exception or what `sys.exc_info()` gives, is raised by `join()`.

        After `join` it is raised here. Raises `TypeError` for something that is no exception.
        """
        with self._lock:
            error = self._raisable(ex)
            if self._joined:
                if error is not None:
                    raise error
                return
            if self._stop_event.is_set():
                return
            if error is not None:
                tf_logging.info("Error reported to Coordinator: %s, %s", type(error), error)
                self._error = error
            self._stop_event.set()

    def _raisable(self, ex: Any) -> BaseException | None:
        """The exception to raise later: None for one that only means a clean stop."""
        if isinstance(ex, tuple) and len(ex) == 3:
            ex = ex[1] if isinstance(ex[1], BaseException) else ex[0]() if isinstance(ex[0], type) else ex[0]
        if ex is None or isinstance(ex, self._clean_stop_exception_types):
            return None
        if not isinstance(ex, BaseException):
            raise TypeError(f"request_stop takes an exception or what sys.exc_info() gives, not "
                            f"{type(ex).__name__}: {ex!r}")
        return ex

    def clear_stop(self) -> None:
        """Forget the stop and its error: for another round of threads."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Context manager: an exception of the block goes to `request_stop` and ends there."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested, at most `timeout` seconds; whether it was."""
        return self._stop_event.wait(timeout=timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Let `join` wait for this thread too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads: Sequence[threading.Thread] | None = None, stop_grace_period_secs: float = 120,
             ignore_live_threads: bool = False) -> None:
        """Wait for the threads to end; after a stop request, at most the grace period longer.

        Raises the error of `request_stop`, or `RuntimeError` for threads that still run.
        """
        with self._lock:
            waited = self._registered_threads.union(threads or ())
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(1.0 if len(waited) > 8 else 0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, deadline - time.monotonic()))
        stragglers = [t.name for t in waited if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if stragglers:
                if not ignore_live_threads:
                    raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(stragglers)}")
                tf_logging.info("Coordinator stopped with threads still running: %s", " ".join(stragglers))

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raise the error of `request_stop`, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """A thread that calls a function again and again until the coordinator stops; its errors go to the coordinator.

    `timer_interval_secs` is the time from one call to the next; None: at once.
    """

    def __init__(self, coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any] | None = None,
                 args: Any = None, kwargs: Any = None) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._loop = target
        self._arguments, self._keywords = args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = None,
             kwargs: Any = None) -> LooperThread:
        """Make such a thread and start it."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The thread's body."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.monotonic()
                while not self._coord.wait_for_stop(max(0.0, next_time - time.monotonic())):
                    next_time += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, before the calls begin."""

    def stop_loop(self) -> None:
        """Called once, after the last call."""

    def run_loop(self) -> None:
        """One call."""
        if self._loop:
            self._loop(*self._arguments, **self._keywords)
