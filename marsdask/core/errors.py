"""Exceptions of the core, and the notes on errors of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
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
from .grids.blockwise import Blockwise, pick
from .grids.grid import Grid
from .node import Node
from .sizes import Index, UnknownShapeError, borders, known

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
    """Add the failed chunk and the user's line to ``error``, and keep only the kernel's frames.

    What describes an error may call code of users. If that raises, the description is left out.
    """
    with suppress(Exception):
        error.__traceback__ = _kernel_frames(error.__traceback__)
        if grid is not None and grid.node is not None:
            _describe(error, grid, grid.node, index)
    return error


def _describe(error: BaseException, grid: Grid, node: Node, index: Any) -> None:
    if getattr(error, "marsdask_explained", False):
        return
    # A task that several operations share has the index of the last one.
    where = f"chunk {index} of {grid.numblocks}"
    is_chunk = index is not None and len(index) == grid.ndim
    if not is_chunk:
        where = f"in the task {index}"
    lines = [f"in {node.label}, {where} ({grid.rule.label})"]
    with suppress(Exception):
        lines.extend(f"  {line}" for line in (_rows_behind(grid, index) if is_chunk else ()))
    lines.extend(
        f"  input {_label(source)}: chunks of up to {_sizes(source)}"
        for source in grid.rule.inputs[:4]
    )
    if node.origin is not None:
        lines.append(f"written at {node.origin}")
    error.add_note("\n".join(lines))
    error.marsdask_explained = True  # type: ignore[attr-defined]


def shortened(error: BaseException) -> BaseException:
    """Remove internal frames from the traceback of errors of public functions.

    Under ``options.verify``, which is for developers of marsdask, they are kept.
    """
    if not options.verify:
        error.__traceback__ = _kernel_frames(error.__traceback__)
    return error


def _rows_behind(grid: Grid, index: Index) -> Iterator[str]:
    """Yield which rows of a frame a chunk has or is made of, and what they were read from."""
    has_rows = False
    while grid.ndim == 1 and hasattr(grid.meta, "iloc"):
        node, rule, sizes = grid.node, grid.rule, grid.chunks[0][: index[0] + 1]
        if not has_rows and known(sizes):
            has_rows = True
            begin, end = borders(sizes)[-2:]
            yield f"rows {begin} to {end - 1}" if end > begin else "no rows"
        if node is not None and len(node.chunks[0]) == len(grid) and node.chunk_origin(index):
            yield f"read from {node.chunk_origin(index)}"
            return
        if not isinstance(rule, Blockwise) or not rule.sources:
            return
        grid, index = rule.sources[0], pick(index, rule.axes[0])


def _label(grid: Grid) -> str:
    return grid.node.label if grid.node is not None else grid.rule.label


def _sizes(grid: Grid) -> str:
    return "x".join(str(max(sizes, key=_order) if sizes else 0) for sizes in grid.chunks)


def _order(size: Any) -> int:
    return size if isinstance(size, int) else -1


def _kernel_frames(traceback: TracebackType | None) -> TracebackType | None:
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
