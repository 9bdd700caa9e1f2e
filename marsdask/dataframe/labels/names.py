"""Choose columns by their labels, and give rows and columns other labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, no_default

from marsdask.core.arguments import keeps_lazy
from marsdask.core.collection import Collection, rebind
from marsdask.core.machine.costs import kernel

from ..elementwise.column_selection import columns_by_types, columns_labelled
from ..elementwise.exemplars import is_datetimelike, objects_of
from ..elementwise.operands import aligned_tensor, aligned_values
from ..elementwise.row_functions import labels_of, no_columns, row_function
from ..elementwise.rowwise import (
    Method,
    NewLabels,
    columns_at,
    relabelled,
    renamed,
    rowwise,
    with_names,
)
from ..nodes.dtypes import is_small
from ..nodes.frame_node import S, axis_number, dtypes_of, is_array
from ..reshape.concat import concat
from ..reshape.object_labels import inferred_labels
from ..rows import levels_in
from ..schemas.samples import labels_like
from ..schemas.schema import result_of
from .index_methods import check_there
from .loc import rows_of_labels
from .masks import has_first_level, has_label, label_in_memory
from .numbered_rows import MANY_ROWS, numbers_of

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..index import Index
    from ..series import Series


def keys(obj: Any) -> pd.Index[Any] | Index:
    """Return the column labels, or the row labels of a series. See pandas.DataFrame.keys."""
    labels: Index = obj.columns if obj.ndim == 2 else obj.index
    return labels


def get(frame: DataFrame, key: Any, default: Any = None) -> DataFrame | Series | None:
    """Return a column, or a default if there is none. See pandas.DataFrame.get."""
    try:
        column: Series = frame[key]
        return column
    except (KeyError, ValueError, IndexError):
        fallback: Series | None = default
        return fallback


def copy(obj: S, deep: bool = True) -> S:
    """Return another object of the same rows. See pandas.DataFrame.copy."""
    del deep  # assignments to columns never change other objects
    result: S = type(obj)(obj.node)
    return result


@keeps_lazy("arguments")
def insert(
    frame: DataFrame, loc: int, column: Hashable, value: Any, allow_duplicates: bool = False
) -> None:
    """Insert a column at a position, in place. See pandas.DataFrame.insert."""
    if isinstance(loc, bool) or not isinstance(loc, int | np.integer):
        raise TypeError(f"loc must be int, not {loc!r}")
    if not allow_duplicates and column in frame.columns:
        raise ValueError(f"cannot insert {column}, already exists")
    if not 0 <= loc <= len(frame.columns):
        raise IndexError(f"index {loc} is out of bounds for axis 0 with size {len(frame.columns)}")
    labels, count = frame.columns.insert(loc, column), len(frame.columns)
    if labels.is_unique:
        table = copy(frame)
        table[labels[loc] if labels.nlevels > 1 else column] = value
    else:
        table = _numbered(frame)
        table[count] = value
    table = columns_at(table, [*range(loc), count, *range(loc, count)])
    rebind(frame, _with_labels(table, labels).node)


def _numbered(frame: DataFrame) -> DataFrame:
    """Return the frame with numbers as labels of its columns, of which some are equal."""
    table: DataFrame = rowwise(relabelled, frame, columns=pd.RangeIndex(len(frame.columns)))
    return table


def _with_labels(frame: S, labels: pd.Index[Any]) -> S:
    """Return the frame with labels of its columns of this type, in this order."""
    columns: S = frame
    if labels.nlevels > 1 or not labels.identical(frame.columns):
        columns = rowwise(relabelled, frame, columns=labels)
    return columns


@keeps_lazy("arguments")
def isetitem(frame: DataFrame, loc: int, value: Any) -> None:
    """Replace the column at a position, in place. See pandas.DataFrame.isetitem."""
    if isinstance(loc, bool) or not isinstance(loc, int | np.integer):
        raise NotImplementedError("isetitem(loc=) takes one position; call it for each of several")
    places = range(len(frame.columns))
    table = _numbered(frame)
    table[places[loc]] = value
    rebind(frame, _with_labels(table, frame.columns).node)


def get_row(series: Series, key: Any, default: Any = None) -> object:
    """Return the value of a label, or a default if there is none. See pandas.Series.get."""
    if isinstance(key, dict | set):
        raise TypeError(f"get(key=) takes a label or a list of them, not a {type(key).__name__}")
    try:
        of_tuple = isinstance(key, tuple) and series.node.meta.index.nlevels == 1
        value: object = series[key] if of_tuple else series.loc[key]
        return value
    except (KeyError, ValueError, IndexError):
        nothing: object = default
        return nothing


def drop_rows(
    series: Series, labels: Any = None, *, axis: Any = 0, index: Any = None, errors: str = "raise"
) -> Series:
    """Drop rows by their labels. See pandas.Series.drop.

    Looks which labels there are, unless ``errors="ignore"``.
    """
    axis_number(series.node.meta, axis)
    if labels is not None and index is not None:
        raise ValueError("Cannot specify both 'labels' and 'index'/'columns'")
    targets = index if labels is None else labels
    if targets is None:
        raise ValueError("Need to specify at least one of 'labels', 'index' or 'columns'")
    return _without_rows(series, targets, errors)


def pop_row(series: Series, item: Any) -> object:
    """Remove the row of a label in place and return its value. See pandas.Series.pop."""
    value: object = series.loc[item]
    rebind(series, _without_rows(series, item, "ignore").node)
    return value


def pop(frame: DataFrame, item: Hashable) -> Series:
    """Remove a column in place and return it. See pandas.DataFrame.pop."""
    column: Series = frame[item]
    rebind(frame, frame.drop(columns=[item]).node)
    return column


def select_dtypes(frame: DataFrame, include: Any = None, exclude: Any = None) -> DataFrame:
    """Return the columns of some types. See pandas.DataFrame.select_dtypes."""

    def choose(meta: pd.DataFrame) -> list[int]:
        table = meta.set_axis(range(len(meta.columns)), axis=1)
        return list(table.select_dtypes(include=include, exclude=exclude).columns)

    result: DataFrame = columns_by_types(frame, choose)
    return result


def filter_labels(
    obj: S,
    arg: Any = None,
    /,
    like: str | None = None,
    regex: str | None = None,
    axis: int | str | None = None,
    *,
    items: Any = None,
    cond: Any = None,
    na: Any = False,
) -> S:
    """Return columns, or rows, by what their labels are like. See pandas.DataFrame.filter.

    Which ``items`` the rows have as labels is computed.
    """
    meta = obj.node.meta
    if sum(value is not None for value in (arg, items, cond, like, regex)) > 1:
        raise TypeError("Keyword arguments `items`, `cond`, `like`, or `regex` are exclusive")
    if not isinstance(na, bool) and na != "raise":
        raise ValueError(f"na must be 'raise', True, or False, got {na!r}")
    if callable(arg):
        cond = arg
    elif arg is not None:
        items = arg
    if cond is not None:
        return _filtered(obj, cond, axis, na)
    number = meta.ndim - 1 if axis is None else axis_number(meta, axis)
    if number == 1:
        labels = meta.filter(items=items, like=like, regex=regex, axis=1).columns
        columns: S = columns_labelled(obj, labels)
        return columns if items is None else _with_labels(columns, labels)
    meta.filter(items=items, like=like, regex=regex, axis=0)  # raises for wrong arguments
    if items is not None:
        labels = obj.index[obj.index.isin(items)].compute()
        present: S = obj.reindex(index=pd.Index(items).intersection(labels).astype(labels.dtype))
        return present
    rows: S = obj[rowwise(matches, obj, like=like, regex=regex)]
    return rows


def _filtered(obj: S, cond: Any, axis: Any, na: Any) -> S:
    """Return the rows where a condition is true."""
    mask = cond(obj) if callable(cond) and not isinstance(cond, Collection) else cond
    lazy = isinstance(mask, Collection) and isinstance(mask.node.meta, pd.Series)
    of_columns = axis is not None and axis_number(obj.node.meta, axis) == 1
    if not lazy or mask.node.meta.dtype.kind != "b" or na is not False or of_columns:
        raise NotImplementedError(
            "filter(cond=) is supported for lazy truth values of rows; use frame[mask]"
        )
    rows: S = obj[mask]
    return rows


@row_function(no_columns)
def matches(block: Any, like: str | None, regex: str | None) -> Any:
    """Tell of each row whether its label contains a text, or matches a pattern."""
    texts = pd.Series(block.index.astype(str), index=block.index, dtype="str")
    return texts.str.contains(like or regex or "", regex=like is None)


def squeeze(obj: Any, axis: int | str | None = None) -> DataFrame | Series:
    """Return the only column of a frame. See pandas.DataFrame.squeeze.

    Differs from pandas: a single row stays a row.
    """
    number = None if axis is None else axis_number(obj.node.meta, axis)
    if number == 0:
        raise NotImplementedError("squeeze(axis=0) is not supported; use iloc[0]")
    if obj.ndim == 1 or len(obj.columns) != 1:
        frame: DataFrame = obj
        return frame
    if number is None and obj.shape[0] == 1:
        raise NotImplementedError("squeeze() of one row is not supported; use iloc[0, 0]")
    column: Series = columns_at(obj, 0)
    return column


#: What stands for a level in a list of labels.
ARRAYS = (list, np.ndarray, pd.Index, pd.Series)


def as_labels(labels: Any) -> pd.Index[Any]:
    """Return labels as an index, those of several levels as they are; lazy ones are computed."""
    labels = labels.compute() if isinstance(labels, Collection) else labels
    if not isinstance(labels, list):
        return labels if isinstance(labels, pd.Index) else pd.Index(labels)
    if labels and all(isinstance(item, ARRAYS) for item in labels):
        return pd.MultiIndex.from_arrays(labels)
    return pd.Index(labels, tupleize_cols=False)


def set_axis(obj: S, labels: Any, *, axis: int | str = 0, copy: Any = None) -> S:
    """Give all rows or columns other labels. See pandas.DataFrame.set_axis."""
    del copy
    if axis_number(obj.node.meta, axis) == 1:
        columns: S = rowwise(relabelled, obj, columns=as_labels(labels))
        return columns
    rows: S
    complaint = "Length mismatch: Expected axis has {1} elements, new values have {0} elements"
    if isinstance(labels, pd.MultiIndex):
        levels = [level.array for level in levels_in(labels)]
        operands = [aligned_values(_first(obj), level, complaint) for level in levels]
        rows = rowwise(NewLabels(with_levels), obj, *operands, names=tuple(labels.names))
        return rows
    if is_array(labels):
        labels = aligned_tensor(_first(obj), labels, complaint).rename(None)
    index = labels
    if not isinstance(labels, Collection):
        name = labels.name if isinstance(labels, pd.Index) else None
        if not isinstance(labels, list | np.ndarray | ExtensionArray):
            index = labels = pd.Index(labels)
        labels = aligned_values(_first(obj), labels, complaint).rename(name)
    rows = in_frequency(rowwise(NewLabels(with_labels), obj, labels), index)
    return rows


def in_frequency(rows: Any, labels: Any) -> Any:
    """Return rows whose labels are times in memory with the frequency of these, if any."""
    is_index = isinstance(labels, pd.DatetimeIndex | pd.TimedeltaIndex)
    if not is_index or labels.freq is None:
        return rows
    return rowwise(NewLabels(with_frequency), rows, freq=labels.freq)


@kernel(view=True)
def with_frequency(block: Any, freq: Any) -> Any:
    """Return rows whose labels are times of a frequency."""
    labels = block.index
    return block.set_axis(type(labels)(labels, freq=freq))


def _first(obj: Any) -> Any:
    """Return a column of an object's rows."""
    return obj if obj.ndim == 1 else rowwise(has_label, obj, labels=pd.Index([]))


