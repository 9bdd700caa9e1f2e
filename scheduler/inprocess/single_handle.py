"""The handle of a submission, for schedulers that need no more than its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import CancelledError
from typing import Any

from ..base import Callback, Handle, Key
from ..events import Event, GraphEnded

logger = logging.getLogger(__name__)


def call_safely(function: Callable[..., object], *args: Any) -> None:
    """Call what a user registered; its failure is logged and harms nobody else."""
    try:
        function(*args)
    except Exception:
        logger.exception("Error in callback %r", function)


class Submission:
    """A :class:`~.base.Handle` that its scheduler ends by :meth:`finish`, once."""

    def __init__(self, keys: Collection[Key], callbacks: Iterable[Callback] = ()) -> None:
        self.keys = tuple(keys)
        self.failed: Key | None = None
        self.state = "running"
        self._error: BaseException | None = None
        self._callbacks = tuple(callbacks)
        self._after: list[Callable[[Handle], object]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def emit(self, event: Event) -> None:
        """Tell the event callbacks."""
        for callback in self._callbacks:
            call_safely(callback, event)

    @property
    def observed(self) -> bool:
        """Whether anybody listens to events."""
        return bool(self._callbacks)

    def finish(
        self, state: str, error: BaseException | None = None, failed: Key | None = None
    ) -> bool:
        """End as ``"done"``, ``"failed"`` or ``"cancelled"``; whether this was the first end."""
        with self._lock:
            if self.state != "running":
                return False
            self.state, self._error, self.failed = state, error, failed
        self.emit(GraphEnded(state))
        with self._lock:
            self._ended.set()
            after, self._after = self._after, []
        for callback in after:
            call_safely(callback, self)
        return True

    def done(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self._ended.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Block until it ends and raise what it ended by."""
        if not self._ended.wait(timeout):
            raise TimeoutError(f"still running after {timeout} seconds")
        if self.state == "cancelled":
            raise CancelledError
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # else the traceback holds the error that holds the traceback

    def cancel(self) -> None:
        """Stop; the subclass frees what the submission holds before it calls this."""
        self.finish("cancelled")

    def add_done_callback(self, callback: Callable[[Handle], object]) -> None:
        """Call ``callback(handle)`` when it ends, at once if it has."""
        with self._lock:
            if not self._ended.is_set():
                self._after.append(callback)
                return
        call_safely(callback, self)
