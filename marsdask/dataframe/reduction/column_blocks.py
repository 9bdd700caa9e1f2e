"""Frames of many columns and few rows: pandas computes blocks of columns, each in one task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from marsdask.core.sizes import total, upper

from ..nodes.frame_node import row_bytes
from .fold import Assembly, assembled
from .reductions import collection_of

#: From so many columns on tasks for each of them cost more than to bring rows together.
MANY_COLUMNS = 32

#: The most bytes of all rows of a block of columns.
BLOCK_BYTES = 2**25


@dataclass(frozen=True)
class PandasCall:
    """Calls a method of pandas."""

    method: str
    args: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def __name__(self) -> str:
        return self.method

    def __call__(self, block: Any) -> Any:
        return getattr(block, self.method)(*self.args, **dict(self.options))


def column_blocks(frame: Any) -> list[range]:
    """Return blocks of columns whose rows fit a task, none if columns are few or long."""
    node = frame.node
    count = len(node.meta.columns)
    rows = upper(total(node.chunks[0]))
    if count < MANY_COLUMNS or rows is None:
        return []
    width = int(BLOCK_BYTES // max(1.0, rows * row_bytes(node.meta) / count))
    if width < MANY_COLUMNS:
        return []
    return [range(start, min(start + width, count)) for start in range(0, count, width)]


def by_blocks(
    frame: Any, call: PandasCall, like: Any, *, row: bool = False, typed: bool = True
) -> Any:
    """Return a statistic of each column by blocks of columns, ``None`` if these are few or long.

    ``like`` is a result of the same labels, with a column (or, of a ``row``, a value) for each.
    """
    blocks = column_blocks(frame)
    how: Any = {"title": call.method, "row": row, "typed": typed}
    if len(blocks) < 2:
        return assembled(call, [frame], like, **how) if blocks else None
    parts = []
    for block in blocks:
        places = slice(block.start, block.stop)
        part = like.iloc[places] if row else like.iloc[:, places]
        parts.append(assembled(call, [frame.iloc[:, places]], part, **how))
    return assembled(joined_blocks, parts, like, index=like.index, **how)


def joined_blocks(*parts: Any, index: pd.Index) -> Any:
    """Return the statistics of all blocks: values of columns, or columns of the same rows."""
    if isinstance(parts[0], pd.Series):
        return pd.concat(parts)
    return pd.concat([part.reindex(index) for part in parts], axis=1)


def of_all_rows(frame: Any, call: PandasCall, like: Any, rows: int | None = None) -> Any:
    """Return what pandas makes of all rows at once: so many rows of known types, if it is told."""
    is_typed = rows is not None
    return collection_of(
        Assembly(like.iloc[:0], rows, False, call.method, (frame.node,), call, (), is_typed)
    )
