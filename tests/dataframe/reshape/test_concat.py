"""Frames below each other equal pandas's."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables


@given(one=tables(min_rows=1), two=tables(min_rows=1))
def test_rows_follow_rows(one, two):
    """Labels stay or are numbered anew, and lengths may be unknown."""
    (a, x), (b, y) = one, two
    equal(md.concat([x, y]), pd.concat([a, b]))
    equal(md.concat([x.u, y.u], ignore_index=True), pd.concat([a.u, b.u], ignore_index=True))
    found = md.concat([x, filtered(y), x], ignore_index=True)
    equal(found, pd.concat([a, filtered(b), a], ignore_index=True))
    equal(
        md.concat([x, filtered(y)]).groupby("k").u.sum(),
        pd.concat([a, filtered(b)]).groupby("k").u.sum(),
    )


def test_other_columns():
    """A column that one of them lacks is missing there."""
    a, b = table(5)[["k", "u"]], table(4)[["u", "f"]]
    equal(md.concat([md.DataFrame(a, chunk_size=2), md.DataFrame(b)]), pd.concat([a, b]))


COLUMNS = {
    "i": pd.DataFrame({"a": [1, 2, 3]}),
    "f": pd.DataFrame({"a": [0.5, None]}),
    "b": pd.DataFrame({"a": [True, False]}),
    "s": pd.DataFrame({"a": ["x", None]}),
    "t": pd.DataFrame({"a": pd.DatetimeIndex(["2020-01-01", None])}),
    "c": pd.DataFrame({"a": pd.Categorical(["q", "r"])}),
    "m": pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    "e": pd.DataFrame({"a": pd.Series([], dtype="f8")}),
    "o": pd.DataFrame({"z": [1, 2]}),
}


@pytest.mark.parametrize("one", COLUMNS)
def test_columns_of_other_types(one):
    """Each chunk has the types that the whole has, so that what follows sees them."""
    a = COLUMNS[one]
    for b in COLUMNS.values():
        lazy = md.concat([md.DataFrame(a, chunk_size=1), md.DataFrame(b, chunk_size=1)])
        wanted = pd.concat([a, b])
        pd.testing.assert_series_equal(lazy.dtypes, wanted.dtypes)
        equal(lazy, wanted)
        equal(lazy.head(1), wanted.head(1))
    integers, floats = (md.DataFrame(COLUMNS[name]).a for name in "if")
    equal(
        md.concat([integers, floats]).head(2).astype(str),
        pd.concat([COLUMNS["i"].a, COLUMNS["f"].a]).head(2).astype(str),
    )


def test_refused_at_the_call():
    """What is not supported names the way out."""
    with pytest.raises(TypeError, match="marsdask"):
        md.concat([table(5)])
    with pytest.raises(ValueError, match="No objects"):
        md.concat([])
