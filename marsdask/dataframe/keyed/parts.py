"""The parts that chunks are cut into for a shuffle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.scheduler.base import describe


class RowPart:
    """Some rows of a chunk, in memory of their own, and what they weigh.

    A view of the chunk would keep all of it in memory; to weigh thousands of small frames one by
    one would take longer than to make them.
    """

    __slots__ = ("at", "nbytes", "rows")
    ndim = 1

    def __init__(self, rows: Any, nbytes: int, at: Any = None) -> None:
        self.rows = rows
        self.nbytes = nbytes
        self.at = at
        """Which rows of their chunk these were, where that matters."""

    def __sizeof__(self) -> int:
        return self.nbytes


def split_at(
    block: Any, places: Any, count: int, at: Any = None, *, labels: bool = False
) -> list[RowPart]:
    """Return ``count`` parts of a chunk: each row goes to its place, order kept within.

    Without ``labels`` rows are numbered, which takes no memory.
    """
    block = block if labels else unlabelled(block)
    small = places.astype(np.uint8 if count <= 256 else np.uint16 if count <= 2**16 else np.int64)
    order = np.argsort(small, kind="stable")
    ends = np.cumsum(np.bincount(small, minlength=count))
    beside = 8 * (labels and isinstance(block.index, pd.RangeIndex)) + 8 * (at is not None)
    width = describe(block).nbytes / max(1, len(block)) + beside
    parts = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        rows = order[start:end]
        # Of a chunk that goes one way whole, nobody else has another part.
        piece = block if len(rows) == len(block) else block.take(rows)
        piece = piece if labels else unlabelled(piece)
        parts.append(RowPart(piece, int(width * len(rows)), None if at is None else at[rows]))
    return parts


def unlabelled(block: Any) -> Any:
    """Return the rows with their numbers for labels, the values shared."""
    return block.set_axis(pd.RangeIndex(len(block)), axis=0)


def rows_of(block: Any) -> Any:
    """Return the rows of a part, or of a chunk that was not cut."""
    return block.rows if isinstance(block, RowPart) else block
