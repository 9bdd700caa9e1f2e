"""Keeps Ctrl-C off what no interrupt may cut in two.

The main thread runs tasks itself: all of them under ``inline``, those of small graphs under
``threads``. A ``KeyboardInterrupt`` in the middle of the bookkeeping would leave a lock held or a
count wrong, and the next job would hang. So while the thread is :func:`shielded` an interrupt waits
for the end, or for the next place where it is :data:`allowed`: inside a task, or while waiting.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Shield:
    """The one shield of the process: interrupts are the main thread's, so nobody else uses it."""

    def __init__(self) -> None:
        self.thread: int | None = None
        """The thread that raised the shield, if it is up."""
        self.holding = True
        self.pending = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Keep the interrupt or let it through, once: it is the handler while the shield is up."""
        if self.holding:
            self.pending = True
        else:
            self.holding = True  # what clears up after this interrupt is safe from another
            signal.default_int_handler(signum, frame)

    def deliver(self) -> None:
        """Raise what was kept."""
        if self.pending:
            self.pending = False
            raise KeyboardInterrupt


_shield = _Shield()


@contextmanager
def shielded() -> Iterator[None]:
    """Make an interrupt wait until this is left; it may be nested, also within a task.

    Only in the main thread, and only in place of Python's own handler: who installed another one
    knows what it does.
    """
    if _shield.thread == threading.get_ident():
        before, _shield.holding = _shield.holding, True
        try:
            yield
        finally:
            _shield.holding = before
        if not before:
            _shield.deliver()
    elif _can_raise():
        _shield.pending = False
        signal.signal(signal.SIGINT, _shield)
        _shield.thread = threading.get_ident()
        try:
            yield
        finally:
            _shield.thread, _shield.holding = None, True
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _shield.deliver()
    else:
        yield


def _can_raise() -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


class _Allowed:
    """Lets interrupts through for a while; costs every thread but the shielded one nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        if _shield.thread == threading.get_ident():
            _shield.holding = False
            if _shield.pending:
                _shield.holding = True
                _shield.deliver()

    def __exit__(self, *exception: object) -> None:
        if _shield.thread == threading.get_ident():
            _shield.holding = True


allowed = _Allowed()
