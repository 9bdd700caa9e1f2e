"""Calls of the methods of windows, of times, of pairs of objects, and of Indexes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import marsdask.dataframe as md

Call = Callable[[Any], Any]


def operands(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what the calls take besides others."""
    f = md.from_pandas(frame, chunk_size=5)
    timed = md.from_pandas(frame.set_axis(pd.date_range("2024", periods=12)), chunk_size=5)
    return {
        "e": f.expanding(3),
        "ewm": f.ewm(span=3),
        "t": timed,
        "tv": timed.v,
        "zoned": timed.tz_localize("UTC"),
        "zoned_v": timed.v.tz_localize("UTC"),
        "zoned_days": timed.index.tz_localize("UTC"),
        "periods": timed.to_period("M"),
        "periods_v": timed.v.to_period("M"),
        "days": timed.index,
        "first": f.v.iloc[:1],
        "bins": timed.resample("2D"),
    }


def methods(owner: str, which: str, names: str) -> dict[str, Call]:
    """Return calls without arguments of the methods of an operand."""

    def calling(name: str) -> Call:
        return lambda a: getattr(getattr(a, which), name)()

    return {f"{owner}.{name}": calling(name) for name in names.split()}


def _pairs(owner: str, of: Call) -> dict[str, Call]:
    """Return calls of the methods of two objects of the same rows."""
    calls: dict[str, Callable[[Any], Any]] = {
        "align": lambda rows: rows.align(rows),
        "convert_dtypes": lambda rows: rows.convert_dtypes(),
        "dot": lambda rows: rows.dot(rows if owner == "Series" else np.ones(2)),
        "equals": lambda rows: rows.equals(rows),
        "infer_objects": lambda rows: rows.infer_objects(),
        "reindex_like": lambda rows: rows.reindex_like(rows),
        "update": lambda rows: rows.update(rows),
    }

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(of(a))

    return {f"{owner}.{name}": bound(call) for name, call in calls.items()}


def _timed(owner: str, of: Call) -> dict[str, Call]:
    """Return calls of the methods of rows that are labelled by times."""
    calls: dict[str, Callable[[Any], Any]] = {
        "asfreq": lambda rows: rows.asfreq("12h"),
        "asof": lambda rows: rows.asof(pd.Timestamp("2024-01-03")),
        "at_time": lambda rows: rows.at_time("00:00"),
        "between_time": lambda rows: rows.between_time("00:00", "01:00"),
        "first_valid_index": lambda rows: rows.first_valid_index(),
        "last_valid_index": lambda rows: rows.last_valid_index(),
        "to_period": lambda rows: rows.to_period("M"),
        "truncate": lambda rows: rows.truncate("2024-01-03"),
        "tz_localize": lambda rows: rows.tz_localize("UTC"),
    }

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(of(a))

    return {f"{owner}.{name}": bound(call) for name, call in calls.items()}


#: Statistics of windows.
OF_WINDOWS = "count first kurt last max mean median min nunique rank sem skew std sum var"


def _windows(owner: str, which: str) -> dict[str, Call]:
    """Return calls of the methods that windows have."""
    calls: dict[str, Callable[[Any], Any]] = {
        "agg": lambda w: w.agg(["sum", "mean"]),
        "aggregate": lambda w: w.aggregate({"v": "sum"}),
        "apply": lambda w: w.apply(np.sum, raw=True),
        "pipe": lambda w: w.pipe(lambda windows: windows.sum()),
        "quantile": lambda w: w.quantile(0.3),
    }

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(getattr(a, which))

    def of_pairs(name: str) -> Call:
        return lambda a: getattr(getattr(a, which).v, name)(a.key)

    named = methods(owner, which, OF_WINDOWS)
    named |= {f"{owner}.{name}": of_pairs(name) for name in ("corr", "cov")}
    return named | {f"{owner}.{name}": bound(call) for name, call in calls.items()}


def _told(owner: str, of: Call) -> dict[str, Call]:
    """Return calls of what tells of all values of frames and columns."""
    names = "describe duplicated idxmax idxmin memory_usage mode rank"
    calls: dict[str, Callable[[Any], Any]] = {
        "agg": lambda rows: rows.agg(["sum", "mean"]),
        "aggregate": lambda rows: rows.aggregate("sum"),
        "info": lambda rows: rows.info(buf=io.StringIO()),
        "nlargest": lambda rows: rows.nlargest(2, *(["v"] if owner == "DataFrame" else [])),
        "nsmallest": lambda rows: rows.nsmallest(2, *(["v"] if owner == "DataFrame" else [])),
    }

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(of(a))

    which = "f" if owner == "DataFrame" else "v"
    return methods(owner, which, names) | {
        f"{owner}.{name}": bound(call) for name, call in calls.items()
    }


