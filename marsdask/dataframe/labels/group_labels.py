"""The keys of groups, and their labels: those of groups without rows included."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.typing import TimeGrouper

from marsdask.core.collection import Collection
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, known, total, unknown_sizes
from marsdask.core.traits import Traits

from ..elementwise.operands import aligned_tensor, aligned_values, array_of, labelled_values
from ..elementwise.rowwise import NewLabels, level_values, relabelled, rowwise, with_columns
from ..keyed.aggregation import GroupByCall, Pairs, calls_user
from ..nodes.frame_node import dtypes_of, is_array
from ..ordered.row_numbers import reset_index
from ..reduction.fold import WithFills
from ..reduction.reductions import collection_of
from ..rows import levels_in, without_levels
from ..windows.bins import Options, all_bins, bins_among, labels_of_bins

#: Methods for which pandas itself has to see the groups without rows: it raises for some.
BY_PANDAS = {"apply", "idxmax", "idxmin", "quantile", "corr", "cov", "describe", "ohlc"}
#: Aggregations that depend on the order of rows: those of bins are in the order of time.
BY_ORDER = {"first", "last"}
#: Methods whose results show only bins that have rows.
OF_ROWS = {"value_counts", "nlargest", "nsmallest", "take"}


@dataclass(frozen=True)
class Categories:
    """All combinations of the categories, and of the other keys that occur."""

    def labels(self, index: Any) -> Any:
        """Return the sorted labels of all groups, given those of groups that occur."""
        if index.nlevels == 1:
            values = pd.Categorical(index.categories, dtype=index.dtype)
            return pd.CategoricalIndex(values, name=index.name)
        keys = index.to_frame(index=False, name=range(index.nlevels))
        categoricals = [key for key in keys if isinstance(keys[key].dtype, pd.CategoricalDtype)]
        groups = keys.drop(columns=categoricals).dropna().drop_duplicates()
        for key in categoricals:
            dtype: Any = keys[key].dtype
            frame = pd.DataFrame({key: pd.Categorical(dtype.categories, dtype=dtype)})
            groups = groups.merge(frame, how="cross") if len(groups.columns) else frame
        groups = groups[list(keys)].sort_values(list(keys))
        return pd.MultiIndex.from_frame(groups, names=index.names)

    def runs_by_pandas(self, call: GroupByCall) -> bool:
        """Tell whether pandas has to group all rows in one task."""
        return not (call.sort and call.dropna and call.one_row)

    def occurring(self, call: GroupByCall) -> GroupByCall:
        """Return the call for the groups that occur: keys beside missing categories count."""
        return dataclasses.replace(call, dropna=False)

    def grouped(self, call: GroupByCall) -> GroupByCall:
        """Return the call with which pandas groups all rows."""
        return dataclasses.replace(call, observed=False)


@dataclass(frozen=True)
class TimeBins:
    """All bins between the first time and the last one."""

    how: Options
    """How they are made."""
    times: Hashable
    """The column of times."""

    def labels(self, index: Any, bounds: Any) -> Any:
        """Return the labels of all bins."""
        return all_bins(bounds.item(), self.how, index).rename(index.name)

    def runs_by_pandas(self, call: GroupByCall) -> bool:
        """Tell whether pandas has to group all rows in one task."""
        return not call.one_row

    def occurring(self, call: GroupByCall) -> GroupByCall:
        """Return the call for the bins that have rows."""
        return dataclasses.replace(call, sort=True)

    def grouped(self, call: GroupByCall) -> GroupByCall:
        """Return the call with which pandas groups all rows."""
        fields = {field.name: getattr(call, field.name) for field in dataclasses.fields(call)}
        return BinnedCall(**{**fields, "observed": False}, bins=self)


@dataclass(frozen=True)
class BinnedCall(GroupByCall):
    """A call of pandas's group-by with bins of time."""

    bins: TimeBins = TimeBins((), None)

    def needs(self, labels: pd.Index) -> frozenset[Any] | None:
        """Return which columns it groups by and aggregates, and that of the times."""
        columns = super().needs(labels)
        return None if columns is None else columns | {self.bins.times}

    def grouped(self, frame: pd.DataFrame) -> Any:
        """Return pandas's groups of a frame."""
        (key,) = self.by
        how = dict(self.bins.how)
        bins = functools.partial(pd.Grouper, freq=how.pop("rule"), **how)
        selection, times = self.selection, pd.DatetimeIndex(frame[self.bins.times])
        if self.series:  # which the row labels are the times of
            values = frame[selection].rename(self.series[0])
            values = values.set_axis(times.rename(frame.index.name))
            return values.groupby(bins(), group_keys=self.group_keys)
        frame = frame.copy(deep=False)
        frame[key] = times
        grouped = frame.groupby(bins(key=key), group_keys=self.group_keys)
        if selection is ...:
            return grouped
        return grouped[list(selection) if isinstance(selection, tuple) else selection]

    def sampled(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a sample that show types, of one time: bins may be many."""
        rows[self.bins.times] = rows[self.bins.times].iloc[0]
        return rows


EmptyGroups = Categories | TimeBins


def result_of_call(
    node: Any, call: GroupByCall, empty: EmptyGroups, bounds: Sequence[Node], aggregate: Any
) -> Any:
    """Return what a call gives for all groups; ``aggregate(call)`` for those that have rows.

    ``bounds`` is what ``empty`` needs to know of all rows.
    """
    if calls_user(call) or BY_PANDAS & call.names or empty.runs_by_pandas(call):
        if isinstance(empty, TimeBins) and call.method in OF_ROWS:
            return aggregate(call)
        return aggregate(empty.grouped(call))
    groups = aggregate(empty.occurring(call))
    fills = fills_of(call, node.meta)
    like = like_filled(groups.node.meta, fills)
    kwargs = (("empty", empty), ("fills", fills))
    parts = (groups.node, *bounds)
    return collection_of(FilledGroups(like, None, False, "groupby", parts, filled, kwargs))


def needs_order(call: GroupByCall, meta: pd.DataFrame) -> bool:
    """Tell whether an aggregation depends on the order of rows: also sums of texts do."""
    names = call.names
    if "sum" not in names:
        return bool(BY_ORDER & names)
    columns = _chosen(call.selection, meta).drop(columns=list(call.by), errors="ignore")
    texts = any(getattr(dtype, "kind", "O") == "O" for dtype in columns.dtypes)
    return texts or bool(BY_ORDER & names)


def _chosen(selection: Any, meta: pd.DataFrame) -> pd.DataFrame:
    if selection is ...:
        return meta
    if isinstance(selection, tuple):
        columns: Any = meta.columns
        places: Any = columns.get_indexer_for(list(selection))  # labels may be truth values
        frame: pd.DataFrame = meta.iloc[:, places]
        return frame
    result = meta[selection]  # a list of None would find no label among texts
    return result.to_frame() if isinstance(result, pd.Series) else result


def fills_of(call: GroupByCall, meta: pd.DataFrame) -> tuple[Any, ...]:
    """Return what pandas says of a group without rows, for each column of the result."""
    frame = meta.copy(deep=False)
    if call.selection is ...:
        frame = frame.drop(columns=list(call.by))
    keys = tuple(new_label(f"key {place} of groups", meta) for place in range(len(call.by)))
    for key in keys:
        frame[key] = pd.Categorical([], categories=[0])
    result = dataclasses.replace(call, by=keys, observed=False, dropna=True, sort=True)(frame)
    if result.ndim == 1:
        return (result.iloc[0],)
    return tuple(result.iloc[0, at] for at in range(result.shape[1]))


def like_filled(meta: Any, fills: tuple[Any, ...]) -> Any:
    """Return the types of aggregations if there are groups without rows."""
    if meta.ndim == 1:
        return meta.astype(_gapped(meta.dtype, fills[0]))
    result = meta.copy(deep=False)
    for at, fill in enumerate(fills):
        result.isetitem(at, meta.iloc[:, at].astype(_gapped(meta.dtypes.iloc[at], fill)))
    return result


def _gapped(dtype: Any, fill: Any) -> Any:
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iub"
    return np.dtype(float) if plain and pd.isna(fill) else dtype


@dataclass(frozen=True, eq=False)
class FilledGroups(WithFills):
    """Aggregated groups and those without rows: these do not depend on the aggregation."""

    @property
    def traits(self) -> Traits:
        return Traits(f"filled:{self.args[0].alignment}")

    @property
    def chunks(self) -> Chunks:
        return (unknown_sizes(self.alignment, [None]),)


@kernel(scratch=3.0)
def filled(groups: Any, *bounds: Any, empty: EmptyGroups, fills: tuple[Any, ...]) -> Any:
    """Return aggregated groups with those that have no rows."""
    return put(groups, empty.labels(groups.index, *bounds), fills)


def put(groups: Any, labels: pd.Index[Any], fills: tuple[Any, ...]) -> Any:
    """Return the rows of some labels, others filled by a value for each column."""
    at = groups.index.get_indexer(labels)
    if groups.ndim == 1:
        return pd.Series(_taken(groups, at, fills[0]), labels, name=groups.name)
    columns = {place: _taken(groups.iloc[:, place], at, fill) for place, fill in enumerate(fills)}
    return pd.DataFrame(columns, labels).set_axis(groups.columns, axis=1)


def _taken(column: Any, at: Any, fill: Any) -> Any:
    """Return values at positions, ``fill`` at -1; integers stay exact where it is one."""
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind not in "mM"
    values = column.to_numpy() if plain else column.array
    if (at >= 0).all():
        return values.take(at)
    if plain and pd.isna(fill) and column.dtype.kind in "iub":
        values = values.astype(float)
    fill = values.dtype.type(fill) if plain and column.dtype.kind in "iufb" else fill
    return pd.api.extensions.take(values, at, allow_fill=True, fill_value=fill)


class LevelNumber(int):
    """The number of an index level that is a key of groups."""


def levels_of(index: pd.Index, level: Any) -> list[LevelNumber]:
    """Return the numbers of levels; raise pandas's errors for those that are not there."""
    is_array = isinstance(level, np.ndarray | ExtensionArray)
    several = level if is_array or isinstance(level, list | tuple) else [level]
    if index.nlevels == 1 and not any(isinstance(item, LevelNumber) for item in several):
        _check_level(index, several)
    return [
        item
        if isinstance(item, LevelNumber)
        else LevelNumber(typed("Any", index)._get_level_number(item))
        for item in several
    ]


def _check_level(index: pd.Index, levels: Sequence[Any]) -> None:
    """Raise pandas's errors of groups for other levels than the only one."""
    if len(levels) != 1:
        raise ValueError("multiple levels only valid with MultiIndex" if levels else "No group key")
    (level,) = levels
    if isinstance(level, str) and level != index.name:
        raise ValueError(f"level name {level} is not the name of the index")
    if not isinstance(level, str) and (level > 0 or level < -1):
        raise ValueError("level > 0 or level < -1 only valid with MultiIndex")


def keys_of(obj: Any, by: Any, level: Any) -> tuple[list[Any], bool]:
    """Return the keys of groups, and whether they were given in a list."""
    if level is not None:
        return [*levels_of(obj.node.meta.index, level)], isinstance(
            level, list | np.ndarray | ExtensionArray
        )
    if not isinstance(by, list):
        return [by], False
    if not by:
        raise ValueError("No group keys passed!")
    if is_of_rows(obj, by):
        return [array_of(by)], False
    return [array_of(key) if isinstance(key, list) else key for key in by], True


def is_of_rows(obj: Any, by: list[Any]) -> bool:
    """Tell whether a list holds the key of each row, as pandas decides: not labels of keys.

    Of an unknown number of rows, several keys that all are no labels can be nothing else.
    """
    rows = total(obj.node.chunks[0])
    meta = obj.node.meta
    labels = {*meta.index.names, *(meta.columns if meta.ndim == 2 else ())}
    if not all(pd.api.types.is_scalar(key) for key in by):
        return False
    if not known([rows]):
        return len(by) > 1 and not any(key in labels for key in by if key is not None)
    return rows == len(by) and not all(key in labels for key in by)


def key_of(obj: Any, key: Any) -> tuple[Any, Any, Any]:
    """Return the label, the name and the values of a key; no values for a column."""
    meta = obj.node.meta
    columns = meta.columns if isinstance(meta, pd.DataFrame) else ()
    if is_array(key):
        return None, None, aligned_tensor(obj, key, "Grouper and axis must be same length")
    if isinstance(key, Collection):
        name = key.node.meta.name
        is_same = name in columns and obj[name].node.name == key.node.name
        return _key_of_column(obj, name) if is_same else (None, name, key)
    if isinstance(key, LevelNumber):
        return None, meta.index.names[key], rowwise(level_values, obj, level=int(key))
    if isinstance(key, TimeGrouper):
        return None, meta.index.name if key.key is None else key.key, bins_among(obj, key)[0]
    if isinstance(key, pd.Grouper) and key.level is None and key.key in columns:
        return _key_of_column(obj, key.key)
    if isinstance(key, pd.Grouper):
        return key_of(obj, key.key if key.level is None else levels_of(meta.index, key.level)[0])
    if callable(key) or isinstance(key, dict):
        if meta.index.nlevels > 1:
            raise NotImplementedError(
                "groupby() by a function of labels of several levels is not supported; use a "
                "Series of the same rows as the key"
            )
        return None, meta.index.name, rowwise(level_values, obj, level=0).map(key)
    if isinstance(key, np.ndarray | ExtensionArray | pd.Index):
        name = key.name if isinstance(key, pd.Index) else None
        return None, name, aligned_values(obj, key, "Grouper and axis must be same length")
    if isinstance(key, pd.Series):
        return None, key.name, labelled_values(obj, key, "groupby")
    if isinstance(key, Hashable) and key in columns:
        if obj[key].ndim > 1 and meta.columns.nlevels == 1:
            raise ValueError(f"Grouper for {key!r} not 1-dimensional")
        if key is not None and key in meta.index.names:
            raise ValueError(
                f"{key!r} is both an index level and a column label, which is ambiguous."
            )
        return key, key, None
    if isinstance(key, Hashable) and key is not None and key in meta.index.names:
        return key_of(obj, LevelNumber(meta.index.names.index(key)))
    raise KeyError(key)


def _key_of_column(obj: Any, label: Any) -> tuple[Any, Any, Any]:
    """Return the key that is a column, whether or not a level has its name."""
    named_alike = label is not None and label in obj.node.meta.index.names
    return (None, label, obj[label]) if named_alike else (label, label, None)


def with_key_columns(
    source: Any, obj: Any, keys: Sequence[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """Return rows with the values of keys as columns, and the keys' labels and names."""
    labels: list[Any] = []
    names: list[Any] = []
    for position, key in enumerate(keys):
        label, name, values = key_of(source, key)
        if values is not None:
            # A column of its own, since one of the same name may hold other values.
            label = new_label(f"by {position}", obj.node.meta)
            obj = rowwise(with_columns, obj, values, names=(label,))
        labels.append(label)
        names.append(name)
    return obj, labels, names


def labelled_as(result: Any, source: Any, call: GroupByCall) -> Any:
    """Return aggregations of columns with the labels of these, whose type keys beside them hide."""
    has_new_labels = call.method == "agg" and (call.kwargs or isinstance(call.args[0], Pairs))
    if result.ndim == 1 or source.ndim == 1 or has_new_labels:
        return result
    before, after = source.node.meta.columns, result.node.meta.columns
    first, *others = levels_in(after)
    is_plain = before.nlevels == 1 and before.is_unique
    if not is_plain or first.dtype == before.dtype or not first.isin(before).all():
        return result
    labels: Any = before.take(before.get_indexer(first)).rename(first.name)
    labels = pd.MultiIndex.from_arrays([labels, *others], names=after.names) if others else labels
    return rowwise(relabelled, result, columns=labels)


def column_of_series(name: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the column that a series is, and the name of the series if the two differ."""
    # Neither no name nor a tuple is the label of one column.
    plain = name is not None and not isinstance(name, tuple)
    return (name, ()) if plain else ("values of groups", (name,))


def named_levels(block: Any, by: tuple[Any, ...], names: tuple[Any, ...]) -> Any:
    """Return the rows with other names of the first index levels, if those are of the keys."""
    block = block.copy(deep=False)
    if tuple(block.index.names[: len(by)]) != by:
        return block
    block.index = block.index.set_names([*names, *block.index.names[len(names) :]])
    return block


def new_label(label: str, meta: pd.DataFrame) -> Any:
    """Return a label that no column has, from one that few have; a number among numbers."""
    first, *levels = levels_in(meta.columns)
    whole = pd.api.types.is_integer_dtype(first) and len(first) > 0
    new: Any = int(first.max()) + 1 if whole else label
    while new in first or new in meta.index.names:
        new += 1 if whole else "\0"
    if not levels:
        return new
    return (new, *(0 if pd.api.types.is_integer_dtype(level) else "" for level in levels))


def beside_times(source: Any, keys: Sequence[Any], labels: Sequence[Any]) -> Any:
    """Return the columns beside those of times that are keys, and beside other keys."""
    times = {item.key for item in keys if isinstance(item, TimeGrouper)}
    if not times:
        return ...
    return tuple(item for item in source.columns if item not in {*times, *labels})


def with_empty_groups(
    source: Any, obj: Any, keys: Sequence[Any], labels: Sequence[Any], *, observed: bool
) -> tuple[Any, ...]:
    """Return rows, which groups may have none of them, and what these need to know of all rows."""
    if len(keys) == 1 and isinstance(keys[0], TimeGrouper):
        _, times, how = bins_among(source, keys[0])
        label = new_label("times of rows", obj.node.meta)
        _, bounds = labels_of_bins(times, how)
        obj = rowwise(with_columns, obj, times, names=(label,))
        return obj, TimeBins(how, label), bounds
    kinds = [dtypes_of(obj.node.meta[key])[0] for key in labels]
    has_categories = any(isinstance(dtype, pd.CategoricalDtype) for dtype in kinds)
    return obj, None if observed or not has_categories else Categories()


def with_keys(result: Any) -> Any:
    """Return a result with the keys as columns, except those whose labels it has, as in pandas."""
    meta = result.node.meta
    frame = result.to_frame() if meta.ndim == 1 else result
    levels = meta.index.nlevels
    unnamed = ["index"] if levels == 1 else [f"level_{at}" for at in range(levels)]
    names = [
        label if name is None else name
        for label, name in zip(unnamed, meta.index.names, strict=True)
    ]
    dups = [
        at
        for at, name in enumerate(names)
        if name in frame.node.meta.columns or name in names[at + 1 :]
    ]
    if len(dups) == len(names):
        return reset_index(frame, drop=True)
    if not dups:
        return reset_index(result)
    others = [name for at, name in enumerate(names) if at not in dups]
    return reset_index(rowwise(NewLabels(without_levels), frame, levels=dups), names=others)
