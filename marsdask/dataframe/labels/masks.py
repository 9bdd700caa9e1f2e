"""Masks of rows by their labels, and checks of keys and of values that are assigned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.types import is_bool_dtype, is_list_like, is_object_dtype

from marsdask.core.collection import Collection
from marsdask.core.sizes import total
from marsdask.core.traits import Level, SortKey

from ..elementwise.exemplars import is_datetimelike
from ..elementwise.operands import is_mask
from ..elementwise.row_functions import no_columns, row_function
from ..nodes.frame_node import is_array
from ..rows import level_at
from .index_methods import is_sorted


@row_function(no_columns)
def has_label(block: Any, labels: Any) -> Any:
    """Tell of each row whether its label is among some."""
    return pd.Series(_are_among(block.index, labels), index=block.index)


def has_label_or_first(block: Any, labels: Any) -> Any:
    """Tell the same, and take the first row of another label, which tells that there is one."""
    chosen = has_label(block, labels)
    chosen.iloc[np.flatnonzero(~chosen)[:1]] = True
    return chosen


def _are_among(index: Any, labels: Any) -> Any:
    """Tell of each label whether it is among others: a truth value is no number."""
    types = {getattr(item.dtype, "kind", "O") for item in (index, pd.Index(labels))}
    if "b" in types and types & set("iufc"):
        return np.zeros(len(index), dtype=bool)
    if not is_datetimelike(index.dtype):
        return index.isin(labels)
    chosen = np.zeros(len(index), dtype=bool)
    places = index.get_indexer_for(labels)  # texts are times, too
    chosen[places[places >= 0]] = True
    return chosen


@row_function(no_columns)
def has_first_level(block: Any, labels: Any) -> Any:
    """Tell of each row whether the first level of its label is among some."""
    return pd.Series(_are_among(level_at(block.index, 0), labels), index=block.index)


@row_function(no_columns)
def has_levels(block: Any, key: tuple[Any, ...]) -> Any:
    """Tell of each row whether the first levels of its label are those of a key."""
    mask = np.ones(len(block), dtype=bool)
    for level, value in enumerate(key):
        labels = level_at(block.index, level)
        if pd.isna(value):
            mask &= np.asarray(labels.isna(), dtype=bool)
        elif isinstance(labels, pd.IntervalIndex) and not isinstance(value, pd.Interval):
            mask &= labels.contains(value)  # type: ignore[attr-defined]  # absent from the stubs
        elif is_other_kind(labels, value):
            mask[:] = False
        else:
            mask &= np.asarray(labels == value, dtype=bool)
    return pd.Series(mask, index=block.index)


def check_label_kind(labels: Any, key: Any, *, flags: bool = False) -> None:
    """Raise pandas's errors for keys that are no labels: dicts, sets, and flags among others.

    With ``flags`` truth values may be labels among objects, and bounds of a slice of them.
    """
    if isinstance(key, dict | set):
        raise TypeError(
            f"Passing a {type(key).__name__} as an indexer is not supported. Use a list instead."
        )
    first = level_at(labels, 0).dtype
    if flags and (is_object_dtype(first) or is_bool_dtype(first)):
        return
    lacks_flags = not is_bool_dtype(first) and not (
        isinstance(key, np.bool_) and is_object_dtype(first)
    )
    if isinstance(key, bool | np.bool_) and lacks_flags:
        raise KeyError(f"{key}: boolean label can not be used without a boolean index")
    bounds = (key.start, key.stop) if isinstance(key, slice) else ()
    if any(isinstance(edge, bool) for edge in bounds):
        raise TypeError(f"{key}: boolean values can not be used in a slice")


@row_function(no_columns)
def is_between(block: Any, start: Any, stop: Any) -> Any:
    """Tell of each row whether its label, of the first level, is between two, both included."""
    labels = block.index.get_level_values(0)
    mask = np.ones(len(labels), dtype=bool)
    if start is not None:
        mask &= labels >= start
    if stop is not None:
        mask &= labels <= stop
    return pd.Series(mask, index=block.index)


def slice_bounds(obj: Any, key: slice) -> tuple[Any, Any]:
    """Return the bounds of a slice of labels that rise, which is computed where it is not known."""
    labels = obj.node.meta.index
    traits = obj.node.traits
    rising = any(traits.is_sorted([SortKey(Level(), na_first=first)]) for first in (None, False))
    if labels.nlevels > 1 or not (rising or is_sorted(obj)):
        raise NotImplementedError(
            f"loc[{key.start!r}:{key.stop!r}] of labels that do not rise is not supported; use "
            "sort_index() first"
        )
    return label_bounds(labels, key)


def listed_key(key: Any) -> Any:
    """Return an array of pandas's types as truth values, false where they miss, or as labels.

    A range is a list of labels, as in pandas, and an array without axes is a label.
    """
    if isinstance(key, range):
        return list(key)
    if isinstance(key, np.ndarray) and not key.ndim:
        return key[()]
    if not isinstance(key, ExtensionArray):
        return key
    flags = isinstance(key.dtype, pd.BooleanDtype) or key.dtype.kind == "b"
    return key.to_numpy(bool, na_value=False) if flags else pd.Index(key)


def label_in_memory(key: Any) -> Any:
    """Return a key with lazy labels computed; masks stay lazy."""
    if not isinstance(key, Collection):
        return listed_key(key)
    meta = key.node.meta
    if not key.node.chunks:
        value = key.compute()
        return value[()] if isinstance(value, np.ndarray) else value
    mask = is_bool_dtype(meta) or (isinstance(meta, pd.Series) and is_object_dtype(meta))
    return key if meta.ndim > 1 or mask else pd.Index(key.compute())


def label_bounds(labels: Any, key: slice) -> tuple[Any, Any]:
    """Return the first and the last label of a slice, of the labels' type."""
    to_bound = labels._maybe_cast_slice_bound
    start = None if key.start is None else to_bound(key.start, "left")
    return start, None if key.stop is None else to_bound(key.stop, "right")


