"""Methods of groups that return a value for each row: rows meet by key and go back."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic
from typing import cast as typed

import numpy as np
import pandas as pd

from marsdask.core.arguments import in_memory
from marsdask.core.collection import Collection
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import GROUPED_ROWS, SHUFFLED_ROWS, is_tight
from marsdask.core.node import Columns, SameChunks
from marsdask.core.public import public_methods
from marsdask.core.sizes import total, unknown_sizes, upper
from marsdask.core.traits import Traits

from ..elementwise.rowwise import labelled_as
from ..nodes.frame_node import FrameNode, dtypes_of, hold_gaps, row_bytes
from ..nodes.traits import comparable, dtype_of_key, kept_labels
from ..row_parts import RowPart, split_at
from ..rows import concat
from ..schemas.schema import types_of
from ..whole.fallback import with_fallback
from ..whole.origin import MadeOfRows
from .aggregation import AggregationMethod, GroupByCall, R, restore_order
from .chunk_sizing import MeasuredGrid, may_be_tight, measure, repartition, split_large
from .group_aggregation import meta_of_groups
from .shuffle import Counts, casts_of, counted_parts, cut_by_hash, shuffle

if TYPE_CHECKING:
    from .groupby import GroupBy


@dataclass(frozen=True)
class RowMask(GroupByCall):
    """Tells for each row whether a method that selects rows of groups keeps it."""

    width: int | None = None
    """The number of the columns that ``filter`` shows; keys that are none of them follow."""

    @staticmethod
    def of_columns(call: GroupByCall, meta: Any) -> GroupByCall:
        """Return a call whose function sees the columns of what is grouped."""
        return replace(typed("RowMask", call), width=len(dtypes_of(meta)))

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return the mask of the rows."""
        if self.method == "filter":
            mask = self._filtered(frame)
        else:
            rows = frame.set_axis(pd.RangeIndex(len(frame)), axis=0)
            result = getattr(self.grouped(rows), self.method)(*self.args, **dict(self.kwargs))
            mask = np.isin(np.arange(len(frame)), result.index.to_numpy())
        return pd.Series(mask, index=frame.index, dtype=bool)

    def _filtered(self, frame: pd.DataFrame) -> Any:
        """Call the user's function through pandas, which checks what it returns."""
        func, *args = self.args
        answers: list[Any] = []

        def noting(rows: Any, *args: Any, **kwargs: Any) -> Any:
            shown = rows if rows.ndim == 1 else rows.iloc[:, : self.width]
            answers.append(func(shown, *args, **kwargs))
            return answers[-1]

        groups = self.grouped(frame)
        groups.filter(noting, True, *args, **dict(self.kwargs))
        # Missing values are no answer, and rows without a key are in no group.
        stay = np.array([pd.notna(flag) and bool(flag) for flag in map(_scalar, answers)] + [False])
        return stay[groups.ngroup().fillna(-1).to_numpy(int)]


def _scalar(answer: Any) -> Any:
    return answer.squeeze() if isinstance(answer, pd.Series | pd.DataFrame) else answer


@public_methods
@with_fallback
class Nth(MadeOfRows, Generic[R]):
    """The rows of each group at some positions."""

    def __init__(self, groups: GroupBy[R, Any]) -> None:
        self._groups = groups

    def __call__(self, n: Any, dropna: Any = None) -> R:
        """Return the rows of each group at some positions.

        See pandas.api.typing.DataFrameGroupBy.nth.

        Parameters
        ----------
        n : int, slice or list of these
            The positions, from the end if they are negative.
        dropna : None
            Not supported.
        """
        if dropna is not None:
            raise NotImplementedError(
                "nth(dropna=) is not supported; use dropna() before groupby()"
            )
        rows: R = self._groups._selected("nth", in_memory(n))
        return rows

    def __getitem__(self, n: Any) -> R:
        """Return what the call returns, as in pandas."""
        return self(n)


