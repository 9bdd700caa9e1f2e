"""Numbers of rows by the order of their values: ranks, numbers of groups, the order itself.

Rows meet in ranges of their keys, as in a sort. Each range counts what is before it, and the
numbers return to the chunks of their rows.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.scan import scan
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import SORTED_BYTES, SORTED_ROWS, is_tight
from marsdask.core.node import SameChunks
from marsdask.core.sizes import total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..elementwise.column_selection import numeric_part
from ..elementwise.operands import aligned_tensor
from ..elementwise.row_functions import no_columns, row_function
from ..elementwise.rowwise import along_rows, labelled_as, renamed, rowwise, with_columns
from ..keyed.aggregation import restore_order
from ..keyed.chunk_sizing import may_be_tight, measure, repartition, split_large
from ..keyed.shuffle import cut_by_range, samples_of, shuffle
from ..nodes.frame_node import FrameNode, axis_number, dtypes_of, hold_gaps
from ..nodes.traits import comparable, kept_labels
from ..reduction.quantiles import columns_of
from ..reduction.reductions import collection_of
from ..row_parts import RowPart, split_at
from ..rows import concat
from ..schemas.samples import sample
from ..tensors import to_tensor
from .sort_values import sort_values

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


class Numbering(Protocol):
    """Numbers rows by their keys; numbers of a range continue those of the ranges before it."""

    @property
    def ascending(self) -> bool:
        """Whether small keys have small numbers."""

    @property
    def na_first(self) -> bool:
        """Whether missing keys are first."""

    def numbers(self, rows: Any) -> Any:
        """Return the numbers of a frame's rows among themselves."""

    def count(self, rows: Any) -> int:
        """Return how many numbers the rows take."""


@dataclass(frozen=True)
class Ranks:
    """pandas's ranks of a column."""

    method: str
    na_option: str
    ascending: bool

    @property
    def na_first(self) -> bool:
        """Whether missing values are first."""
        return self.na_option == "top"

    def numbers(self, rows: Any) -> Any:
        """Return the ranks of a column."""
        how = {"na_option": self.na_option, "ascending": self.ascending}
        return rows.iloc[:, 0].rank(method=self.method, **how)

    def count(self, rows: Any) -> int:
        """Return how many ranks the rows take."""
        column = rows.iloc[:, 0]
        column = column.dropna() if self.na_option == "keep" else column
        return column.nunique(dropna=False) if self.method == "dense" else len(column)


@dataclass(frozen=True)
class GroupNumbers:
    """The numbers of groups in the order of their keys."""

    dropna: bool
    ascending: bool = True
    na_first: bool = False

    def _groups(self, rows: Any) -> Any:
        by = list(rows.columns)
        return rows.groupby(by, sort=True, dropna=self.dropna, observed=True)

    def numbers(self, rows: Any) -> Any:
        """Return the number of each row's group, a missing one for rows without a key."""
        return self._groups(rows).ngroup()

    def count(self, rows: Any) -> int:
        """Return the number of groups."""
        number: int = self._groups(rows).ngroups
        return number


