"""Sorted rows equal pandas's stable sort over chunkings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, planned, table, tables
from tests.strategies import draws

MODES = pytest.mark.parametrize("mode", ["as it comes", "shuffled", "tight"])
KEYS = st.lists(
    st.sampled_from(["k", "f", "s", "b", "u", "t"]), min_size=1, max_size=3, unique=True
)


@MODES
@given(both=tables(), keys=KEYS, data=st.data())
def test_sort_values(mode, both, keys, data):
    """By several columns, each in its own direction, missing values first or last."""
    frame, lazy = both
    ascending = [data.draw(st.booleans()) for _ in keys]
    place = data.draw(st.sampled_from(["first", "last"]))
    options = {"ascending": ascending, "na_position": place}
    with planned(mode):
        for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
            equal(e.sort_values(keys, **options), d.sort_values(keys, kind="stable", **options))
    equal(
        lazy.f.sort_values(ascending=ascending[0], na_position=place, ignore_index=True),
        frame.f.sort_values(
            ascending=ascending[0], na_position=place, ignore_index=True, kind="stable"
        ),
    )


@MODES
@given(both=tables(), ascending=st.booleans())
def test_sort_index(mode, both, ascending):
    """Rows in the order of their labels."""
    frame, lazy = both
    with planned(mode):
        equal(
            lazy.sort_index(ascending=ascending, kind="stable"),
            frame.sort_index(ascending=ascending, kind="stable"),
        )


def test_refused_at_the_call():
    """Columns that are not there and directions that do not fit."""
    lazy = md.DataFrame(table(5))
    with pytest.raises(KeyError):
        lazy.sort_values("nope")
    with pytest.raises(ValueError, match="Length of ascending"):
        lazy.sort_values(["k", "u"], ascending=[True])
    with pytest.raises(ValueError, match="na_position"):
        lazy.sort_values("k", na_position="middle")
    with pytest.raises(ValueError, match="invalid kind"):
        lazy.sort_index(kind="bogus")


@MODES
@given(
    labels=st.lists(st.sampled_from(["a", "b", "c", None]), max_size=9),
    ascending=st.booleans(),
    place=st.sampled_from(["first", "last"]),
    step=st.integers(1, 9),
)
def test_categorical_labels(mode, labels, ascending, place, step):
    """Missing ones are where they are asked for, as those of a column are."""
    index = pd.CategoricalIndex(labels, categories=["a", "b", "c"])
    frame = pd.DataFrame({"u": range(len(labels))}, index=index)
    options = {"ascending": ascending, "na_position": place}
    column = pd.Series(index.array).sort_values(kind="stable", **options)
    with planned(mode):
        equal(md.DataFrame(frame, chunk_size=step).sort_index(**options), frame.take(column.index))


SORTED = {
    "columns": lambda d: d.sort_index(axis=1, ascending=False),
    "numbered columns": lambda d: d.sort_index(axis="columns", ignore_index=True),
    "columns by a function": lambda d: d.sort_index(axis=1, key=lambda labels: labels == "k"),
    "numbered rows": lambda d: d.sort_index(kind="stable", ignore_index=True),
    "rows by a function": lambda d: d.sort_values(
        ["s", "k"], key=lambda c: c.isna() if c.name == "s" else -c, kind="stable"
    ),
    "values by a function": lambda d: d.k.sort_values(
        key=abs, ascending=False, kind="stable", ignore_index=True
    ),
}


@draws(12)
@given(both=tables(), what=st.sampled_from(sorted(SORTED)))
def test_columns_and_keys(both, what):
    """Columns in the order of their labels, and rows by what a function returns of columns."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(SORTED[what](e), SORTED[what](d))


LEVELS = {
    "a level": lambda d: d.rename_axis(index="r").sort_values("r", ascending=False),
    "a level and a column": lambda d: d.set_index(["k", "s"]).sort_values(
        ["s", "u"], ascending=[False, True], kind="stable"
    ),
    "a level below pairs of columns": lambda d: (
        d.groupby("k").agg({"f": ["first", "max"]}).sort_values("k", ascending=False)
    ),
    "nothing": lambda d: d.sort_values([]),
    "a level by a function": lambda d: d.set_index("k").sort_values(
        ["k", "u"], key=lambda c: -c if c.name == "k" else c, kind="stable"
    ),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels(name):
    """Rows are sorted by named levels of their labels, too, and by nothing stay as they are."""
    frame = table(9)
    equal(LEVELS[name](md.DataFrame(frame, chunk_size=2)), LEVELS[name](frame))


def test_what_values_decide():
    """Labels of several columns, or of a level, too, are an error; axis=1 is not supported."""
    frame = pd.DataFrame([[1, 2, 3], [0, 5, 6]], columns=list("qqr"))
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.sort_values("r"), frame.sort_values("r"))
    for d in (frame, lazy):
        with pytest.raises(ValueError, match="is not unique"):
            d.sort_values(["r", "q"])
        with pytest.raises(ValueError, match="ambiguous"):
            d.rename_axis("r").sort_values("r")
    with pytest.raises(NotImplementedError, match="axis=1"):
        lazy.sort_values(0, axis=1)


def lower(values: Any) -> Any:
    """Return texts in lower case, other values as they are."""
    return values.str.lower() if values.name == "q" else values


BY_LEVELS: dict[str, Callable[[Any], Any]] = {
    "second level": lambda f: f.sort_index(level=1),
    "name": lambda f: f.a.sort_index(level="q", na_position="first", ascending=False),
    "several": lambda f: f.sort_index(level=["q", "p"], ascending=[True, False]),
    "one direction": lambda f: f.sort_index(level=["q"], ascending=[False]),
    "no others": lambda f: f.sort_index(level="p", sort_remaining=False, ignore_index=True),
    "function": lambda f: f.sort_index(key=lower, ascending=[False, True]),
    "function of a level": lambda f: f.a.sort_index(level=-1, key=lower),
    "function of labels": lambda f: f.droplevel("p").sort_index(key=lower, ascending=False),
    "a level of one": lambda f: f.droplevel("p").sort_index(level=0),
    "columns": lambda f: f.assign(A=1).sort_index(axis=1, level=0, ascending=False),
}


@pytest.mark.parametrize("name", BY_LEVELS)
def test_sort_by_levels(name):
    """Other levels follow unless they are not to; functions are called with each level."""
    labels = [(2, "x"), (1, None), (2, "a"), (1, "b"), (2, "X"), (1, "A")]
    index = pd.MultiIndex.from_tuples(labels, names=["p", "q"])
    frame = pd.DataFrame({"a": range(6), "B": 0.5}, index=index)
    for size in (2, 6):
        equal(BY_LEVELS[name](md.DataFrame(frame, chunk_size=size)), BY_LEVELS[name](frame))


def test_errors_of_levels():
    """They are pandas's."""
    frame = pd.DataFrame({"a": [1]}, pd.MultiIndex.from_tuples([(1, 2)], names=["p", "q"]))
    for data in (frame, md.DataFrame(frame)):
        with pytest.raises(KeyError, match="zz"):
            data.sort_index(level="zz")
        with pytest.raises(ValueError, match="level must have same length as ascending"):
            data.sort_index(level="q", ascending=[True, False])
