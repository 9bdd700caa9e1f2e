"""Properties of an Index of times, and searches by the order of labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection, compute

from ..elementwise.rowwise import Method, rowwise
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..tensors import to_tensor
from .index_methods import as_index, column

if TYPE_CHECKING:
    from ..index import Index

#: What is an array of objects of the standard library, or of numbers.
ARRAYS = {"date", "time", "timetz"}
#: Durations' parts, which are an Index.
PARTS = {"days", "seconds", "microseconds", "nanoseconds"}
#: Reductions of times.
REDUCTIONS = {"mean", "median", "sum"}


def attribute(index: Index, name: str) -> Any:
    """Return what an Index of times or durations has by a name, ``...`` if nothing."""
    meta = index.node.meta
    times = isinstance(meta, pd.DatetimeIndex)
    if not times and not isinstance(meta, pd.TimedeltaIndex):
        return ...
    if name in REDUCTIONS and hasattr(meta, name):
        return getattr(column(index), name)
    if name == "inferred_freq":
        labels: Any = index.compute()
        return labels.inferred_freq
    if name == "asi8":
        return to_tensor(column(index).astype("int64"))
    if name == "resolution":
        unit = finest(index)
        return meta.resolution if unit is None else unit.attrname
    return _of_times(index, name) if times else _of_durations(index, name)


def _of_times(index: Any, name: str) -> Any:
    rows = column(index)
    if name in ARRAYS:
        return to_tensor(getattr(rows.dt, name))
    if name == "daysinmonth":
        return as_index(rows.dt.daysinmonth)
    if name == "is_normalized":
        return bool((rows == rows.dt.normalize()).all().compute())
    calls: dict[str, Callable[..., Any]] = {
        "isocalendar": rows.dt.isocalendar,
        "to_pydatetime": lambda: to_tensor(rows.dt.to_pydatetime()),
        "to_julian_date": lambda: rowwise(Method("to_julian_date"), index),
        "to_period": lambda *freq, **given: as_index(rows.dt.to_period(*freq, **given)),
    }
    return calls.get(name, ...)


def _of_durations(index: Any, name: str) -> Any:
    rows = column(index)
    if name in PARTS:
        return as_index(getattr(rows.dt, name))
    if name == "components":
        return rows.dt.components.reset_index(drop=True)
    calls: dict[str, Callable[..., Any]] = {
        "to_pytimedelta": rows.dt.to_pytimedelta,
        "total_seconds": lambda: as_index(rows.dt.total_seconds()),
    }
    return calls.get(name, ...)


def finest(index: Any) -> Any:
    """Compute how fine times are: pandas's resolution of all of them; ``None`` without any."""
    steps = (fineness_of, min, as_object)
    like = np.empty((), dtype=object)
    return collection_of(FrameFold(like, None, False, "resolution", index.node, steps)).compute()


def fineness_of(block: Any) -> Any:
    """Return how fine the times of a chunk are."""
    return block._resolution_obj


def as_object(found: Any) -> Any:
    """Return an object as a value of no axes."""
    array = np.empty((), dtype=object)
    array[()] = found
    return array


def groupby(index: Index, values: Any) -> dict[Hashable, pd.Index[Any]]:
    """Compute the labels of each value. See pandas.Index.groupby.

    Parameters
    ----------
    values : array-like or lazy object
        A value for each label.

    Returns
    -------
    dict
        An Index for each value.

    Raises
    ------
    ValueError
        If there are more or fewer values than labels.

    Examples
    --------
    >>> {key: len(labels) for key, labels in md.Index([5, 6, 7]).groupby([0, 1, 0]).items()}
    {0: 2, 1: 1}
    """
    labels: Any = index.compute()
    by = values.compute() if isinstance(values, Collection) else values
    groups: dict[Hashable, pd.Index[Any]] = labels.groupby(by)
    return groups