def is_other_kind(index: Any, label: Any) -> bool:
    """Tell whether a number is sought among truth values, or a truth value among numbers."""
    if index.nlevels > 1:
        return False
    kinds = (index.dtype.kind, np.asarray(label).dtype.kind)
    return "b" in kinds and not {"i", "u", "f"}.isdisjoint(kinds)


def key_of_axes(obj: Any, axis: int | None, key: Any) -> Any:
    """Return the key of rows and columns of a key of one axis, ``None`` of both."""
    if axis is None or obj.ndim == 1:
        return key
    return (slice(None), key) if axis else (key, slice(None))


def columns_in(labels: pd.Index[Any], key: Any) -> Any:
    """Return a key of columns: a tuple is a label of several levels, and a list of others."""
    return list(key) if isinstance(key, tuple) and labels.nlevels == 1 else key


def column_places(labels: Any, columns: Any) -> list[int]:
    """Return the positions of columns of some labels; -1 for each label that is not there."""
    places: Any = np.arange(len(labels))
    if isinstance(columns, slice):
        whole = columns == slice(None)  # missing times have no place among others
        bounds = (columns.start, columns.stop, columns.step)
        chosen = places if whole else places[labels.slice_indexer(*bounds)]
    elif isinstance(columns, list | np.ndarray | pd.Index):
        by_mask = is_mask(columns)
        keys = pd.Index(columns, dtype=object, tupleize_cols=False)
        chosen = places[np.asarray(columns)] if by_mask else labels.get_indexer_for(keys)
    else:
        try:
            several = labels.nlevels > 1 and isinstance(columns, tuple)
            key = labels.get_locs(columns) if several else labels.get_loc(columns)
            chosen = np.atleast_1d(places[key])
        except KeyError:
            return [-1]
    found: list[int] = chosen.tolist()
    return found


def check_levels(obj: Any, key: Any) -> None:
    """Refuse keys whose meaning depends on the levels of all labels."""
    if isinstance(obj.node.meta.index, pd.MultiIndex):
        raise NotImplementedError(
            f"loc[{key!r}] of labels of levels is not supported; use xs(level=), or "
            "reset_index() and a mask"
        )


