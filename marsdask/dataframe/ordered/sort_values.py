"""Sort rows by values or labels: a parallel sort by sampling."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer

from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import SORTED_BYTES, SORTED_ROWS, is_tight
from marsdask.core.node import Columns, Node, SameChunks, SameMeta
from marsdask.core.sizes import Sizes, total, unknown_sizes, upper
from marsdask.core.traits import Level, Ordering, Partitioning, Traits

from ..arguments.pandas_arguments import check_boolean
from ..elementwise.column_selection import has_unique_labels
from ..elementwise.rowwise import columns_at, level_values, relabelled, rowwise, with_columns
from ..keyed.chunk_sizing import may_be_tight, measure, repartition, split_large
from ..keyed.shuffle import counted_parts, cut_by_range, samples_of, shuffle
from ..nodes.frame_node import FrameNode, S, axis_number
from ..nodes.traits import comparable, keys_by, ordering_by
from ..relations.expression import has_gaps
from ..relations.relation import Table
from ..rows import concat
from .row_numbers import reset_index


@dataclass(frozen=True, eq=False)
class SortValues(SameMeta, SameChunks, FrameNode):
    """The sorted rows; equal ones keep their order."""

    holds_all = True

    by: tuple[Any, ...] | None
    """Columns; ``()`` for the row labels, ``None`` for the values of a series."""
    ascending: tuple[bool, ...]
    na_first: bool
    of_labels: bool = field(default=False, kw_only=True)
    """Whether the columns have the row labels, whose levels pandas sorts, too."""

    def runs_inline(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return "sort_index" if self.by == () else "sort_values"

    @property
    def traits(self) -> Traits:
        below = self.a.traits.of(self.name).carried(comparable(self.meta))
        # pandas's order of a MultiIndex with missing labels depends on the labels.
        if self.by == () and self.meta.index.nlevels > 1 and self.no_op is None:
            return below.unordered()
        return below.sorted_by(self._ordering).carried(comparable(self.meta))

    @property
    def _ordering(self) -> Ordering:
        return ordering_by(keys_by(self.meta, self.by), self.ascending, self.na_first)

    @property
    def no_op(self) -> Node | None:
        return self.a if self.a.traits.is_sorted(self._ordering) else None

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (None if wanted is None or self.by is None else wanted | frozenset(self.by),)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        if self.by == ():
            table = table.labelled()
            keys = table.labels
        elif self.by is None:
            keys = table.columns
        else:
            keys = tuple(table.columns[self.meta.columns.get_loc(label)] for label in self.by)
        if any(key is None or has_gaps(key) for key in keys):
            return None
        result: Table = table.sorted(keys, self.ascending, na_first=self.na_first)
        return result

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {"by": self.by, "ascending": self.ascending, "na_first": self.na_first}

    def tile(self, a: Grid) -> Any:
        a = split_large(a)
        rows = upper(total(a.chunks[0]))
        tight = may_be_tight(a)
        if len(a) == 1 or (rows is not None and rows <= SORTED_ROWS and not tight):
            return self._whole(a)
        if tight:
            return (yield from self._measured(a))
        count = len(a)
        if rows is not None:
            count = max(2, min(count, int(rows * (a.itemsize or 8) // SORTED_BYTES) + 1))
        return self._static(a, count)

    def tile_blind(self, a: Grid) -> Grid:
        # Keep the number of chunks that the user sees.
        return self._whole(a) if len(a) == 1 else self._static(a, len(a))

    def _whole(self, a: Grid) -> Grid:
        return gather(
            sorted_rows,
            a,
            chunks=((total(a.chunks[0]),),),
            meta=self.meta,
            itemsize=a.itemsize,
            kwargs=self._kwargs,
        )

    def _measured(self, a: Grid) -> Generator[Look, Any, Grid]:
        samples = samples_of(a, self.by)
        (source,) = yield from measure(a, keep=(samples,))
        count = max(2, source.parts(SORTED_BYTES))
        if not is_tight(source.total):
            return self._static(source.grid, min(len(a), count), samples)
        splits = self._cut(repartition(source), samples, count)
        (rows,) = yield from counted_parts(splits, count=count)
        return self._shuffle(splits, unknown_sizes(self.name, rows))

    def _static(self, a: Grid, count: int, samples: Grid | None = None) -> Grid:
        splits = self._cut(a, samples or samples_of(a, self.by), count)
        return self._shuffle(splits, unknown_sizes(self.name, [None] * count))

    def _cut(self, a: Grid, samples: Grid, count: int) -> Grid:
        return cut_by_range(
            a,
            samples,
            self.by,
            count,
            ascending=self.ascending,
            na_first=self.na_first,
            labels=True,
        )

    def _shuffle(self, splits: Grid, sizes: Sizes) -> Grid:
        by = Partitioning("ranges", keys_by(self.meta, self.by))
        return shuffle(
            splits,
            sorted_rows,
            sizes,
            self._kwargs,
            meta=self.meta,
            width=splits.width,
            partitioning=by.carried(comparable(self.meta)),
        )


@kernel(scratch=3.0)
def sorted_rows(
    blocks: list[Any], by: tuple[Any, ...] | None, ascending: tuple[bool, ...], na_first: bool
) -> Any:
    """Join chunks and sort their rows."""
    block = concat(blocks)
    if len(ascending) == 1 and (places := order_of_distinct(key_of(block, by))) is not None:
        places = places if ascending[0] else places[::-1]
        # Rows that are sorted already keep the type of their index.
        return block if (places == np.arange(len(places))).all() else block.take(places)
    order: dict[str, Any] = {
        "na_position": "first" if na_first else "last",
        "kind": "stable",
        "ascending": list(ascending) if len(ascending) > 1 else ascending[0],
    }
    if by is None:
        return block.sort_values(**order)
    if by == () and isinstance(block.index, pd.CategoricalIndex):
        # pandas takes labels for sorted although missing ones, whose codes are -1, are elsewhere.
        return block.take(pd.Series(block.index.array).sort_values(**order).index)
    return block.sort_index(**order) if by == () else block.sort_values(list(by), **order)


def key_of(block: Any, by: tuple[Any, ...] | None) -> Any:
    """Return the only key of a chunk: its labels, its values or a column."""
    if by is None:
        return block
    return block[by[0]] if by else block.index


def order_of_distinct(key: Any) -> Any:
    """Return the order of distinct numbers, none of them missing; ``None`` for other keys.

    Of distinct numbers every sort is stable, and the fastest one is several times as fast.
    """
    dtype = key.dtype
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iufmM"
    if not plain or isinstance(key, pd.RangeIndex):
        return None
    values = key.to_numpy()
    if dtype.kind in "fmM" and pd.isna(values).any():
        return None
    order = np.argsort(values)
    rows = values[order]
    return None if (rows[1:] == rows[:-1]).any() else order


def _flags(ascending: Any, count: int) -> tuple[bool, ...]:
    flags = tuple(ascending) if isinstance(ascending, Sequence) else (ascending,) * count
    if len(flags) != count:
        raise ValueError(f"Length of ascending ({len(flags)}) != length of by ({count})")
    return tuple(map(bool, flags))


def _sorted(
    obj: S,
    by: tuple[Any, ...] | None,
    count: int,
    ascending: Any,
    na_position: str,
    of_labels: bool = False,
) -> S:
    if na_position not in {"first", "last"}:
        raise ValueError(f"invalid na_position: {na_position}")
    flags = _flags(ascending, count)
    rows: S = wrap(SortValues(obj.node, by, flags, na_position == "first", of_labels=of_labels))
    return rows


#: The names of sorts in pandas, all of which are stable here.
KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def sort_values(
    obj: S,
    by: Any = None,
    *,
    axis: int | str = 0,
    ascending: Any = True,
    na_position: str = "last",
    ignore_index: bool = False,
    kind: str = "quicksort",
    key: Callable[[Any], Any] | None = None,
) -> S:
    """Sort the rows by columns. See pandas.DataFrame.sort_values.

    Differs from pandas: equal rows always keep their order, whatever ``kind`` is. ``key`` is called
    with lazy columns.
    """
    _check_kind(kind)
    check_ascending(ascending)
    if axis_number(obj.node.meta, axis) == 1:
        raise NotImplementedError(
            "sort_values(axis=1) is not supported; use df[labels] with columns in their order"
        )
    how: dict[str, Any] = {"ascending": ascending, "na_position": na_position}
    keys = _keys_by(obj.node.meta, by) if obj.ndim == 2 else ()
    if obj.ndim == 2 and not keys:
        return obj
    if key is not None or any(isinstance(label, Level) for label in keys):
        result: S = _sorted_by_key(obj, keys, key or (lambda values: values), how)
    elif keys:
        result = _sorted(obj, keys, len(keys), ascending, na_position)
    else:
        result = _sorted(obj, None, 1, ascending, na_position)
    return reset_index(result, drop=True) if ignore_index else result


def _keys_by(meta: pd.DataFrame, by: Any) -> tuple[Any, ...]:
    """Return the labels of the columns, or the levels of the row labels, to sort by."""
    if by is None and None not in meta.columns:
        raise TypeError("sort_values() missing 1 required positional argument: 'by'")
    keys = tuple(by) if isinstance(by, list) else (by,)
    return tuple(_key_in(meta, key) for key in keys)


def _key_in(meta: pd.DataFrame, key: Any) -> Any:
    """Return the column or the level of a label; raise pandas's errors."""
    names = [] if key is None else list(meta.index.names)
    if key not in meta.columns:
        if key not in names:
            raise KeyError(key)
        return Level(names.index(key))
    if key in names:
        raise ValueError(f"{key!r} is both an index level and a column label, which is ambiguous.")
    unique = has_unique_labels(meta) or meta.columns.nlevels > 1
    if not unique and not isinstance(meta.columns.get_loc(key), int):
        raise ValueError(f"The column label {key!r} is not unique.")
    return key


