"""The frame that each thread of this process executes."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Held while the garbage collector is off: no thread switches it on for another, and no child
#: process begins without it.
_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )


def current_frames() -> dict[int, FrameType]:
    """Return the topmost frame of each thread by the thread's identifier."""
    with collector_paused():
        return sys._current_frames()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no garbage while somebody asks for frames.

    Python 3.11 may collect garbage in :func:`sys._current_frames`, under a lock of the
    interpreter. If a finalizer then lets another thread run, and that one starts a thread, the
    whole process stops for ever (https://github.com/python/cpython/issues/106883).
    """
    if sys.version_info >= (3, 12):
        yield
        return
    with _LOCK:
        enabled = gc.isenabled()
        try:
            gc.disable()
            yield
        finally:
            if enabled:
                gc.enable()
