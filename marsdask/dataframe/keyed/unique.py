"""Drop duplicates and missing values; count distinct values."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.compilation.costs import kernel
from marsdask.core.compilation.sizing import is_tight
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.tree import gather, sizes_at_most, tree
from marsdask.core.node import Columns, Node
from marsdask.core.sizes import Chunks, numbers, total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..elementwise.filter import Filter
from ..elementwise.rowwise import renamed, rowwise
from ..frame_node import FrameNode, S, axis_number
from ..ordered.row_numbers import reset_index
from ..ordered.sort_values import sort_values
from ..relations.distinct import distinct as distinct_of
from ..relations.relation import Table
from ..rows import concat
from .chunk_sizing import MeasuredGrid, may_be_tight, measure, repartition, split_large
from .groupby import groupby
from .keys import comparable, dtype_of_key, keys_by
from .parts import RowPart
from .shuffle import casts_of, counted_parts, cut_by_hash, shuffle

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..series import Series


@dataclass(frozen=True, eq=False)
class DropDuplicates(FrameNode):
    """The first (or last) of equal rows, in the order of the rows."""

    a: Node
    options: tuple[tuple[str, Any], ...]

    @property
    def label(self) -> str:
        return "drop_duplicates"

    @property
    def meta(self) -> Any:
        return self.a.meta

    @property
    def traits(self) -> Traits:
        found = self.a.traits.of(self.name).and_unique(keys_by(self.meta, self._by))
        return found.carried(comparable(self.meta))

    @property
    def no_op(self) -> Node | None:
        return self.a if self.a.traits.is_unique(keys_by(self.meta, self._by)) else None

    @property
    def chunks(self) -> Chunks:
        if self.no_op is not None:
            return self.a.chunks
        return (unknown_sizes(self.name, [upper(total(self.a.chunks[0]))]),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if self._by is None or wanted is None or "subset" not in dict(self.options):
            return (None,)
        return (wanted | frozenset(self._by),)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        (table,) = inputs
        labels = keys_by(self.meta, self._by)
        places = (0,) if self.meta.ndim == 1 else map(self.meta.columns.get_loc, labels)
        return distinct_of(table, list(places), dict(self.options)["keep"])

    def tile(self, a: Grid) -> Any:
        a = split_large(a)
        parts = self._parts(a)
        if a.partitioning is not None and a.partitioning.holds_whole(keys_by(self.meta, self._by)):
            return replace(parts, partitioning=a.partitioning)
        if not may_be_tight(parts):
            return self._tree(parts)
        (source,) = yield from measure(parts)
        return (yield from self._met(source)) if is_tight(source.total) else self._tree(source.grid)

    def tile_blind(self, a: Grid) -> Grid:
        return self._tree(self._parts(a))

    def _parts(self, a: Grid) -> Grid:
        sizes = unknown_sizes(f"{self.name}:parts", [upper(size) for size in a.chunks[0]])
        kwargs = {"options": self.options}
        return map_blocks(
            distinct_rows, a, chunks=(sizes,), meta=a.meta, itemsize=a.itemsize, kwargs=kwargs
        )

    def _tree(self, parts: Grid) -> Grid:
        kwargs = {"options": self.options}
        rest = tree(parts, distinct, [0], sizes=sizes_at_most, kwargs=kwargs)
        like = {"meta": self.meta, "itemsize": rest.itemsize}
        return gather(distinct, rest, chunks=self.chunks, kwargs=kwargs, **like)

    def _met(self, source: MeasuredGrid) -> Generator[Look, Any, Grid]:
        """Shuffle keys by hash, and return to each chunk the positions of its rows to keep."""
        rows, count = repartition(source), max(2, source.parts())
        types = [dtype_of_key(self.meta, key) for key in keys_by(self.meta, self._by)]
        keys = cut_by_hash(rows, self._by, count, casts=casts_of(types), keep="keys")
        (met,) = yield from counted_parts(keys, count=count)
        stay = shuffle(
            keys,
            kept_positions,
            unknown_sizes(f"{self.name}:met", met),
            {"keep": dict(self.options)["keep"]},
            width=8.0,
        )
        sizes = unknown_sizes(self.name, numbers(rows.chunks[0]))
        places = shuffle(stay, in_order, sizes, width=8.0)
        return self.mapped(kept_rows, rows, places, chunks=(sizes,))

    @property
    def _by(self) -> tuple[Any, ...] | None:
        if not isinstance(self.meta, pd.DataFrame):
            return None
        columns = self.meta.columns
        subset = dict(self.options).get("subset", list(columns))
        whole = isinstance(subset, list) or (isinstance(subset, tuple) and subset not in columns)
        return tuple(subset) if whole else (subset,)


@kernel(scratch=2.5)
def kept_positions(parts: list[RowPart], keep: Any) -> list[Any]:
    """Return for each chunk the positions of its rows to keep, among the keys of a part."""
    repeated = concat(parts, labels=False).duplicated(keep=keep).to_numpy()
    ends = np.cumsum([len(part.rows) for part in parts])
    return [
        part.at[~marks] for part, marks in zip(parts, np.split(repeated, ends[:-1]), strict=True)
    ]


def in_order(places: list[Any]) -> Any:
    """Return the positions of a chunk's rows to keep, in order."""
    return np.sort(np.concatenate(places))