@kernel(view=True)
def with_labels(block: Any, labels: Any) -> Any:
    """Return the rows with other labels."""
    if not isinstance(labels, pd.Index):
        labels = pd.Index(labels.array, dtype=labels.dtype, name=labels.name)
    return block.set_axis(labels)


@kernel(view=True)
def with_levels(block: Any, *levels: Any, names: tuple[Hashable, ...]) -> Any:
    """Return the rows with labels of several levels."""
    return block.set_axis(pd.MultiIndex.from_arrays([level.array for level in levels], names=names))


def rename_axis(obj: S, mapper: Any = no_default, *, axis: Any = 0, **options: Any) -> S:
    """Name the row labels or the column labels. See pandas.DataFrame.rename_axis."""
    options.pop("copy", None)
    if mapper is not no_default:
        options["mapper"] = mapper
    result: S = rowwise(Method("rename_axis"), obj, axis=axis, **options)
    return result


def add_prefix(obj: S, prefix: str, axis: int | str | None = None) -> S:
    """Put a text before labels. See pandas.DataFrame.add_prefix."""
    return _extended("add_prefix", obj, prefix, axis)


def add_suffix(obj: S, suffix: str, axis: int | str | None = None) -> S:
    """Put a text behind labels. See pandas.DataFrame.add_suffix."""
    return _extended("add_suffix", obj, suffix, axis)


