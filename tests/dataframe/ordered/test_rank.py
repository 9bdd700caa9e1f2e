"""Ranks, and the order of values, equal pandas's."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table, tables
from tests.strategies import draws

METHODS = ["average", "min", "max", "first", "dense"]

#: What is called of a table.
CALLS = {
    "gaps": lambda d, how: d.f.rank(**how),
    "texts": lambda d, how: d.s.rank(**how),
    "times": lambda d, how: d.t.rank(**how),
    "columns": lambda d, how: d[["k", "b", "f"]].rank(**how),
    "numeric only": lambda d, how: d.rank(numeric_only=True, **how),
    "across": lambda d, how: d[["k", "u", "f"]].rank(axis=1, **how),
}


@draws(12)
@given(
    both=tables(),
    what=st.sampled_from(sorted(CALLS)),
    method=st.sampled_from(METHODS),
    na_option=st.sampled_from(["keep", "top", "bottom"]),
    ascending=st.booleans(),
    pct=st.booleans(),
    mode=st.sampled_from(["as it comes", "shuffled", "tight"]),
)
def test_ranks(both, what, mode, **how):
    """By all methods, wherever equal values are; rows keep their order and labels."""
    frame, lazy = both
    if what == "texts" and how["method"] == "first":
        how["method"] = "max"  # pandas has no such ranks of text
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            equal(CALLS[what](e, how), CALLS[what](d, how))


@draws(4)
@given(both=tables(), mode=st.sampled_from(["as it comes", "shuffled", "tight"]))
def test_positions_that_sort(both, mode):
    """Equal values keep their order, and missing ones are last."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            equal(e.f.argsort(), d.f.argsort(kind="stable"))
            equal(e.k.argsort(), d.k.argsort(kind="stable"))
            places = e.k.sort_values().searchsorted([-1, 1], side="right").compute()
            assert places.tolist() == d.k.sort_values().searchsorted([-1, 1], "right").tolist()


def test_types():
    """Masked and ordered types have ranks, what has no order has none."""
    series = pd.Series([3, None, 1, 3], dtype="Int64", name="n")
    lazy = md.Series(series, chunk_size=1)
    equal(lazy.rank(), series.rank())
    ordered = pd.Series(pd.Categorical(["b", None, "a", "b"], ["z", "b", "a"], ordered=True))
    with planned("shuffled"):
        equal(md.Series(ordered, chunk_size=1).rank(), ordered.rank())
    with pytest.raises(NotImplementedError, match="astype"):
        md.Series(pd.Series(["a"], dtype=pd.CategoricalDtype(["a"]))).rank()
    with pytest.raises(NotImplementedError, match="one by one"):
        md.Series(ordered).to_frame("x").rank()
    with pytest.raises(ValueError, match="na_option"):
        lazy.rank(na_option="none")
    with pytest.raises(KeyError):
        lazy.rank(method="none")
    with pytest.raises(TypeError, match="numeric_only"):
        md.DataFrame(table(3)).s.rank(numeric_only=True)
