"""Lists in cells become rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from marsdask.core.compilation.costs import kernel

from ..frame_node import S
from ..ordered.row_numbers import reset_index
from .flat_map import flat_map


@kernel(scratch=2.0)
def exploded(block: Any, column: Any = None) -> Any:
    """Return a row for each item of the lists in some columns."""
    if column is None:
        return block.explode()
    found = block.explode(column)
    # pandas infers the types of several columns again, here of one chunk.
    objects = [one for one in column if block.dtypes[one] == "object"] if len(column) > 1 else []
    return found.astype(dict.fromkeys(objects, object))


def explode(frame: S, column: Any, ignore_index: bool = False) -> S:
    """Return a row for each item of the lists in some columns. See pandas.DataFrame.explode.

    Differs from pandas: of several columns, texts in lists stay objects.
    """
    frame.node.meta.explode(column)  # raises pandas's errors
    listed = column if isinstance(column, list) else [column]
    rows: S = flat_map(exploded, frame, column=listed, read=tuple(listed))
    return reset_index(rows, drop=True) if ignore_index else rows


def explode_series(series: S, ignore_index: bool = False) -> S:
    """Return a row for each item of the lists. See pandas.Series.explode."""
    rows: S = flat_map(exploded, series)
    return reset_index(rows, drop=True) if ignore_index else rows


@kernel(scratch=2.0)
def repeated(block: Any, repeats: int) -> Any:
    """Return each row several times."""
    return block.repeat(repeats)


def repeat(series: S, repeats: int, axis: None = None) -> S:
    """Return each row several times, one after the other. See pandas.Series.repeat.

    A number for each row is not supported.
    """
    if axis is not None:
        raise ValueError("the 'axis' parameter is not supported in the pandas implementation")
    if not isinstance(repeats, int | np.integer):
        raise NotImplementedError(
            "repeat() of a number for each row is not supported; use explode() of lists"
        )
    if repeats < 0:
        raise ValueError("'repeats' should not be negative")
    rows: S = flat_map(repeated, series, times=int(repeats), repeats=int(repeats))
    return rows
