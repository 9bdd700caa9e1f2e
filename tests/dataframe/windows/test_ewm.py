"""Exponentially weighted statistics are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

COLUMNS = ["k", "f", "b", "u"]
DECAYS = st.sampled_from(
    [{"com": 2.0}, {"span": 3}, {"halflife": 1.5}, {"alpha": 0.4}, {"alpha": 1}]
)


@draws(25)
@given(
    both=tables(),
    decay=DECAYS,
    adjust=st.booleans(),
    ignore_na=st.booleans(),
    least=st.sampled_from([None, 0, 3]),
)
def test_means_and_sums(both, decay, adjust, ignore_na, least):
    """Over missing values, of rows of known and unknown lengths."""
    how = {**decay, "adjust": adjust, "ignore_na": ignore_na, "min_periods": least}
    for d, e in (both, map(filtered, both)):
        found, wanted = (one[COLUMNS].ewm(**how) for one in (e, d))
        equal(found.mean(), wanted.mean())
        if adjust:
            equal(found.f.sum(), wanted.f.sum())


def test_means_of_weights_that_fall_by_half():
    """Over a gap between chunks, where pandas weighs otherwise than with other decays."""
    values = pd.Series([2.0, 1.0, None, None, 3.0, None, 4.0])
    for alpha in (0.5, 0.4):
        how: Any = {"alpha": alpha, "adjust": False}
        with option_context({"coalesce": False}):
            equal(md.Series(values, chunk_size=1).ewm(**how).mean(), values.ewm(**how).mean())


def test_other_statistics():
    """Those that need all rows, of columns, pairs and several at once."""
    frame = table(9)[COLUMNS]
    d: Any = frame.ewm(span=3)
    e = md.DataFrame(frame, chunk_size=2).ewm(span=3)
    for name in ("var", "std"):
        equal(getattr(e, name)(bias=True), getattr(d, name)(bias=True))
    equal(e["u"].std(), d["u"].std())
    equal(e[["u", "f"]].agg(["mean", "std"]), d[["u", "f"]].agg(["mean", "std"]))
    equal(e.f.agg("mean"), d.f.agg("mean"))


def test_times_that_are_lazy():
    """They are a column or labels of the same rows."""
    days: Any = pd.date_range("2024-01-01", periods=5, freq="36h")
    frame = table(5).set_axis(days).assign(t=days)[["t", "f", "u"]]
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    wanted = frame[["f", "u"]].ewm(halflife="1D", times=days).mean()
    for times in (lazy.t, lazy.index, lazy.index.to_series()):
        equal(lazy[["f", "u"]].ewm(halflife="1D", times=times).mean(), wanted)


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    for call in (
        lambda: lazy.f.ewm(span=2, method="table"),
        lambda: lazy.f.ewm(span=2, adjust=False).sum(),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for times, message in ((pd.date_range("2024", periods=3), "length"), (range(5), "datetime64")):
        with pytest.raises(ValueError, match=message):
            lazy.f.ewm(halflife="1D", times=times)
    with pytest.raises(ValueError, match="span, halflife"):
        lazy.f.ewm()
    with pytest.raises(ValueError, match="alpha"):
        lazy.f.ewm(alpha=2)
    with pytest.raises(pd.errors.DataError):  # texts of numbers would be taken
        lazy.s.ewm(span=2).mean().compute()


@pytest.mark.parametrize("tz", [None, "UTC", "Europe/Berlin"])
def test_times_with_zones(tz):
    """Times may have a zone; a missing one is refused at the call, and so is a list."""
    values = pd.Series([1.0, 2.0, 4.0])
    lazy = md.Series(values, chunk_size=2)
    times: Any = pd.date_range("2020", periods=3, tz=tz)
    options: Any = {"halflife": "1D", "times": times}
    equal(lazy.ewm(**options).mean(), values.ewm(**options).mean())
    for wrong in (times.where([True, False, True]), list(times)):
        for rows in (values, lazy):
            with pytest.raises(ValueError, match=r"NaT|datetime64"):
                rows.ewm(**{**options, "times": wrong})
