"""Windows within groups equal pandas's, and so do numbers, draws and pairs of columns of groups."""

from __future__ import annotations

from typing import cast as typed

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table, tables
from tests.strategies import draws

#: What is called of the groups of a table.
CALLS = {
    "rolling": lambda g: g[["u", "f"]].rolling(2).sum(),
    "rolling of a column": lambda g: g.f.rolling(3, min_periods=1, center=True).mean(),
    "largest of windows": lambda g: g.u.rolling(2, 1).max(),
    "quantiles of windows": lambda g: g.u.rolling(2).quantile(0.3),
    "expanding": lambda g: g[["u"]].expanding().sum(),
    "expanding of a column": lambda g: g.f.expanding(2).std(ddof=0),
    "number": lambda g: g.ngroup(),
    "number from the end": lambda g: g.ngroup(ascending=False),
    "draw": lambda g: g.sample(1, random_state=5),
    "draw of a column": lambda g: g.u.sample(frac=0.5, random_state=5),
    "corr": lambda g: g[["u", "f"]].corr(),
    "cov": lambda g: g[["u", "f"]].cov(ddof=0),
}


@draws(14)
@given(
    both=tables(min_rows=3),
    what=st.sampled_from(sorted(CALLS)),
    by=st.sampled_from(["k", "s", ["b", "s"]]),
    sort=st.booleans(),
    mode=st.sampled_from(["as it comes", "tight"]),
)
def test_groups(both, what, by, sort, mode):
    """Over chunkings, of whole tables and of filtered ones."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            if by == "k" or d.s.notna().any():
                equal(CALLS[what](e.groupby(by, sort=sort)), CALLS[what](d.groupby(by, sort=sort)))


def test_refused_at_the_call():
    """What is not supported names the way out; text has no sums."""
    groups = md.DataFrame(table(5), chunk_size=2).groupby("k")
    with pytest.raises(NotImplementedError, match="take"):
        groups.sample(1, weights=[1])
    with pytest.raises(NotImplementedError, match="apply"):
        groups.u.rolling(2).cov()
    with pytest.raises(ValueError, match="window"):
        groups.u.rolling(typed("int", "a")).sum()


@pytest.mark.parametrize("dropna", [True, False])
def test_numbers_in_order_of_occurrence(dropna):
    """Rows without a key have none, or one of their own."""
    frame = table(12)
    lazy = md.DataFrame(frame, chunk_size=5)
    with planned("shuffled"):
        for by in ("s", ["k", "s"]):
            how = {"sort": False, "dropna": dropna}
            equal(lazy.groupby(by, **how).ngroup(), frame.groupby(by, **how).ngroup())