def _extended(name: str, obj: S, text: str, axis: Any) -> S:
    meta = obj.node.meta
    of_rows = (meta.ndim - 1 if axis is None else axis_number(meta, axis)) == 0
    result: S
    if of_rows:
        result = rowwise(NewLabels(relabelled_rows), obj, call=name, given=text)
    else:
        result = rowwise(Method(name), obj, text, axis=axis)
    return result


def rename(
    frame: DataFrame,
    mapper: Any = None,
    *,
    index: Any = None,
    columns: Any = None,
    axis: int | str | None = None,
    level: Any = None,
    errors: str = "ignore",
) -> DataFrame:
    """Return the frame with other labels of columns or rows. See pandas.DataFrame.rename."""
    meta = frame.node.meta
    if axis is not None and mapper is None and (index is not None or columns is not None):
        raise TypeError("Cannot specify both 'axis' and any of 'index' or 'columns'")
    number = 0 if axis is None else axis_number(meta, axis)
    if mapper is not None and (index is not None or columns is not None):
        raise TypeError("Cannot specify both 'mapper' and any of 'index' or 'columns'")
    if mapper is not None:
        index, columns = (None, mapper) if number == 1 else (mapper, None)
    if index is None and columns is None:
        raise TypeError("must pass an index to rename")
    if index is not None:
        if errors == "raise":
            raise NotImplementedError(
                "rename(errors='raise') of row labels is not supported; use errors='ignore'"
            )
        if level is not None:
            raise NotImplementedError(
                "rename(level=) of rows is not supported; use set_axis(), or reset_index() first"
            )
        frame = _renamed_rows(frame, index)
    return frame if columns is None else _renamed_columns(frame, columns, errors, level)


