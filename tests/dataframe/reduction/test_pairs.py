"""Correlations refuse what has none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, table


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_infinite_values_are_missing_ones(method):
    """In frames, as pandas has it; a pair of columns has no correlation then."""
    frame = table(20)[["k", "f", "u"]].astype({"u": float})
    frame.loc[3, "f"], frame.loc[[5, 9], "u"] = np.inf, -np.inf
    lazy = md.DataFrame(frame, chunk_size=6)
    equal(lazy.corr(method), frame.corr(method))
    assert np.isnan(lazy.f.corr(lazy.k).compute())


def product(some, others):
    """Return a number of two columns."""
    return float(some @ others)


@pytest.mark.parametrize("method", ["kendall", product], ids=["kendall", "function"])
def test_methods_that_see_all_rows(method):
    """Of frames, of columns and of frames with columns; missing values are left out."""
    frame = table(20)[["k", "f", "u"]]
    lazy = md.DataFrame(frame, chunk_size=6)
    for call in (
        lambda f: f.corr(method, min_periods=2),
        lambda f: f.corrwith(f.f, method=method),
    ):
        equal(call(lazy), call(frame))
    for least in (None, 21):
        value = lazy.k.corr(lazy.f, method, min_periods=least).compute()
        np.testing.assert_allclose(value, frame.k.corr(frame.f, method, min_periods=least))


@pytest.mark.parametrize("gap", [2, 3, None])
def test_covariances_of_infinite_values(gap):
    """Infinities are missing only beside missing values; those of a pair count in rows of both."""
    frame = table(20)[["k", "u"]].astype(float)
    frame.loc[3, "k"] = np.inf
    if gap is not None:
        frame.loc[gap, "u"] = np.nan
    lazy = md.DataFrame(frame, chunk_size=6)
    with np.errstate(invalid="ignore"):
        equal(lazy.cov(), frame.cov())
        equal(lazy.k.cov(lazy.u), frame.k.cov(frame.u))


def test_refusals():
    """Other methods, texts and columns of other rows are refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(ValueError, match="method must be"):
        lazy[["k"]].corr(method="no")
    for call in (
        lambda: lazy.t.corr(lazy.u),
        lambda: lazy.u.cov(lazy[lazy.u > 2].u),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError):
        lazy.corr()


def test_truth_values_with_those_before():
    """Are zeros and ones."""
    series = pd.Series([True, False, False, True, True])
    found = md.Series(series, chunk_size=2).autocorr().compute()
    np.testing.assert_allclose(found, series.autocorr(), atol=1e-9)


@pytest.mark.parametrize("dtype", ["object", "str", "category", "boolean", "Int8"])
def test_numbers_of_other_types(dtype):
    """Two columns of objects, texts or categories that hold numbers are numbers, as in pandas."""
    column = pd.Series([1, 0, 1, 1]).astype(dtype)
    other = pd.Series([2.0, 1.0, 5.0, 1.0])
    one, two = (md.Series(rows, chunk_size=2) for rows in (column, other))
    assert np.isclose(one.corr(two).compute(), column.corr(other))
    assert np.isclose(two.cov(one).compute(), other.cov(column))
    assert np.isclose(one.autocorr(1).compute(), column.autocorr(1))
    words = md.Series(["a", "b", "c", "d"], chunk_size=2)
    with pytest.raises(ValueError, match="could not convert"):
        words.corr(two).compute()


@pytest.mark.parametrize("name", ["corr", "cov"])
@pytest.mark.parametrize("dtype", ["object", "str", "category", "boolean", "Int8"])
def test_frames_with_numbers_of_other_types(name, dtype):
    """Columns of objects, texts or categories that hold numbers are numbers, as in pandas."""
    frame = pd.DataFrame({"a": pd.Series([1, 0, 1, 1]).astype(dtype), "b": [2.0, 1.0, 5.0, 1.0]})
    for size in (1, 4):
        lazy = md.DataFrame(frame, chunk_size=size)
        equal(getattr(lazy, name)(), getattr(frame, name)())
        with pytest.raises(ValueError, match="could not convert"):
            getattr(lazy.assign(c="x"), name)().compute()


@pytest.mark.parametrize("numeric_only", [False, True])
def test_covariances_beside_times(numeric_only):
    """Times are refused, chosen or not, as in pandas."""
    frame = pd.DataFrame({"t": pd.to_datetime(["2020", "2021"]), "v": [1.0, 2.0]})
    for rows in (frame, md.DataFrame(frame, chunk_size=1)):
        with pytest.raises(TypeError, match="which are not supported for cov"):
            rows.cov(numeric_only=numeric_only)
