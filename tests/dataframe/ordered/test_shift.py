"""Rows meet those some places away, across chunks of any lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.core.recording import recording_session
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import HISTORIES

PERIODS = st.integers(-14, 14)
#: Kinds of columns that can be subtracted.
SUBTRACTED = ("int", "float", "bool", "datetime", "nullable")
#: A value that each kind of column takes without another type.
FILLS = {"int": 7, "float": 0.5, "bool": True, "str": "z", "object": "z", "nullable": 3}


@given(both=states(), periods=PERIODS)
def test_shift(both, periods):
    """Of columns of all types, cut somehow, before and after they ran."""
    frame, lazy = both
    equal(lazy.shift(periods), frame.shift(periods))
    for name in frame:
        equal(lazy[name].shift(periods), frame[name].shift(periods))
        if name in FILLS:
            options = {"fill_value": FILLS[name]}
            equal(lazy[name].shift(periods, **options), frame[name].shift(periods, **options))


@pytest.mark.parametrize("size", [1, 3, 7])
def test_several_periods(size):
    """Their columns lie side by side, with the periods in their labels."""
    frame = table(7)
    lazy: Any = md.DataFrame(frame, chunk_size=size)
    for periods, options in (([1, -2], {}), ((0, 3), {"suffix": "by"}), ([2], {"fill_value": 0})):
        numbers = ["k", "u"]
        equal(lazy[numbers].shift(periods, **options), frame[numbers].shift(periods, **options))
        equal(lazy.u.shift(periods, **options), frame.u.shift(periods, **options))
    equal(lazy.groupby("k").u.shift([1, 2]), frame.groupby("k").u.shift([1, 2]))


@given(both=states(SUBTRACTED), periods=PERIODS)
def test_diff(both, periods):
    """Numbers, times and truth values; small integers are single floats, as with pandas."""
    frame, lazy = both
    equal(lazy.diff(periods), frame.diff(periods))
    for name in frame:
        equal(lazy[name].diff(periods), frame[name].diff(periods))
    if "int" in frame:
        equal(lazy["int"].astype("i1").diff(periods), frame["int"].astype("i1").diff(periods))


@given(both=tables(), periods=PERIODS)
def test_rows_of_unknown_lengths(both, periods):
    """Chunks of which a filter left one row or none are reached across."""
    frame, lazy = both
    few, rows = filtered(lazy), filtered(frame)
    equal(few.shift(periods), rows.shift(periods))
    equal(few[["k", "f"]].diff(periods), rows[["k", "f"]].diff(periods))
    # The rows are the same ones: what is made of them fits together.
    equal(few.u - few.u.shift(periods), rows.u - rows.u.shift(periods))
    none, nothing = lazy[lazy.u > 99], frame[frame.u > 99]
    equal(none.shift(periods), nothing.shift(periods))


@pytest.mark.parametrize("name", [name for name in HISTORIES if name != "spilled"])
def test_history(name):
    """What happened to the rows before changes nothing."""
    frame = table(11, index="labels")
    lazy = HISTORIES[name](md.DataFrame(frame, chunk_size=3))
    equal(lazy.shift(4), frame.shift(4))
    equal(lazy.u.diff(-2), frame.u.diff(-2))
    equal(filtered(lazy).f.rolling(3).sum(), filtered(frame).f.rolling(3).sum())


@pytest.mark.parametrize(("periods", "count"), [(2, 1), (25, 2)])
def test_short_distances_are_not_looked_at(periods, count):
    """Rows of unknown lengths run in one stage; long ones are looked at, but for dask."""
    frame = table(60)
    wanted = frame[frame.k > -2].shift(periods)
    stages = []
    lazy = md.DataFrame(frame, chunk_size=20)
    found = lazy[lazy.k > -2].shift(periods)
    with option_context({"coalesce": False}), recording_session(lambda: stages.append(1)):
        equal(found, wanted)
    assert len(stages) == count
    by_dask = found.to_dask().compute(scheduler="synchronous")
    pd.testing.assert_frame_equal(by_dask, wanted)


def test_only_rows_that_are_met_are_read():
    """A distance of many chunks costs as many reads as a small one."""
    with recording_session() as (_, scheduler):
        lazy = md.Series(pd.Series(np.arange(1000)), chunk_size=10)
        (lazy + 1).shift(500).compute()
        assert scheduler.tasks <= 200


def test_shift_by_time_or_across_columns():
    """Labels move with ``freq``, and columns with ``axis=1``."""
    days = pd.date_range("2024-01-30", periods=5, name="day")
    frame = table(5)[["k", "f"]].set_axis(days)
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.shift(2, freq="D"), frame.shift(2, freq="D"), check_freq=False)
    equal(lazy.f.shift(freq="ME"), frame.f.shift(freq="ME"), check_freq=False)
    equal(lazy.shift(1, axis=1), frame.shift(1, axis=1), check_freq=False)
    equal(lazy.diff(axis=1), frame.diff(axis=1), check_freq=False)


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for call in (
        lambda: lazy.shift(1, freq="infer"),
        lambda: lazy.shift([1, 2], freq="D"),
        lambda: lazy.shift(1, freq="D", axis=1),
    ):
        with pytest.raises(NotImplementedError):
            call()
    for message, periods, options in (
        ("cannot be empty", [], {}),
        ("axis", [1, 2], {"axis": 1}),
        ("suffix", 1, {"suffix": "_before"}),
    ):
        with pytest.raises(ValueError, match=message):
            lazy.shift(periods, **options)
    with pytest.raises(TypeError, match="Periods must be integer"):
        lazy.shift([1.5])
    with pytest.raises(TypeError):
        lazy.s.diff().compute()
    with pytest.raises(ValueError, match="axis"):
        lazy.u.shift(axis=1)
    with pytest.raises(TypeError):
        lazy.u.shift("a")


@pytest.mark.parametrize("name", ["shift", "diff"])
@pytest.mark.parametrize("dtype", ["i8", "i1", "u8", "f4", "bool", "Int64", "M8[s]", "object"])
def test_types_follow_gaps(name, dtype):
    """The declared types are those that rows have: of what reads them, too."""
    column = pd.Series([1, 0, 1, 1]).astype(dtype)
    for frame in (pd.DataFrame({"a": column}), pd.DataFrame({"a": column[:0]})):
        for periods in (-1, 0, 2):
            wanted = getattr(frame, name)(periods)
            lazy = getattr(md.DataFrame(frame, chunk_size=1), name)(periods)
            assert lazy.dtypes.equals(wanted.dtypes)
            equal(lazy, wanted)


def test_gaps_before_rows_of_a_join():
    """Truth values that a join made objects are shifted as objects, in every chunk."""
    frame = pd.DataFrame({"k": [1, 2, 3]})
    other = pd.DataFrame({"k": [1, 2], "b": [True, False]})
    lazy = md.DataFrame(frame, chunk_size=1).merge(md.DataFrame(other), on="k", how="left")
    found = lazy.shift(1).compute().b.tolist()
    assert (
        found == frame.merge(other, on="k", how="left").shift(1).b.tolist() == [None, True, False]
    )