def _sorted_by_key(
    obj: Any, by: tuple[Any, ...], key: Callable[[Any], Any], how: dict[str, Any]
) -> Any:
    """Sort by what a function returns of columns and levels."""
    columns = [obj] if obj.ndim == 1 else [_values_of(obj, label) for label in by]
    return _sorted_by(obj, [key(column) for column in columns], how)


def _sorted_by(obj: Any, values: list[Any], how: dict[str, Any]) -> Any:
    """Sort rows by lazy columns."""
    of_series = obj.ndim == 1
    if not all(isinstance(value, Collection) for value in values):
        raise TypeError("the key of a sort must return lazy values of the same rows")
    frame = obj.to_frame() if of_series else obj
    width = len(frame.columns)
    names = (f"key {place} of rows" for place in range(len(values)))
    blanks = ("",) * (obj.node.meta.columns.nlevels - 1) if obj.ndim == 2 else ()
    labels = tuple((name, *blanks) if blanks else name for name in names)
    frame = rowwise(with_columns, frame, *values, names=labels)
    rows = _sorted(frame, labels, len(labels), **how)
    if of_series:
        return columns_at(rows, 0).rename(obj.name)
    return rowwise(relabelled, rows.iloc[:, :width], columns=obj.columns)


def _values_of(frame: Any, key: Any) -> Any:
    """Return a column, or the values of a level under its name."""
    if not isinstance(key, Level):
        return frame[key]
    values = rowwise(level_values, frame, level=key.number)
    return values.rename(frame.node.meta.index.names[key.number])


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"invalid kind: {kind!r}; choose from {', '.join(map(repr, KINDS))}")


