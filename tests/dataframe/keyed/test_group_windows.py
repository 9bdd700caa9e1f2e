"""Windows within groups equal pandas's, and so do numbers, draws and pairs of columns of groups."""

from __future__ import annotations

import warnings
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, same, table, tables
from tests.strategies import draws

#: What is called of the groups of a table.
CALLS = {
    "rolling": lambda g: g[["u", "f"]].rolling(2).sum(),
    "rolling of a column": lambda g: g.f.rolling(3, min_periods=1, center=True).mean(),
    "largest of windows": lambda g: g.u.rolling(2, 1).max(),
    "quantiles of windows": lambda g: g.u.rolling(2).quantile(0.3),
    "expanding": lambda g: g[["u"]].expanding().sum(),
    "expanding of a column": lambda g: g.f.expanding(2).std(ddof=0),
    "exponential": lambda g: g[["u", "f"]].ewm(com=1).mean(),
    "exponential of a column": lambda g: g.f.ewm(alpha=0.3, min_periods=2).std(),
    "prices": lambda g: g[["u", "f"]].ohlc(),
    "prices of a column": lambda g: g.u.ohlc(),
    "taken": lambda g: g[["u", "t"]].take([0, -1]),
    "rising": lambda g: g.u.is_monotonic_increasing,
    "several of windows": lambda g: g[["u", "f"]].rolling(2).agg({"u": "sum", "f": ["max", "min"]}),
    "column of windows": lambda g: g.rolling(2)["f"].nunique(),
    "first of windows": lambda g: g.rolling(2).u.first(),
    "pairs of windows": lambda g: g[["u", "f"]].rolling(3).corr(),
    "pipe of windows": lambda g: g.u.expanding().pipe(total),
    "exponential of several": lambda g: g.f.ewm(com=1).agg(["mean"]),
    "number": lambda g: g.ngroup(),
    "number from the end": lambda g: g.ngroup(ascending=False),
    "draw": lambda g: g.sample(1, random_state=5),
    "draw of a column": lambda g: g.u.sample(frac=0.5, random_state=5),
    "corr": lambda g: g[["u", "f"]].corr(),
    "cov": lambda g: g[["u", "f"]].cov(ddof=0),
}


def total(windows):
    """Sum windows; options are attributes of theirs."""
    return windows.sum() if windows.min_periods else None


