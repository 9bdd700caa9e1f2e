"""Notes on errors of tasks: which chunk failed, of which operation, and the user's line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..errors import kernel_frames
from ..grids.blockwise import Blockwise, pick
from ..grids.grid import Grid
from ..node import Node
from ..sizes import Index, borders, known


def explain_failure(error: BaseException, grid: Grid | None, index: Any) -> BaseException:
    """Add the failed chunk and the user's line to ``error``, and keep only the kernel's frames.

    What describes an error may call code of users. If that raises, the description is left out.
    """
    with suppress(Exception):
        error.__traceback__ = kernel_frames(error.__traceback__)
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