def check_ascending(ascending: Any) -> None:
    """Raise pandas's error for what are no booleans."""
    for flag in ascending if isinstance(ascending, list | tuple | np.ndarray) else [ascending]:
        if not is_integer(flag):
            check_boolean("ascending", flag, none=False)


def _flag_of_several(obj: Any, flags: Sequence[Any]) -> bool:
    """Return what pandas makes of a list for the only level: it keeps labels that are sorted.

    Of others it takes the list for a flag, which is true unless it is empty.
    """
    if any(flags):
        return True
    if obj.index.is_monotonic_decreasing:
        return False
    return bool(flags or obj.index.is_monotonic_increasing)


def _sorted_by_levels(
    obj: Any, level: Any, key: Any, how: dict[str, Any], *, remaining: bool
) -> Any:
    """Sort rows by some levels of their labels, then by the others, or by a function of levels."""
    labels = obj.node.meta.index
    several = list(range(labels.nlevels)) if level is None else level
    several = several if isinstance(several, list | tuple) else [several]
    levels = [labels._get_level_number(item) for item in several]
    directed = isinstance(how["ascending"], list | tuple)
    if directed and len(how["ascending"]) != len(levels):
        raise ValueError("level must have same length as ascending")
    by = [_values_of(obj, Level(number)) for number in levels]
    by = [key(column) for column in by] if key is not None else by
    if remaining and not directed:
        others = [number for number in range(labels.nlevels) if number not in levels]
        by += [_values_of(obj, Level(number)) for number in others]
    return _sorted_by(obj, by, {**how, "of_labels": True})


def sort_index(
    obj: S,
    *,
    axis: int | str = 0,
    ascending: Any = True,
    kind: str = "quicksort",
    na_position: str = "last",
    ignore_index: bool = False,
    key: Callable[[Any], Any] | None = None,
    level: Any = None,
    sort_remaining: bool = True,
) -> S:
    """Sort the rows, or the columns, by their labels. See pandas.DataFrame.sort_index.

    Differs from pandas: equal rows always keep their order, whatever ``kind`` is. ``key`` is called
    with a lazy column of each level.
    """
    _check_kind(kind)
    check_ascending(ascending)
    meta = obj.node.meta
    if axis_number(meta, axis) == 1:
        by: Any = {"level": level, "sort_remaining": sort_remaining, "key": key}
        by |= {"ascending": ascending, "na_position": na_position}
        places = pd.Series(range(len(meta.columns)), index=meta.columns)
        result: S = obj.iloc[:, places.sort_index(kind="stable", **by).tolist()]
        if ignore_index:
            result.columns = pd.RangeIndex(len(meta.columns))
        return result
    by_level = level is not None and meta.index.nlevels > 1
    if by_level or key is not None:
        how = {"ascending": ascending, "na_position": na_position}
        result = _sorted_by_levels(obj, level, key, how, remaining=sort_remaining)
        return reset_index(result, drop=True) if ignore_index else result
    if meta.index.nlevels == 1 and isinstance(ascending, list | tuple):
        ascending = _flag_of_several(obj, ascending)
    result = _sorted(obj, (), meta.index.nlevels, ascending, na_position)
    return reset_index(result, drop=True) if ignore_index else result
