"""Statistics and scans of columns with masks are those of pandas, missing values in any chunk."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from marsdask.dataframe.reduction.reductions import RECIPES
from tests.dataframe.tables import equal, same
from tests.strategies import draws

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


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("skipna", [True, False])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_scans_of_nan_that_is_not_missing(name: str, skipna: bool, kind: str) -> None:
    """NaN below no mask is a value, which makes all after it NaN, too."""
    numbers = np.array([2, 1, np.nan, 3, 5, 0, 4], kind)
    columns = {
        "a": pd.arrays.FloatingArray(numbers, np.array([0, 0, 0, 0, 1, 0, 0], bool)),
        "b": pd.arrays.FloatingArray(numbers[::-1].copy(), np.array([0, 1, 0, 0, 0, 0, 0], bool)),
        "c": np.arange(7.0),
    }
    frame = pd.DataFrame(columns)
    for step in (1, 2, 3):
        lazy: Any = md.DataFrame(frame, chunk_size=step)
        equal(getattr(lazy, name)(skipna=skipna), getattr(frame, name)(skipna=skipna))
        equal(getattr(lazy["a"], name)(skipna=skipna), getattr(frame["a"], name)(skipna=skipna))


@given(columns(), st.integers(1, 4), st.sampled_from(["corr", "cov"]))
def test_pairs(column: pd.Series, step: int, name: str) -> None:
    """Rows of which one value is missing are left out."""
    frame = pd.DataFrame({"a": column, "b": np.arange(len(column)) ** 2 % 5 * 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of too few rows
        wanted = getattr(frame, name)()
    equal(getattr(md.DataFrame(frame, chunk_size=step), name)(), wanted)


@draws(20)
@given(columns(), st.integers(1, 4), st.sampled_from(["linear", "lower", "nearest"]))
def test_quantiles(column: pd.Series, step: int, method: str) -> None:
    """Have the type that pandas gives them, which depends on what is missing and on the values."""
    if column.dtype == "boolean" and method == "linear":
        column = column.astype("Int8")  # pandas subtracts no booleans
    lazy: Any = md.Series(column, chunk_size=step)
    values: Any = column
    for q in (0.3, 0.5, [0.25, 0.5], [0, 1]):
        found, wanted = (one.quantile(q, interpolation=method) for one in (lazy, values))
        equal(found, wanted)
        assert type(found.compute()) is type(wanted)
    frame: Any = pd.DataFrame({"a": column, "b": np.arange(len(column)) * 0.5})
    mine = md.DataFrame(frame, chunk_size=step)
    for labels in (["a"], ["a", "b"]):
        shares: list[Any] = [0.5, [0.25, 0.5]]
        for q in shares:
            wanted = frame[labels].quantile(q, interpolation=method)
            equal(mine[labels].quantile(q, interpolation=method), wanted)


def test_large_integers() -> None:
    """Are not rounded to floats first; booleans have no quantiles between values."""
    column = pd.Series([2**62 + 1, None, 2**62 - 1, 2**61], dtype="Int64")
    for q in (0.5, [0.5, 1.0]):
        equal(md.Series(column, chunk_size=1).quantile(q), column.quantile(q))
    truths = md.Series(pd.Series([True, None], dtype="boolean"), chunk_size=1)
    with pytest.raises(TypeError, match="numpy boolean subtract"):
        truths.quantile(0.5)


@draws(10)
@given(columns(), st.integers(1, 4))
def test_descriptions(column: pd.Series, step: int) -> None:
    """Are pandas's, of columns without values as well."""
    equal(md.Series(column, chunk_size=step).describe(), column.describe())


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u8", "bool", "Int8", "Float32", "boolean"])
def test_types_of_scalars(dtype: Any) -> None:
    """A statistic has the bits that pandas's has, also where it is computed of doubles."""
    column = pd.Series([1, 0, 1, 1, 0]).astype(dtype)
    for name in STATISTICS:
        wanted = getattr(column, name)()
        found = getattr(md.Series(column, chunk_size=2), name)().compute()
        assert np.asarray(found).dtype == np.asarray(wanted).dtype, name
        np.testing.assert_allclose(float(found), float(wanted), rtol=2e-3)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean"])
