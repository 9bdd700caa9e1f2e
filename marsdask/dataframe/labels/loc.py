"""Select rows and columns by label."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any, Generic, cast, overload

import numpy as np
import pandas as pd
from pandas.api.types import is_integer, is_object_dtype, is_scalar
from pandas.errors import IndexingError

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, compute
from marsdask.core.grids.grid import Grid
from marsdask.core.grids.tree import gather
from marsdask.core.node import Columns, Node
from marsdask.core.public import public_methods
from marsdask.core.sizes import Chunks, unknown_sizes

from ..elementwise.operands import aligned_values, is_mask
from ..elementwise.rowwise import NewLabels, rowwise
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import FrameNode, S, axis_number
from ..rows import concat, without_ellipsis, without_levels
from ..whole.fallback import with_fallback
from ..whole.object_types import with_known_labels
from ..whole.origin import MadeOfRows
from .assignment import assign_iloc, assign_loc
from .by_position import rows_in_order
from .index_methods import is_sorted
from .index_times import finest
from .masks import (
    check_label_kind,
    check_labels,
    check_levels,
    check_within_intervals,
    columns_in,
    has_first_level,
    has_label,
    has_label_or_first,
    has_levels,
    is_between,
    is_other_kind,
    key_of_axes,
    label_in_memory,
    slice_bounds,
)
from .numbered_rows import between_labels, near_labels, numbers_of


@dataclass(frozen=True, eq=False)
class ChosenLabels(FrameNode):
    """The rows of some labels in the order of a list, in one chunk."""

    a: Node
    labels: Any = field(repr=False)
    with_gaps: bool
    """Whether labels that are not there become missing values."""
    options: tuple[tuple[str, Any], ...] = ()
    """Keywords of ``reindex``: what takes the place of missing values."""
    spreads: bool = False
    """Whether labels of several levels take rows by one of them."""

    @property
    def label(self) -> str:
        return "reindex" if self.with_gaps else "loc"

    @property
    def meta(self) -> Any:
        if not self.with_gaps:
            return self.a.meta
        # Types as with a label that is not there.
        how = (True, self.options, self.spreads)
        return rows_labelled([self.a.meta], self.labels[:1], *how).iloc[:0]

    @property
    def settled(self) -> bool:
        return not self.with_gaps and self.a.settled

    @property
    def chunks(self) -> Chunks:
        if self.with_gaps:
            return ((len(self.labels),),)
        return (unknown_sizes(self.name, [None]),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        # Columns that are not there decide the types of those that are.
        return (None if "columns" in dict(self.options) else wanted,)

    def tile(self, a: Grid) -> Grid:
        names = ("labels", "with_gaps", "options", "spreads")
        kwargs = {name: getattr(self, name) for name in names}
        options = {"meta": self.meta, "itemsize": self.itemsize, "kwargs": kwargs}
        return gather(rows_labelled, a, chunks=self.chunks, **options)


def rows_labelled(
    blocks: list[Any],
    labels: Any,
    with_gaps: bool,
    options: tuple[tuple[str, Any], ...],
    spreads: bool,
) -> Any:
    """Return the rows of some labels, in their order."""
    rows = concat(blocks)
    if not with_gaps:
        # pandas takes an index with None for a mask, and a list for labels.
        return rows.loc[labels.tolist() if labels.dtype == object else labels]
    how = dict(options)
    if "columns" in how:
        others = np.flatnonzero(~rows.index.isin(labels))
        # pandas looks whether columns of one type lie together
        rows = rows.iloc[np.setdiff1d(np.arange(len(rows)), others[1:])].copy()
    return rows.reindex(index=labels, **how) if spreads else rows.reindex(labels, **how)


def rows_of_label(obj: Any, label: Any) -> Any:
    """Return the row of a label, or the rows if there are several; counts them."""
    check_labels(obj, [label])
    if isinstance(obj.node.meta.index, pd.MultiIndex) and obj.node.meta.index.nlevels == 1:
        check_levels(obj, label)
    if is_other_kind(obj.node.meta.index, label):
        raise KeyError(label)
    levels = obj.node.meta.index.nlevels
    parts = label if levels > 1 and isinstance(label, tuple) else (label,)
    if levels > 1 or isinstance(obj.node.meta.index, pd.IntervalIndex):
        rows = obj[rowwise(has_levels, obj, key=parts)]
    else:
        rows = obj[rowwise(has_label, obj, labels=pd.Index([label]))]
    count = len(rows)
    if not count:
        raise KeyError(label)
    if len(parts) < levels:
        return rowwise(NewLabels(without_levels), rows, levels=list(range(len(parts))))
    return rows.iloc[0] if count == 1 else rows


def row_of_tuple(series: Any, key: tuple[Any, ...]) -> Any:
    """Return the row of a label that is a tuple; raise pandas's errors for other tuples."""
    if has_row(series, key):
        return rows_of_label(series, key)
    if any(part is None for part in key):
        raise ValueError(
            "Multi-dimensional indexing (e.g. `obj[:, None]`) is no longer supported. Convert to a "
            "numpy array before indexing instead."
        )
    raise KeyError("key of type tuple not found and not a MultiIndex")