def check_within_intervals(labels: Any, key: Any) -> None:
    """Refuse lists and slices of what lies within intervals."""
    if not isinstance(labels, pd.IntervalIndex):
        return
    several = isinstance(key, list | np.ndarray | pd.Index) and not is_bool_dtype(pd.Index(key))
    if several or (isinstance(key, slice) and key != slice(None)):
        raise NotImplementedError(
            "loc by lists or slices within intervals is not supported; use one label at a time"
        )


def check_labels(obj: Any, labels: Any) -> None:
    """Raise for labels that rows cannot be chosen by."""
    own = obj.node.meta.index
    for label in labels:
        parts = label if own.nlevels > 1 and isinstance(label, tuple) else (label,)
        if own.nlevels > 1 and not all(pd.api.types.is_scalar(part) for part in parts):
            raise NotImplementedError(
                "loc by slices or lists within labels of several levels is not supported; use "
                "xs(level=), or reset_index() and a mask"
            )
        if len(parts) > own.nlevels:
            raise KeyError(label)
        _check_times(own, parts)


def _check_times(index: Any, parts: Sequence[Any]) -> None:
    kinds = index.dtypes if index.nlevels > 1 else [index.dtype]
    pairs = zip(kinds, parts, strict=False)
    if any(kind.kind in "mM" and isinstance(value, str) for kind, value in pairs):
        raise NotImplementedError(
            "loc by the text of a time is not supported; use pd.Timestamp, or a slice"
        )


def check_one_column(frame: Any, name: Any, value: Any) -> None:
    """Refuse values of several columns for several columns of one label."""
    columns = frame.columns
    if name not in columns or not (is_array(value) or isinstance(value, list | tuple | np.ndarray)):
        return
    count = np.arange(len(columns))[columns.get_loc(name)].size
    if count < 2:  # lists may be of other lengths
        return
    axes = value.node.meta.ndim if isinstance(value, Collection) else np.ndim(value)
    if axes == 2 or len(value) == count:
        raise NotImplementedError(
            f"assignment to several columns {name!r} is not supported; use one at a time"
        )


def check_array(obj: Any, array: Collection) -> None:
    """Refuse arrays with a value for each chosen row instead of each row."""
    lengths = [total(node.chunks[0]) if node.chunks else 0 for node in (array.node, obj.node)]
    if all(isinstance(length, int) for length in lengths) and lengths[0] != lengths[1]:
        raise NotImplementedError(
            "assignment of an array to rows of a lazy mask is not supported; use a column of the "
            "same rows"
        )


def check_cells(obj: Any, place: int | None) -> None:
    """Refuse lists as the cells of a column of objects."""
    if is_object_dtype(obj.node.meta if place is None else obj.node.meta.iloc[:, place]):
        raise NotImplementedError("assignment of lists to cells is not supported; use apply()")


def chosen_values(key: Any, value: Any) -> Any:
    """Return a value for each row of a mask in memory, of which there may be one for each row."""
    listed = isinstance(value, list | tuple | np.ndarray | ExtensionArray | pd.Index)
    if not listed or not isinstance(key, list | np.ndarray) or not is_mask(key):
        return value
    if len(value) != len(key) or np.ndim(value) > 1:
        return value
    rows = np.flatnonzero(key)
    return [value[row] for row in rows] if isinstance(value, list | tuple) else value[rows]


def check_cells_mask(mask: Any, value: Any) -> None:
    """Raise for a frame that has no truth values, and for several values where it is true.

    pandas needs all rows for these.
    """
    if not all(map(is_bool_dtype, mask.node.meta.dtypes)) and mask.node.settled:
        raise TypeError("Must pass DataFrame or 2-d ndarray with boolean values only")
    if is_list_like(value) and not isinstance(value, Collection) and np.size(value) > 1:
        raise NotImplementedError(
            "frame[mask] = of a list is not supported, since values are taken in the order of all "
            "rows; use where() of a frame"
        )


def positions_of_mask(key: Any) -> Any:
    """Return the positions of a mask in memory, ``None`` of other keys."""
    if isinstance(key, list | np.ndarray) and is_mask(key):
        return np.flatnonzero(key)
    return None


def without_axes(value: Any) -> Any:
    """Return the element of an array without axes, which masked columns do not take."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value