@pytest.mark.parametrize("name", ["var", "std", "sem", "mean", "median", "min", "max", "sum"])
def test_no_rows(name: str, dtype: Any) -> None:
    """Of none pandas has NA, which is neither true nor false."""
    frame = pd.DataFrame({"f": np.zeros(0), "m": pd.Series([0]).astype(dtype)[:0]})
    lazy = md.DataFrame(frame)
    same(lambda d: d.agg([name]), lazy, frame)
    same(lambda d: getattr(d.m, name)(), lazy, frame)


@pytest.mark.parametrize("method", ["max", "min", "sum", "prod", "mean"])
@pytest.mark.parametrize("values", [[0, None], [1, 2], [1.5, 2]], ids=str)
def test_converted_columns(method, values):
    """Floats that are whole are integers: so are the largest one and the sum."""
    floats = pd.DataFrame({"a": values, "b": [None, 3]}, dtype=float)
    for frame in (floats, floats.assign(i=1)):
        lazy = md.DataFrame(frame, chunk_size=1)
        wanted = getattr(frame.convert_dtypes(), method)()
        equal(getattr(lazy.convert_dtypes(), method)(), wanted)


#: Calls whose results are values, which pandas gives the type of the column.
OF_VALUES: dict[str, Any] = {
    "extremes": lambda d: d.agg(["max", "min"]),
    "extremes of a column": lambda d: d.a.agg(["max", "min"]),
    "beside a mean": lambda d: d.agg(["max", "mean"]),
    "lower": lambda d: d.quantile(interpolation="lower"),
    "several": lambda d: d.quantile([0.1, 0.9], interpolation="higher"),
    "of a column": lambda d: d.a.quantile(interpolation="nearest"),
    "several of a column": lambda d: d.a.quantile([0.1], interpolation="lower"),
    "between": lambda d: d.quantile([0.1], interpolation="midpoint"),
}


@pytest.mark.parametrize("name", OF_VALUES)
@pytest.mark.parametrize("last", [3.0, 2.5, None])
def test_integers_that_only_rows_tell(name: str, last: Any) -> None:
    """convert_dtypes() makes floats integers if none has a fraction."""
    frame = pd.DataFrame({"a": [1.0, 2.0, last], "b": [3, 1, 2]})
    lazy = md.DataFrame(frame, chunk_size=1).convert_dtypes()
    equal(OF_VALUES[name](lazy), OF_VALUES[name](frame.convert_dtypes()))


BESIDE: dict[str, Any] = {
    "float64": [1.0, 2.0, 3.1],
    "int64": [1, 2, 3],
    "bool": [True, False, True],
    "Int64": [1, None, 3],
    "Float64": [1.0, None, 3.3],
    "boolean": [True, None, False],
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("name", ["mean", "var", "std", "sem", "skew", "sum", "prod", "max"])
def test_narrow_floats_with_a_mask_beside_others(name: str, beside: str) -> None:
    """Their statistics have their own precision, in the common type of all columns."""
    dtype: Any = beside
    other = pd.array(BESIDE[beside], dtype=dtype)
    for values in ([5, 1, 2.3], [5, 1, None], [None] * 3):
        frame = pd.DataFrame({"a": pd.array(values, dtype="Float32"), "b": other})
        theirs = getattr(frame, name)()
        for rows in (1, 3):
            ours = getattr(md.DataFrame(frame, chunk_size=rows), name)().compute()
            pd.testing.assert_series_equal(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean", "int64[pyarrow]", "bool", "f8"])
@pytest.mark.parametrize("name", [*RECIPES])
def test_types_of_frames(name: str, dtype: Any) -> None:
    """Results of columns of one type, and of that beside numbers without a mask."""
    values = [1, 0, 1] if dtype in ("bool", "f8") else [1, 0, None]
    one = pd.DataFrame({"a": pd.array(values, "Int64").astype(dtype)})
    options: list[dict[str, Any]] = [{}]
    if name in ("any", "all") and dtype != "int64[pyarrow]":
        options.append({"skipna": False})
    for frame in (one, one.assign(b=[1, 2, 3])):
        lazy: Any = md.DataFrame(frame, chunk_size=1)
        for how in options:
            equal(getattr(lazy, name)(**how), getattr(frame, name)(**how))
