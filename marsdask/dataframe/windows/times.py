"""Rows by time: of hours of the day, up to a time, at equal distances; labels of times."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel

from ..elementwise.row_functions import no_columns, row_function
from ..elementwise.rowwise import Method, NewLabels, rowwise
from ..labels.index_methods import is_sorted
from ..labels.masks import is_between, label_bounds
from ..labels.numbered_rows import between_labels, numbers_of
from ..nodes.frame_node import S, axis_number
from ..ordered.iloc import Row
from ..reduction.fold import Assembly, FrameFold
from ..reduction.reductions import collection_of
from ..rows import concat

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..frame import DataFrame
    from ..series import Series


def _check_rows(obj: Any, name: str, axis: Any) -> None:
    if axis is not None and axis_number(obj.node.meta, axis) == 1:
        raise NotImplementedError(f"{name}(axis=1) is not supported; use frame[list of columns]")


def _check_times(obj: Any) -> None:
    if not isinstance(obj.node.meta.index, pd.DatetimeIndex):
        raise TypeError("Index must be DatetimeIndex")


@row_function(no_columns)
@kernel(scratch=2.0)
def is_chosen(block: Any, name: str, how: tuple[tuple[str, Any], ...]) -> Any:
    """Tell of each row whether an indexer of its index chooses it."""
    mask = np.zeros(len(block), dtype=bool)
    mask[getattr(block.index, name)(**dict(how))] = True
    return pd.Series(mask, index=block.index)


def between_time(
    obj: S, start_time: Any, end_time: Any, inclusive: str = "both", axis: Any = None
) -> S:
    """Return the rows between two times of the day. See pandas.DataFrame.between_time."""
    _check_rows(obj, "between_time", axis)
    _check_times(obj)
    sides = {"both": (True, True), "left": (True, False), "right": (False, True)}
    sides["neither"] = (False, False)
    if inclusive not in sides:
        raise ValueError("Inclusive has to be either 'both', 'neither', 'left' or 'right'")
    first, last = sides[inclusive]
    how = {"start_time": start_time, "end_time": end_time}
    how |= {"include_start": first, "include_end": last}
    return _where_indexed(obj, "indexer_between_time", how)


def at_time(obj: S, time: Any, asof: bool = False, axis: Any = None) -> S:
    """Return the rows at a time of the day. See pandas.DataFrame.at_time."""
    _check_rows(obj, "at_time", axis)
    _check_times(obj)
    return _where_indexed(obj, "indexer_at_time", {"time": time, "asof": asof})


def _where_indexed(obj: S, name: str, how: dict[str, Any]) -> S:
    getattr(obj.node.meta.index, name)(**how)  # raises at once, as in pandas
    rows: S = obj[rowwise(is_chosen, obj, name=name, how=tuple(how.items()))]
    return rows


def truncate(
    obj: S, before: Any = None, after: Any = None, axis: Any = None, copy: Any = None
) -> S:
    """Return the rows, or columns, between two labels. See pandas.DataFrame.truncate.

    Row labels must rise: those that are not known to do so are computed.
    """
    del copy
    if axis is not None and axis_number(obj.node.meta, axis) == 1:
        names = obj.node.meta.truncate(before, after, axis=1).columns
        columns: S = obj[list(names)]
        return columns
    labels = obj.node.meta.index
    if labels.dtype.kind == "M" or isinstance(labels, pd.PeriodIndex):
        before, after = (None if edge is None else pd.to_datetime(edge) for edge in (before, after))
    if before is not None and after is not None and before > after:
        raise ValueError(f"Truncate: {after} must be after {before}")
    if numbers_of(obj.node) is not None:
        between = between_labels(obj, before, after)
        if between is not obj:
            return between
    elif not is_sorted(obj):
        if obj.index.is_monotonic_decreasing.compute():
            raise NotImplementedError(
                "truncate() of labels that fall is not supported; use sort_index() first"
            )
        raise ValueError("truncate requires a sorted index")
    if labels.nlevels > 1:
        if isinstance(before, tuple) or isinstance(after, tuple):
            several: S = obj.loc[before:after]
            return several
        labels = labels.levels[0]
    start, stop = label_bounds(labels, slice(before, after))
    rows: S = obj[rowwise(is_between, obj, start=start, stop=stop)]
    return rows


def first_valid_index(obj: Any) -> Hashable:
    """Compute the label of the first row with a value. See pandas.DataFrame.first_valid_index."""
    return _label(obj, 0)


def last_valid_index(obj: Any) -> Hashable:
    """Compute the label of the last row with a value. See pandas.DataFrame.last_valid_index."""
    return _label(obj, -1)


def _label(obj: Any, at: int) -> Hashable:
    rows = obj[rowwise(has_value, obj)]
    labels = (rows.tail(1) if at else rows.head(1)).index.compute()
    label: Hashable = labels[0] if len(labels) else None
    return label


def has_value(block: Any) -> Any:
    """Tell of each row whether a value is not missing."""
    return block.notna() if block.ndim == 1 else block.notna().any(axis=1)


def has_all_values(block: Any) -> Any:
    """Tell of each row whether no value is missing."""
    return block.notna() if block.ndim == 1 else block.notna().all(axis=1)


def asof(obj: Any, where: Any, subset: Any = None) -> DataFrame | Series | Tensor:
    """Return the last row up to a label, or to each of some, that misses nothing.

    See pandas.DataFrame.asof. Row labels must rise.
    """
    meta = obj.node.meta
    if meta.ndim == 1 and subset is not None:
        raise ValueError("subset is not valid for Series")
    if not is_sorted(obj):
        raise ValueError("asof requires a sorted index")
    if isinstance(where, str):
        where = pd.Timestamp(where)
    several = pd.api.types.is_list_like(where)
    labels = _like_rows(pd.Index(where if several else [where]), meta.index)
    steps = (Candidates(labels, subset), Joined(labels, subset), AsOf(where, subset, meta))
    if several:
        rows_found: DataFrame | Series = collection_of(
            FrameFold(meta, len(labels), False, "asof", obj.node, steps)
        )
        return rows_found
    row = Row(obj.node, 0)  # of the same types
    rows = len(meta.columns) if meta.ndim == 2 else None
    result: Series | Tensor = collection_of(
        FrameFold(row.meta, rows, meta.ndim == 2, "asof", obj.node, steps)
    )
    return result


def _like_rows(labels: pd.Index, rows: pd.Index) -> pd.Index:
    """Return labels as those of the rows are: times among periods are periods."""
    if isinstance(rows, pd.PeriodIndex) and isinstance(labels, pd.DatetimeIndex):
        return labels.to_period(rows.freqstr)
    return labels


@dataclass(frozen=True, eq=False)
class Candidates:
    """Returns the rows that are the last ones up to one of some labels."""

    labels: pd.Index[Any]
    subset: Any

    def __call__(self, block: Any) -> Any:
        columns = block if self.subset is None else block[_listed(self.subset)]
        valid = np.flatnonzero(has_all_values(columns))
        at = block.index[valid].searchsorted(self.labels, side="right") - 1
        # Where no row is found, pandas looks at the first label of all.
        return block.iloc[np.union1d(valid[at[at >= 0]], [0])]


class Joined(Candidates):
    """Returns those of two chunks."""

    def __call__(self, a: Any, b: Any) -> Any:  # type: ignore[override]
        return super().__call__(concat([a, b]))


@dataclass(frozen=True, eq=False)
class AsOf:
    """Returns what pandas finds among the rows that may be found."""

    where: Any
    subset: Any
    meta: Any

    @property
    def __name__(self) -> str:
        return "asof"

    def __call__(self, rows: Any) -> Any:
        rows = self.meta if rows is None else rows
        return rows.asof(self.where, self.subset)


def _listed(labels: Any) -> list[Any]:
    return list(labels) if pd.api.types.is_list_like(labels) else [labels]


def asfreq(
    obj: S,
    freq: Any,
    method: str | None = None,
    how: str | None = None,
    normalize: bool = False,
    fill_value: Any = None,
) -> S:
    """Return rows at equal distances. See pandas.DataFrame.asfreq.

    All rows meet in one task.
    """
    del how  # of periods
    if not isinstance(obj.node.meta.index, pd.DatetimeIndex):
        raise NotImplementedError("asfreq() of other labels than times is not supported; use loc[]")
    options = {"freq": freq, "method": method, "normalize": normalize, "fill_value": fill_value}
    kwargs = tuple(options.items())
    like = at_distances(obj.node.meta, **options)
    result: S = type(obj)(Assembly(like, None, False, "asfreq", (obj.node,), at_distances, kwargs))
    return result


@kernel(scratch=3.0)
def at_distances(rows: Any, **how: Any) -> Any:
    """Return rows at equal distances."""
    return rows.asfreq(**how)


def _relabelled(obj: S, name: str, axis: Any, how: dict[str, Any]) -> S:
    if axis_number(obj.node.meta, axis) == 1:
        columns: S = obj.set_axis(getattr(obj.node.meta, name)(axis=1, **how).columns, axis=1)
        return columns
    result: S = rowwise(NewLabels(Method(name)), obj, **how)
    return result


def tz_convert(obj: S, tz: Any, axis: Any = 0, level: Any = None, copy: Any = None) -> S:
    """Return the rows with times of another zone. See pandas.DataFrame.tz_convert."""
    del copy
    return _relabelled(obj, "tz_convert", axis, {"tz": tz, "level": level})


def tz_localize(
    obj: S,
    tz: Any,
    axis: Any = 0,
    level: Any = None,
    copy: Any = None,
    ambiguous: Any = "raise",
    nonexistent: Any = "raise",
) -> S:
    """Return the rows with times of a zone. See pandas.DataFrame.tz_localize.

    ``ambiguous`` may be ``"raise"``, ``"NaT"`` or a truth value.
    """
    del copy
    if not isinstance(ambiguous, bool) and not (
        isinstance(ambiguous, str) and ambiguous in {"raise", "NaT"}
    ):
        raise NotImplementedError(
            "tz_localize(ambiguous='infer') and by an array are not supported, since they look at "
            "all rows; use ambiguous='NaT', True or False"
        )
    how = {"tz": tz, "level": level, "ambiguous": ambiguous, "nonexistent": nonexistent}
    return _relabelled(obj, "tz_localize", axis, how)


def to_period(obj: S, freq: Any = None, axis: Any = 0, copy: Any = None) -> S:
    """Return the rows with periods in place of times. See pandas.DataFrame.to_period.

    ``freq`` must be given.
    """
    del copy
    if freq is None:
        raise NotImplementedError(
            "to_period() without freq is not supported, since it looks at all rows; use freq="
        )
    return _relabelled(obj, "to_period", axis, {"freq": freq})


def to_timestamp(
    obj: S, freq: Any = None, how: str = "start", axis: Any = 0, copy: Any = None
) -> S:
    """Return the rows with times in place of periods. See pandas.DataFrame.to_timestamp."""
    del copy
    return _relabelled(obj, "to_timestamp", axis, {"freq": freq, "how": how})