def has_row(series: Any, key: Any) -> bool:
    """Tell whether a key is a tuple that is a label of one level; computes it."""
    index = series.node.meta.index
    if not isinstance(key, tuple) or index.nlevels > 1 or index.dtype != object:
        return False
    try:
        rows_of_label(series, key)
    except (KeyError, TypeError):
        return False
    return True


def rows_of_time(obj: Any, text: str) -> Any:
    """Return the row at a time, or the rows of a day or month; computes how fine the labels are.

    As in pandas, a text that is as fine as all labels is one time.
    """
    labels = obj.node.meta.index
    try:
        time, fineness = labels._parse_with_reso(text)
    except ValueError as error:
        raise KeyError(text) from error
    unit = finest(obj.index)
    if unit is None or fineness <= unit:
        label = pd.Timestamp(time)
        zone = labels.tz if label.tz is None else None
        return rows_of_label(obj, label.tz_localize(zone) if zone is not None else label)
    start, stop = labels._parsed_string_to_bounds(fineness, time)
    rows = obj[rowwise(is_between, obj, start=start, stop=stop)]
    if is_sorted(obj):
        first, last = compute(obj.index.min(), obj.index.max())
        outside = stop < first or start > last
    else:
        outside = not len(rows)
    if outside:
        raise KeyError(text)
    return rows


def rows_of_period(obj: Any, text: str) -> Any:
    """Return the rows of a period, or those of all periods in a longer one."""
    labels = obj.node.meta.index
    try:
        time, fineness = labels._parse_with_reso(text)
        longer = labels._can_partial_date_slice(fineness)
    except ValueError as error:
        raise KeyError(text) from error
    if not longer and fineness != labels._resolution_obj:
        raise KeyError(text)
    if not longer:
        return rows_of_label(obj, pd.Period(time, freq=labels.freq))
    start, stop = labels._parsed_string_to_bounds(fineness, time)
    rows = obj[rowwise(is_between, obj, start=start, stop=stop)]
    if not len(rows):
        raise KeyError(text)
    return rows


def _index_of(labels: Any, levels: Any) -> Any:
    """Return labels as an index, whose tuples are labels of several levels or of one."""
    return pd.Index(labels, tupleize_cols=bool(levels))


def rows_of_labels(
    obj: S,
    labels: Any,
    *,
    with_gaps: bool = False,
    spreads: bool = False,
    **options: Any,
) -> S:
    """Return the rows of a list of labels, in its order, in one chunk.

    With ``spreads`` labels of several levels take the rows of the level of the index's name. The
    options are those of ``reindex``: a method looks at rows of other labels.
    """
    check_labels(obj, labels)
    own = obj.node.meta.index
    index = own
    if len(labels) or isinstance(labels, pd.Index):
        # pd.Index makes tuples of labels of several levels.
        levels = isinstance(own, pd.MultiIndex) or own.dtype != object
        index = labels if isinstance(labels, pd.Index) else _index_of(labels, levels)
    # Labels may be tuples of one level, whose values alone are not equal to them.
    of_tuples = any(isinstance(label, tuple) for label in index)
    by_values = isinstance(own, pd.MultiIndex) and index.nlevels == 1 and not of_tuples
    alike = index.nlevels == own.nlevels and not by_values
    if with_gaps and not isinstance(labels, pd.Index | pd.Series) and alike:
        index = index.set_names(own.names)
    if set(options) - {"fill_value", "columns"}:
        rows = obj
    elif index.nlevels > own.nlevels:  # pandas finds them by the level of their name
        by_level = spreads and own.names[0] in index.names
        level = index.get_level_values(own.names[0]) if by_level else index[:0].to_flat_index()
        rows = obj[rowwise(has_label, obj, labels=level)]
    elif by_values or own.nlevels > index.nlevels:
        rows = obj[rowwise(has_first_level, obj, labels=index)]
    else:
        # Of rows and columns at once, the types depend on whether any row is left out.
        mask = has_label_or_first if "columns" in options else has_label
        near = obj if "columns" in options else near_labels(obj, index)
        rows = near[rowwise(mask, near, labels=index)]
    how = tuple(sorted(options.items()))
    result: S = type(obj)(ChosenLabels(in_one_type(rows.node), index, with_gaps, how, spreads))
    return result