def _renamed_columns(frame: DataFrame, columns: Any, errors: str, level: Any) -> DataFrame:
    meta = frame.node.meta
    labels = result_of(
        pd.DataFrame.rename,
        (frame.node, columns, errors, level),
        (),
        lambda: meta.rename(columns=columns, errors=errors, level=level),
    ).columns
    result: DataFrame
    if labels_of(meta) is None:
        result = rowwise(relabelled, frame, columns=labels)
        return result
    pairs = zip(frame.columns, labels, strict=True)
    result = rowwise(with_names, frame, names=tuple(pair for pair in pairs if pair[0] != pair[1]))
    return result


def rename_series(series: Series, index: Any = None) -> Series:
    """Return the series under another name, or with other row labels. See pandas.Series.rename."""
    result: Series
    if callable(index) or isinstance(index, dict | pd.Series):
        result = _renamed_rows(series, index)
        return result
    result = rowwise(renamed, series, name=index)
    return result


def with_name(series: Series, label: Hashable) -> Series:
    """Return the series under another name."""
    if not pd.api.types.is_hashable(label):
        raise TypeError("Series.name must be a hashable type")
    result: Series = rowwise(renamed, series, name=label)
    return result


def drop(
    frame: DataFrame,
    labels: Any = None,
    *,
    axis: int | str = 0,
    index: Any = None,
    columns: Any = None,
    level: Any = None,
    errors: str = "raise",
) -> DataFrame:
    """Drop columns, or rows by their labels. See pandas.DataFrame.drop.

    Looks which labels of rows there are, unless ``errors="ignore"``.
    """
    number = axis_number(frame.node.meta, axis)
    if labels is not None:
        if index is not None or columns is not None:
            raise ValueError("Cannot specify both 'labels' and 'index'/'columns'")
        index, columns = (None, labels) if number == 1 else (labels, None)
    elif number == 1 and (index is not None or columns is not None):
        raise ValueError("Cannot specify both 'axis' and 'index'/'columns'")
    if index is None and columns is None:
        raise ValueError("Need to specify at least one of 'labels', 'index' or 'columns'")
    if index is not None and level is not None:
        raise NotImplementedError(
            "drop(level=) of rows is not supported; use a mask of index.get_level_values()"
        )
    if columns is not None:
        names = frame.node.meta.drop(columns=columns, level=level, errors=errors).columns
        frame = columns_labelled(frame, names)
    return frame if index is None else _without_rows(frame, index, errors)


