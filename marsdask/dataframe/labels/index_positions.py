"""Positions of labels, and labels with others inserted or removed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool

from marsdask.core.collection import Collection

from .index_methods import append, as_index, chosen, column, equals, rename

if TYPE_CHECKING:
    from marsdask.tensor import Tensor

    from ..index import Index

#: Labels for which texts stand.
_TIMES = (pd.DatetimeIndex, pd.TimedeltaIndex, pd.PeriodIndex)


def _at_hand(target: Any, name: str) -> pd.Index[Any]:
    if isinstance(target, Collection):
        raise NotImplementedError(
            f"{name}() of lazy labels is not supported; use {name}(labels.compute()), or merge()"
        )
    labels: pd.Index[Any] = target if isinstance(target, pd.Index) else pd.Index(target)
    return labels


def get_loc(index: Index, key: Any) -> int | slice | np.ndarray[Any, Any]:
    """Compute the position of a label: a slice or a mask where it repeats.

    See pandas.Index.get_loc. Texts that stand for times are not supported, nor are points of
    intervals.
    """
    is_missing = bool(pd.api.types.is_scalar(key) and pd.isna(key))
    if not isinstance(key, Hashable):
        raise pd.errors.InvalidIndexError(key)
    if isinstance(index.node.meta, _TIMES) and isinstance(key, str | dt.time):
        raise NotImplementedError(
            "get_loc() of a text among times is not supported; use pd.Timestamp(), pd.Period() or "
            "pd.Timedelta(), or loc[]"
        )
    if isinstance(index.node.meta, pd.IntervalIndex) and not isinstance(key, pd.Interval):
        raise NotImplementedError(
            "get_loc() of a point among intervals is not supported; use pd.Interval(), or "
            "to_pandas()"
        )
    rows = column(index)
    if is_bool(key) and pd.api.types.is_any_real_numeric_dtype(rows.dtype):
        raise KeyError(key)  # as in pandas, True is not 1
    mask: Any = rows.isna() if is_missing else rows.isin([key])
    places = np.asarray(mask.to_tensor().nonzero()[0].compute())
    if not len(places):
        raise KeyError(key)
    if len(places) == 1:
        return int(places[0])
    if bool(rows.is_monotonic_increasing.compute()):
        return slice(int(places[0]), int(places[-1]) + 1)
    flags = np.zeros(len(index), dtype=bool)
    flags[places] = True
    return flags


def _converted(index: Any, target: pd.Index[Any]) -> pd.Index[Any]:
    """Return labels as pandas looks for them: texts stand for times."""
    meta = index.node.meta
    if isinstance(meta, pd.IntervalIndex) and not isinstance(target, pd.IntervalIndex):
        raise NotImplementedError(
            "positions of points among intervals are not supported; use intervals, or to_pandas()"
        )
    kind = pd.api.types.infer_dtype(target, skipna=False)
    if not isinstance(meta, _TIMES) or not len(target):
        return target
    if kind in {"date", "mixed"}:
        raise NotImplementedError(
            f"positions of values of kind {kind!r} among times are not supported; convert them by "
            "pd.to_datetime()"
        )
    if kind != "string":
        return target
    try:
        times: pd.Index[Any] = pd.Index(target, dtype=meta.dtype)
    except ValueError:
        return target  # not all are times: pandas finds none of them
    return times


def _met(index: Any, target: pd.Index[Any]) -> tuple[pd.Index[Any], np.ndarray[Any, Any]]:
    """Compute which labels are among others, and their positions."""
    mask = index.isin(_converted(index, target))
    places = np.asarray(mask.nonzero()[0].compute(), np.intp)
    labels: Any = chosen(index, mask)
    return labels.compute(), places


def _spread(found: np.ndarray[Any, Any], places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return positions among all labels for those among some of them, -1 for none."""
    if not len(places):
        return np.full(len(found), -1, np.intp)
    return np.where(found < 0, -1, places[found])