def rows_between(obj: Any, key: slice) -> Any:
    """Return the rows between two labels, both included, of labels that are known to rise."""
    step = 1 if key.step is None else key.step
    rows = obj
    if key.start is not None or key.stop is not None:
        start, stop = slice_bounds(obj, slice(*(key.start, key.stop)[:: 1 if step > 0 else -1]))
        rows = obj[rowwise(is_between, obj, start=start, stop=stop)]
    return rows if step == 1 else rows.iloc[::step]


def _is_position(bound: Any) -> bool:
    number = isinstance(bound, int | np.integer) and not isinstance(bound, bool)
    return bound is None or number


def rows_sliced(obj: S, key: slice) -> S:
    """Return the rows of ``obj[start:stop]``: by position for integers, by label for others."""
    numbers = all(map(_is_position, (key.start, key.stop, key.step)))
    labels = obj.node.meta.index
    bounds = [edge for edge in (key.start, key.stop) if not _is_position(edge)]
    if bounds and labels.nlevels == 1 and labels.dtype.kind in "iu":
        raise TypeError(
            f"cannot do slice indexing on {type(labels).__name__} with these indexers "
            f"[{bounds[0]}] of type {type(bounds[0]).__name__}"
        )
    rows: S = obj.iloc[key] if numbers else Loc(obj, flags=True)[key]
    return rows


@public_methods
@with_fallback
class Loc(MadeOfRows, Generic[S]):
    """``loc``: rows by label or by a mask, columns by label."""

    def __init__(self, obj: S, *, flags: bool = False) -> None:
        self._obj = obj
        self._flags = flags
        """Whether truth values may be labels among objects."""
        self._axis: int | None = None

    def __call__(self, axis: int | str | None = None) -> Loc[S]:
        """Return the same of one axis: the key is of its labels alone."""
        labels = Loc(self._obj, flags=self._flags)
        labels._axis = None if axis is None else axis_number(self._obj.node.meta, axis)
        return labels

    @overload
    def __getitem__(self, key: slice | Collection | list[Any]) -> S: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        obj: Any = self._obj
        key = without_ellipsis(key_of_axes(obj, self._axis, key), obj.node.meta.ndim)
        if obj.node.meta.index.nlevels > 1 and isinstance(key, tuple):
            result = _of_levels(obj, key)
            if result is not None:
                return result
        rows, columns = _two_parts(obj, key)
        rows = rows(obj) if callable(rows) and not isinstance(rows, Collection) else rows
        rows, columns = label_in_memory(rows), label_in_memory(columns)
        if obj.node.meta.ndim == 2:
            flags = self._flags or (is_scalar(rows) and obj.columns.is_unique)
            columns = columns if self._flags else columns_in(obj.columns, columns)
            check_label_kind(obj.columns, columns, flags=flags)
        if isinstance(columns, slice):
            if columns != slice(None):
                obj = obj.iloc[
                    :, obj.columns.slice_indexer(columns.start, columns.stop, columns.step)
                ]
            return self._rows(obj, rows)
        if isinstance(columns, tuple) and any(isinstance(item, slice | list) for item in columns):
            places = cast("pd.MultiIndex", obj.columns).get_locs(columns)
            return self._rows(obj.iloc[:, places.tolist()], rows)
        if isinstance(columns, list | np.ndarray | pd.Index) and is_mask(columns):
            if len(columns) != len(obj.columns):
                lengths = f"{len(columns)} instead of {len(obj.columns)}"
                raise IndexError(f"Boolean index has wrong length: {lengths}")
            return self._rows(obj.iloc[:, np.flatnonzero(columns).tolist()], rows)
        # A row of one column is a value; a mask of columns is applied first for all others.
        if isinstance(rows, Collection | slice):
            return self._rows(obj, rows)[columns]
        return self._rows(obj[columns], rows)

    def _rows(self, obj: Any, key: Any) -> Any:
        return _rows(obj, key, flags=self._flags)

    @keeps_lazy("arguments")
    def __setitem__(self, key: Any, value: Any) -> None:
        key = key_of_axes(self._obj, self._axis, key)
        assign_loc(self._obj, without_ellipsis(key, self._obj.node.meta.ndim), value)


def _of_levels(obj: Any, key: tuple[Any, ...]) -> Any:
    """Return the rows of a label of several levels; ``None`` if the key is of rows and columns."""
    plain = all(map(pd.api.types.is_scalar, key)) and not any(
        isinstance(part, slice) for part in key
    )
    if not plain and obj.ndim == 2:
        return None
    of_column = obj.ndim == 2 and len(key) == 2 and key[1] in obj.node.meta.columns
    try:
        return rows_of_label(obj, key)
    except KeyError:
        # As in pandas, rows come first.
        if of_column:
            return None
        raise


def _two_parts(obj: Any, key: Any) -> tuple[Any, Any]:
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > obj.node.meta.ndim:
        check_levels(obj, key)
        raise IndexingError("Too many indexers")
    return parts[0], parts[1] if len(parts) > 1 else slice(None)


