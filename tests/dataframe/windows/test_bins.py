"""Results over the same bins are aligned; functions of the user see whole bins, also empty ones."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.dataframe.windows.bins import all_bins
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, same, table
from tests.strategies import HISTORIES, chunkings, draws

_coalesce = one_mode.as_given

ROWS = 11
TIMES = pd.date_range("2024-03-01", periods=ROWS, freq="7h", name="time")
FRAME = table(ROWS)[["u", "f", "s"]].set_axis(TIMES[[3, 1, 0, 2, *range(4, ROWS)]])


def spread(values: Any) -> Any:
    """Return how far values are apart, of none too."""
    return values.max() - values.min() if len(values) else 0


def summed(rows: Any) -> Any:
    """Return a value of whole rows."""
    return rows["u"].sum()


def scaled(values: Any, by: float) -> Any:
    """Return a multiple of the sum."""
    return values.sum() * by


FUNCTIONS: dict[str, Any] = {
    "a function": lambda bins: bins[["u", "f"]].agg(spread),
    "of a column": lambda bins: bins["u"].apply(len),
    "several": lambda bins: bins["f"].agg(["sum", spread]),
    "by column": lambda bins: bins.agg({"u": "sum", "s": len}),
    "named": lambda bins: bins.agg(p=("u", "max"), q=("f", spread)),
    "of rows": lambda bins: bins[["u", "f"]].apply(summed),
    "arguments": lambda bins: bins["u"].agg(scaled, 0.25),
}
ALIGNED: dict[str, Any] = {
    "columns": lambda d: d.u.resample("5h").sum() + d.f.resample("5h").mean(),
    "frames": lambda d: d[["u", "f"]].resample("D").first() - d[["u", "f"]].resample("D").mean(),
    "assigned": lambda d: d.resample("5h").agg(p=("u", "sum")).assign(q=d.f.resample("5h").max()),
    "of a filter": lambda d: d[d.u > 0].u.resample("D").sum() * d[d.u > 0].f.resample("D").count(),
    "by a column": lambda d: (
        d.reset_index().resample("D", on="time").u.sum()
        + d.reset_index().resample("D", on="time").f.sum()
    ),
}
#: Units of bins, and how far the rows lie apart.
UNITS = {
    **dict.fromkeys(("D", "W", "W-WED", "SME", "MS", "ME", "B", "BME"), "117h"),
    **dict.fromkeys(("QS", "QE", "YS", "YE", "BQE"), "1011h"),
    "h": "5h",
    "min": "3min",
}
ZONES = (None, "UTC", "Europe/Berlin")
#: How bins are cut and named; all pairs occur among the rules.
ENDS: list[dict[str, Any]] = [
    {"closed": closed, "label": label}
    for closed in ("left", "right")
    for label in ("left", "right")
]
BINNED: dict[str, Any] = {
    "sum": lambda d, bins: d.resample(**bins).sum(),
    "of a column": lambda d, bins: d.f.resample(**bins).agg(["mean", "first"]),
    "transform": lambda d, bins: d.resample(**bins).transform("sum"),
    "apply": lambda d, bins: d.f.resample(**bins).apply(spread),
    "grouper": lambda d, bins: d.groupby(grouper(bins)).max(),
    "beside a key": lambda d, bins: d.groupby([grouper(bins), "u"]).f.sum(),
    "transformed groups": lambda d, bins: d.groupby(grouper(bins)).f.transform("sum"),
    "upsampled": lambda d, bins: d[~d.index.duplicated()].resample(**bins).ffill(),
}
ORIGINS = ("start", "start_day", "epoch", "end", "end_day", pd.Timestamp("2024-01-03 05:07"))
sizes = st.shared(chunkings((ROWS,)), key="sizes")


def grouper(bins: dict[str, Any]) -> pd.Grouper:
    """Return bins as a key of groups."""
    return pd.Grouper(freq=bins["rule"], **{key: bins[key] for key in bins if key != "rule"})


def timed(step: str, zone: str | None) -> pd.DataFrame:
    """Return rows some time apart, not all of them in the order of time."""
    times = pd.date_range("2024-02-27 22:30", periods=9, freq=step, tz=zone, name="time")
    frame = pd.DataFrame({"f": np.arange(9) ** 2 / 4, "u": np.arange(9) % 2}, index=times)
    return frame.iloc[[0, 1, 2, 6, 4, 5, 3, 7, 8]]


@pytest.mark.parametrize("unit", UNITS)
def test_bins_begin_at_the_first_of_all_rows(unit):
    """Whatever chunk a row lies in: several units of a calendar are counted from there."""
    calls, chunks = itertools.cycle(BINNED.values()), itertools.cycle((1, 3, 2))
    ends = itertools.cycle([{}, *ENDS])
    for zone, number in itertools.product(ZONES, (2, 1, 7)):
        frame = timed(UNITS[unit], zone)
        lazy = md.DataFrame(frame, chunk_size=next(chunks))
        bins, call = {"rule": f"{number}{unit}", **next(ends)}, next(calls)
        equal(call(lazy, bins), call(frame, bins), check_freq=False)


@pytest.mark.parametrize("origin", ORIGINS, ids=str)
@pytest.mark.parametrize("unit", ["2D", "7h", "11min"])
def test_origins(origin, unit):
    """Bins of a fixed length are counted from an origin, with an offset or not."""
    offsets = itertools.cycle((None, "-3min"))
    zones = itertools.cycle(ZONES[:1] if unit == "2D" else ZONES)
    for end in ({}, *ENDS):
        zone, offset = next(zones), next(offsets)
        frame = timed({"2D": "31h", "7h": "5h"}.get(unit, "4min"), zone)
        start = origin.tz_localize(zone) if isinstance(origin, pd.Timestamp) else origin
        bins = {"rule": unit, "origin": start, "offset": offset, **end}
        same(functools.partial(BINNED["sum"], bins=bins), md.DataFrame(frame, chunk_size=2), frame)


def test_bins_that_differ_between_chunks_are_an_error():
    """No group is dropped in silence."""
    how = (("rule", "2W"), ("closed", "right"), ("label", "right"))
    bounds = (pd.Timestamp("2024-01-01"), pd.Timestamp("2024-02-01"))
    with pytest.raises(RuntimeError, match="differ between chunks"):
        all_bins(bounds, how, pd.DatetimeIndex(["2024-01-14"]))


@draws(2)
@given(cut=sizes, rule=st.sampled_from(["5h", "D"]))
def test_functions(cut, rule):
    """Over chunkings, by labels and by a column."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=cut)
    for call in FUNCTIONS.values():
        equal(call(lazy.resample(rule)), call(FRAME.resample(rule)))
    found, wanted = (one.reset_index().resample(rule, on="time") for one in (lazy, FRAME))
    equal(found[["u", "f"]].agg(spread), wanted[["u", "f"]].agg(spread))
    equal(found.u.agg(spread), wanted.u.agg(spread))


