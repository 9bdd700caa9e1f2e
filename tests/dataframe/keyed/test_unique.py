"""Distinct and repeated rows equal pandas's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, same, table, tables
from tests.strategies import draws


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


#: What is called of a table.
CALLS = {
    "rows": lambda d, keep: d[["k", "b", "s"]].duplicated(keep=keep),
    "rows by a column": lambda d, keep: d.duplicated("f", keep=keep),
    "rows by columns": lambda d, keep: d.duplicated(["k", "s"], keep),
    "values": lambda d, keep: d.s.duplicated(keep),
    "rows that are left": lambda d, keep: d.drop_duplicates(["k", "b"], keep=keep),
    "values that are left": lambda d, keep: d.f.drop_duplicates(keep=keep),
    "counts": lambda d, keep: d.nunique(dropna=bool(keep)),
    "counts of rows": lambda d, keep: d[["u", "k"]].nunique(axis=1, dropna=bool(keep)),
}


@draws(10)
@given(
    both=tables(min_rows=3),
    what=st.sampled_from(sorted(CALLS)),
    keep=st.sampled_from(["first", "last", False]),
    mode=st.sampled_from(["as it comes", "tight"]),
)
def test_duplicates(both, what, keep, mode):
    """Rows know whether equal ones are elsewhere, wherever these are."""
    frame, lazy = both
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            if len(d):
                equal(CALLS[what](e, keep), CALLS[what](d, keep))


def test_distinct_values():
    """They are a tensor, in order of first occurrence; missing objects are told apart."""
    values = [3, 1, 3, None, np.nan, "a", pd.NaT, None, True, pd.NA, "a"]
    series = pd.Series(values, dtype=object)
    for rows in (1, 4):
        lazy = md.Series(series, chunk_size=rows)
        found, wanted = lazy.unique().compute(), series.unique()
        assert list(map(str, found)) == list(map(str, wanted))
        equal(lazy.duplicated(), series.duplicated())
        equal(lazy.to_frame("x").nunique(dropna=False), series.to_frame("x").nunique(dropna=False))
    frame = table(9)
    rest = md.DataFrame(frame, chunk_size=2)
    assert md.unique(frame.k.to_numpy()).compute().tolist() == frame.k.unique().tolist()
    assert md.unique(rest.k.to_tensor()).compute().tolist() == frame.k.unique().tolist()
    with pytest.raises(TypeError, match="list"):
        md.unique([1, 2])
    assert rest.t.unique().compute().tolist() == frame.t.unique().tolist()
    assert filtered(rest).k.unique().compute().tolist() == filtered(frame).k.unique().tolist()


def test_columns_of_one_label():
    """Are columns all the same."""
    frame = pd.DataFrame([[1, 2], [1, 3], [1, 2]], columns=["a", "a"])
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.duplicated(), frame.duplicated())
    equal(lazy.nunique(), frame.nunique())


def test_refused_at_the_call():
    """What is not supported names the way out."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(ValueError, match="keep"):
        lazy.drop_duplicates(keep="any")
    with pytest.raises(ValueError, match="keep"):
        lazy.u.duplicated(keep=None)
    with pytest.raises(KeyError):
        lazy.drop_duplicates("nope")
    with pytest.raises(KeyError):
        lazy.duplicated(["k", "nope"])


def test_no_columns_to_look_at():
    """As in pandas, duplicates need a column."""
    lazy = md.DataFrame({"a": [1, 1]})
    for call in (lazy.drop_duplicates, lazy.duplicated):
        with pytest.raises(ValueError, match="at least one column"):
            call([])
    for frame in (pd.DataFrame(index=[1, 1]), pd.DataFrame({"a": []})):
        lazy = md.DataFrame(frame, chunk_size=1)
        for method in ("duplicated", "drop_duplicates"):
            for subset in (None, ["missing"]):
                equal(getattr(lazy, method)(subset), getattr(frame, method)(subset))


@pytest.mark.parametrize("closed", ["left", "right"])
def test_intervals_of_integers(closed):
    """They cannot be missing, which samples of types take into account."""
    frame = pd.DataFrame({"a": pd.arrays.IntervalArray.from_breaks(range(5), closed)})
    lazy = md.DataFrame(frame, chunk_size=2)
    for call in (
        lambda f: f.nunique(),
        lambda f: f.a.nunique(),
        lambda f: f.a.count(),
        lambda f: f.a.max(),
        lambda f: f.a.describe(),
    ):
        equal(call(lazy), call(frame))


@pytest.mark.parametrize("keep", ["first", "last", False])
def test_no_rows(keep):
    """Without rows or columns nothing is looked at: neither labels, nor whether to number rows."""
    frame = pd.DataFrame({"a": [1, 2]}, pd.Index([3, 4], name="n"))
    for rows in (frame.iloc[:0], frame[[]], frame.iloc[:0][[]]):
        lazy = md.DataFrame(rows, chunk_size=1)
        for how in ({}, {"ignore_index": True}, {"subset": ["z"]}):
            equal(lazy.drop_duplicates(keep=keep, **how), rows.drop_duplicates(keep=keep, **how))


#: Columns of values that are no keys, and one of tuples, which are.
CONTAINERS: dict[str, list[Any]] = {
    "lists": [[1], [1], [2]],
    "sets": [{1}, None],
    "lists in tuples": [(1, [2]), (1, [2])],
    "lists among others": [1, "a", [1]],
    "tuples": [(1,), (1,), (2,)],
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_values_that_cannot_be_hashed(kind):
    """Counting and finding distinct values needs keys, as in pandas; dropping does not."""
    values = pd.Series(CONTAINERS[kind])
    lazy = md.Series(values, chunk_size=1)
    for call in (
        lambda x: x.nunique(),
        lambda x: x.nunique(dropna=False),
        lambda x: x.is_unique,
        lambda x: pd.Series(x.unique()) if x is values else md.Series(x.unique()),
        lambda x: x.to_frame("a").nunique(),
        lambda x: x.drop_duplicates(),
    ):
        same(call, lazy, values)
