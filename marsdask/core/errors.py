"""Exceptions of the core, and the frames of tracebacks that users see."""

from __future__ import annotations

from types import TracebackType

from marsdask.scheduler.errors import (
    MarsdaskError,
    MemoryBudgetError,
    ResultsTooLarge,
    SessionClosed,
    SpillFull,
)

from .config import OptionError, options
from .sizes import UnknownShapeError

__all__ = [
    "MarsdaskError",
    "MemoryBudgetError",
    "NotExecutedError",
    "OptionError",
    "ResultsTooLarge",
    "SessionClosed",
    "SpillFull",
    "UnknownShapeError",
    "shortened",
]


class NotExecutedError(MarsdaskError, ValueError):
    """A result was requested before it was computed."""


_INTERNAL = (
    "marsdask.core.",
    "marsdask.scheduler.",
    "dask.",
    "distributed.",
    "threading",
    "concurrent.",
)


def shortened(error: BaseException) -> BaseException:
    """Remove internal frames from the traceback of errors of public functions.

    Under ``options.verify``, which is for developers of marsdask, they are kept.
    """
    if not options.verify:
        error.__traceback__ = kernel_frames(error.__traceback__)
    return error


def kernel_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Drop internal frames; if all are internal keep the innermost one."""
    frames: list[TracebackType] = []
    last = traceback
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if not module.startswith(_INTERNAL):
            frames.append(traceback)
        last = traceback
        traceback = traceback.tb_next
    if not frames:
        return last
    chain: TracebackType | None = None
    for item in reversed(frames):
        chain = TracebackType(chain, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return chain
