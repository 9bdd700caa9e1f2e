"""Align, cut and concatenate rows; tell whether indexes are known to be equal."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pandas as pd

from marsdask.core.compilation.costs import kernel
from marsdask.core.grids.align import common_sizes
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.grids.tree import gather
from marsdask.core.node import Node
from marsdask.core.sizes import Sizes, Unknown, total
from marsdask.scheduler.base import dtypes_of
from marsdask.scheduler.storage.compaction import copy_of_table

from .keyed.parts import rows_of


def empty_rows(rows: Any) -> Any:
    """Return a table or labels of the same types without rows, whose memory is not that of rows."""
    return copy_of_table(rows[:0] if isinstance(rows, pd.Index) else rows.iloc[:0])


@kernel(view=True)
def take(block: Any, rows: slice) -> Any:
    """Return some rows of a pandas object, as a view."""
    return block[rows] if isinstance(block, pd.Index) else block.iloc[rows]


@kernel(view=True)
def cut_rows(block: Any, parts: tuple[slice, ...]) -> Any:
    """Return a run of rows, as a view."""
    return take(block, parts[0])


def join_rows(blocks: list[Any], parts: tuple[tuple[slice, ...], ...]) -> Any:
    """Concatenate parts of blocks."""
    return concat([take(block, part) for block, part in zip(blocks, parts[0], strict=True)])


def concat(blocks: Sequence[Any], *, labels: bool = True) -> Any:
    """Concatenate pandas objects of one class (or parts); consecutive RangeIndexes become one.

    Without ``labels`` the rows are numbered from 0.
    """
    blocks = list(map(rows_of, blocks))
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], pd.Index):
        return blocks[0].append(blocks[1:])
    # The dtype of an empty block may be wrong: it counts only if all are empty.
    filled = [block for block in blocks if len(block)] or [blocks[0]]
    if len(filled) == 1:
        return filled[0]
    joined = pd.concat(_of_all_categories(filled), ignore_index=not labels)
    return _of_types(joined, filled) if labels else joined


def _of_types(joined: Any, blocks: list[Any]) -> Any:
    """Cast the labels of joined rows to the blocks' type: pandas infers that of objects again."""
    types = dtypes_of(blocks[0].index)
    if dtypes_of(joined.index) == types or any(dtypes_of(one.index) != types for one in blocks):
        return joined
    return joined.set_axis(cast_labels(joined.index, blocks[0].index))


def level_at(index: Any, number: int) -> Any:
    """Return a level of labels by its position: names of levels may be numbers, too."""
    return index if index.nlevels == 1 else index._get_level_values(number)


def levels_in(index: Any) -> list[Any]:
    """Return all levels of labels."""
    return [level_at(index, number) for number in range(index.nlevels)]


def without_names(index: Any) -> Any:
    """Return labels whose levels have no names, so that numbers mean their positions."""
    return index.set_names([None] * index.nlevels)


def without_levels(block: Any, levels: list[int]) -> Any:
    """Return rows without some levels of their labels."""
    index, names = block.index, block.index.names
    rest = [name for at, name in enumerate(names) if at not in levels]
    return block.set_axis(without_names(index).droplevel(levels).set_names(rest))


def cast_labels(labels: Any, like: pd.Index) -> Any:
    """Cast labels to the types of others."""
    types = dtypes_of(like) or ()
    if dtypes_of(labels) == types:
        return labels
    if labels.nlevels == 1:
        return labels.astype(types[0])
    levels = [level_at(labels, at).astype(one) for at, one in enumerate(types)]
    return pd.MultiIndex.from_arrays(levels, names=labels.names)


def _of_all_categories(blocks: list[Any]) -> list[Any]:
    """Give categorical columns the categories of all blocks, which may differ between files."""
    if isinstance(blocks[0], pd.Series):
        return blocks if _same_categories(blocks) else _union_categories(blocks)
    for at, dtype in enumerate(blocks[0].dtypes):
        if isinstance(dtype, pd.CategoricalDtype):
            columns = [block.iloc[:, at] for block in blocks]
            if not _same_categories(columns):
                blocks = [block.copy(deep=False) for block in blocks]
                for block, column in zip(blocks, _union_categories(columns), strict=True):
                    block.isetitem(at, column)
    return blocks


def _same_categories(columns: list[Any]) -> bool:
    dtypes = [column.dtype for column in columns]
    categorical = all(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes)
    return not categorical or all(dtype == dtypes[0] for dtype in dtypes)


def _union_categories(columns: list[Any]) -> list[Any]:
    whole = pd.api.types.union_categoricals([column.array for column in columns])
    return [column.astype(whole.dtype) for column in columns]


def as_one_chunk(grid: Grid) -> Grid:
    """Return the grid as one chunk."""
    if len(grid) == 1:
        return grid
    return gather(
        concat, grid, chunks=((total(grid.chunks[0]),),), meta=grid.meta, itemsize=grid.itemsize
    )


def recut_rows(grid: Grid, sizes: Sizes) -> Grid:
    """Return the grid in chunks of the given sizes; those that change must be known."""
    return recut(grid, (sizes,), join_rows, cut_rows)


def aligned_rows(grids: Sequence[Grid]) -> Generator[Look, Any, tuple[tuple[Grid, ...], Sizes]]:
    """Rechunk grids of the same rows to matching chunks; unknown sizes are computed."""
    distinct = {grid.chunks for grid in grids}
    if len(distinct) == 1:
        return tuple(grids), grids[0].chunks[0]
    if any(isinstance(size, Unknown) for chunks in distinct for size in chunks[0]):
        grids = yield from resolved(*grids)
    sizes = common_sizes([grid.chunks[0] for grid in grids])
    return tuple(recut_rows(grid, sizes) for grid in grids), sizes


def alignment(node: Node) -> str:
    """Return the name of a node's rows and labels; nodes of equal names are aligned."""
    return node.alignment


def check_aligned(nodes: Sequence[Node], what: str) -> None:
    """Raise for operands whose rows would have to be aligned by label."""
    if len({alignment(node) for node in nodes}) > 1:
        raise NotImplementedError(
            f"{what} of objects with different indexes is not supported; use merge() on a column, "
            "or make the indexes equal with reset_index(drop=True)"
        )
