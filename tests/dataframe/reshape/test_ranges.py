"""Ranges of dates, durations, intervals and periods are pandas's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal

RANGES: dict[str, Any] = {
    "date_range": lambda xd, **o: xd.date_range("2020", periods=7, freq="h", tz="UTC", **o),
    "bdate_range": lambda xd, **o: xd.bdate_range("2020", "2021", name="days", **o),
    "timedelta_range": lambda xd, **o: xd.timedelta_range("1 day", periods=5, freq="h", **o),
    "interval_range": lambda xd, **o: xd.interval_range(0, 5, name="i", closed="left", **o),
    "period_range": lambda xd, **o: xd.period_range("2020", periods=5, freq="M", **o),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name):
    """In chunks of rows."""
    found = RANGES[name](md, chunk_size=3)
    assert found.npartitions > 1
    equal(found, RANGES[name](pd))
