"""Delays Ctrl-C while the bookkeeping of a scheduler changes.

The main thread runs tasks itself: all of them under ``inline``, those of small graphs under
``threads``. A ``KeyboardInterrupt`` during the bookkeeping would leave a lock held or a count
wrong, and the next job would hang. While the thread is :func:`shielded`, an interrupt therefore
waits until the end, or until it is :data:`allowed`: inside a task, or during a wait.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final


class _Shield:
    """The single shield of the process; only the main thread receives interrupts and uses it."""

    def __init__(self) -> None:
        self.thread: int | None = None
        """The shielded thread, if there is one."""
        self.holding = True
        self.pending = False

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        """Delay the interrupt or raise it, once: this is the signal handler of the shield."""
        if self.holding:
            self.pending = True
        else:
            self.holding = True  # the cleanup after this interrupt is protected from another one
            signal.default_int_handler(signum, frame)

    def deliver(self) -> None:
        """Raise the delayed interrupt."""
        if self.pending:
            self.pending = False
            raise KeyboardInterrupt


_shield = _Shield()


@contextmanager
def shielded() -> Iterator[None]:
    """Delay interrupts until the block ends; blocks may be nested, also within a task.

    This applies only to the main thread, and only if Python's own handler is installed.
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


class _InterruptWindow:
    """Allows interrupts during a block; it costs nothing in other threads."""

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


allowed: Final = _InterruptWindow()
