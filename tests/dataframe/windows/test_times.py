"""Rows by their times are pandas's, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table

TIMES = pd.date_range("2024-03-29 20:00", periods=9, freq="5h", name="time")


def pairs() -> list[tuple[Any, Any]]:
    """Return frames and columns labelled by times, and the lazy ones in chunks of any lengths."""
    frame = table(9, seed=3).set_axis(TIMES)
    found: list[tuple[Any, Any]] = []
    for sizes in ((9,), (2, 0, 3, 1, 3), (1,) * 9):
        lazy = md.DataFrame(frame, chunk_size=(sizes,))
        found += [(frame, lazy), (frame.f, lazy.f), (filtered(frame), filtered(lazy))]
    return found


def _numbers(rows: Any) -> Any:
    return rows[["u", "f"]] if rows.ndim == 2 else rows


#: Calls with rows of times, whose results are compared as they are.
CALLS: dict[str, Any] = {
    "between_time": lambda x: x.between_time("03:00", "16:00"),
    "between_time, open": lambda x: x.between_time("20:00", "06:00", inclusive="neither"),
    "at_time": lambda x: x.at_time("06:00"),
    "truncate": lambda x: x.truncate("2024-03-30", pd.Timestamp("2024-03-31 02:00")),
    "truncate at the end": lambda x: x.truncate(after="2024-03-30 06:00"),
    "asfreq": lambda x: x.asfreq("3h"),
    "asfreq, filled": lambda x: x.asfreq("2h", method="ffill"),
    "asof, before all": lambda x: x.asof(pd.Timestamp("2020-01-01")),
    "asof": lambda x: x.asof(pd.Timestamp("2024-03-30 20:00")),
    "asof of several": lambda x: _numbers(x).asof(pd.date_range(TIMES[0], periods=4, freq="9h")),
    "asof, some before all": lambda x: _numbers(x).asof(pd.DatetimeIndex(["2020", TIMES[5]])),
    "asof among periods": lambda x: x.to_period("D").asof("2024-03-30"),
    "asof of several periods": lambda x: _numbers(x).to_period("D").asof(TIMES[::5]),
    "tz_localize": lambda x: x.tz_localize("UTC"),
    "tz_convert": lambda x: x.tz_localize("UTC").tz_convert("Europe/Berlin"),
    "to_period": lambda x: x.to_period("M"),
    "to_timestamp": lambda x: x.to_period("M").to_timestamp(how="end"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    """Frames and columns, of known and unknown lengths, empty chunks among them."""
    for rows, lazy in pairs():
        equal(CALLS[name](lazy), CALLS[name](rows), check_freq=name.startswith("asfreq"))


def test_first_and_last_valid_labels():
    """``None`` where nothing is; of a frame, rows with any value count."""
    gaps = pd.DataFrame({"a": [np.nan, np.nan, 1, np.nan], "b": [np.nan, 2, np.nan, np.nan]})
    lazy = md.DataFrame(gaps, chunk_size=1)
    for rows, found in ((gaps, lazy), (gaps.a, lazy.a), (gaps[gaps.a > 9], lazy[lazy.a > 9])):
        assert found.first_valid_index() == rows.first_valid_index()
        assert found.last_valid_index() == rows.last_valid_index()


def test_columns():
    """Labels of columns are cut, and moved to other zones, as those of rows."""
    frame = pd.DataFrame(np.arange(6).reshape(2, 3), columns=pd.date_range("2024", periods=3))
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(
        lazy.truncate("2024-01-02", axis=1), frame.truncate("2024-01-02", axis=1), check_freq=False
    )
    equal(lazy.tz_localize("UTC", axis=1), frame.tz_localize("UTC", axis=1))


@pytest.mark.parametrize("bounds", [(0, 1), (1,), (None, 0), (0.5, 2), (2, 1)])
def test_several_levels(bounds):
    """Labels of several levels are cut at those of the first one."""
    frame = pd.DataFrame({"k": [-1, 0, 0, 1, 3], "j": list("abcab"), "v": range(5)})
    rows: Any = frame.groupby(["k", "j"]).sum()
    lazy: Any = md.DataFrame(frame, chunk_size=2).groupby(["k", "j"]).sum()
    if bounds == (2, 1):
        with pytest.raises(ValueError, match="after"):
            lazy.truncate(*bounds)
        return
    equal(lazy.truncate(*bounds), rows.truncate(*bounds))
    equal(lazy.v.truncate(*bounds), rows.v.truncate(*bounds))


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    frame = table(4)
    lazy: Any = md.DataFrame(frame.set_axis(TIMES[[2, 0, 1, 3]]), chunk_size=2)
    for call in (
        lambda: lazy.between_time("1:00", "2:00", axis=1),
        lambda: lazy.tz_localize("UTC", ambiguous="infer"),
        lambda: md.Series(range(3), index=[3, 2, 1], chunk_size=1).truncate(1, 2),
        lazy.to_period,
        lambda: lazy.reset_index(drop=True).asfreq("D"),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for call in (
        lambda: lazy.truncate("2024"),
        lambda: lazy.truncate("2025", "2024"),
        lambda: lazy.asof(TIMES[0]),
        lambda: lazy.between_time("1:00", "2:00", inclusive="all"),
    ):
        with pytest.raises(ValueError, match=r"sorted|after|Inclusive"):
            call()
    with pytest.raises(TypeError, match="DatetimeIndex"):
        lazy.reset_index(drop=True).at_time("1:00")
