"""Rows of extreme values and their labels equal pandas's, ties and missing values included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, same, table, tables
from tests.strategies import draws

NUMBERS = ["k", "f", "u", "b"]

#: What is called, with the name of the method.
LABELS = {
    "of columns": lambda d, name: getattr(d[NUMBERS], name)(),
    "of numbers and times": lambda d, name: getattr(d[["u", "t"]], name)(),
    "with gaps": lambda d, name: getattr(d[NUMBERS], name)(skipna=False),
    "of one": lambda d, name: getattr(d.f, name)(),
    "of text": lambda d, name: getattr(d.s, name)(),
    "of a row": lambda d, name: getattr(d[["u", "k"]], name)(axis=1),
    "of a row with gaps": lambda d, name: getattr(d[["f", "k"]], name)(axis="columns"),
    "position of text": lambda d, name: getattr(d.s, name.replace("idx", "arg"))(),
    "position of times": lambda d, name: getattr(d.t, name.replace("idx", "arg"))(),
    "numeric only": lambda d, name: getattr(d, name)(numeric_only=True),
}

#: What is called, with the name of the method, the number of rows and which of ties stay.
ROWS = {
    "of a column": lambda d, name, n, keep: getattr(d.f, name)(n, keep),
    "of times": lambda d, name, n, keep: getattr(d.t, name)(n, keep=keep),
    "by a column": lambda d, name, n, keep: getattr(d, name)(n, "k", keep),
    "by several": lambda d, name, n, keep: getattr(d, name)(n, ["k", "f"], keep=keep),
    "by three": lambda d, name, n, keep: getattr(d, name)(n, ["b", "k", "f"], keep=keep),
}


@draws(10)
@given(both=tables(), what=st.sampled_from(sorted(LABELS)), most=st.booleans())
def test_labels_of_extremes(both, what, most):
    """The first of equal values counts; what is missing is an error, as of no rows."""
    frame, lazy = both
    name = "idxmax" if most else "idxmin"
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        if len(d) or "row" not in what:
            same(lambda x: LABELS[what](x, name), e, d)


@draws(12)
@given(
    both=tables(),
    what=st.sampled_from(sorted(ROWS)),
    name=st.sampled_from(["nlargest", "nsmallest"]),
    n=st.integers(0, 7),
    keep=st.sampled_from(["first", "last", "all"]),
)
def test_rows_of_extremes(both, what, name, n, keep):
    """Of equal values the first, the last or all stay, in pandas's order."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(ROWS[what](e, name, n, keep), ROWS[what](d, name, n, keep))


@pytest.mark.parametrize("keep", ["first", "last", "all"])
def test_rows_that_miss_values(keep):
    """Are the last of several columns; pandas returns too many, or raises."""
    frame = pd.DataFrame({"f": [None, 2.0, None, None], "k": [1, 1, 3, 3], "u": [1, 2, 3, 3]})
    found = md.DataFrame(frame, chunk_size=1).nlargest(2, ["f", "k", "u"], keep=keep).compute()
    assert found.index.tolist() == {"first": [1, 2], "last": [1, 3], "all": [1, 2, 3]}[keep]


def test_refused_at_the_call():
    """As in pandas, by types and names."""
    frame = table(5)
    lazy = md.DataFrame(frame, chunk_size=2)
    with pytest.raises(TypeError, match="dtype"):
        lazy.s.nlargest(2)
    with pytest.raises(TypeError, match="dtype"):
        lazy.nlargest(2, ["s"])
    with pytest.raises(ValueError, match="keep"):
        lazy.u.nsmallest(2, keep="any")
    with pytest.raises(KeyError):
        lazy.nlargest(2, "none")
    with pytest.raises(ValueError, match="empty sequence"):
        md.DataFrame(frame[:0]).u.idxmax()
    with pytest.raises(NotImplementedError, match="reset_index"):
        md.Series(pd.Series([1], pd.MultiIndex.from_tuples([(1, 2)]))).idxmin()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("values", [[1.0, np.nan, 3.0], [2.0, 1.0, 3.0], [5, 7, 6]])
@pytest.mark.parametrize("skipna", [True, False])
def test_positions_of_extremes(name, values, skipna):
    """A missing value is an error unless it is skipped."""
    series = pd.Series(values, index=[4, 2, 9])
    same(lambda x: getattr(x, name)(skipna=skipna), md.Series(series, chunk_size=2), series)


def test_objects_whose_type_only_values_tell():
    """They are numbers if they are computed, of which there are extremes."""
    series: Any = pd.Series([0.5, False], dtype=object)
    wanted: Any = series.str.zfill(3)
    lazy: Any = md.Series(series, chunk_size=1).str.zfill(3)
    for call in (lambda x: x.nsmallest(1), lambda x: x.to_frame("a").nlargest(1, "a")):
        equal(call(lazy), call(wanted))
    with pytest.raises(TypeError, match="nsmallest"):
        md.Series(series).nsmallest(1)


def test_labels_named_like_the_column():
    """Their level is no column."""
    frame = pd.DataFrame({"f": [3.0, 1.0, 2.0]}, index=pd.Index([5, 6, 7], name="f"))
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.nlargest(2, "f"), frame.nlargest(2, "f"))
    equal(lazy.f.value_counts(), frame.f.value_counts())
    equal(lazy.f.mode(), frame.f.mode())


@pytest.mark.parametrize("dtype", ["str", "string"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_of_texts_are_texts(name, dtype):
    """They are joined to texts, and no number is declared."""
    eager = pd.Series(["b", None, "a"], dtype=dtype)
    lazy = md.Series(eager, chunk_size=2)
    value = getattr(lazy, name)()
    assert value.dtype == object
    assert (value + "x").compute() == getattr(eager, name)() + "x"
    missing: Any = md.Series(pd.Series([None, None], dtype=dtype), chunk_size=1)
    assert pd.isna(getattr(missing, name)().compute())


def test_extremes_of_no_groups():
    """Without rows the labels have the levels that pandas gives, not those of rows."""
    frame = pd.DataFrame({"k": pd.Series([], dtype="int64"), "v": pd.Series([], dtype="float64")})
    lazy = md.DataFrame(frame)
    for call in (lambda x: x.nsmallest(2), lambda x: x.nlargest(1, keep="all")):
        groups = [rows.groupby("k")["v"].nsmallest(2) for rows in (lazy, frame)]
        equal(call(groups[0]), call(groups[1]))


@pytest.mark.parametrize("labels", [[1, "a", 2.5], ["x", "y", "z"], [3, 1, 2]])
def test_labels_of_objects(labels: list[Any]) -> None:
    """They stay objects, unless all that are found are texts."""
    frame = pd.DataFrame({"f": [2.5, 1, 3], "g": [0, 5, 1]}, pd.Index(labels, dtype=object))
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.idxmin(), frame.idxmin())
    equal(lazy.idxmax().value_counts(sort=False), frame.idxmax().value_counts(sort=False))