@kernel(scratch=0.1)
def kept_rows(block: Any, places: Any) -> Any:
    """Return the rows at some positions."""
    return block.take(places)


@kernel(scratch=3.3)
def distinct_rows(block: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    """Drop the duplicates within a chunk."""
    return block.drop_duplicates(**dict(options))


@kernel(scratch=4.3)
def distinct(blocks: list[Any], options: tuple[tuple[str, Any], ...]) -> Any:
    """Drop the duplicates among chunks."""
    return blocks[0] if len(blocks) == 1 else distinct_rows(concat(blocks), options)


def drop_duplicates(
    obj: S, subset: Any = None, *, keep: Any = "first", ignore_index: bool = False
) -> S:
    """Drop duplicate rows. See pandas.DataFrame.drop_duplicates."""
    if keep not in ("first", "last", False):
        raise ValueError('keep must be either "first", "last" or False')
    if keep is False:
        raise NotImplementedError(
            "drop_duplicates(keep=False) is not supported; use keep='first' or keep='last'"
        )
    options = {"keep": keep} | ({} if subset is None else {"subset": subset})
    if subset is not None:
        labels = obj.node.meta.columns
        single = isinstance(subset, tuple) and subset in labels
        columns = subset if isinstance(subset, list | tuple) and not single else [subset]
        if missing := [one for one in columns if one not in labels]:
            raise KeyError(pd.Index(missing))
    result: S = wrap(DropDuplicates(obj.node, tuple(options.items())))
    return reset_index(result, drop=True) if ignore_index else result


def nunique(obj: Series, *, dropna: bool = True) -> Tensor:
    """Return the number of distinct values of a series."""
    values = drop_duplicates(obj)
    return values.count() if dropna else values.isna().count()


def value_counts(
    obj: Series,
    normalize: bool = False,
    sort: bool = True,
    ascending: bool = False,
    bins: Any = None,
    dropna: bool = True,
) -> Series:
    """Count each distinct value, the most frequent first.

    See pandas.Series.value_counts.

    Differs from pandas: values of equal counts are in order of first occurrence.
    """
    if bins is not None:
        raise NotImplementedError(
            "value_counts(bins=) is not supported; use // or round() of the values first"
        )
    name = obj.node.meta.name
    frame = obj.to_frame("values" if name is None else name)
    counts = groupby(frame, list(frame.columns), sort=False, dropna=dropna).size()
    if name is None:
        counts = rowwise(unnamed_index, counts)
    if normalize:
        counts = counts / counts.sum()
    # Counts of masked types are masked, too.
    wanted = obj.node.meta.value_counts(normalize=normalize)
    if counts.dtype != wanted.dtype:
        counts = counts.astype(wanted.dtype)
    named: Series = rowwise(renamed, counts, name=wanted.name)
    return sort_values(named, ascending=ascending) if sort else named


def unnamed_index(block: Any) -> Any:
    """Return a series whose index has no name."""
    return block.rename_axis(None)


def dropna(obj: S, *, how: str = "any", subset: Any = None, axis: Any = 0) -> S:
    """Drop rows with missing values. See pandas.DataFrame.dropna."""
    if axis_number(obj.node.meta, axis) != 0:
        raise NotImplementedError(
            "dropna(axis=1) is not supported; use [] to select columns by label"
        )
    if how not in {"any", "all"}:
        raise ValueError(f"invalid how option: {how}")
    if subset is not None:
        wanted = subset if isinstance(subset, list | tuple | pd.Index) else [subset]
        if missing := [one for one in wanted if one not in obj.node.meta.columns]:
            raise KeyError(missing)
    mask = rowwise(complete, obj, how=how, subset=subset)
    rows: S = wrap(Filter(obj.node, mask.node))
    return rows


def complete(block: Any, how: str, subset: Any) -> Any:
    """Tell which rows have no missing values, or with ``how="all"`` not only these."""
    if block.ndim == 1:
        return block.notna()
    if subset is not None:
        block = block[subset if isinstance(subset, list) else [subset]]
    present = block.notna()
    return present.all(axis=1) if how == "any" else present.any(axis=1)