def _renamed_rows(obj: S, mapper: Any) -> S:
    """Return rows with other labels; those of objects have the type that all of them tell."""
    labels, found = obj.node.meta.index, obj
    is_tuples = isinstance(labels, pd.MultiIndex)
    if is_tuples or labels.dtype != object or not is_small(obj.node):
        found = rowwise(NewLabels(relabelled_rows), obj, call="rename", given=mapper)
    else:
        found = inferred_labels(rowwise(NewLabels(renamed_objects), obj, mapper=mapper))
    return found


def renamed_objects(block: Any, mapper: Any) -> Any:
    """Return rows with other labels, which stay objects."""
    labels = block.index
    new = [mapper(one) if callable(mapper) else mapper.get(one, one) for one in labels]
    return block.set_axis(pd.Index(objects_of(new, len(new)), dtype=object, name=labels.name))


def relabelled_rows(block: Any, call: str, given: Any) -> Any:
    """Return rows with the labels that a method of pandas makes of theirs.

    Without rows the labels have the types that the method makes of a sample.
    """
    if len(block):
        return _relabelled(block, call, given)
    sample = labels_like(block.index)
    try:
        rows = pd.Series(index=sample[:1] if callable(given) else sample, dtype=object)
        return block.set_axis(_relabelled(rows, call, given).index[:0], axis=0)
    except Exception:  # noqa: BLE001 - a user's function may take no sample
        return block


def _relabelled(rows: Any, call: str, given: Any) -> Any:
    if call == "rename":
        return rows.rename(index=given)
    return getattr(rows, call)(given, axis=0)