@draws(2)
@given(cut=sizes)
def test_results_of_equal_bins_are_aligned(cut):
    """Whatever columns are aggregated; others are refused, as rows of other labels are."""
    lazy: Any = md.DataFrame(FRAME, chunk_size=cut)
    for call in ALIGNED.values():
        equal(call(lazy), call(FRAME), check_freq=False)
    for other in (lazy.u.resample("6h").sum(), lazy[lazy.u > 0].u.resample("5h").sum()):
        with pytest.raises(NotImplementedError, match="different indexes"):
            lazy.u.resample("5h").sum() + other


@pytest.mark.parametrize("history", ["executed", "filtered"])
def test_groups(history):
    """The rows of each bin, and where they are in the order of time."""
    frame, lazy = FRAME, md.DataFrame(FRAME, chunk_size=4)
    if history == "filtered":
        frame, lazy = frame[frame.u != 1], lazy[lazy.u != 1]
    else:
        lazy = HISTORIES[history](lazy)
    for d, e in (
        (frame.resample("D"), lazy.resample("D")),
        (frame.reset_index().resample("D", on="time"), lazy.reset_index().resample("D", on="time")),
    ):
        assert e.groups == d.groups
        assert e.indices == d.indices
        equal(e.get_group("2024-03-02"), d.get_group("2024-03-02"))
        day = pd.Timestamp("2024-03-03")
        equal(e["u"].get_group(day), d["u"].get_group(day))
        with pytest.raises(KeyError, match="2023"):
            e.get_group("2023-01-01")


def test_functions_that_fail():
    """The sample shows it at the call."""
    bins: Any = md.DataFrame(FRAME, chunk_size=4).resample("D")
    with pytest.raises(ZeroDivisionError, match="tried with a sample of rows"):
        bins.agg(lambda _: 1 // 0)
