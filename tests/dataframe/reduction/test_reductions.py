"""Reductions equal pandas's over chunkings, with NaN and without rows."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
import marsdask.tensor as mt
from tests.dataframe.tables import equal, filtered, table, tables

NUMBERS = ["k", "f", "u"]
REDUCTIONS = ["sum", "mean", "count", "min", "max", "var", "std", "prod", "any", "all"]
REDUCTIONS += ["sem", "skew", "kurt"]


@pytest.mark.parametrize("name", REDUCTIONS)
@given(both=tables())
def test_reductions_equal_pandas(name, both):
    """Frames give a series over the columns, series a scalar."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(getattr(e[NUMBERS], name)(), getattr(d[NUMBERS], name)())
        for column in ("u", "f"):
            equal(getattr(e[column], name)(), getattr(d[column], name)())


@pytest.mark.parametrize("name", ["sum", "mean", "min", "var", "std"])
@given(both=tables(min_rows=1))
def test_skipna(name, both):
    """Without skipna one NaN makes the result NaN."""
    frame, lazy = both
    equal(getattr(lazy[NUMBERS], name)(skipna=False), getattr(frame[NUMBERS], name)(skipna=False))


@given(both=tables(min_rows=1))
def test_numeric_only(both):
    """Texts and times are left out, and extremes of texts and times exist."""
    frame, lazy = both
    for name in ("sum", "mean", "max", "std"):
        equal(getattr(lazy, name)(numeric_only=True), getattr(frame, name)(numeric_only=True))
    equal(lazy.t.max(), frame.t.max())
    equal(lazy.count(), frame.count())


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize(
    "values",
    [
        [2**62] * 5,
        np.array([2**63] * 5, "u8"),
        [np.inf, 1.0, np.nan, 2.0, 3.0],
        [np.nan, np.nan, np.inf, -np.inf, 1.0],
        [np.nan, np.nan, np.nan, 1.0, 2.0],
        np.array([1.5, 2.5, np.nan, 0.1, 9.0], "f4"),
    ],
    ids=repr,
)
def test_what_does_not_fit_and_what_is_infinite(values, step):
    """Means of large integers do not wrap round; infinite values have no variance."""
    frame = pd.DataFrame({"x": values, "y": 1.0})
    lazy = md.DataFrame(frame, chunk_size=step)
    with np.errstate(invalid="ignore"):
        for name in ("mean", "var", "std", "min", "max"):
            equal(getattr(lazy.x, name)(), getattr(frame.x, name)())
            equal(getattr(lazy, name)(), getattr(frame, name)())
            found = getattr(lazy[["x"]], name)()
            assert found.dtype == found.compute().dtype
            equal(found, getattr(frame[["x"]], name)())


@given(both=tables(), count=st.integers(0, 9))
def test_results_that_too_few_values_support(both, count):
    """Sums and products of fewer than ``min_count`` values are missing."""
    frame, lazy = both
    for name in ("sum", "prod"):
        equal(getattr(lazy.f, name)(min_count=count), getattr(frame.f, name)(min_count=count))


@given(both=tables())
def test_distinct_counts(both):
    """The number of distinct values counts NaN only if told to."""
    frame, lazy = both
    assert lazy.f.nunique().compute() == frame.f.nunique()
    assert lazy.s.nunique(dropna=False).compute() == frame.s.nunique(dropna=False)


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_refused_at_the_call():
    """What pandas refuses is refused when it is written, not when it runs."""
    lazy = md.DataFrame(table(10), chunk_size=3)
    with pytest.raises(TypeError):
        lazy.mean()
    with pytest.raises(TypeError):
        lazy.f.sum(nonsense=True)
    with pytest.raises(ValueError, match="No axis named 3"):
        lazy.sum(axis=3)
    with pytest.raises(ValueError, match="No axis named 1"):
        lazy.f.sum(axis=1)
    with pytest.raises(NotImplementedError, match="to_tensor"):
        lazy[["k", "b"]].mean(axis=None)
    with pytest.raises(NotImplementedError, match="total_seconds"):
        lazy[["t"]].mean()
    with pytest.raises(NotImplementedError, match="total_seconds"):
        (lazy.t - lazy.t.min()).std()
    with pytest.raises(NotImplementedError, match="complex"):
        md.Series([1j, 2]).var()


@given(both=tables())
def test_across_rows_and_over_everything(both):
    """One value for each row, in the rows' order, and one for all."""
    frame, lazy = (side[NUMBERS] for side in both)
    for name in ("sum", "mean", "count", "max", "std", "any"):
        equal(getattr(lazy, name)(axis=1), getattr(frame, name)(axis=1), check_dtype=len(frame) > 0)
    equal(
        lazy[["u", "k"]].min(axis="columns", skipna=False),
        frame[["u", "k"]].min(axis=1),
        check_dtype=len(frame) > 0,
    )
    if len(frame):
        equal(lazy.median(axis=1), frame.median(axis=1))
        equal(lazy.quantile(0.3, axis=1), frame.quantile(0.3, axis=1))
        equal(lazy.cumsum(axis=1), frame.cumsum(axis=1))
        equal(lazy.cummax(axis=1, skipna=False), frame.cummax(axis=1, skipna=False))
    for name in ("sum", "any"):
        equal(getattr(lazy, name)(axis=None), getattr(frame, name)(axis=None))


