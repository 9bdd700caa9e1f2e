"""Statistics of the rows around each row are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import chunkings, draws

NAMES = ("sum", "mean", "min", "max", "count", "var", "std")


@st.composite
def windows(draw: Any) -> dict[str, Any]:
    """Return what a window is: its rows, how many must be there, and whether it lies around."""
    window = draw(st.integers(0, 15))
    least = draw(st.none() | st.integers(0, window))
    return {"window": window, "min_periods": least, "center": draw(st.booleans())}


@given(both=tables(), how=windows(), name=st.sampled_from(NAMES))
def test_statistics(both, how, name):
    """Windows of none and of all rows, over missing values, of known and unknown lengths."""
    frame, lazy = both
    columns = ["k", "f", "b", "u"]
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(
            getattr(e[columns].rolling(**how), name)(), getattr(d[columns].rolling(**how), name)()
        )
        equal(getattr(e.f.rolling(**how), name)(), getattr(d.f.rolling(**how), name)())


@given(both=tables(), window=st.integers(1, 5))
def test_options(both, window):
    """Degrees of freedom, columns chosen afterwards, and those that are numbers."""
    frame, lazy = both
    equal(lazy.f.rolling(window).var(ddof=0), frame.f.rolling(window).var(ddof=0))
    equal(lazy.rolling(window)["u"].sum(), frame.rolling(window)["u"].sum())
    found = lazy[["u", "s"]].rolling(window).mean(numeric_only=True)
    equal(found, frame[["u", "s"]].rolling(window).mean(numeric_only=True))
    equal(lazy.s.rolling(window).count(), frame.s.rolling(window).count())


#: Statistics with arguments of their own.
CALLS: dict[str, Any] = {
    "median": {},
    "quantile": {"q": 0.3},
    "sem": {},
    "skew": {},
    "kurt": {},
    "rank": {},
    "first": {},
    "last": {},
    "nunique": {},
    "apply": {"func": np.nanmax, "raw": True},
}


@draws(10)
@given(both=tables(), window=st.integers(1, 5), name=st.sampled_from(sorted(CALLS)))
def test_more_statistics(both, window, name):
    """Of any windows: what pandas computes of them."""
    frame, lazy = both
    for closed in (None, "left"):
        d, e = (one[["u", "f"]].rolling(window, closed=closed) for one in (frame, lazy))
        equal(getattr(e, name)(**CALLS[name]), getattr(d, name)(**CALLS[name]))


@st.composite
def timed(draw: Any) -> tuple[pd.DataFrame, Any]:
    """Return rows that are labelled by times, some of them equal, and the lazy ones."""
    frame, _ = draw(tables())
    steps = draw(st.lists(st.integers(0, 3), min_size=len(frame), max_size=len(frame)))
    tz = draw(st.sampled_from([None, "Europe/Berlin"]))
    times = pd.Timestamp("2024-03-30 20:00", tz=tz) + pd.to_timedelta(np.cumsum(steps), unit="h")
    frame = frame.set_axis(pd.DatetimeIndex(times, name="time"))
    (sizes,) = draw(chunkings((len(frame),)))
    return frame, md.DataFrame(frame, chunk_size=(sizes,))


@draws(15)
@given(
    both=timed(),
    window=st.sampled_from(["1h", "90min", "2h", "D", pd.Timedelta("5h")]),
    closed=st.sampled_from([None, "both", "left", "neither"]),
    name=st.sampled_from(["sum", "count", "median", "max"]),
)
def test_windows_of_time(both, window, closed, name):
    """By the labels or by a column, over rows of known and unknown lengths."""
    for d, e in (both, map(filtered, both)):
        by_label = [one[["u", "f"]].rolling(window, closed=closed) for one in (e, d)]
        equal(*(getattr(one, name)() for one in by_label))
        columns = [one.reset_index()[["time", "u", "f"]] for one in (e, d)]
        by_column = [one.rolling(window, on="time", closed=closed) for one in columns]
        equal(*(getattr(one, name)() for one in by_column))
        equal(*(getattr(one["u"], name)() for one in by_column))


@pytest.mark.parametrize("chosen", [["a"], ["a", "k"], ["k", "a"], ["a", "b", "k"]])
@pytest.mark.parametrize("name", ["sum", "count"])
def test_columns_beside_that_of_the_windows(chosen: list[str], name: str) -> None:
    """That one is declared, too, for windows of rows as for those of time."""
    frame = pd.DataFrame({"a": [1.0, 2, 3], "k": [1, 2, 4], "b": 1.0})
    frame["t"] = pd.to_datetime(frame.k, unit="D")
    by_time = frame.set_index(pd.date_range("2024", periods=3))
    windows: Any
    for rows, windows in ((frame.drop(columns="t"), (2, "k")), (by_time, ("36h", "t"))):
        lazy: Any = md.DataFrame(rows, chunk_size=2)
        size, on = windows
        found, wanted = (getattr(one.rolling(size, on=on)[chosen], name)() for one in (lazy, rows))
        assert [*found.columns] == [*wanted.columns]
        equal(found, wanted)
        equal(found.nunique(), wanted.nunique())


def test_times_that_do_not_rise():
    """Pandas's error, also where only two chunks together tell; falling times are fine."""
    days = pd.Series(1.0, pd.to_datetime([1, 5, 3, 2], unit="D"))
    for sizes in ((4,), (2, 2), (1, 1, 1, 1)):
        with pytest.raises(ValueError, match="monotonic"):
            md.Series(days, chunk_size=(sizes,)).rolling("2D").sum().compute()
        falling = days.sort_index(ascending=False)
        equal(
            md.Series(falling, chunk_size=(sizes,)).rolling("2D").sum(), falling.rolling("2D").sum()
        )


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    timed = lazy[["t", "u", "f"]]
    for call in (
        lambda: lazy.rolling(2, method="table"),
        lambda: timed.rolling("2D", on="t").agg(["sum"]),
        lambda: lazy[["u", "f"]].rolling(2).corr(),
        lambda: lazy.u.rolling(2).sum(engine="numba"),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(pd.errors.DataError):  # texts of numbers would be taken
        lazy.s.rolling(2).sum().compute()
    with pytest.raises(ValueError, match="0 or greater"):
        lazy.u.rolling("2D")
    with pytest.raises(ValueError, match="0 or greater"):
        lazy.u.rolling(-1)
    with pytest.raises(ValueError, match="min_periods"):
        lazy.u.rolling(2, min_periods=3)
    with pytest.raises(TypeError, match="unexpected"):
        lazy.u.rolling(2, size=3)
    with pytest.raises(KeyError):
        lazy.rolling(2)["none"]
    with pytest.raises(AttributeError, match="online"):
        _ = lazy.rolling(2).online