@draws(14)
@given(
    both=tables(min_rows=3),
    what=st.sampled_from(sorted(CALLS)),
    by=st.sampled_from(["k", "s", ["b", "s"]]),
    sort=st.booleans(),
    mode=st.sampled_from(["as it comes", "tight"]),
)
def test_groups(both, what, by, sort, mode):
    """Over chunkings, of whole tables and of filtered ones."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            if by == "k" or d.s.notna().any():
                equal(CALLS[what](e.groupby(by, sort=sort)), CALLS[what](d.groupby(by, sort=sort)))


@pytest.mark.parametrize("by", ["k", ["b", "k"]], ids=str)
def test_functions_of_windows(by):
    """Of groups that all rows are in: pandas fails with others."""
    frame = table(9)
    lazy = md.DataFrame(frame, chunk_size=4)
    equal(lazy.groupby(by).u.rolling(2).apply(sum), frame.groupby(by).u.rolling(2).apply(sum))


@pytest.mark.parametrize("chunk_size", [2, 9])
def test_lists_of_functions(chunk_size):
    """They are of windows, not of groups, by one key and by several."""
    frame: Any = table(9)
    lazy = md.DataFrame(frame, chunk_size=chunk_size)
    for by in ("k", ["b", "k"]):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            for sort in (True, False):
                found = e.groupby(by, sort=sort).f.ewm(com=1).agg(["mean", "std"])
                equal(found, d.groupby(by, sort=sort).f.ewm(com=1).agg(["mean", "std"]))


def test_refused_at_the_call():
    """What is not supported names the way out; text has no sums."""
    groups = md.DataFrame(table(5), chunk_size=2).groupby("k")
    with pytest.raises(NotImplementedError, match="take"):
        groups.sample(1, weights=[1])
    with pytest.raises(NotImplementedError, match="of both columns"):
        groups.u.rolling(2).cov(groups.u.sum())
    with pytest.raises(ValueError, match="window"):
        groups.u.rolling(typed("int", "a")).sum()


BINS = ("count", "first", "max", "mean", "nunique", "ohlc", "std", "sum", "size", "ffill", "asfreq")


@pytest.mark.parametrize("mode", ["as it comes", "tight"])
def test_bins_of_time(mode):
    """Each group has its own bins, whatever rows lie in a chunk; all may have the same ones."""
    times = pd.date_range("2024", periods=12, freq="40min")
    apart = table(12, seed=4)[["k", "u", "f"]].set_axis(times)
    alike = pd.concat([apart.assign(k=one) for one in range(3)]).sort_index()
    for frame in (apart, alike if mode == "tight" else apart[::-1]):
        lazy: Any = md.DataFrame(frame, chunk_size=5)
        for name in BINS if frame.index.is_unique else BINS[:-2]:
            with planned(mode):
                for one in (lambda d: d.groupby("k"), lambda d: d.groupby("k").f):
                    found, wanted = (getattr(one(d).resample("2h"), name)() for d in (lazy, frame))
                    equal(found, wanted)


def test_correlations_with_others():
    """Of columns with a series or a frame of the same rows; pandas is about to drop the method."""
    frame = table(12, seed=4)
    lazy = md.DataFrame(frame, chunk_size=5)
    for call in (
        lambda d: d.groupby("k")[["u", "f"]].corrwith(d.u * d.k),
        lambda d: d.groupby(["b"])[["u", "f"]].corrwith(d[["u", "f"]] ** 2, method="spearman"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = call(frame)
        equal(call(lazy), wanted)
    with pytest.raises(NotImplementedError, match="in memory"):
        lazy.groupby("k")[["u"]].corrwith(frame.u)
    with pytest.raises(NotImplementedError, match="same ones"):
        lazy.groupby("k")[["u"]].corrwith(lazy[["f"]])


def test_what_bins_need():
    """Labels of times, and no weights by times."""
    groups: Any = md.DataFrame(table(5), chunk_size=2).groupby("k")
    assert groups.ndim == 2
    assert groups.u.ndim == 1
    with pytest.raises(TypeError, match="DatetimeIndex"):
        groups.resample("D")
    with pytest.raises(NotImplementedError, match="times"):
        groups.ewm(1, times=[1])
    with pytest.raises(NotImplementedError, match="online is not supported"):
        groups.ewm(1).online()


@pytest.mark.parametrize("dropna", [True, False])
def test_numbers_in_order_of_occurrence(dropna):
    """Rows without a key have none, or one of their own."""
    frame = table(12)
    lazy = md.DataFrame(frame, chunk_size=5)
    with planned("shuffled"):
        for by in ("s", ["k", "s"]):
            how = {"sort": False, "dropna": dropna}
            equal(lazy.groupby(by, **how).ngroup(), frame.groupby(by, **how).ngroup())


ON_TIMES: dict[str, Any] = {
    "rolling": lambda g: g.rolling("3h", on="t").sum(),
    "a column of windows": lambda g: g.rolling("3h", on="t").a.sum(),
    "columns of windows": lambda g: g.rolling("3h", on="t")[["a", "b"]].sum(),
    "functions by column": lambda g: g.rolling("3h", on="t").agg({"a": "sum"}),
    "windows of columns": lambda g: g[["a", "t"]].rolling("3h", on="t").sum(),
    "windows of columns without times": lambda g: g[["a"]].rolling("3h", on="t").sum(),
    "bins": lambda g: g.resample("5h", on="t").sum(),
    "a column of bins": lambda g: g.resample("5h", on="t").a.sum(),
    "bins of columns without times": lambda g: g[["a"]].resample("5h", on="t").sum(),
}


@pytest.mark.parametrize("call", ON_TIMES)
def test_times_in_a_column(call):
    """They are found, whichever columns are chosen of the windows."""
    frame = pd.DataFrame(
        {
            "k": [0, 1, 2] * 4,
            "a": np.arange(12) * 1.5,
            "b": range(12),
            "t": pd.date_range("2020", periods=12, freq="h"),
        }
    )
    for chunk in (3, 12):
        groups = md.DataFrame(frame, chunk_size=chunk).groupby("k")
        same(ON_TIMES[call], groups, frame.groupby("k"))


@pytest.mark.parametrize("labels", [None, [7, 3, 9, 1, 5]], ids=["numbers", "others"])
@pytest.mark.parametrize("columns", ["u", ["u"], ["u", "v"]], ids=str)
@pytest.mark.parametrize("method", ["sum", "max", "count"])
def test_columns_of_bins_by_a_column(method: str, columns: Any, labels: Any) -> None:
    """Columns are chosen of bins whose times are another column, whatever the labels are."""
    days = pd.date_range("2024-01-01", periods=5)
    frame = pd.DataFrame({"k": list("aabab"), "t": days, "u": range(5), "v": 1.5})
    lazy = md.DataFrame(frame if labels is None else frame.set_axis(labels), chunk_size=2)
    found = getattr(lazy.groupby("k").resample("2D", on="t")[columns], method)()
    equal(found, getattr(frame.groupby("k").resample("2D", on="t")[columns], method)())


@pytest.mark.parametrize("rows", [4, 0])
@pytest.mark.parametrize("how", ["sum", "size", "ohlc", "nunique"])
def test_spans_of_time_are_resampled_within_groups(how: str, rows: int) -> None:
    """Spans of time are resampled within groups."""
    spans = pd.to_timedelta(["1h", "2h", "4h", "4h"])
    frame = pd.DataFrame({"k": [1, 2, 1, 1], "v": [1.0, 2, 3, 4]}, index=spans)[:rows]
    lazy = md.from_pandas(frame, chunk_size=2).groupby("k")
    equal(getattr(lazy.resample("1h"), how)(), getattr(frame.groupby("k").resample("1h"), how)())
    chosen: Any = frame.groupby("k")["v"].resample("1h")
    equal(getattr(lazy["v"].resample("1h"), how)(), getattr(chosen, how)())
