"""``marsdask.dataframe`` with the methods that Mars has of pandas 1, and that pandas 3 lacks.

Frames, series, indexes and groups get them by :func:`offer`, which ``import mars.dataframe`` calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import pandas as pd

import marsdask.dataframe as md
from marsdask.dataframe.keyed.groupby import GroupBy

from .frames import keywords, methods
from .frames.calls import (
    ArrowListArray,
    ArrowListDtype,
    ArrowStringArray,
    ArrowStringDtype,
    in_limits,
    reading_texts,
)
from .frames.methods import (
    dataframe_from_tensor,
    from_vineyard,
    read_ray_dataset,
    read_ray_mldataset,
    read_raydataset,
    series_from_index,
    series_from_tensor,
    to_ray_dataset,
    to_ray_mldataset,
)
from .keywords import taking

__all__ = [
    "ArrowListArray",
    "ArrowListDtype",
    "ArrowStringArray",
    "ArrowStringDtype",
    "Timestamp",
    "dataframe_from_tensor",
    "date_range",
    "from_records",
    "from_vineyard",
    "merge",
    "qcut",
    "read_csv",
    "read_parquet",
    "read_ray_dataset",
    "read_ray_mldataset",
    "read_raydataset",
    "read_sql",
    "read_sql_query",
    "read_sql_table",
    "series_from_index",
    "series_from_tensor",
    "to_datetime",
    "to_ray_dataset",
    "to_ray_mldataset",
    "unique",
]
__all__ += [name for name in md.__all__ if name not in __all__]


def _append(
    frame: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, **how: Any
) -> Any:
    several = other if isinstance(other, list | tuple) else [other]
    how |= {"verify_integrity": True} if verify_integrity else {}
    return md.concat([frame, *several], ignore_index=ignore_index, **how)


def _tshift(frame: Any, periods: int = 1, freq: Any = None, axis: Any = 0) -> Any:
    return frame.shift(periods, freq=freq, axis=axis)


def _fill_groups(
    groups: Any,
    value: Any = None,
    method: str | None = None,
    axis: Any = None,
    limit: int | None = None,
    downcast: Any = None,
) -> Any:
    if value is not None or method is None:
        raise NotImplementedError("fillna of groups with a value: fill the frame before groupby")
    if axis not in (None, 0, "index") or downcast is not None:
        raise NotImplementedError("fillna of groups with axis=1 or downcast=: fill the frame")
    fill = groups.ffill if method in ("ffill", "pad") else groups.bfill
    return fill(limit=limit)


def _items(frame: Any, **how: Any) -> Any:
    return frame.items(**how)


def _ffill(frame: Any, **how: Any) -> Any:
    return frame.ffill(**how)


def _bfill(frame: Any, **how: Any) -> Any:
    return frame.bfill(**how)


def _is_increasing(values: Any) -> Any:
    return values.is_monotonic_increasing


#: By class and name: pandas's word of today, what does it, and whether it is a property.
REMOVED: Final[dict[type, dict[str, tuple[str, Callable[..., Any]]]]] = {
    kind: {
        "append": ("concat()", _append),
        "iteritems": ("items()", _items),
        "pad": ("ffill()", _ffill),
        "backfill": ("bfill()", _bfill),
        "tshift": ("shift(freq=)", _tshift),
    }
    for kind in (md.DataFrame, md.Series)
}
REMOVED[GroupBy] = {
    "pad": ("ffill()", _ffill),
    "backfill": ("bfill()", _bfill),
    "fillna": ("ffill() or bfill()", _fill_groups),
}

#: The same for attributes, which are not called.
PROPERTIES: Final = {kind: {"is_monotonic": _is_increasing} for kind in (md.Series, md.Index)}


class RemovedMethod:
    """A method of pandas 1: it works, and warns of the word of today."""

    def __init__(self, name: str, word: str, does: Callable[..., Any]) -> None:
        self._name = name
        self._word = word
        self._does = does

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self

        def method(*args: Any, **kwargs: Any) -> Any:
            _warn(kind, self._name, self._word)
            return self._does(owner, *args, **kwargs)

        return method


class RemovedProperty(RemovedMethod):
    """A property of pandas 1."""

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        _warn(kind, self._name, self._word)
        return self._does(owner)


def _warn(kind: type, name: str, word: str) -> None:
    words = f"{kind.__name__}.{name} is gone from pandas: use {word}"
    warnings.warn(words, DeprecationWarning, stacklevel=3)


def offer() -> None:
    """Give the classes what they lack."""
    keywords.offer()
    methods.offer()
    for kind, removed in REMOVED.items():
        for name, (word, does) in removed.items():
            if not hasattr(kind, name):
                setattr(kind, name, RemovedMethod(name, word, does))
    for kind, properties in PROPERTIES.items():
        for name, does in properties.items():
            if not hasattr(kind, name):
                setattr(kind, name, RemovedProperty(name, f"{name}_increasing", does))


def withdraw() -> None:
    """Take it from the classes again."""
    keywords.withdraw()
    methods.withdraw()
    for kind in {*REMOVED, *PROPERTIES}:
        for name, member in list(vars(kind).items()):
            if isinstance(member, RemovedMethod):
                delattr(kind, name)


def to_datetime(arg: Any, *args: Any, **options: Any) -> Any:
    """Convert to points in time; see :func:`marsdask.dataframe.to_datetime`."""
    if options.pop("infer_datetime_format", None) is not None:
        _warn_of("to_datetime(infer_datetime_format=)", "leave it out, formats are inferred")
    return md.to_datetime(arg, *args, **options)


def date_range(*args: Any, **options: Any) -> Any:
    """Return points in time; see :func:`marsdask.dataframe.date_range`."""
    if "closed" in options:
        closed = options.pop("closed")
        _warn_of("date_range(closed=)", "use inclusive=")
        options["inclusive"] = "both" if closed is None else closed
    return md.date_range(*args, **options)


def _function(name: str) -> Any:
    return taking(getattr(md, name), name, keywords.FUNCTIONS[name], "Mars")


from_records, merge, qcut, unique = map(_function, ("from_records", "merge", "qcut", "unique"))
read_csv, read_parquet = (reading_texts(_function(name)) for name in ("read_csv", "read_parquet"))
read_sql, read_sql_query, read_sql_table = (
    in_limits(reading_texts(_function(name)))
    for name in ("read_sql", "read_sql_query", "read_sql_table")
)


class _OfTimes(type(pd.Timestamp)):  # type: ignore[misc]
    """Makes pandas's own points in time, of which the class below is another name."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if "freq" in options:
            del options["freq"]
            _warn_of("Timestamp(freq=)", "leave it out, a point in time has no frequency")
        return pd.Timestamp(*args, **options)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, pd.Timestamp)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, pd.Timestamp)


class Timestamp(pd.Timestamp, metaclass=_OfTimes):
    """A point in time; see :class:`pandas.Timestamp`."""


def _warn_of(what: str, word: str) -> None:
    warnings.warn(f"{what} is gone from pandas: {word}", DeprecationWarning, stacklevel=3)


def __getattr__(name: str) -> Any:
    """Return all other names from ``marsdask.dataframe``."""
    return getattr(md, name)
