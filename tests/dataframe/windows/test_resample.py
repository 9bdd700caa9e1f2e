"""Bins of time are pandas's, the empty ones included, whatever chunks the rows lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, same, table, tables
from tests.strategies import HISTORIES, chunkings, draws

NAMES = ["sum", "mean", "count", "min", "max", "var", "first", "last", "median", "nunique", "prod"]


@st.composite
def timed(draw: Any) -> tuple[pd.DataFrame, Any]:
    """Return rows that are labelled by times in any order, some of them equal or far away."""
    frame, _ = draw(tables(min_rows=1))
    steps = draw(st.lists(st.sampled_from([0, 1, 5, 11, 60, -7]), min_size=12, max_size=12))
    tz = draw(st.sampled_from([None, "Europe/Berlin"]))
    start = pd.Timestamp("2024-03-29 20:20", tz=tz)
    times = start + pd.to_timedelta(np.cumsum(steps[: len(frame)]), unit="h")
    frame = frame.set_axis(pd.DatetimeIndex(times, name="time"))
    (sizes,) = draw(chunkings((len(frame),)))
    return frame, md.DataFrame(frame, chunk_size=(sizes,))


@draws(20)
@given(
    both=timed(),
    rule=st.sampled_from(["7h", "D", "2D", "W", "ME", "MS"]),
    how=st.fixed_dictionaries(
        {},
        optional={
            "closed": st.sampled_from(["left", "right"]),
            "label": st.sampled_from(["left", "right"]),
            "origin": st.sampled_from(["start", "epoch"]),
            "offset": st.sampled_from(["2h", "-90min"]),
        },
    ),
    name=st.sampled_from(NAMES),
)
def test_aggregations(both, rule, how, name):
    """By labels and by a column; first and last are by time, not by row."""
    frame, lazy = both
    if not rule.endswith("h") and (frame.index.tz is not None or not rule.endswith("D")):
        how = {key: how[key] for key in how if key in ("closed", "label")}  # others take no effect
    columns = ["u", "f"]
    found, wanted = (one[columns].resample(rule, **how) for one in (lazy, frame))
    equal(getattr(found, name)(), getattr(wanted, name)())
    d, e = frame.reset_index(), lazy.reset_index()
    found, wanted = (one.resample(rule, on="time", **how) for one in (e, d))
    equal(getattr(found["u"], name)(), getattr(wanted["u"], name)())


def test_types_of_bins_without_rows():
    """Texts, truth values, times and integers are what pandas makes of them."""
    times = pd.DatetimeIndex(["2024-01-01 01:00", "2024-01-01", "2024-01-04"], name="time")
    frame = table(3).set_axis(times).assign(n=pd.array([1, None, 3], dtype="Int64"))
    lazy = md.DataFrame(frame, chunk_size=2)
    for call in ("first", "last", "max", "count", "nunique"):
        columns = ["k", "b", "u", "t", "n", *(["s"] if call != "max" else [])]
        found, wanted = (getattr(one[columns].resample("D"), call)() for one in (lazy, frame))
        equal(found, wanted)


@draws(3)
@given(both=timed(), rule=st.sampled_from(["5h", "D"]))
def test_several_and_prices(both, rule):
    """Lists and dicts of names, sizes, prices; of rows of unknown number."""
    for d, e in (both, map(filtered, both)):
        if not len(d):
            continue
        pair = d[["u", "f"]].rename_axis(columns="c"), e[["u", "f"]].rename_axis(columns="c")
        wanted, found = (one.resample(rule) for one in pair)
        for how in ("sum", ["sum", "max"], {"u": "sum", "f": ["min", "count"]}, {"f": "mean"}):
            equal(found.agg(how), wanted.agg(how))
        equal(found.size(), wanted.size())
        equal(found["f"].ohlc(), wanted["f"].ohlc())
        equal(found.ohlc(), wanted.ohlc())
        equal(found.agg(n=("u", "count")), wanted.agg(n=("u", "count")))


@pytest.mark.parametrize("name", ["executed", "adopted"])
def test_rows_for_bins(name):
    """Rows at the labels, filled or not, from rows of any history."""
    times = pd.date_range("2024-01-01", periods=5, freq="4h", name="time")
    frame = table(5)[["u", "f"]].set_axis(times)
    lazy = HISTORIES[name](md.DataFrame(frame, chunk_size=2))
    for call in ("asfreq", "ffill", "bfill", "nearest", "interpolate"):
        found, wanted = (getattr(one.resample("3h"), call)() for one in (lazy, frame))
        equal(found, wanted)
    equal(lazy.f.resample("D").sum(), frame.f.resample("D").sum())


def test_values_of_rows():
    """Each row has a value of its bin, in the order of time; bins are passed to functions."""
    times = pd.date_range("2024-01-01", periods=9, freq="7h", name="time")
    frame = table(9)[["u", "f"]].set_axis(times).iloc[::-1]
    lazy = md.DataFrame(frame, chunk_size=4)
    d: Any = frame.resample("D")
    e = lazy.resample("D")
    equal(e.transform("sum"), d.transform("sum"))
    equal(e.u.transform(centred), d.u.transform(centred))
    found, wanted = (one.reset_index().resample("D", on="time") for one in (lazy, frame))
    equal(found.u.transform("max"), wanted.u.transform("max"))
    equal(e.u.apply("sum"), d.u.apply("sum"))
    equal(e.pipe(lambda bins: bins.max()), d.max())
    assert (e.ngroups, e.ndim, e.u.ndim) == (d.ngroups, d.ndim, d.u.ndim)


def centred(values):
    return values - values.mean()


def test_keys_of_bins():
    """With group_keys, what a function returns has the labels of the bins in front."""
    times = pd.date_range("2024-01-01", periods=5, freq="9h", name="time")
    frame = table(5)[["u", "f"]].set_axis(times)
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    for keys in (True, False):
        for call in (
            lambda d, k=keys: d.resample("D", group_keys=k).apply(twice),
            lambda d, k=keys: d.u.resample("D", group_keys=k).apply(twice),
            lambda d, k=keys: d.resample("D", group_keys=k).f.sum(),
            lambda d, k=keys: d.resample("D", group_keys=k).transform("sum"),
            lambda d, k=keys: d.resample("3h", group_keys=k).ffill(),
        ):
            equal(call(lazy), call(frame))


def twice(rows):
    return rows * 2


def test_no_rows():
    """Bins of nothing are none."""
    times = pd.date_range("2024-01-01", periods=3, name="time")
    frame = table(3)[["u", "f"]].set_axis(times)
    lazy = md.DataFrame(frame, chunk_size=2)
    found, wanted = (one[one.u > 9].resample("D").sum() for one in (lazy, frame))
    equal(found, wanted)


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    frame = table(4).set_axis(pd.date_range("2024-01-01", periods=4))
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    for call in (
        lambda: lazy.resample("D", level=0),
        lambda: lazy.set_axis(pd.to_timedelta([1, 2, 3, 4], unit="h")).resample("D"),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError, match="Only valid with DatetimeIndex"):
        lazy.reset_index(drop=True).resample("D")
    with pytest.raises(ValueError, match="freq"):
        lazy.resample("soon")
    with pytest.raises(KeyError):
        lazy.resample("D", on="none")
    with pytest.raises(KeyError):
        lazy.resample("D")["none"]
    with pytest.raises(ValueError, match="Upsampling"):
        lazy.resample("D", on="t").ffill()


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("name", ["mean", "sum", "std", "max"])
def test_short_floats(name: str, dtype: Any) -> None:
    """Means of bins are doubles in pandas if there is no gap, in whatever order the times are."""
    times = pd.DatetimeIndex(["1970-01-09", "1970-01-05", "1969-12-31", "1970-03-06"])
    full = pd.DataFrame({"t": times, "u": pd.Series([5, 6, 8, 3], dtype=dtype)})
    by = pd.Grouper(key="t", freq="MS")
    for frame in (full, full.assign(u=full.u.where(full.u != 6)), full[:0]):
        lazy = md.DataFrame(frame, chunk_size=1)
        same(lambda d: getattr(d.resample("MS", on="t").u, name)(), lazy, frame)
        same(lambda d: d.resample("MS", on="t")[["u"]].agg(name), lazy, frame)
        same(lambda d: getattr(d.groupby(by).u, name)(), lazy, frame)
        same(lambda d: d.resample("MS", on="t").agg([name, "last"]), lazy, frame)
        same(lambda d: d.resample("MS", on="t").agg({"u": [name, "min"]}), lazy, frame)


#: Bins of no rows, and what is reduced of them.
REDUCED = {
    "sum": lambda rows: rows.u.sum(),
    "max of frames": lambda rows: rows.max(),
    "two sums": lambda rows: rows.agg(["size", "sum"]),
    "product": lambda rows: rows.u.prod(),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_of_no_bins(name: str) -> None:
    """Without bins there are no gaps, so that integers stay integers."""
    frame = pd.DataFrame({"t": pd.DatetimeIndex([]), "u": np.array([], int)})
    lazy = md.DataFrame(frame, chunk_size=2)
    for rows in (lazy, lazy[lazy.u > 0]):
        same(lambda d: REDUCED[name](d.set_index("t").resample("D").max()), rows, frame)


def test_rows_without_a_time_come_first() -> None:
    """Where values of rows are returned, those of no bin are before all others, as in pandas."""
    times = pd.DatetimeIndex(["1970-01-09", None, "1969-12-31", None])
    frame = pd.DataFrame({"t": times, "u": [1.5, 2.5, 0.5, 4.0]})
    for chunk in (1, 3):
        lazy = md.DataFrame(frame, chunk_size=chunk)
        same(lambda d: d.resample("W", on="t").u.transform("sum"), lazy, frame)
        same(lambda d: d.set_index("t").resample("W").u.transform("sum"), lazy, frame)


#: Calls of bins whose columns, or whose functions, are none or of several levels.
OF_FORMS: dict[str, Any] = {
    "no functions": lambda d: d.resample("D").agg([]),
    "no columns": lambda d: d.resample("D").agg({}),
    "no functions of a column": lambda d: d.a.resample("D").agg([]),
    "no columns of a column": lambda d: d.a.resample("D").agg({}),
    "prices of named columns": lambda d: d.rename_axis(columns="n").resample("D").ohlc(),
    "prices of levels": lambda d: (
        d.set_axis(pd.MultiIndex.from_tuples([("a", "c"), ("b", "d")]), axis=1).resample("D").ohlc()
    ),
    "prices of named levels": lambda d: (
        d.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"]), axis=1)
        .resample("D")
        .ohlc()
    ),
}


@pytest.mark.parametrize("name", OF_FORMS)
def test_forms_of_results(name: str) -> None:
    """The columns have pandas's labels."""
    times = pd.date_range("2024-01-01", periods=5, freq="11h")
    frame = pd.DataFrame({"a": [1, 5, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5, 4.5]}, times)
    equal(OF_FORMS[name](md.DataFrame(frame, chunk_size=2)), OF_FORMS[name](frame))


@pytest.mark.parametrize("column", [None, "t"])
def test_times_that_only_rows_tell(column: str | None) -> None:
    """Labels beside a part that may have rows, or a column in which no value is replaced."""
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=4, freq="5D"), "k": range(4)})
    if column is None:
        numbers, labels = frame[["k"]], frame.set_index("t")
        lazy = md.DataFrame(numbers, chunk_size=1)
        rows = md.concat([lazy[lazy.k > 9], md.DataFrame(labels)])
        frame = pd.concat([numbers[:0], labels])
        assert not rows.node.settled
    else:
        lazy = md.DataFrame(frame, chunk_size=3)
        rows = lazy.assign(t=lazy.t.where(lazy.t.notna(), 1))
    equal(rows.resample("W", on=column).sum(), frame.resample("W", on=column).sum())
