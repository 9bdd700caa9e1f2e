"""Intervals, indicators and numbers of values equal pandas's over chunkings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from marsdask.core.collection import Collection
from tests.dataframe.tables import equal, filtered, table

KIND = pd.CategoricalDtype(["a", "bb", "ä"])
CASES: dict[str, Any] = {
    "edges": lambda xd, d: xd.cut(d.f, [0, 0.5, 1, 2]),
    "edges into numbers": lambda xd, d: xd.cut(d.u, [0, 2, 9], labels=False, right=False),
    "intervals": lambda xd, d: xd.cut(d.f, 3),
    "intervals of times": lambda xd, d: xd.cut(d.t, 4, labels=False, right=False),
    "quantiles": lambda xd, d: xd.qcut(d.u, 3),
    "shares": lambda xd, d: xd.qcut(d.f, [0, 0.3, 1], duplicates="drop", precision=1),
    "quantiles of no values": lambda xd, d: xd.qcut(d.f.where(d.f > 99), 2, duplicates="drop"),
    "quantiles of no times": lambda xd, d: xd.qcut(d.t.where(d.k > 99), 2, duplicates="drop"),
    "quantiles of missing texts": lambda xd, d: xd.qcut(
        xd.to_datetime(d.s.where(d.k > 99), errors="coerce"), [0, 0.5, 1], duplicates="drop"
    ),
    "quantiles of times": lambda xd, d: xd.qcut(d.t, 2, duplicates="drop"),
    "quantiles of truth": lambda xd, d: xd.qcut(d.u > 3, [0, 0.5, 1], duplicates="drop"),
    "no indicators": lambda xd, d: xd.get_dummies(d.f.where(d.f > 99)),
    "indicators": lambda xd, d: xd.get_dummies(d),
    "of categories": lambda xd, d: xd.get_dummies(d.s.astype(KIND), dummy_na=True),
    "of texts": lambda xd, d: xd.get_dummies(d.s, dummy_na=True, drop_first=True, prefix="z"),
    "of one value": lambda xd, d: xd.get_dummies((d.u * 0).astype(str), drop_first=True),
    "of numbers": lambda xd, d: xd.get_dummies(d.k, dtype=float),
    "of some": lambda xd, d: xd.get_dummies(d, columns=["k", "s"], prefix=["a", "b"]),
}


@pytest.mark.parametrize("name", CASES)
def test_columns_become_categories(name):
    """Values, types and labels are pandas's, also of rows chosen before."""
    frame = table(9, 2, "labels")
    lazy = md.DataFrame(frame, chunk_size=4)
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(CASES[name](md, e), CASES[name](pd, d))


def test_edges_are_returned():
    """With ``retbins``: those given, or those found."""
    frame = table(9)
    lazy: Any = md.DataFrame(frame, chunk_size=4)
    for call in (
        lambda xd, d: xd.cut(d.u, [0, 2, 5, 9], retbins=True, labels=list("abc")),
        lambda xd, d: xd.cut(d.f, 3, retbins=True),
        lambda xd, d: xd.qcut(d.u, [0, 0.3, 1], retbins=True, labels=False),
        lambda xd, d: xd.qcut(d.f * np.nan, 2, retbins=True, duplicates="drop"),
    ):
        (found, edges), (wanted, theirs) = call(md, lazy), call(pd, frame)
        equal(found, wanted)
        np.testing.assert_array_equal(edges, theirs)


