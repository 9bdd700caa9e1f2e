"""Functions of whole columns give what pandas gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CALLS = {
    "a value": lambda d: d[["k", "u"]].apply(lambda x: x.max() - x.min()),
    "values of other types": lambda d: d[["k", "s"]].apply(lambda x: x.iloc[0]),
    "rows": lambda d: d[["k", "f"]].apply(np.cumsum),
    "rows in another order": lambda d: d[["k", "u"]].apply(lambda x: x.sort_values().values),
    "some rows": lambda d: d.apply(lambda x: x.head(5)),
    "arrays": lambda d: d[["k", "f"]].apply(lambda x, a: x.sum() + a, raw=True, args=(3,)),
    "names": lambda d: d[["k", "u"]].apply(["min", "max"]),
    "agg": lambda d: d[["k", "f"]].agg(lambda x: np.mean(x) * 5.6),
    "agg with arguments": lambda d: d[["k", "f"]].agg(lambda x, a, b: x.sum() + a + b, 0, 1, b=2),
    "agg across": lambda d: d[["k", "u"]].agg(lambda x: x.sum(), axis=1),
    "agg of a list": lambda d: d[["k", "u"]].agg(["sum", lambda x: x.iloc[-1]]),
    "agg of a dict": lambda d: d.agg({"k": lambda x: x.max(), "u": "sum"}),
    "agg of a column": lambda d: d.u.agg(lambda x: x.iloc[0] - x.iloc[-1]),
    "a time": lambda d: d.t.agg(lambda x: x.iloc[0]),
}


@draws(24)
@given(both=tables(min_rows=1), what=st.sampled_from(sorted(CALLS)))
def test_functions_see_all_rows(both, what):
    """Values, types and labels are pandas's, also where only running tells the rows."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        if len(d):
            equal(CALLS[what](e), CALLS[what](d))


def test_types_are_shown_or_declared():
    """A function that fails for made-up rows says so at the call, unless its result is declared."""
    frame = table(6)[["k", "u"]]
    lazy = md.DataFrame(frame, chunk_size=2)

    def last(column):
        return column.iloc[5]

    with pytest.raises(IndexError, match="few rows"):
        lazy.apply(last)
    equal(lazy.apply(last, meta=pd.Series(dtype="i8")), frame.apply(last))
    assert lazy.apply(lambda x: x.max()).dtype == np.dtype("i8")
    assert lazy.u.agg(lambda x: x.max()).shape == ()


def test_types_of_no_rows():
    """Are those that the function gives for none, where these are known to be none."""
    frame = table(6)[["k"]][:0]
    equal(md.DataFrame(frame).apply(np.sum), frame.apply(np.sum))
    distinct: Any = md.DataFrame(frame).apply(np.sum)
    wanted: Any = frame.apply(np.sum)
    np.testing.assert_array_equal(distinct.unique().compute(), wanted.unique(), strict=True)


def test_types_that_values_tell():
    """A function may give another type for all rows than for a few that are made up."""
    frame = table(6)[["k"]]

    def half(column):
        return len(column) / 4 if len(column) > 5 else 0

    lazy: Any = md.DataFrame(frame, chunk_size=2).apply(half)
    values: Any = frame.apply(half)
    equal(lazy.quantile(0.5), values.quantile(0.5))