def test_the_documents_snippet():
    """Sums of the columns of a tensor."""
    a = mt.ones((200, 30), chunk_size=20)
    result = md.DataFrame(a).sum().execute()
    pd.testing.assert_series_equal(result.fetch(), pd.DataFrame(np.ones((200, 30))).sum())


@pytest.mark.parametrize("name", REDUCTIONS)
def test_types_over_no_rows(name):
    """Are declared where that they are none is known; where not they are those of the values."""
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    none, lazy = md.DataFrame(frame[:0]), md.DataFrame(frame, chunk_size=1)
    for column in (lambda d: d, lambda d: d.a):
        wanted = getattr(column(frame[:0]), name)()
        found = getattr(column(none), name)()
        assert found.dtype == np.asarray(wanted).dtype
        equal(found, wanted)
        found = getattr(column(lazy[lazy.a > 5]), name)().execute()
        assert found.dtype == np.asarray(wanted).dtype
        equal(found, wanted)


def test_means_of_nullable_and_plain_integers():
    """They have the type that was said, which is that of pandas."""
    frame = pd.DataFrame({"b": [1, 2], "N": pd.array([1, 2], "Int64")})
    lazy = md.DataFrame(frame, chunk_size=1)
    assert lazy.mean().dtype == "Float64"
    equal(lazy.mean(), frame.mean())


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("least", [0, 3, 5])
def test_all_values_at_once(name, least):
    """Values of all columns are counted; infinities of one may have no sum."""
    frame = pd.DataFrame({"a": [1.0, 2, np.nan], "b": [3.0, 4, np.nan]})
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(
        getattr(lazy, name)(axis=None, min_count=least),
        getattr(frame, name)(axis=None, min_count=least),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as with pandas
        endless: Any = md.DataFrame({"a": [np.inf, -np.inf], "b": [1, 2]})
        assert np.isnan(endless.sum(axis=None).compute())


@pytest.mark.parametrize("borders", [[0, 1, 2, 3, 4], [0.0, 1.0, 2.0, 3.0, 4.0]])
def test_intervals(borders):
    """Are counted and compared, also where integers have no missing value."""
    frame = pd.DataFrame({"i": pd.arrays.IntervalArray.from_breaks(borders)})
    frame = frame if isinstance(borders[0], int) else frame.reindex([0, 9, 1, 2])
    lazy: Any = md.DataFrame(frame, chunk_size=1)
    for name in ("count", "min", "max", "nunique"):
        equal(getattr(lazy.i, name)(), getattr(frame.i, name)())
    equal(lazy.count(), frame.count())
    equal(lazy.i.describe(), frame.i.describe())


@pytest.mark.parametrize("name", ["std", "var", "sem", "mean"])
def test_complex_numbers_among_objects(name):
    """Their distances from the mean are lengths, as in pandas."""
    column = pd.Series([1j, 2, None, 4 + 2j, 3], dtype=object)
    for size in (1, 2, 5):
        found = getattr(md.Series(column, chunk_size=size), name)().compute()
        wanted: Any = getattr(column, name)()
        assert type(found) is type(wanted)
        assert np.isclose(found, wanted)


@pytest.mark.parametrize("name", ["std", "var", "sem", "mean"])
def test_objects_that_are_numbers(name):
    """Have pandas's types: objects for the columns of a frame."""
    frame = pd.DataFrame({"a": pd.Series([1, 2.5, 4], dtype=object)})
    lazy: Any = md.DataFrame(frame, chunk_size=2)
    equal(getattr(lazy, name)(), getattr(frame, name)())
    equal(getattr(lazy.a, name)(), getattr(frame.a, name)())


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_sums_of_objects(name, missing):
    """Are ``None``, whether values are missing or too few; those of numbers beside them are nan."""
    frame = pd.DataFrame({"a": pd.Series([1, missing, 3], dtype=object), "b": [1.0, np.nan, 2]})
    lazy = md.DataFrame(frame, chunk_size=1)
    for options in ({"skipna": False}, {"min_count": 3}, {"skipna": False, "min_count": 4}):
        if missing is pd.NA and "skipna" in options:
            continue
        found, wanted = getattr(lazy, name)(**options), getattr(frame, name)(**options)
        assert list(map(str, found.compute())) == list(map(str, wanted))


@pytest.mark.parametrize("name", ["mean", "sem", "std", "var"])
def test_objects_that_are_no_numbers(name):
    """Those that are all missing have no moments."""
    none = pd.Series([None] * 4, dtype=object)
    for size in (1, 4):
        equal(getattr(md.Series(none, chunk_size=size), name)(), getattr(none, name)())


def test_moments_of_decimals():
    """Are floats, as in pandas."""
    frame = pd.DataFrame({"a": [Decimal(1), Decimal("2.5"), None, Decimal(7)]}, dtype=object)
    lazy = md.DataFrame(frame, chunk_size=1)
    for name in ("mean", "std", "var", "sem"):
        equal(getattr(lazy, name)(), getattr(frame, name)())
        equal(getattr(lazy.a, name)(), getattr(frame.a, name)())


@pytest.mark.parametrize("least", [3, 4, 5])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_of_masked_integers_that_are_missing(name, least):
    """They stay integers beside plain ones, unless one of these has too few values."""
    frame = pd.DataFrame({"k": [0, 2, 2, 1], "m": pd.array([0, -1, None, 0], "Int64")})
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(getattr(lazy, name)(min_count=least), getattr(frame, name)(min_count=least))
