"""Casts to categories of the values equal pandas's."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.kinds import states
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

CATEGORIES = st.sampled_from(["category", pd.CategoricalDtype(), pd.CategoricalDtype(ordered=True)])


@draws(10)
@given(both=states(), dtype=CATEGORIES)
def test_all_columns(both, dtype):
    """Of all kinds and states: sorted categories, and columns that have some keep them."""
    frame, lazy = both
    equal(lazy.astype(dtype), frame.astype(dtype))
    label = frame.columns[-1]
    equal(lazy[label].astype(dtype), frame[label].astype(dtype))


@draws(5)
@given(both=tables(), dtype=CATEGORIES)
def test_some_columns(both, dtype):
    """Beside other casts, of rows of unknown number, and of columns of equal labels."""
    types = {"f": dtype, "u": "float32", "t": "category"}
    for frame, lazy in (both, map(filtered, both)):
        for given_types in (types, pd.Series(types)):
            equal(lazy.astype(given_types), frame.astype(given_types))
        equal(lazy.f.astype({"f": dtype}), frame.f.astype({"f": dtype}))
        twice = ["x", "x", *frame.columns[2:]]
        wanted = frame.set_axis(twice, axis=1).astype({"x": dtype})
        equal(lazy.set_axis(twice, axis=1).astype({"x": dtype}), wanted)


@draws(5)
@given(both=tables(min_rows=1))
def test_what_follows(both):
    """Codes, groups and indicators are those of pandas."""
    frame, lazy = both
    for name in ("f", "s"):
        mine, theirs = (one.assign(c=one[name].astype("category")) for one in (lazy, frame))
        equal(mine.c.cat.codes, theirs.c.cat.codes)
        equal(mine.groupby("c").u.sum(), theirs.groupby("c", observed=True).u.sum())
        equal(md.get_dummies(mine.c), pd.get_dummies(theirs.c))


@pytest.mark.parametrize("dtype", ["str", "string"])
@pytest.mark.parametrize(
    "values", [[3, None, 1], [3, 1, 1], [2.0, None, 1.5], [True, None, False]], ids=str
)
def test_texts_of_categories(values, dtype):
    """Whole numbers are written as floats if a value is missing in any chunk."""
    series = pd.Series(pd.Categorical(values))
    for size in (1, 2, 3):
        lazy = md.Series(series, chunk_size=size)
        equal(lazy.astype(dtype), series.astype(dtype))
        equal(lazy.to_frame("a").astype({"a": dtype}), series.to_frame("a").astype({"a": dtype}))


def test_values_that_cannot_be_sorted():
    """Their categories are in order of occurrence."""
    series = pd.Series(["x", 2, None, (1, 2), 2, "a"], dtype=object)
    equal(md.Series(series, chunk_size=2).astype("category"), series.astype("category"))


@pytest.mark.parametrize(
    "dtypes",
    [{"u": "category", "z": "i8"}, {"k": "category", "s": "i8"}, {"k": "category", "u": "no"}],
    ids=str,
)
def test_errors(dtypes):
    """Are pandas's, by the labels of columns."""
    frame = table(6)
    with pytest.raises((KeyError, ValueError, TypeError)) as wanted:
        frame.astype(dtypes)
    with pytest.raises(wanted.type, match=re.escape(str(wanted.value))):
        md.DataFrame(frame, chunk_size=4).astype(dtypes).compute()
