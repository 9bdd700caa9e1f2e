"""What indexes of times tell, joins of labels, and labels by the order of their values."""

from __future__ import annotations

from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe import one_mode
from tests.dataframe.tables import equal
from tests.strategies import draws

_coalesce = one_mode.as_given

TIMES = pd.DatetimeIndex(["2024-03-01 05:00", "2024-02-01", "2024-02-03 01:00:02"], name="t")
DURATIONS = pd.to_timedelta([5, 1, 90000], unit="s")
labels = st.lists(st.integers(0, 5), max_size=6).map(lambda one: pd.Index(one, dtype="i8"))


@draws(3)
@given(one=labels, other=labels, sort=st.booleans(), size=st.integers(1, 3))
def test_joins(one, other, sort, size):
    """Of labels that repeat and of unique ones, lazy and in memory."""
    for how in ("left", "right", "inner", "outer"):
        wanted = pd.Index.join(one, other, how=how, sort=sort)
        found: Any = md.Index(one, chunk_size=size).join(other, how=how, sort=sort)
        equal(found.sort_values(), wanted.sort_values())
        if how == "left" or sort:
            equal(found, wanted)
    equal(md.Index(one, chunk_size=size).join(md.Index(other)), one.join(other))


def test_parts():
    """Parts of times and durations are labels, arrays, frames or facts, as in pandas."""
    for index, names, calls in (
        (TIMES, "is_normalized asi8 inferred_freq resolution date time timetz", "mean"),
        (TIMES, "", "isocalendar to_pydatetime to_julian_date"),
        (DURATIONS, "days seconds microseconds nanoseconds components unit asi8 resolution", "sum"),
        (DURATIONS, "inferred_freq", "mean median total_seconds to_pytimedelta"),
    ):
        lazy: Any = md.Index(index, chunk_size=2)
        for name in (*names.split(), *calls.split()):
            wanted, found = getattr(index, name), getattr(lazy, name)
            if name in calls.split():
                wanted, found = wanted(), found()
            if isinstance(wanted, np.ndarray):
                assert found.compute().tolist() == wanted.tolist()
            elif hasattr(found, "compute"):
                equal(found, wanted)
            else:
                assert found == wanted
    equal(md.Index(TIMES, chunk_size=2).to_period("M"), TIMES.to_period("M"))
    equal(md.Index(TIMES, chunk_size=2).infer_objects(), TIMES)
    with pytest.raises(AttributeError, match="days"):
        _ = md.Index([1, 2]).days


def test_places():
    """Slices of rising labels, the last label up to one, and labels by values."""
    rising = pd.Index([1, 3, 5, 5, 8])
    lazy: Any = md.Index(rising, chunk_size=2)
    for side in ("left", "right"):
        for label in (0, 3, 4, 5, 9):
            assert lazy.get_slice_bound(label, side) == rising.get_slice_bound(label, side)
    assert lazy.slice_locs(2, 5) == rising.slice_locs(2, 5)
    assert lazy.slice_locs(6, 2) == rising.slice_locs(6, 2)
    assert lazy.slice_indexer(None, 5) == rising.slice_indexer(None, 5)
    assert lazy.asof(4) == 3
    assert np.isnan(lazy.asof(0))
    days = TIMES.sort_values()
    assert md.Index(days, chunk_size=2).slice_locs("2024-02", "2024-02") == (0, 2)
    found, wanted = (one.groupby([1, 2, 1, 2, 1]) for one in (lazy, typed("Any", rising)))
    assert {key: [*one] for key, one in found.items()} == {
        key: [*one] for key, one in wanted.items()
    }


def test_refusals():
    """What needs an order, positions or levels names the way out."""
    falling: Any = md.Index([3, 1, 2], chunk_size=2)
    for call in (
        lambda: falling.get_slice_bound(2, "left"),
        lambda: falling.slice_locs(1, 2, 2),
        lambda: falling.join([1], return_indexers=True),
    ):
        with pytest.raises(NotImplementedError, match="use "):
            call()
    with pytest.raises(ValueError, match="either 'left' or 'right'"):
        falling.get_slice_bound(2, "middle")
