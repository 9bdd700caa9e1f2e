"""The parts into which a shuffle splits chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from marsdask.scheduler.base import describe


class RowPart:
    """A copy of some rows of a chunk, and its bytes.

    A view would keep the whole chunk in memory. Measuring thousands of small frames one by one
    would take longer than making them.
    """

    __slots__ = ("at", "nbytes", "rows")
    ndim = 1

    def __init__(self, rows: Any, nbytes: int, at: Any = None) -> None:
        self.rows = rows
        self.nbytes = nbytes
        self.at = at
        """The positions of the rows in their chunk, if needed."""

    def __sizeof__(self) -> int:
        return self.nbytes


def split_at(
    block: Any, places: Any, count: int, at: Any = None, *, labels: bool = False
) -> list[RowPart]:
    """Split a chunk into ``count`` parts: ``places`` has the part of each row; order is kept.

    Without ``labels`` the rows of a part are numbered, which takes no memory.
    """
    block = block if labels else unlabelled(block)
    small = places.astype(smallest(count), copy=False)
    order = np.argsort(small, kind="stable")
    ends = np.cumsum(np.bincount(small, minlength=count))
    beside = 8 * (labels and isinstance(block.index, pd.RangeIndex))
    beside += 0 if at is None else at.itemsize
    width = describe(block).nbytes / max(1, len(block)) + beside
    parts = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        rows = order[start:end]
        # A part with all rows of its chunk need not be a copy: there is no other part.
        piece = block if len(rows) == len(block) else block.take(rows)
        piece = piece if labels else unlabelled(piece)
        parts.append(RowPart(piece, int(width * len(rows)), None if at is None else at[rows]))
    return parts


def positions(count: int) -> Any:
    """Return the numbers from 0, in few bytes."""
    return np.arange(count, dtype=np.int32 if count <= 2**31 else np.int64)


def smallest(count: int) -> Any:
    """Return a type of integers that holds numbers below ``count``."""
    return np.uint8 if count <= 256 else np.uint16 if count <= 2**16 else np.int64


def unlabelled(block: Any) -> Any:
    """Return the rows labelled from 0, as a view."""
    return block.set_axis(pd.RangeIndex(len(block)), axis=0)


def rows_of(block: Any) -> Any:
    """Return the rows of a part, or of a chunk that was not split."""
    return block.rows if isinstance(block, RowPart) else block