def reindex(
    obj: S, labels: Any = None, *, index: Any = None, columns: Any = None, **options: Any
) -> S:
    """Return some columns or rows, with missing values where there are none.

    See pandas.DataFrame.reindex. Rows are those of a list of labels, in one chunk.
    Differs from pandas: a label that occurs twice raises only if it is in the list.
    """
    options = {name: value for name, value in options.items() if value is not None}
    if "axis" in options and (index is not None or columns is not None):
        raise TypeError("Cannot specify both 'axis' and any of 'index' or 'columns'")
    by_column = axis_number(obj.node.meta, options.pop("axis", 0)) == 1
    # pandas does not look at names where labels are the first argument of a frame's method.
    spreads = obj.ndim == 1 or index is not None
    if labels is not None:
        if index is not None and (columns is not None or obj.ndim == 1):
            raise TypeError("Cannot specify 'labels' beside all of 'index' and 'columns'")
        # Beside the labels of rows, labels are those of columns.
        by_column = by_column or index is not None
        index, columns = (index, labels) if by_column else (labels, columns)
    options.pop("copy", None)
    fill: Any = options.get("fill_value")
    if fill.node.chunks if isinstance(fill, Collection) else pd.api.types.is_list_like(fill):
        raise ValueError("fill_value must be a scalar")
    if pd.api.types.is_list_like(options.get("tolerance")):
        raise NotImplementedError(
            "reindex(tolerance=) takes one distance for all labels; call it for each of several"
        )
    # pandas takes rows and columns of one type at once: a gap in one widens all.
    at_once = len(set(dtypes_of(obj.node.meta))) == 1 or not set(options) <= {"fill_value"}
    columns = columns.compute() if isinstance(columns, Collection) else columns
    if columns is not None and (index is None or not at_once):
        obj = rowwise(Method("reindex"), obj, columns=columns, **options)
    if index is None:
        return obj
    if isinstance(index, Collection):
        raise NotImplementedError("reindex() by lazy labels is not supported; use merge()")
    intervals = isinstance(obj.node.meta.index, pd.IntervalIndex)
    if intervals and not isinstance(as_labels(index), pd.IntervalIndex):
        raise NotImplementedError(
            "reindex() of intervals by the numbers in them is not supported; use the intervals"
        )
    if columns is not None and at_once:
        options["columns"] = columns
    return rows_of_labels(obj, index, with_gaps=True, spreads=spreads, **options)


#: How many labels make runs of rows between them, instead of a mask of all rows.
FEW_LABELS = 64


def _without_numbers(obj: S, labels: pd.Index) -> S | None:
    """Return the runs of many rows between a few labels that are positions, if they are."""
    numbers = numbers_of(obj.node)
    if numbers is None or len(numbers) < MANY_ROWS or not 0 < len(labels) <= FEW_LABELS:
        return None
    if labels.nlevels > 1 or labels.dtype.kind not in "iu":
        return None
    if labels.min() < 0 or labels.max() >= len(numbers):
        return None
    ends = [*labels.unique().sort_values(), len(numbers)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    runs = [obj.iloc[start:end] for start, end in zip(starts, ends, strict=True) if start < end]
    rows: S = concat(runs)
    return rows


def _without_rows(obj: S, labels: Any, errors: str) -> S:
    labels = label_in_memory(labels)
    if not isinstance(labels, pd.Index):
        # A tuple is a label.
        several = pd.api.types.is_list_like(labels) and not isinstance(labels, tuple)
        is_level = obj.node.meta.index.nlevels > 1
        labels = pd.Index(list(labels) if several else [labels], tupleize_cols=is_level)
    if (runs := _without_numbers(obj, labels)) is not None:
        return runs
    index = obj.index
    is_text = is_datetimelike(index.dtype) and labels.inferred_type == "string"
    if is_text and len(labels) and not bool(index.is_unique):
        # pandas reads texts as times only to tell which of them are missing.
        check_there(labels, index.unique().compute(), errors)
        return copy(obj)
    by_level = labels.nlevels < obj.node.meta.index.nlevels
    by_level = by_level and not any(isinstance(label, tuple) for label in labels)
    mask = rowwise(has_first_level if by_level else has_label, obj, labels=labels)
    if errors != "ignore":
        found = mask[mask].index
        check_there(labels, (found.get_level_values(0) if by_level else found).compute(), errors)
    rows: S = obj[~mask]
    return rows
