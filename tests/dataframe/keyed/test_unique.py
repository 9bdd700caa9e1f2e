"""Distinct rows and how often values occur equal pandas's."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table, tables


@pytest.mark.parametrize("keep", ["first", "last"])
@given(both=tables(), mode=st.sampled_from(["as it comes", "tight"]))
def test_drop_duplicates(keep, both, mode):
    """The first or the last of equal rows stays, in place."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            keys: Any = ["k", "s"]
            equal(e.drop_duplicates(keys, keep=keep), d.drop_duplicates(keys, keep=keep))
            equal(e[["b", "f"]].drop_duplicates(), d[["b", "f"]].drop_duplicates())
            equal(e.s.drop_duplicates(keep=keep), d.s.drop_duplicates(keep=keep))


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("column", ["k", "f", "s"])
@given(both=tables(), mode=st.sampled_from(["as it comes", "tight"]))
def test_value_counts(column, dropna, both, mode):
    """Counts are pandas's; equal counts stand in the order in which values are met."""
    frame, lazy = (side[column] for side in both)
    with planned(mode):
        equal(lazy.value_counts(dropna=dropna), frame.value_counts(dropna=dropna))
        equal(lazy.value_counts(normalize=True), frame.value_counts(normalize=True))


@pytest.mark.parametrize("normalize", [False, True])
def test_counts_of_values_under_a_mask(normalize):
    """Their type has a mask too."""
    series = pd.Series([3, None, 1, 3, 3, None], dtype="Int64")
    found = md.Series(series, chunk_size=2).value_counts(normalize=normalize)
    assert found.dtype == series.value_counts(normalize=normalize).dtype
    equal(found, series.value_counts(normalize=normalize))


def test_refused_at_the_call():
    """What is not supported names the way out."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(NotImplementedError, match="first"):
        lazy.drop_duplicates(keep=False)
    with pytest.raises(KeyError):
        lazy.drop_duplicates("nope")
    with pytest.raises(NotImplementedError, match="bins"):
        lazy.u.value_counts(bins=3)
