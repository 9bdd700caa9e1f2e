"""Means, medians and quantiles of times equal pandas's, in all units and before 1970."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal

TEXTS = ["1969-12-30 00:00:00.000001", "1970-01-05", "1970-01-02", None, "1970-01-02"]
TIMES = pd.Series(pd.to_datetime(pd.Series(TEXTS), format="ISO8601").astype("M8[us]"), name="t")
#: Times of many types, all of them missing, and none.
KINDS: dict[str, Any] = {
    "microseconds": TIMES,
    "nanoseconds": TIMES.astype("M8[ns]"),
    "zone": TIMES.dt.tz_localize("Asia/Tokyo"),
    "apart": TIMES - TIMES.min(),
    "missing": TIMES[3:4],
    "none": TIMES[:0],
}


@pytest.mark.parametrize("kind", KINDS)
def test_times(kind):
    """Types are those of the times; what is missing is skipped, or decides."""
    series = KINDS[kind]
    lazy = md.Series(series, chunk_size=2)
    for skipna in (True, False):
        equal(lazy.mean(skipna=skipna), series.mean(skipna=skipna))
        equal(lazy.median(skipna=skipna), series.median(skipna=skipna))
    for q in (0.3, [0.9, 0.3]):
        for how in ("linear", "lower"):
            equal(lazy.quantile(q, interpolation=how), series.quantile(q, interpolation=how))
    if kind != "apart":
        equal(lazy.describe(), series.describe())


@pytest.mark.parametrize("kernels", ["pandas", "polars"])
@pytest.mark.parametrize("days", [[3.0, 1.0, None], [1.0, 1.5, 3.0], [None]])
def test_units_that_values_tell(days, kernels):
    """Whole days are in microseconds, others in nanoseconds."""
    numbers = pd.Series(days, dtype=float)
    series: Any = pd.to_datetime(numbers, unit="D")
    with option_context({"coalesce": False, "dataframe.kernels": kernels}):
        lazy = md.to_datetime(md.Series(numbers, chunk_size=1), unit="D")
        for skipna in (True, False):
            equal(lazy.mean(skipna=skipna), series.mean(skipna=skipna))
            equal(lazy.median(skipna=skipna), series.median(skipna=skipna))
        for q in (0.3, [0.9, 0.3]):
            equal(lazy.quantile(q), series.quantile(q))


def test_refused_at_the_call():
    """As in pandas, by argument."""
    lazy = md.Series(TIMES)
    with pytest.raises(ValueError, match="axis"):
        lazy.mean(axis=1)
    with pytest.raises(TypeError, match="numeric_only"):
        lazy.median(numeric_only=True)
    with pytest.raises(TypeError, match="nonsense"):
        lazy.mean(nonsense=True)
    with pytest.raises(ValueError, match="interval"):
        lazy.quantile(2)
