"""Rows and columns with missing values go, and those that pandas drops."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

OPTIONS = [{}, {"how": "all"}, {"thresh": 2}, {"thresh": -1}, {"thresh": 9}, {"thresh": None}]


@draws(6)
@given(both=tables(), how=st.sampled_from(OPTIONS), ignore=st.booleans())
def test_rows(both, how, ignore):
    """By all columns or some, by how many values are there, of rows of unknown number as well."""
    for frame, lazy in (both, map(filtered, both)):
        for subset in (None, ["f"], "s", ("f", "s"), ["s", "s"]):
            wanted = frame.dropna(subset=subset, ignore_index=ignore, **how)
            equal(lazy.dropna(subset=subset, ignore_index=ignore, **how), wanted)
    frame, lazy = both
    equal(lazy.f.dropna(ignore_index=ignore), frame.f.dropna(ignore_index=ignore))


@draws(6)
@given(both=states(), how=st.sampled_from(OPTIONS), ignore=st.booleans())
def test_columns(both, how, ignore):
    """Of all kinds and states, by all rows or those of some labels, labelled twice as well."""
    frame, lazy = both
    few = list(frame.index[:2])
    for subset in (None, few, few * 2):
        options = {"axis": 1, "subset": subset, "ignore_index": ignore, **how}
        equal(lazy.dropna(**options), frame.dropna(**options))
    twice = [frame.columns[0]] * len(frame.columns)
    wanted = frame.set_axis(twice, axis=1).dropna(axis="columns", **how)
    equal(lazy.set_axis(twice, axis=1).dropna(axis="columns", **how), wanted)


@pytest.mark.parametrize(
    "options",
    [
        {"how": "any", "thresh": 2},
        {"how": "some"},
        {"axis": (0, 1)},
        {"axis": 2},
        {"thresh": "two"},
        {"subset": ["k", "z"]},
        {"axis": 1, "subset": [0, 99]},
        {"axis": 1, "subset": "k"},
    ],
)
def test_errors(options):
    """Are pandas's, raised at the call."""
    frame = table(5)
    with pytest.raises((TypeError, ValueError, KeyError)) as wanted:
        frame.dropna(**options)
    with pytest.raises(wanted.type, match=re.escape(str(wanted.value))):
        md.DataFrame(frame, chunk_size=2).dropna(**options)


def test_what_is_not_supported():
    """Is refused at the call: what a Series does not take."""
    lazy: Any = md.DataFrame(pd.DataFrame({"a": [1.0, None]}))
    for option in ({"thresh": 1}, {"subset": ["a"]}):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{next(iter(option))}'"):
            lazy.a.dropna(**option)
