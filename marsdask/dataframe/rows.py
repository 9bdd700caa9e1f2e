"""Align, cut and concatenate rows; tell whether indexes are known to be equal."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from marsdask.core.grids.align import common_sizes
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Sizes, Unknown, total
from marsdask.scheduler.base import dtypes_of
from marsdask.scheduler.storage.compaction import copy_of_table

from .row_parts import rows_of


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
        return _joined_labels(blocks)
    # The dtype of an empty block may be wrong: it counts only if all are empty.
    blocks = _of_all_categories(blocks)
    parts = [block for block in blocks if len(block)] or [blocks[0]]
    if len(parts) == 1:
        return parts[0]
    rows = pd.concat(parts, ignore_index=not labels)
    if isinstance(rows, pd.Series) and rows.name is None:
        (rows.name,) = _common_names([[part.name] for part in parts])
    if not labels:
        return rows
    rows.index = _named(rows.index, [part.index for part in parts])
    return _of_types(rows, parts)


def _named(labels: Any, parts: Sequence[Any]) -> Any:
    """Return joined labels under the names of the parts, which may be missing values."""
    if labels.names == parts[0].names:
        return labels
    names = _common_names([part.names for part in parts])
    pairs = zip(labels.names, names, strict=True)
    return labels.set_names([common if own is None else own for own, common in pairs])


def _common_names(names: Sequence[Sequence[Any]]) -> list[Any]:
    """Return for each place the name in all lists if it is a missing value, else ``None``.

    To pandas two missing values are two names.
    """
    pairs = zip(*names, strict=True)
    return [first if _are_missing([first, *others]) else None for first, *others in pairs]


def _are_missing(names: Sequence[Any]) -> bool:
    kinds = {type(name) for name in names}
    return len(kinds) == 1 and is_scalar(names[0]) and all(map(pd.isna, names))


def _of_types(joined: Any, blocks: list[Any]) -> Any:
    """Cast the labels of joined rows to the blocks' type: pandas infers that of objects again."""
    types = dtypes_of(blocks[0].index)
    if dtypes_of(joined.index) == types or any(dtypes_of(item.index) != types for item in blocks):
        return joined
    if types == (np.dtype(object),):
        return joined.set_axis(_joined_labels([block.index for block in blocks]))
    return joined.set_axis(cast_labels(joined.index, blocks[0].index))


def _joined_labels(parts: Sequence[pd.Index[Any]]) -> pd.Index[Any]:
    """Join labels; those of objects stay what they are, where pandas would infer a type."""
    labels: pd.Index[Any] = _named(parts[0].append(list(parts[1:])), parts)
    if labels.nlevels > 1 or labels.dtype == object or any(part.dtype != object for part in parts):
        return labels
    values = np.concatenate([np.asarray(part, dtype=object) for part in parts])
    objects: pd.Index[Any] = pd.Index(values, dtype=object)
    return objects.rename(labels.name)


def without_ellipsis(key: Any, ndim: int) -> Any:
    """Return a key of ``loc`` or ``iloc`` with full slices in place of an ellipsis."""
    if key is Ellipsis:
        return slice(None)
    if not isinstance(key, tuple) or not any(part is Ellipsis for part in key):
        return key
    at = next(place for place, part in enumerate(key) if part is Ellipsis)
    before, after = key[:at], key[at + 1 :]
    if at and len(key) > ndim:
        return key  # too many, as in pandas
    if any(part is Ellipsis for part in after):
        raise pd.errors.IndexingError("indexer may only contain one '...' entry")
    return (*before, *(slice(None),) * (ndim - len(key) + 1), *after)


def level_at(index: Any, number: int) -> Any:
    """Return a level of labels by its position: names of levels may be numbers, too."""
    is_tuples = isinstance(index, pd.MultiIndex)
    return index._get_level_values(number) if is_tuples else index


def levels_in(index: Any) -> list[Any]:
    """Return all levels of labels."""
    return [level_at(index, number) for number in range(index.nlevels)]


def with_level_types(labels: Any, types: Mapping[int, Any]) -> Any:
    """Return labels some of whose levels have these types, whose gaps are none of their values."""
    if labels.nlevels > 1:
        for at, dtype in types.items():
            labels = labels.set_levels([labels.levels[at].astype(dtype)], level=[at])
    return labels


def labels_below(keys: Any, columns: Sequence[Any]) -> pd.Index[Any]:
    """Return labels of columns below keys, in levels of pandas's order, on which slices depend."""
    frames = [pd.DataFrame(columns=labels) for labels in columns]
    return pd.concat(frames, axis=1, keys=keys).columns


