"""Lists in cells become rows."""

from __future__ import annotations

from typing import Any

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
