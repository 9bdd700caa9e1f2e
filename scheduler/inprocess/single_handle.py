"""The handle of a submission, for schedulers that only report its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import CancelledError
from typing import Any, Final

from ..base import Callback, Handle, Key
from ..events import Event, GraphEnded

logger: Final = logging.getLogger(__name__)


def call_safely(function: Callable[..., object], *args: Any) -> None:
    """Call a user's callback; its failure is logged and affects no other callback."""
    try:
        function(*args)
    except Exception:
        logger.exception("Error in callback %r", function)


class Submission:
    """A :class:`~.base.Handle` whose scheduler ends it once, by :meth:`finish`."""

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
        """Pass an event to the callbacks."""
        for callback in self._callbacks:
            call_safely(callback, event)

    @property
    def observed(self) -> bool:
        """Whether there are event callbacks."""
        return bool(self._callbacks)

    def finish(
        self, state: str, error: BaseException | None = None, failed: Key | None = None
    ) -> bool:
        """End as ``"done"``, ``"failed"`` or ``"cancelled"``; return whether it was running."""
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
        """Return whether the submission has ended, in any state."""
        return self._ended.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Block until the submission ends and raise its error."""
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
        """Stop; the subclass first frees the results of the submission."""
        self.finish("cancelled")

    def add_done_callback(self, callback: Callable[[Handle], object]) -> None:
        """Call ``callback(handle)`` when the submission ends, or at once if it has ended."""
        with self._lock:
            if not self._ended.is_set():
                self._after.append(callback)
                return
        call_safely(callback, self)
