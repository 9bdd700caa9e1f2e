"""Exceptions of the core, and the notes on errors of chunks."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from marsdask.scheduler.errors import (
    MarsdaskError,
    MemoryBudgetError,
    ResultsTooLarge,
    SessionClosed,
    SpillFull,
)

from .config import OptionError, options
from .grids.grid import Grid
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
    "explain_failure",
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


def explain_failure(error: BaseException, grid: Grid | None, index: Any) -> BaseException:
    """Add the failed chunk and the user's line to ``error``, and keep only the kernel's frames."""
    error.__traceback__ = _kernel_frames(error.__traceback__)
    if grid is None or grid.node is None or getattr(error, "marsdask_explained", False):
        return error
    # A task that several operations share has the index of the last one.
    where = f"chunk {index} of {grid.numblocks}"
    if index is None or len(index) != grid.ndim:
        where = f"in the task {index}"
    lines = [f"in {grid.node.label}, {where} ({grid.rule.label})"]
    lines.extend(
        f"  input {_label(source)}: chunks of up to {_sizes(source)}"
        for source in grid.rule.inputs[:4]
    )
    if grid.node.origin is not None:
        lines.append(f"written at {grid.node.origin}")
    error.add_note("\n".join(lines))
    error.marsdask_explained = True  # type: ignore[attr-defined]
    return error


def shortened(error: BaseException) -> BaseException:
    """Remove internal frames from the traceback of errors of public functions.

    Under ``options.verify``, which is for developers of marsdask, they are kept.
    """
    if not options.verify:
        error.__traceback__ = _kernel_frames(error.__traceback__)
    return error


def _label(grid: Grid) -> str:
    return grid.node.label if grid.node is not None else grid.rule.label


def _sizes(grid: Grid) -> str:
    return "x".join(str(max(sizes, key=_order) if sizes else 0) for sizes in grid.chunks)


def _order(size: Any) -> int:
    return size if isinstance(size, int) else -1


def _kernel_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Drop internal frames; if all are internal keep the innermost one."""
    kept: list[TracebackType] = []
    last = traceback
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if not module.startswith(_INTERNAL):
            kept.append(traceback)
        last = traceback
        traceback = traceback.tb_next
    if not kept:
        return last
    chain: TracebackType | None = None
    for item in reversed(kept):
        chain = TracebackType(chain, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return chain
