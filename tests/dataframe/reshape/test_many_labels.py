"""Regular labels of any number: chunks make their own, as pandas makes all."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.dataframe.reshape import many_labels

RANGES: dict[str, Any] = {
    "dates": lambda xd: xd.date_range("2020", periods=70, freq="7h", name="t"),
    "dates to an end": lambda xd: xd.date_range(end="2020", periods=70, freq="us", tz="UTC"),
    "dates between": lambda xd: xd.date_range("2020-03-29", "2020-03-31", freq="h", tz="CET"),
    "noon": lambda xd: xd.date_range("2020-01-01 12:00", periods=70, freq="min", normalize=True),
    "durations": lambda xd: xd.timedelta_range("1 day", periods=70, freq="3s", name="d"),
    "durations between": lambda xd: xd.timedelta_range("1s", "90s", freq="1s"),
    "downwards": lambda xd: xd.date_range("2020", periods=70, freq="-1s"),
    "months": lambda xd: xd.period_range("2020-01", periods=70, freq="M", name="m"),
    "every other month": lambda xd: xd.period_range("2020-01", periods=70, freq="2M"),
    "periods between": lambda xd: xd.period_range(pd.Period("2020-01", "M"), "2028-01"),
}
PARTS = (slice(None), slice(3, 9), slice(None, None, -20), slice(-3, None))


@pytest.mark.parametrize("name", RANGES)
def test_labels(name):
    """All of them, and parts of them."""
    wanted = RANGES[name](pd)
    with mock.patch.object(many_labels, "MOST_LISTED", 8):
        labels = RANGES[name](md)
    assert type(labels.node) is many_labels.ManyLabels
    for part in PARTS:
        found = labels[part].compute()
        assert (found.dtype, found.name) == (wanted.dtype, wanted.name)
        assert list(found) == list(wanted[part])


HUGE: dict[str, Any] = {
    "dates": lambda n: md.date_range("2020", periods=n, freq="us"),
    "dates between": lambda _: md.date_range("2000", "2010", freq="us"),
    "durations": lambda n: md.timedelta_range("1s", periods=n, freq="us"),
    "periods": lambda n: md.period_range("2020", periods=n, freq="s"),
}


@pytest.mark.parametrize("name", HUGE)
def test_far_more_labels_than_memory(name):
    """Nothing is made but what is selected."""
    labels = HUGE[name](10**11)
    assert len(labels) > 10**10
    assert len(labels[-3:].compute()) == 3
    assert len(labels.to_series().iloc[:: len(labels) // 3].compute()) in (3, 4)


def test_steps_of_several_lengths_are_refused():
    """What would have to be listed is refused, and errors of arguments are pandas's."""
    for call in (
        lambda: md.bdate_range("2020", periods=10**9),
        lambda: md.interval_range(0, periods=10**9),
        lambda: md.date_range("2020", "2021", periods=10**9),
        lambda: md.date_range("2020", periods=10**9, freq="us", inclusive="left"),
    ):
        with pytest.raises(NotImplementedError, match="freq="):
            call()
    with pytest.raises(ValueError, match=r"bounds|overflow"):
        md.date_range("2020", periods=10**14, freq="s")
    with pytest.raises(ValueError, match="exactly three must be specified"):
        md.date_range("2020", "2021", periods=10**9, freq="s")