@dataclass(frozen=True, eq=False)
class NumberedRows(SameChunks, FrameNode):
    """A number for each row of a frame of keys."""

    holds_all = True

    numbering: Numbering

    @property
    def label(self) -> str:
        return type(self.numbering).__name__.lower()

    @property
    def meta(self) -> Any:
        return self.numbering.numbers(self.a.meta)

    @property
    def settled(self) -> bool:
        # The numbers of rows without a key are missing, which integers cannot be.
        return isinstance(self.numbering, Ranks)

    @property
    def types_by_rows(self) -> bool:
        return not self.settled

    @property
    def may_widen(self) -> bool:
        numbering = self.numbering
        drops = isinstance(numbering, GroupNumbers) and numbering.dropna
        return drops and (hold_gaps(dtypes_of(self.a.meta)) or super().may_widen)

    @property
    def traits(self) -> Traits:
        return self.a.traits.carried(comparable(self.meta, kept_labels))

    @property
    def _by(self) -> tuple[Any, ...]:
        return tuple(self.a.meta.columns)

    def tile(self, a: Grid) -> Any:
        a = split_large(a)
        rows = upper(total(a.chunks[0]))
        tight = may_be_tight(a)
        if len(a) == 1 or (rows is not None and rows <= SORTED_ROWS and not tight):
            return self._one(a)
        if tight:
            return self._measured(a)
        count = len(a)
        if rows is not None:
            count = max(2, min(count, int(rows * (a.itemsize or 8) // SORTED_BYTES) + 1))
        return self._by_range(a, samples_of(a, self._by), count)

    def tile_blind(self, a: Grid) -> Grid:
        if len(a) == 1:
            return self._one(a)
        return self._by_range(a, samples_of(a, self._by), len(a))

    def _one(self, a: Grid) -> Grid:
        options = {"chunks": ((total(a.chunks[0]),),), "meta": self.meta, "itemsize": self.itemsize}
        return gather(numbers_of_all, a, kwargs={"numbering": self.numbering}, **options)

    def _measured(self, a: Grid) -> Generator[Look, Any, Grid]:
        samples = samples_of(a, self._by)
        (source,) = yield from measure(a, keep=(samples,))
        if not is_tight(source.total):
            return self._by_range(source.grid, samples, max(2, source.parts(SORTED_BYTES)))
        return self._by_range(repartition(source), samples, max(2, source.parts(SORTED_BYTES)))

    def _by_range(self, a: Grid, samples: Grid, count: int) -> Grid:
        how: Any = {"ascending": (self.numbering.ascending,) * len(self._by), "at": True}
        splits = cut_by_range(a, samples, self._by, count, na_first=self.numbering.na_first, **how)
        sizes = unknown_sizes(f"{self.name}:met", [None] * count)
        parts = shuffle(splits, list, sizes, width=splits.width)
        kwargs = {"numbering": self.numbering}
        width = max(self.itemsize, 8.0) + 8
        numbers = scan(
            parts,
            0,
            numbers_taken,
            starts_of_ranges,
            numbers_of_range,
            total_kwargs=kwargs,
            step_kwargs=kwargs,
            itemsize=width,
        )
        back = shuffle(numbers, restore_order, a.chunks[0], width=width)
        return self.mapped(labelled_as, a, back)


@kernel(scratch=4.0)
def numbers_of_all(blocks: list[Any], numbering: Numbering) -> Any:
    """Return the numbers of the rows of all chunks."""
    return numbering.numbers(concat(blocks))


@kernel(scratch=3.0)
def numbers_taken(parts: list[RowPart], numbering: Numbering) -> int:
    """Return how many numbers the rows of a range take."""
    return numbering.count(concat(parts, labels=False))


def starts_of_ranges(counts: list[int]) -> list[int]:
    """Return how many numbers are taken before each range."""
    return [0, *(int(number) for number in np.cumsum(counts))]


@kernel(scratch=4.4)
def numbers_of_range(
    parts: list[RowPart], starts: Any = None, position: int = 0, *, numbering: Numbering
) -> list[RowPart]:
    """Return for each chunk the numbers of its rows in a range."""
    numbers = numbering.numbers(concat(parts, labels=False))
    if position:
        numbers = numbers + starts[position]
    chunks = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
    return split_at(numbers, chunks, len(parts), np.concatenate([part.at for part in parts]))


def number_rows_by(frame: Any, numbering: Numbering) -> Any:
    """Return a number for each row of a frame of keys."""
    node = NumberedRows(frame.node, numbering)
    _ = node.meta  # raises pandas's errors at the call
    return collection_of(node)


def rank(
    series: Series,
    axis: Any = 0,
    method: str = "average",
    numeric_only: bool = False,
    na_option: str = "keep",
    ascending: bool = True,
    pct: bool = False,
) -> Series:
    """Rank the values. See pandas.Series.rank.

    The rows are sorted, and their ranks return to them.
    """
    meta = series.node.meta
    axis_number(meta, axis)
    how = {"method": method, "na_option": na_option, "ascending": ascending}
    sample(meta).iloc[:1].rank(numeric_only=numeric_only, **how)  # raises pandas's errors
    if isinstance(meta.dtype, pd.CategoricalDtype) and not meta.dtype.ordered:
        raise NotImplementedError(
            "rank() of categories without an order is not supported; use astype() of their type"
        )
    numbering = Ranks(method, na_option, bool(ascending))
    ranks: Series = number_rows_by(series.to_frame(0), numbering)
    if pct:
        has_gaps = na_option != "keep"
        dense = method == "dense"
        count: Any = series.nunique(dropna=not has_gaps) if dense else None
        if not dense:
            count = series.isna().count() if has_gaps else series.count()
        ranks = ranks / count
    return rowwise(renamed, ranks, name=meta.name)  # type: ignore[no-any-return]


def rank_columns(
    frame: DataFrame,
    axis: Any = 0,
    method: str = "average",
    numeric_only: bool = False,
    na_option: str = "keep",
    ascending: bool = True,
    pct: bool = False,
) -> DataFrame:
    """Rank the values of each column, or of each row. See pandas.DataFrame.rank.

    The rows are sorted by each column, and their ranks return to them.
    """
    how: Any = {"method": method, "na_option": na_option, "ascending": ascending, "pct": pct}
    if numeric_only:
        frame = numeric_part(frame)
    if axis_number(frame.node.meta, axis) == 1:
        across: DataFrame = along_rows(frame, "rank", **how)
        return across
    dtypes = dtypes_of(frame.node.meta)
    if any(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes):
        raise NotImplementedError(
            "rank() of a frame with categories is not supported, since pandas ranks their texts; "
            "rank columns one by one"
        )
    if not dtypes:
        return frame
    ranks = [rank(column, **how) for column in columns_of(frame)]
    result: DataFrame = rowwise(beside_each_other, *ranks, columns=frame.node.meta.columns)
    return result


def beside_each_other(*columns_: Any, columns: Any) -> pd.DataFrame:
    """Return ranks of the same rows as a frame, of floats even where a column's own are masked."""
    values = {at: column.to_numpy(float, na_value=np.nan) for at, column in enumerate(columns_)}
    frame = pd.DataFrame(values, columns_[0].index)
    return frame.set_axis(columns, axis=1)


def positions_of(rows: Any) -> Any:
    """Return the number of each row from 0 on, aligned with the rows."""
    return rowwise(ones_for, rows).cumsum() - 1


@row_function(no_columns)
def ones_for(block: Any) -> pd.Series:
    """Return a one for each row."""
    return pd.Series(1, block.index, dtype=np.intp)


def argsort(
    series: Series,
    axis: Any = 0,
    kind: str = "quicksort",
    order: None = None,
    stable: None = None,
) -> Series:
    """Return the positions that would sort the values. See pandas.Series.argsort.

    Differs from pandas: equal values always keep their order, whatever ``kind`` is.
    """
    del order, stable
    axis_number(series.node.meta, axis)
    frame = rowwise(with_columns, series.to_frame(0), positions_of(series), names=(1,))
    places = sort_values(frame, 0, kind=kind)[1]
    positions = aligned_tensor(series, to_tensor(places), "{} positions of {} rows")
    return rowwise(renamed, positions, name=series.node.meta.name)  # type: ignore[no-any-return]