def join(
    index: Index,
    other: Any,
    *,
    how: str = "left",
    level: Any = None,
    return_indexers: bool = False,
    sort: bool = False,
) -> Index:
    """Return the labels of one side, of both or of either. See pandas.Index.join.

    Both sides are merged. Levels and indexers are not supported.

    Parameters
    ----------
    other : Index or array-like
        The other labels.
    how : {"left", "right", "inner", "outer"}
        Whose labels.
    level : None
        Not supported.
    return_indexers : False
        Not supported.
    sort : bool
        Whether to sort the labels.

    Returns
    -------
    Index
        The labels.

    Raises
    ------
    NotImplementedError
        For levels and indexers.

    Examples
    --------
    >>> md.Index([2, 1]).join([3, 2], how="outer").compute()
    Index([1, 2, 3], dtype='int64')
    """
    if level is not None or return_indexers:
        raise NotImplementedError(
            "join(level=, return_indexers=True) is not supported; use merge() of to_frame(), with "
            "reset_index() for positions"
        )
    theirs: Any = other if isinstance(other, Collection) else type(index)(other)
    frames = [column(item).rename("labels").reset_index(drop=True) for item in (index, theirs)]
    left, right = (item.to_frame() for item in frames)
    labels = left.merge(right, how=how, on="labels", sort=sort)["labels"]
    return as_index(labels).rename(index.name if index.name == theirs.name else None)


def get_slice_bound(index: Index, label: Any, side: str) -> int:
    """Compute where a slice of labels begins or ends. See pandas.Index.get_slice_bound.

    Labels must rise.

    Parameters
    ----------
    label : Hashable
        The label.
    side : {"left", "right"}
        Before or behind it.

    Returns
    -------
    int
        The position.

    Raises
    ------
    NotImplementedError
        If labels do not rise.

    Examples
    --------
    >>> md.Index([1, 2, 4]).get_slice_bound(3, "left")
    2
    """
    if side not in ("left", "right"):
        raise ValueError(f"Invalid value for side kwarg, must be either 'left' or 'right': {side}")
    rows = column(index)
    if not rows.is_monotonic_increasing.compute():
        raise NotImplementedError(
            "get_slice_bound() of labels that do not rise is not supported; use sort_values()"
        )
    meta: Any = index.node.meta
    return int(rows.searchsorted(meta._maybe_cast_slice_bound(label, side), side).compute())


def slice_locs(
    index: Index, start: Any = None, end: Any = None, step: int | None = None
) -> tuple[int, int]:
    """Compute where a slice of labels begins and ends. See pandas.Index.slice_locs.

    Labels must rise.

    Parameters
    ----------
    start, end : Hashable
        The first and the last label.
    step : None or 1
        Other steps are not supported.

    Returns
    -------
    tuple of int
        The positions.

    Raises
    ------
    NotImplementedError
        For other steps, and if labels do not rise.

    Examples
    --------
    >>> md.Index([1, 2, 4]).slice_locs(2, 4)
    (1, 3)
    """
    if step not in (None, 1):
        raise NotImplementedError("slice_locs(step=) is not supported; use [::step] of the result")
    first = 0 if start is None else get_slice_bound(index, start, "left")
    last = len(index) if end is None else get_slice_bound(index, end, "right")
    return first, last


def slice_indexer(
    index: Index, start: Any = None, end: Any = None, step: int | None = None
) -> slice[Any, Any, Any]:
    """Compute the slice of positions of a slice of labels. See pandas.Index.slice_indexer.

    Labels must rise.

    Parameters
    ----------
    start, end : Hashable
        The first and the last label.
    step : int, optional
        The step of the slice.

    Returns
    -------
    slice
        The positions.

    Raises
    ------
    NotImplementedError
        If labels do not rise.

    Examples
    --------
    >>> md.Index([1, 2, 4]).slice_indexer(2, 4)
    slice(1, 3, None)
    """
    return slice(*slice_locs(index, start, end), step)


def asof(index: Index, label: Hashable) -> Hashable:
    """Compute the last label up to one, NaN for none. See pandas.Index.asof.

    Labels must rise.

    Parameters
    ----------
    label : Hashable
        The label.

    Returns
    -------
    object
        The label that is there.

    Raises
    ------
    NotImplementedError
        If labels do not rise.

    Examples
    --------
    >>> int(md.Index([1, 2, 4]).asof(3))
    2
    """
    place = get_slice_bound(index, label, "right")
    value: Any = index.node.meta._na_value if not place else index[place - 1]
    label_found: Hashable = compute(value)[0] if isinstance(value, Collection) else value
    return label_found
