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
        "sorted": md.from_pandas(frame.sort_values("v"), chunk_size=5),
        "ewm": f.ewm(span=3),
        "t": timed,
        "tv": timed.v,
        "zoned": timed.tz_localize("UTC"),
        "zoned_v": timed.v.tz_localize("UTC"),
        "zoned_days": timed.index.tz_localize("UTC"),
        "periods": timed.to_period("M"),
        "periods_v": timed.v.to_period("M"),
        "days": timed.index,
        "labels": f.index,
        "first": f.v.iloc[:1],
        "indicators": md.DataFrame({"a": [1, 0, 1], "b": [0, 1, 0]}, chunk_size=2),
        "bins": timed.resample("2D"),
    }


def methods(owner: str, which: str, names: str) -> dict[str, Call]:
    """Return calls without arguments of the methods of an operand."""

    def calling(name: str) -> Call:
        return lambda a: getattr(getattr(a, which), name)()

    return {f"{owner}.{name}": calling(name) for name in names.split()}


def positions() -> dict[str, Call]:
    """Return calls of an index's methods of positions, and of Mars's methods of chunks."""
    index: dict[str, Callable[[Any], Any]] = {
        "delete": lambda labels: labels.delete(1),
        "get_loc": lambda labels: labels.get_loc(3),
        "insert": lambda labels: labels.insert(1, 7),
        "memory_usage": lambda labels: labels.memory_usage(),
    }
    chunks: dict[str, Callable[[Any], Any]] = {
        "rebalance": lambda rows: rows.rebalance(num_partitions=2),
        "rechunk": lambda rows: rows.rechunk(4),
        "to_cpu": lambda rows: rows.to_cpu(),
    }

    def bound(call: Callable[[Any], Any], of: Call) -> Call:
        return lambda a: call(of(a))

    owners: dict[str, Call] = {
        "DataFrame": lambda a: a.f,
        "Series": lambda a: a.v,
        "Index": lambda a: a.labels,
    }
    return {
        **{f"Index.{name}": bound(call, owners["Index"]) for name, call in index.items()},
        "Index.shift": lambda a: a.days.shift(1),
        **{
            f"{title}.{name}": bound(call, of)
            for title, of in owners.items()
            for name, call in chunks.items()
        },
    }


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


#: What draws looks at the limits of the values first.
DRAWS = {
    f"{owner}.{name}"
    for owner in ("DataFrame", "Series", "GroupBy")
    for name in ("boxplot", "hist")
}

#: What pandas reads at once by packages that need not be there, and from the clipboard.
READ = ("clipboard", "excel", "hdf", "html", "sas", "spss", "stata", "xml")

#: What it writes so.
WRITTEN = ("clipboard", "excel", "hdf", "latex", "stata", "xarray", "xml")

NEEDS_PACKAGES = {f"read_{name}" for name in READ}
NEEDS_PACKAGES |= {f"{owner}.to_{name}" for owner in ("DataFrame", "Series") for name in WRITTEN}


def _compared(owner: str, which: str) -> dict[str, Call]:
    """Return calls of the methods that combine, repeat and divide rows."""
    calls: dict[str, Callable[[Any], Any]] = {
        "combine": lambda rows: rows.combine(rows, np.maximum),
        "compare": lambda rows: rows.compare(rows, keep_shape=True),
        "divmod": lambda rows: rows.divmod(2),
        "median_approximate": lambda rows: rows.median_approximate(),
        "memory_usage_per_partition": lambda rows: rows.memory_usage_per_partition(),
        "nunique_approx": lambda rows: rows.nunique_approx(),
        "random_split": lambda rows: rows.random_split([0.5, 0.5], random_state=1),
        "rdivmod": lambda rows: rows.rdivmod(2),
        "repeat": lambda rows: rows.repeat(2),
        "set_flags": lambda rows: rows.set_flags(),
        "transpose": lambda rows: rows.transpose(),
    }
    if owner == "DataFrame":
        for name in ("divmod", "rdivmod", "repeat", "transpose"):
            del calls[name]

    def bound(call: Callable[[Any], Any]) -> Call:
        return lambda a: call(getattr(a, which))

    return {f"{owner}.{name}": bound(call) for name, call in calls.items()}


CALLS: dict[str, Call] = {
    **_compared("DataFrame", "f"),
    **_compared("Series", "v"),
    "DataFrame.from_dict": lambda a: md.DataFrame.from_dict({"a": [1, 2]}),
    "DataFrame.from_records": lambda a: md.DataFrame.from_records([(1, 2)]),
    "DataFrame.to_pickle": lambda a: a.f.to_pickle(a.folder / "f.pickle"),
    "Series.to_pickle": lambda a: a.v.to_pickle(a.folder / "v.pickle"),
    "GroupBy.corrwith": lambda a: a.by.corrwith(a.v),
    "GroupBy.ewm": lambda a: a.by.ewm(2).mean(),
    "GroupBy.ohlc": lambda a: a.by.v.ohlc(),
    "GroupBy.resample": lambda a: a.t.groupby("key").resample("2D").sum(),
    "GroupBy.take": lambda a: a.by.take([0]),
    "Index.copy": lambda a: a.i.copy(),
    "Index.drop": lambda a: a.i.drop([1], errors="ignore"),
    "Index.duplicated": lambda a: a.i.duplicated(),
    "Index.transpose": lambda a: a.i.transpose(),
    "Series.case_when": lambda a: a.v.case_when([(a.m, 0.0)]),
    "interval_range": lambda a: md.interval_range(0, 3),
    "json_normalize": lambda a: md.json_normalize([{"a": 1}]),
    "lreshape": lambda a: md.lreshape(a.f, {"u": ["key", "v"]}),
    "map_overlap": lambda a: md.map_overlap(abs, a.v, 1, 1),
    "merge_asof": lambda a: md.merge_asof(a.sorted, a.sorted, on="v"),
    "merge_ordered": lambda a: md.merge_ordered(a.f, a.g, on="key"),
    "read_pickle": lambda a: md.read_pickle(a.folder / "rows.pickle"),
    "repartition": lambda a: md.repartition(a.f, [0, 6, 11]),
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
    "Series.get": lambda a: a.v.get(9),
    "Series.item": lambda a: a.first.item(),
    **methods(
        "Index",
        "i",
        "all any argmax argmin argsort diff drop_duplicates dropna isna isnull max min notna "
        "notnull nunique ravel sort_values to_flat_index to_frame to_numpy to_pandas to_series "
        "to_tensor tolist to_list unique value_counts",
    ),
    "Index.difference": lambda a: a.i.difference([1]),
    "Index.intersection": lambda a: a.i.intersection([1]),
    "Index.join": lambda a: a.i.join([1, 2]),
    "Index.infer_objects": lambda a: a.i.infer_objects(),
    "Index.as_unit": lambda a: a.days.as_unit("ms"),
    "Index.droplevel": lambda a: a.labels_of_two.droplevel(0),
    "Index.identical": lambda a: a.i.identical(a.i),
    "Index.item": lambda a: a.label.item(),
    "Index.putmask": lambda a: a.i.putmask(a.m, 1),
    "Index.repeat": lambda a: a.i.repeat(2),
    "Index.searchsorted": lambda a: a.i.searchsorted(1),
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