def _positions(numbers: pd.RangeIndex | None, labels: Any) -> list[int] | None:
    """Return the positions of integers among numbers, ``None`` unless all are there."""
    if numbers is None or pd.Index(labels).dtype.kind not in "iu":
        return None
    indexer = numbers.get_indexer(pd.Index(labels))
    return indexer.tolist() if (indexer >= 0).all() else None


def _rows(obj: Any, key: Any, *, flags: bool) -> Any:
    if isinstance(key, pd.Series) and not is_mask(key):
        key = list(key)
    if isinstance(key, Collection | pd.Series):
        return obj[key]
    ends = (key.start, key.stop) if isinstance(key, slice) else (key,)
    if any(isinstance(end, str) for end in ends):  # which may be of times
        obj = with_known_labels(obj)
    check_label_kind(obj.node.meta.index, key, flags=flags)
    check_within_intervals(obj.node.meta.index, key)
    numbers = numbers_of(obj.node)
    if isinstance(key, slice):
        if key == slice(None):
            return copy(obj)
        if numbers is not None:
            return obj.iloc[numbers.slice_indexer(key.start, key.stop, key.step)]
        if key.step is None or key.step == 1:
            obj = between_labels(obj, key.start, key.stop)
        return rows_between(obj, key)
    if isinstance(key, list | np.ndarray | pd.Index):
        if is_mask(key):
            complaint = "Boolean index has wrong length: {} instead of {}"
            return obj[aligned_values(obj, np.asarray(key, bool), complaint, IndexError)]
        positions = _positions(numbers, key)
        return rows_of_labels(obj, key) if positions is None else rows_in_order(obj, positions)
    if numbers is not None and isinstance(key, int | np.integer) and not isinstance(key, bool):
        return obj.iloc[numbers.get_loc(key)]
    if isinstance(key, str) and isinstance(obj.node.meta.index, pd.DatetimeIndex):
        return rows_of_time(obj, key)
    if isinstance(key, str) and isinstance(obj.node.meta.index, pd.PeriodIndex):
        return rows_of_period(obj, key)
    check_labels(obj, [key])
    return rows_of_label(near_labels(obj, [key]), key)


#: What is no label of one row or column.
SEVERAL = (list, slice, np.ndarray, pd.Index, pd.Series, pd.DataFrame, dict, set)


@public_methods
@with_fallback
class At(MadeOfRows, Generic[S]):
    """``at`` and ``iat``: one value, by its label and column or by its positions."""

    def __init__(self, obj: S, by: str) -> None:
        self._obj = obj
        self._by = by

    def _check(self, key: Any, access: str) -> None:
        """Raise pandas's errors for another number of parts, and for parts that are several."""
        parts, ndim = key if isinstance(key, tuple) else (key,), self._obj.ndim
        if ndim == 1 and self._by == "at" and self._obj.node.meta.index.nlevels > 1:
            parts = (key,)  # a label of several levels
        if self._by == "iat" and not all(isinstance(x, Collection) or is_integer(x) for x in parts):
            raise ValueError("iAt based indexing can only have integer indexers")
        several = any(
            isinstance(part, SEVERAL) or (isinstance(part, Collection) and bool(part.node.chunks))
            for part in parts
        )
        if several and self._by == "iat":
            raise ValueError("iAt based indexing can only have integer indexers")
        wrong = several or len(parts) != ndim
        if wrong and self._by == "at" and is_object_dtype(self._obj.node.meta.index):
            raise NotImplementedError("at[] of tuples is not supported; use a mask of the labels")
        if self._by == "at" and wrong and (access == "setting" or (several and ndim == 2)):
            raise pd.errors.InvalidIndexError(
                ".at-based indexing can only have scalar indexers; use .loc instead"
            )
        columns = self._obj.node.meta.columns if ndim == 2 else pd.Index([])
        if self._by == "at" and not columns.is_unique:
            wrong |= any(isinstance(part, tuple) for part in parts)
        if access == "getting" and len(parts) < ndim:
            raise TypeError(f"{self._by} of a DataFrame misses a column")
        if wrong:
            raise ValueError(f"Invalid call for scalar access ({access})!")

    def __getitem__(self, key: Any) -> Any:
        self._check(key, "getting")
        obj: Any = self._obj
        return Loc(obj, flags=True)[key] if self._by == "at" else obj.iloc[key]

    @keeps_lazy("arguments")
    def __setitem__(self, key: Any, value: Any) -> None:
        self._check(key, "setting")
        if self._by == "at" and self._obj.ndim == 2:
            row, column = key
            of_tuples = isinstance(column, tuple) and self._obj.node.meta.columns.nlevels == 1
            key = (row, [column] if of_tuples else column)
        assign = assign_loc if self._by == "at" else assign_iloc
        assign(self._obj, key, value)