@dataclass(frozen=True, eq=False)
class GroupedRows(SameChunks, FrameNode):
    """A value for each row, of all rows of its group."""

    holds_all = True

    call: GroupByCall

    @property
    def label(self) -> str:
        return self.call.method

    @property
    def meta(self) -> Any:
        return types_of(self, self._found)

    def _found(self) -> Any:
        if isinstance(self.call, RowMask):
            return pd.Series([], self.a.meta.index, dtype=bool)
        return meta_of_groups(self.call, self.a.meta).set_axis(self.a.meta.index, axis=0)

    @property
    def settled(self) -> bool:
        # The values of rows without a key are missing, which integers cannot be.
        return isinstance(self.call, RowMask)

    @property
    def types_by_rows(self) -> bool:
        return not self.settled

    @property
    def may_widen(self) -> bool:
        keys = [dtype_of_key(self.a.meta, key) for key in self.call.by]
        return self.types_by_rows and self.call.dropna and hold_gaps(keys)

    @property
    def traits(self) -> Traits:
        return self.a.traits.carried(comparable(self.meta, kept_labels))

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        del wanted
        return (self.call.needs(self.a.meta.columns),)

    def tile(self, a: Grid) -> Any:
        a = split_large(a)
        if len(a) == 1 or (a.partitioning is not None and a.partitioning.holds_whole(self.call.by)):
            return self.mapped(rows_of_groups, a, kwargs=self._kwargs)
        rows = upper(total(a.chunks[0]))
        if rows is not None and rows <= GROUPED_ROWS and not may_be_tight(a):
            return self._one(a)
        return self._measured(a)

    def tile_blind(self, a: Grid) -> Grid:
        if len(a) == 1:
            return self._one(a)
        return self._restored(a, self._cut(a, len(a)), [None] * len(a))

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {"call": self.call, "like": self.meta}

    def _one(self, a: Grid) -> Grid:
        return gather(
            rows_of_all_groups,
            a,
            chunks=((total(a.chunks[0]),),),
            kwargs=self._kwargs,
            meta=self.meta,
            itemsize=row_bytes(self.meta),
        )

    def _measured(self, a: Grid) -> Generator[Look, Any, Grid]:
        (source,) = yield from measure(a)
        if not is_tight(source.total) and source.rows <= GROUPED_ROWS:
            return self._one(source.grid)
        rows, count = repartition(source), _count(source)
        splits = self._cut(rows, count)
        (counts,) = yield from counted_parts(splits, count=count)
        return self._restored(rows, splits, counts)

    def _cut(self, a: Grid, count: int) -> Grid:
        by = self.call.by
        casts = casts_of(dtype_of_key(self.a.meta, key) for key in by)
        keep = "labels" if self.call.uses_labels else "at"
        return cut_by_hash(a, by, count, casts=casts, keep=keep)

    def _restored(self, a: Grid, splits: Grid, met: Counts) -> Grid:
        """Call the method where rows of equal keys met, and return its values to their chunks."""
        width = max(row_bytes(self.meta), 1.0)
        sizes = unknown_sizes(f"{self.name}:met", met)
        groups = shuffle(splits, values_of_groups, sizes, self._kwargs, width=width)
        back = shuffle(groups, restore_order, a.chunks[0], width=width)
        return self.mapped(labelled_as, a, back)


def _count(source: MeasuredGrid) -> int:
    return max(2, -(-source.rows // SHUFFLED_ROWS), source.parts())


@kernel(scratch=3.0)
def rows_of_groups(block: Any, call: GroupByCall, like: Any) -> Any:
    """Return a value for each row of a chunk, whose groups are complete."""
    return _values(block, call, like)


@kernel(scratch=4.0)
def rows_of_all_groups(blocks: list[Any], call: GroupByCall, like: Any) -> Any:
    """Return a value for each row of all chunks."""
    block = concat(blocks)
    return _values(block, call, like)


@kernel(scratch=4.4)
def values_of_groups(parts: list[RowPart], call: GroupByCall, like: Any) -> list[RowPart]:
    """Return for each chunk the values of its rows, which met those of their groups."""
    block = concat(parts, labels=call.uses_labels)
    values = _values(block, call, like)
    chunks = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
    return split_at(values, chunks, len(parts), np.concatenate([part.at for part in parts]))


def _values(block: Any, call: GroupByCall, like: Any) -> Any:
    """Return a value for each row; if no row is in a group, pandas cannot transform them."""
    if call.method == "transform" and not call.has_groups(block):
        return like.reindex(block.index, fill_value=dict(call.kwargs).get("fill_value", np.nan))
    values = call(block)
    if len(values) != len(block):
        raise ValueError(f"{len(values)} values were returned for {len(block)} rows")
    return values.set_axis(block.index, axis=0)


def rises(values: Any) -> bool:
    """Tell whether values never fall."""
    return bool(values.is_monotonic_increasing)


def falls(values: Any) -> bool:
    """Tell whether values never rise."""
    return bool(values.is_monotonic_decreasing)


def numbered_down(block: Any, last: Any) -> Any:
    """Return numbers in descending order; of no rows there is no last one."""
    return block.rsub(last) if len(block) else block


def check_no_lazy(name: str, *args: Any) -> None:
    """Raise if an argument of a call in each group is lazy."""
    if any(isinstance(arg, Collection) for arg in args):
        raise NotImplementedError(
            f"groupby().{name}() of another lazy object is not supported; use apply() of a "
            "frame that has both"
        )


def extreme_values(name: str, which: str) -> AggregationMethod:
    """Return ``nlargest`` or ``nsmallest`` as a method of groups of a series."""

    def values(self: Any, n: int = 5, keep: str = "first") -> Any:
        return self._aggregate(name, n, keep)

    values.__name__ = name
    values.__doc__ = f"""Return the {which} values of each group of a series.

    See pandas.api.typing.SeriesGroupBy.{name}. All rows of a group meet in one task.

    Parameters
    ----------
    n : int
        How many values.
    keep : {{"first", "last", "all"}}
        Which of equal values.

    Returns
    -------
    Series
        The values, labelled by the key and by their row labels.

    Examples
    --------
    >>> frame = md.DataFrame({{"k": [1, 1, 2], "x": [3, 3, 5]}})
    >>> len(frame.groupby("k").x.{name}(1).compute())
    2
    """
    return typed("AggregationMethod", values)


def row_method(name: str) -> AggregationMethod:
    """Return the method of that name, which gives a value for each row."""

    def values(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._row_values(name, *args, **kwargs)

    values.__name__ = name
    values.__doc__ = (
        f"Return a value for each row. See pandas.api.typing.DataFrameGroupBy.{name}.\n\n"
        "Rows of equal keys meet in one task; the values return to the chunks of their rows."
    )
    return typed("AggregationMethod", values)
