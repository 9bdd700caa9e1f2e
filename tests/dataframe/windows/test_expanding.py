"""Statistics of all rows up to each row are pandas's, across chunks of any lengths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.core.config import option_context
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

COLUMNS = ["k", "f", "b", "u"]


@draws(20)
@given(
    both=tables(),
    least=st.integers(0, 4),
    name=st.sampled_from(["sum", "mean", "count", "min", "max", "var", "std", "sem"]),
)
def test_statistics_of_moments(both, least, name):
    """Over missing values, of rows of known and unknown lengths."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        found, wanted = (one[COLUMNS].expanding(least) for one in (e, d))
        equal(getattr(found, name)(), getattr(wanted, name)())
        equal(getattr(e.f.expanding(), name)(), getattr(d.f.expanding(), name)())


@draws(6)
@given(both=tables(), name=st.sampled_from(["median", "skew", "kurt", "rank", "first", "nunique"]))
def test_statistics_of_all_rows(both, name):
    """Those that need all rows keep the chunks of their rows."""
    frame, lazy = both
    found = getattr(lazy[["u", "f"]].expanding(2), name)()
    equal(found, getattr(frame[["u", "f"]].expanding(2), name)())
    equal(found.f + filtered(lazy).f.sum(), found.compute().f + filtered(frame).f.sum())


def test_options():
    """Degrees of freedom, columns chosen, numbers only, quantiles, pairs, several at once."""
    frame = table(9, index="labels")
    frame.loc[frame.index[3], "f"] = np.inf
    lazy = md.DataFrame(frame, chunk_size=2)
    d, e = frame.expanding(2), lazy.expanding(2)
    equal(e["f"].var(ddof=0), d["f"].var(ddof=0))
    equal(e.mean(numeric_only=True), d.mean(numeric_only=True))
    equal(e.count(), d.count())
    equal(e.u.quantile(0.3), d.u.quantile(0.3))
    equal(e.u.apply(np.ptp, raw=True), d.u.apply(np.ptp, raw=True))
    equal(e.u.corr(lazy.k), d.u.corr(frame.k))
    equal(e[["u", "k"]].agg(["sum", "max"]), d[["u", "k"]].agg(["sum", "max"]))


def test_refusals():
    """What is not there says so, and what pandas refuses is refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(NotImplementedError):
        lazy.expanding(method="table")
    with pytest.raises(NotImplementedError):
        lazy[["u", "f"]].expanding().corr()
    with pytest.raises(pd.errors.DataError):  # texts of numbers would be taken
        lazy.s.expanding().sum().compute()
    with pytest.raises(ValueError, match="min_periods"):
        lazy.expanding(-1)


SEVERAL = {
    "of each": lambda rows: rows.expanding(1).agg(["sum", "count"]),
    "of rolling windows": lambda rows: rows.rolling(2, min_periods=1).agg(["max", "mean"]),
    "by column": lambda rows: rows.expanding(1).agg({"m": ["sum"], "f": ["max", "min"]}),
}


@pytest.mark.parametrize("kernels", ["pandas", "polars"])
@pytest.mark.parametrize("name", SEVERAL)
def test_rows_of_missing_keys(name: str, kernels: str) -> None:
    """Statistics of several columns stay beside each other where labels are missing."""
    masked = pd.array([1, None, 2, 3], dtype="Int64")
    frame = pd.DataFrame({"k": [1, 2, 3, 4], "f": [1.0, np.nan, 2.0, np.nan], "m": masked})
    with option_context({"dataframe.kernels": kernels}):
        keys = ["k", "f"]
        d, e = (
            rows.groupby(keys, sort=False, dropna=False)[["f", "m"]].min()
            for rows in (frame, md.DataFrame(frame, chunk_size=2))
        )
        equal(SEVERAL[name](e), SEVERAL[name](d))
