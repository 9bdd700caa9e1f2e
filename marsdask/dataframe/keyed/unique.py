"""Find and drop duplicates, drop missing values; count distinct values."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.collection import wrap
from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.tree import gather, sizes_at_most, tree
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import is_tight, part_count
from marsdask.core.node import Columns, Node, SameMeta
from marsdask.core.sizes import Chunks, numbers, total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..arguments.pandas_arguments import check_boolean
from ..elementwise.filter import Filter
from ..elementwise.rowwise import Method, column_of, relabelled, renamed, rowwise
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import FrameNode, S, axis_number
from ..nodes.traits import comparable, dtype_of_key, keys_by
from ..ordered.row_numbers import reset_index
from ..reduction.column_blocks import PandasCall, by_blocks
from ..reduction.fold import assembled
from ..reduction.quantiles import columns_of, stacked
from ..reduction.reductions import RowReduction, collection_of
from ..relations.aggregates import distinct as distinct_of
from ..relations.relation import Table
from ..row_parts import RowPart
from ..rows import concat
from .chunk_sizing import MeasuredGrid, may_be_tight, measure, repartition, split_large
from .group_rows import GroupedRows, RowMask
from .shuffle import casts_of, counted_parts, cut_by_hash, shuffle

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


@dataclass(frozen=True, eq=False)
class DropDuplicates(SameMeta, FrameNode):
    """The first (or last) of equal rows, in the order of the rows."""

    label: ClassVar[str] = "drop_duplicates"

    options: tuple[tuple[str, Any], ...]

    def runs_inline(self) -> bool:
        return True

    @property
    def traits(self) -> Traits:
        traits = self.a.traits.of(self.name).and_unique(keys_by(self.meta, self._by))
        return traits.carried(comparable(self.meta))

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
        grid = tree(parts, distinct, [0], sizes=sizes_at_most, kwargs=kwargs)
        like = {"meta": self.meta, "itemsize": grid.itemsize}
        return gather(distinct, grid, chunks=self.chunks, kwargs=kwargs, **like)

    def _met(self, source: MeasuredGrid) -> Generator[Look, Any, Grid]:
        """Shuffle keys by hash, and return to each chunk the positions of its rows to keep."""
        rows = repartition(source)
        types = [dtype_of_key(self.meta, key) for key in keys_by(self.meta, self._by)]
        count = max(2, part_count(min(source.total, source.rows * _moved_bytes(types))))
        keys = cut_by_hash(rows, self._by, count, casts=casts_of(types), keep="keys")
        (counts,) = yield from counted_parts(keys, count=count)
        stay = shuffle(
            keys,
            kept_positions,
            unknown_sizes(f"{self.name}:met", counts),
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


def _moved_bytes(dtypes: Sequence[Any]) -> float:
    """Return the bytes of a row's keys and position; infinity if they are only known by looking."""
    plain = all(isinstance(dtype, np.dtype) and not dtype.hasobject for dtype in dtypes)
    return sum(dtype.itemsize for dtype in dtypes) + 4 if plain else math.inf


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


@kernel(scratch=0.7)
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
    _check_keep(keep)
    several = obj.node.meta.ndim == 2
    if several:
        check_boolean("ignore_index", ignore_index)
        if not len(obj.node.meta.columns) or total(obj.node.chunks[0]) == 0:
            return typed("S", collection_of(obj.node))  # pandas looks at no label then
    if subset is not None:
        _labels_in(obj.node.meta, subset)
    if keep is False:
        mask = duplicated(obj, subset, keep) if several else duplicated_values(obj, keep)
        result: S = collection_of(Filter(in_one_type(obj.node), (~mask).node))
    else:
        options = {"keep": keep} | ({} if subset is None else {"subset": subset})
        result = wrap(DropDuplicates(in_one_type(obj.node), tuple(options.items())))
    return reset_index(result, drop=True) if ignore_index else result


def _check_keep(keep: Any) -> None:
    if keep not in ("first", "last", False):
        raise ValueError('keep must be either "first", "last" or False')


def _labels_in(meta: Any, subset: Any) -> list[Any]:
    """Return the labels of a subset of the columns, which are there."""
    single = isinstance(subset, tuple) and subset in meta.columns
    several = not single and pd.api.types.is_list_like(subset)
    labels = list(subset) if several else [subset]
    if not labels:
        raise ValueError("duplicates need at least one column to look at, but subset= is empty")
    if missing := [label for label in labels if label not in meta.columns]:
        raise KeyError(pd.Index(missing))
    return labels


def distinct_values(series: S) -> S:
    """Return the rows of distinct values; raise if one cannot be hashed, such as a list."""
    rows = drop_duplicates(series)
    values: S = rowwise(hashable, rows) if rows.node.meta.dtype == object else rows
    return values


@kernel(view=True)
def hashable(block: Any) -> Any:
    """Return values that can be hashed as they are; others are an error."""
    for value in block.array:
        hash(value)
    return block


def nunique(obj: Series, *, dropna: bool = True) -> Tensor:
    """Return the number of distinct values of a series."""
    values = distinct_values(obj)
    return values.count() if dropna else values.isna().count()


def column_nunique(frame: DataFrame, axis: Any = 0, dropna: bool = True) -> Series:
    """Return the number of distinct values of each column. See pandas.DataFrame.nunique."""
    meta = frame.node.meta
    if axis_number(meta, axis) == 1:
        rows: Series = rowwise(RowReduction("nunique"), frame, dropna=dropna)
        return rows
    like = meta.nunique()  # of no columns it is float64
    call = PandasCall("nunique", options=(("dropna", dropna),))
    blocks: Series | None = by_blocks(frame, call, like, row=True)
    if blocks is not None:
        return blocks
    counts = [nunique(column, dropna=dropna) for column in columns_of(frame)]
    options = {"labels": meta.columns, "name": None, "dtype": like.dtype}
    result: Series = assembled(stacked, counts, like, title="nunique", row=True, **options)
    return result


@dataclass(frozen=True)
class RepeatedRows(RowMask):
    """Tells for each row whether an equal one comes before, after, or elsewhere."""

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return the mask of the rows."""
        return frame[list(self.by)].duplicated(keep=self.args[0])


def duplicated(frame: DataFrame, subset: Any = None, keep: Any = "first") -> Series:
    """Tell which rows are duplicates of others. See pandas.DataFrame.duplicated."""
    _check_keep(keep)
    if not len(frame.node.meta.columns) or total(frame.node.chunks[0]) == 0:
        # pandas looks at no label then.
        none: Series = rowwise(Method("duplicated"), frame)
        return none
    if subset is not None:
        frame = rowwise(column_of, frame, key=_labels_in(frame.node.meta, subset))
    return _repeated(frame, keep)


def duplicated_values(series: Series, keep: Any = "first") -> Series:
    """Tell which values are duplicates of others. See pandas.Series.duplicated."""
    name = series.node.meta.name
    flags: Series = rowwise(renamed, _repeated(series.to_frame(0), keep), name=name)
    return flags


def _repeated(frame: DataFrame, keep: Any) -> Series:
    _check_keep(keep)
    # Several columns may have one label.
    places = tuple(range(len(frame.node.meta.columns)))
    rows = rowwise(relabelled, frame, columns=pd.RangeIndex(len(places)))
    call = RepeatedRows(places, ..., "duplicated", (keep,), (), sort=False, dropna=False)
    flags: Series = collection_of(GroupedRows(rows.node, call))
    return flags
