"""Statistics and scans of columns with masks are those of pandas, missing values in any chunk."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal

DTYPES = ["Int64", "Int8", "UInt16", "Float64", "boolean"]
STATISTICS = ["sum", "mean", "std", "var", "sem", "skew", "kurt", "median", "min", "max"]
SCANS = ["cumsum", "cumprod", "cummax", "cummin"]


@st.composite
def columns(draw: st.DrawFn) -> pd.Series:
    """Draw a few values, often missing ones."""
    values = draw(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=9))
    dtype = draw(st.sampled_from(DTYPES))
    truths = [None if value is None else bool(value % 2) for value in values]
    return pd.Series(truths if dtype == "boolean" else values, dtype=dtype)


@given(columns(), st.integers(1, 4), st.sampled_from(STATISTICS))
def test_statistics(column: pd.Series, step: int, name: str) -> None:
    """Of a series and of a frame, NA where pandas has no value."""
    lazy = md.Series(column, chunk_size=step)
    equal(getattr(lazy, name)(), getattr(column, name)())
    frame = pd.DataFrame({"a": column, "b": np.arange(len(column)) * 0.5})
    equal(getattr(md.DataFrame(frame, chunk_size=step), name)(), getattr(frame, name)())


@given(columns(), st.integers(1, 4), st.sampled_from(SCANS), st.booleans())
def test_scans(column: pd.Series, step: int, name: str, skipna: bool) -> None:
    """Missing values stay missing; unless they are skipped, so do all after them."""
    lazy = md.Series(column, chunk_size=step)
    equal(getattr(lazy, name)(skipna=skipna), getattr(column, name)(skipna=skipna))


@given(columns(), st.integers(1, 4), st.sampled_from(["corr", "cov"]))
def test_pairs(column: pd.Series, step: int, name: str) -> None:
    """Rows of which one value is missing are left out."""
    frame = pd.DataFrame({"a": column, "b": np.arange(len(column)) ** 2 % 5 * 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of too few rows
        wanted = getattr(frame, name)()
    equal(getattr(md.DataFrame(frame, chunk_size=step), name)(), wanted)


def test_quantiles() -> None:
    """Those of floats are pandas's. Of integers the type depends on values: they are refused."""
    column = pd.Series([1.5, None, 4, 2], dtype="Float64")
    for q in (0.3, [0.3, 0.5]):
        equal(md.Series(column, chunk_size=1).quantile(q), column.quantile(q))
    with pytest.raises(NotImplementedError, match="astype"):
        md.Series(column.round().astype("Int64"), chunk_size=1).quantile(0.5)