TIMES = pd.Series(pd.to_datetime([1, 5, 9, 2, 2], unit="D"))
#: Values of types that pandas converts before it cuts them, and times whose unit rows tell.
CONVERTED: dict[str, tuple[Any, Any]] = {
    "masked": (pd.Series([1, 2, None, 4, 9], dtype="Int64"), None),
    "no masked": (pd.Series([None] * 3, dtype="Float64"), None),
    "masked truth": (pd.Series([True, False, True], dtype="boolean"), None),
    "arrow": (pd.Series([1, 2, None, 4, 9], dtype="int64[pyarrow]"), None),
    "no arrow": (pd.Series([None] * 3, dtype="double[pyarrow]"), None),
    "short floats": (pd.Series([1.1, 2, np.nan, 4], dtype="float32"), None),
    "zoned times": (TIMES.dt.tz_localize("Europe/Berlin"), None),
    "times of no numbers": (pd.Series([np.nan] * 3), "to_datetime"),
    "times of no rows": (pd.Series([], dtype="Int64"), "to_datetime"),
    "times of no texts": (pd.Series([None] * 3, dtype="str"), "to_datetime"),
    "durations of no texts": (pd.Series(["x"] * 3), "to_timedelta"),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_quantiles_have_the_type_of_the_rows(name):
    """Edges, intervals and counts are of the numbers, or in the unit, that the rows have."""
    series, conversion = CONVERTED[name]

    def values(xd: Any) -> Any:
        column = series if xd is pd else md.Series(series, chunk_size=2)
        return getattr(xd, conversion)(column, errors="coerce") if conversion else column

    for q in (2, [0, 0.25, 1]):
        found, edges = md.qcut(values(md), q, retbins=True, duplicates="drop")
        wanted, theirs = pd.qcut(values(pd), q, retbins=True, duplicates="drop")
        equal(found, wanted)
        assert edges.dtype == theirs.dtype
        np.testing.assert_array_equal(edges, theirs)
    if conversion or series.isna().all():
        return
    equal(md.cut(values(md), 3), pd.cut(values(pd), 3))
    if series.dtype.kind != "M":
        equal(values(md).value_counts(bins=2), values(pd).value_counts(bins=2))
    else:
        borders = pd.Series(values(pd).sort_values().unique()[:3])
        equal(values(md).value_counts(bins=borders), values(pd).value_counts(bins=borders))


def test_shares_are_rounded_up():
    """A value at a quantile whose share no float holds is not above it."""
    wrong = []
    for q in (10, 21, 27):
        series = pd.Series(np.arange(q + 1.0))
        lazy = md.qcut(md.Series(series, chunk_size=9), q)
        wrong += [] if lazy.compute().equals(pd.qcut(series, q)) else [q]
    assert not wrong


@pytest.mark.parametrize("q", [0, -1, 2.5, "a", True, [0, 2]])
def test_invalid_numbers_of_quantiles(q):
    """Raise pandas's errors."""
    series: Any = pd.Series([1.0, 2, 3])
    with pytest.raises(ValueError, match=r"`q` should|percentiles should") as theirs:
        pd.qcut(series, q)
    with pytest.raises(ValueError, match=r"`q` should|percentiles should") as ours:
        md.qcut(md.Series(series, chunk_size=2), q)
    assert str(ours.value) == str(theirs.value)


def test_values_in_memory():
    """Rows and arrays become lazy ones; categories and edges stay in memory."""
    for call in (
        lambda xd: xd.cut([1, 2, 3], 2),
        lambda xd: xd.cut(np.arange(4), [0, 2, 3], labels=False),
        lambda xd: xd.qcut(pd.Series(range(4)), 2),
        lambda xd: xd.cut(pd.Series(range(4)), 2, retbins=True)[0],
        lambda xd: xd.get_dummies(["a", "b", "a"], dtype=float),
        lambda xd: xd.factorize(np.array([3, 1, 3]))[0],
        lambda xd: xd.factorize(pd.Index([3, 1, 3]))[1],
        lambda xd: xd.from_dummies(pd.DataFrame({"a": [1, 0], "b": [0, 1]})),
        lambda xd: xd.crosstab(np.array([1, 2, 1]), [3, 3, 4]),
    ):
        wanted: Any = call(pd)
        found: Any = call(md)
        assert isinstance(found, Collection) != isinstance(wanted, pd.Categorical)
        found = found.compute() if isinstance(found, Collection) else found
        assert type(found) is type(wanted)
        assert repr(found) == repr(wanted)
    for wrong in (lambda xd: xd.cut([1, 2], [2, 1]), lambda xd: xd.qcut([], "a")):
        with pytest.raises((ValueError, TypeError)) as theirs:
            wrong(pd)
        with pytest.raises(theirs.type):
            wrong(md)


#: Indicators: of one set, of several; of rows without a category, or with two; missing.
INDICATORS: list[dict[Any, Any]] = [
    {"a": [1, 0, 0], "b": [0, 1, 1]},
    {"x_a": [1, 0, 1], "x_b": [0, 1, 0], "y_a": [1, 0, 0], "y_c": [0, 1, 1]},
    {"x_a": [1, 0, 0], "x_b": [0, 1, 0], "y_a": [True, False, False], "y_c": [0, 1, 1]},
    {"a": [1, 0, 1], "b": [0, 1, 1]},
    {"a": [1, 0, None], "b": [0, 1, 1]},
    {"a": [1.0, 0, 0], "b": [0, 1.0, 1]},
]


@pytest.mark.parametrize("default", [None, "z", {"x": 1, "y": 2}, ["a"]])
def test_categories_of_indicators(default):
    """Each row has the category whose indicator it has, or the default."""
    for indicators in INDICATORS:
        frame = pd.DataFrame(indicators, index=pd.Index([3, 4, 4], name="i"))
        for sep in (None, "_"):
            options: Any = {"sep": sep, "default_category": default}
            try:
                wanted = pd.from_dummies(frame, **options)
            except (ValueError, TypeError):
                with pytest.raises((ValueError, TypeError)):
                    md.from_dummies(md.DataFrame(frame, chunk_size=2), **options).compute()
                continue
            equal(md.from_dummies(md.DataFrame(frame, chunk_size=2), **options), wanted)


@pytest.mark.parametrize("column", ["s", "k", "f", "t"])
def test_numbers_of_values(column):
    """In order of first occurrence, or sorted, with missing ones or without."""
    values: Any = table(9, 2)[column]
    lazy: Any = md.Series(values, chunk_size=4)
    for options in ({}, {"sort": True}, {"use_na_sentinel": False}):
        (codes, distinct), (numbers, theirs) = (
            lazy.factorize(**options),
            values.factorize(**options),
        )
        np.testing.assert_array_equal(codes.compute(), numbers)
        equal(distinct, theirs)
    assert md.factorize(lazy)[0].dtype == np.intp


def test_what_is_refused():
    """At the call."""
    lazy: Any = md.DataFrame(table(5), chunk_size=2)
    twice = lazy[["s", "k"]].set_axis(["s", "s"], axis=1)
    for kind, words, call in [
        (NotImplementedError, "Series", lambda: md.cut(lazy, 3)),
        (NotImplementedError, "Series", lambda: md.factorize(lazy)),
        (ValueError, "Cannot cut empty", lambda: md.cut(lazy.u[lazy.u > 99], 3)),
        (ValueError, "monotonically", lambda: md.cut(lazy.u, [2, 1])),
        (NotImplementedError, "set_axis", lambda: md.get_dummies(twice)),
    ]:
        with pytest.raises(kind, match=words):
            call()


def test_intervals_are_displayed():
    """They are categories before they are executed."""
    assert "dtype=category" in repr(md.cut(md.Series([1, 7, 5]), 3))