CALLS: dict[str, Call] = {
    **_told("DataFrame", lambda a: a.f),
    **_told("Series", lambda a: a.v),
    **methods("DataFrame", "f", "nunique value_counts"),
    **methods("Series", "v", "argsort unique"),
    **methods("GroupBy", "by", "corr cov ngroup"),
    "DataFrame.corrwith": lambda a: a.f.corrwith(a.v),
    "DataFrame.join": lambda a: a.f.join(a.g, rsuffix="_other"),
    "GroupBy.expanding": lambda a: a.by.expanding().sum(),
    "GroupBy.rolling": lambda a: a.by.rolling(2).sum(),
    "GroupBy.unique": lambda a: a.by.v.unique(),
    "Series.searchsorted": lambda a: a.key.searchsorted(1),
    "unique": lambda a: md.unique(a.key),
    **_pairs("DataFrame", lambda a: a.f),
    **_pairs("Series", lambda a: a.v),
    **_timed("DataFrame", lambda a: a.t),
    **_timed("Series", lambda a: a.tv),
    "DataFrame.to_timestamp": lambda a: a.periods.to_timestamp(),
    "DataFrame.tz_convert": lambda a: a.zoned.tz_convert("Asia/Tokyo"),
    "Series.to_timestamp": lambda a: a.periods_v.to_timestamp(),
    "Series.tz_convert": lambda a: a.zoned_v.tz_convert("Asia/Tokyo"),
    "DataFrame.xs": lambda a: a.f.xs("v", axis=1),
    "DataFrame.isetitem": lambda a: a.f.isetitem(0, a.v),
    "DataFrame, rows assigned by label": lambda a: a.f.loc.__setitem__((a.m, "v"), 0.0),
    "DataFrame, rows assigned by position": lambda a: a.f.iloc.__setitem__((slice(2), 1), 0.0),
    "DataFrame, a value assigned": lambda a: a.f.iat.__setitem__((2, 1), 0.0),
    "DataFrame, rows assigned by a mask": lambda a: a.f.__setitem__(a.m, 0),
    "DataFrame, columns assigned": lambda a: a.f.__setitem__(["v", "w"], 0),
    "Series, rows assigned": lambda a: a.v.__setitem__(a.m, 0.0),
    "Series.compare": lambda a: a.v.compare(a.key),
    "Series.drop": lambda a: a.v.drop(3, errors="ignore"),
    "Series.get": lambda a: a.v.get(99),
    "Series.item": lambda a: a.first.item(),
    **methods(
        "Index",
        "i",
        "all any argmax argmin drop_duplicates dropna isna isnull max min notna notnull nunique "
        "sort_values to_frame to_numpy to_pandas to_series to_tensor tolist to_list unique "
        "value_counts",
    ),
    "Index.difference": lambda a: a.i.difference([1]),
    "Index.intersection": lambda a: a.i.intersection([1]),
    "Index, some": lambda a: a.i[2:5],
    "DataFrame, rows by a slice": lambda a: a.f[2:5],
    "Index.append": lambda a: a.i.append(a.i),
    "Index.astype": lambda a: a.i.astype(float),
    "Index.ceil": lambda a: a.days.ceil("D"),
    "Index.day_name": lambda a: a.days.day_name(),
    "Index.equals": lambda a: a.i.equals(a.i),
    "Index.fillna": lambda a: a.i.fillna(0),
    "Index.floor": lambda a: a.days.floor("D"),
    "Index.get_level_values": lambda a: a.i.get_level_values(0),
    "Index.isin": lambda a: a.i.isin([1]),
    "Index.map": lambda a: a.i.map(abs),
    "Index.month_name": lambda a: a.days.month_name(),
    "Index.normalize": lambda a: a.days.normalize(),
    "Index.rename": lambda a: a.i.rename("n"),
    "Index.round": lambda a: a.days.round("D"),
    "Index.set_names": lambda a: a.i.set_names(["n"]),
    "Index.strftime": lambda a: a.days.strftime("%d"),
    "Index.take": lambda a: a.i.take([1]),
    "Index.tz_convert": lambda a: a.zoned_days.tz_convert("Asia/Tokyo"),
    "Index.tz_localize": lambda a: a.days.tz_localize("UTC"),
    "Index.where": lambda a: a.i.where(a.m),
    "Index, compared": lambda a: a.i > 3,
    "Index, added": lambda a: a.i + 1,
    **_windows("Rolling", "w"),
    **_windows("Expanding", "e"),
    **methods("ExponentialMovingWindow", "ewm", "mean std sum var"),
    "ExponentialMovingWindow.agg": lambda a: a.ewm.agg(["mean", "sum"]),
    "ExponentialMovingWindow.aggregate": lambda a: a.ewm.aggregate("mean"),
    "ExponentialMovingWindow.corr": lambda a: a.ewm.v.corr(a.key),
    "ExponentialMovingWindow.cov": lambda a: a.ewm.v.cov(a.key),
    "ExponentialMovingWindow.pipe": lambda a: a.ewm.pipe(lambda w: w.mean()),
}