def without_names(index: Any) -> Any:
    """Return labels whose levels have no names, so that numbers mean their positions."""
    return index.set_names([None] * index.nlevels)


def without_levels(block: Any, levels: list[int]) -> Any:
    """Return rows without some levels of their labels."""
    index, names = block.index, block.index.names
    level_names = [name for at, name in enumerate(names) if at not in levels]
    return block.set_axis(without_names(index).droplevel(levels).set_names(level_names))


def cast_labels(labels: Any, like: pd.Index) -> Any:
    """Cast labels to the types of others."""
    types = dtypes_of(like) or ()
    if same_types(dtypes_of(labels) or (), types):
        return labels
    if not isinstance(labels, pd.MultiIndex):
        return with_type(labels, types[0])
    levels = [with_type(level_at(labels, at), dtype) for at, dtype in enumerate(types)]
    return pd.MultiIndex.from_arrays(levels, names=labels.names)


def _of_all_categories(blocks: list[Any]) -> list[Any]:
    """Give categorical columns the categories of all blocks, also of those without rows."""
    if isinstance(blocks[0], pd.Series):
        dtype = all_categories([block.dtype for block in blocks])
        return blocks if dtype is None else [with_type(block, dtype) for block in blocks]
    for at, first in enumerate(blocks[0].dtypes):
        if isinstance(first, pd.CategoricalDtype):
            dtype = all_categories([block.dtypes.iloc[at] for block in blocks])
            if dtype is not None:
                blocks = [block.copy(deep=False) for block in blocks]
                for block in blocks:
                    block.isetitem(at, with_type(block.iloc[:, at], dtype))
    return blocks


def all_categories(dtypes: Sequence[Any]) -> Any:
    """Return the type with all categories of some types, in order of their occurrence.

    ``None`` if there is none, or if all have the same categories.
    """
    if not all(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        return None
    first = dtypes[0]
    if all(same_type(dtype, first) for dtype in dtypes[1:]):
        return None
    if len({dtype.ordered for dtype in dtypes}) > 1:
        return None
    values = [pd.Categorical.from_codes([], dtype=dtype) for dtype in dtypes]
    try:
        whole = pd.api.types.union_categoricals(values, ignore_order=True)
    except TypeError:  # categories of unlike types
        return None
    return pd.CategoricalDtype(whole.categories, ordered=first.ordered)


def with_type(rows: Any, dtype: Any) -> Any:
    """Cast a series or an index; equal categories in another order are put in this one."""
    is_categorical = isinstance(rows.dtype, pd.CategoricalDtype) and isinstance(
        dtype, pd.CategoricalDtype
    )
    if not is_categorical or dtype.categories is None:
        of_intervals = isinstance(getattr(dtype, "categories", None), pd.IntervalIndex)
        if of_intervals and not len(dtype.categories):
            rows = rows.astype(object)  # among no intervals pandas finds missing objects only
        return rows.astype(_holding_gaps(rows, dtype))
    if same_type(rows.dtype, dtype):
        return rows
    of_rows: Any = rows if isinstance(rows, pd.Index) else rows.cat
    return of_rows.set_categories(dtype.categories, ordered=dtype.ordered)


def _holding_gaps(rows: Any, dtype: Any) -> Any:
    """Return a type that holds missing categories too, where the categories have the type."""
    of_numbers = isinstance(dtype, np.dtype) and dtype.kind in "iub"
    if not of_numbers or not isinstance(rows.dtype, pd.CategoricalDtype) or not rows.hasnans:
        return dtype
    return np.dtype(object if dtype.kind == "b" else float)


def same_types(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Tell whether all types are the same in pairs."""
    return len(some) == len(others) and all(map(same_type, some, others))


def same_type(one: Any, other: Any) -> bool:
    """Tell whether types are equal, and categories in the same order: their codes are equal."""
    if one is other:
        return True
    if not (isinstance(one, pd.CategoricalDtype) and isinstance(other, pd.CategoricalDtype)):
        return bool(one == other)
    return one.ordered == other.ordered and one.categories.identical(other.categories)


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


def declared(meta: Any, like: Any) -> Any:
    """Return an empty object of the types that a user declares, as Dask takes them.

    An object of pandas, a dict of columns and their types, a pair of name and type, or a type.
    """
    if isinstance(meta, pd.DataFrame | pd.Series):
        return empty_rows(meta)
    if isinstance(meta, dict):
        meta = list(meta.items())
    if isinstance(meta, list):
        return pd.DataFrame({name: pd.Series([], dtype=dtype) for name, dtype in meta})
    own = like.name if isinstance(like, pd.Series) else None
    name, dtype = meta if isinstance(meta, tuple) else (own, meta)
    return pd.Series([], dtype=dtype, name=name)