def get_indexer(
    index: Index, target: Any, method: str | None = None, limit: Any = None, tolerance: Any = None
) -> np.ndarray[Any, Any]:
    """Compute the position of each of some labels, -1 for one that is not there.

    See pandas.Index.get_indexer. ``method`` is not supported.
    """
    if method is not None or limit is not None or tolerance is not None:
        raise NotImplementedError(
            "get_indexer(method=) is not supported; use searchsorted() of sorted labels"
        )
    values = _at_hand(target, "get_indexer")
    if not bool(index.is_unique.compute()):
        raise pd.errors.InvalidIndexError(
            "Reindexing only valid with uniquely valued Index objects"
        )
    labels, places = _met(index, values)
    return _spread(labels.get_indexer(values), places)


def get_indexer_for(index: Index, target: Any) -> np.ndarray[Any, Any]:
    """Compute all positions of each of some labels. See pandas.Index.get_indexer_for."""
    values = _at_hand(target, "get_indexer_for")
    labels, places = _met(index, values)
    return _spread(labels.get_indexer_for(values), places)


def get_indexer_non_unique(
    index: Index, target: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Compute all positions of each of some labels, and which of these are not there.

    See pandas.Index.get_indexer_non_unique.
    """
    values = _at_hand(target, "get_indexer_non_unique")
    labels, places = _met(index, values)
    indexer, missing = labels.get_indexer_non_unique(values)
    return _spread(indexer, places), missing


def reindex(
    index: Index, target: Any, method: str | None = None, level: Any = None
) -> tuple[pd.Index[Any], np.ndarray[Any, Any] | None]:
    """Return other labels, and the position of each. See pandas.Index.reindex.

    The positions are ``None`` where the labels are equal. ``method`` and ``level`` are not
    supported.
    """
    if level is not None:
        raise NotImplementedError("reindex(level=) is not supported; use get_level_values()")
    labels = _at_hand(target, "reindex")
    if not isinstance(target, pd.Index) and not len(labels):
        labels = index.node.meta[:0]
    if not isinstance(target, pd.Index | pd.Series):
        labels = labels.rename(index.name)
    if method is None and equals(index, labels):
        return labels, None
    unique = bool(index.is_unique.compute())
    if not unique:
        raise ValueError("cannot reindex on an axis with duplicate labels")
    return labels, get_indexer(index, labels, method)


def insert(index: Index, loc: int, item: Any) -> Index:
    """Return the labels with another one before a position. See pandas.Index.insert.

    Computes an unknown number of labels.
    """
    count = len(index)
    if isinstance(loc, bool):
        raise TypeError(f"loc is an integer, not {loc}")
    if not -count <= loc <= count:
        raise IndexError(f"index {loc} is out of bounds for axis 0 with size {count}")
    loc = loc + count if loc < 0 else loc
    label = index.node.meta.insert(0, item)[:1]
    parts: list[Any] = [
        *([chosen(index, slice(None, loc))] if loc else []),
        type(index)(label),
        *([chosen(index, slice(loc, None))] if loc < count else []),
    ]
    return rename(append(parts[0], parts[1:]), index.name)


def delete(index: Index, loc: Any) -> Index:
    """Return the labels without those at some positions. See pandas.Index.delete.

    Computes an unknown number of labels.
    """
    count = len(index)
    places = np.arange(count)[loc] if isinstance(loc, slice) else np.atleast_1d(np.asarray(loc))
    if places.dtype == bool:
        if len(places) != count:
            raise ValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis "
                f"length of {count}"
            )
        places = np.flatnonzero(places)
    if len(places) and not (-count <= places.min() and places.max() < count):
        raise IndexError(f"index {loc} is out of bounds for axis 0 with size {count}")
    rows = column(index).to_frame("labels").reset_index(drop=True)
    labels = rows[~rows.index.isin(np.where(places < 0, places + count, places))]["labels"]
    return rename(as_index(labels), index.name)


def memory_usage(index: Index, deep: bool = False) -> Tensor:
    """Return the bytes of the labels, summed over chunks. See pandas.Index.memory_usage.

    Differs from pandas: numbered labels count as they are stored in columns.
    """
    size: Tensor = column(index).memory_usage(index=False, deep=deep)
    return size
