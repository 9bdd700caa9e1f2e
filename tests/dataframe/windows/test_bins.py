"""Results over the same bins are aligned; functions of the user see whole bins, also empty ones."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal, table
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
sizes = st.shared(chunkings((ROWS,)), key="sizes")


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
    with pytest.raises(ValueError, match=r"sample of rows raised ZeroDivisionError"):
        bins.agg(lambda _: 1 // 0)
