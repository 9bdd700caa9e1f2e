"""Medians and quantiles are exact, and refuse what has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import equal, table

NUMBERS = ["k", "f", "u"]


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_interpolation(interpolation):
    """Of many values, all of pandas's ways between two of them."""
    frame = pd.DataFrame({"a": np.arange(100) ** 2 % 37, "b": np.sqrt(np.arange(100.0))})
    lazy = md.DataFrame(frame, chunk_size=7)
    for q in (0.123, [0, 0.5, 0.77, 1]):
        options = {"interpolation": interpolation}
        equal(lazy.quantile(q, **options), frame.quantile(q, **options))
        equal(lazy.a.quantile(q, **options), frame.a.quantile(q, **options))


def test_refusals():
    """What pandas refuses, and what is not there, is refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    for call in (lazy.median, lazy.s.median, lazy.s.quantile):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="interval"):
        lazy.f.quantile(2)
    with pytest.raises(NotImplementedError):
        lazy[NUMBERS].median(axis=None)
    with pytest.raises(NotImplementedError):
        lazy[NUMBERS].quantile([0.1, 0.2], axis=1)
    with pytest.raises(NotImplementedError):
        lazy.t.to_frame().median()


def test_short_floats_of_no_rows():
    """Their median is a double; one of missing values only is short."""
    for values in ([], [None, None], [1, 2]):
        frame = pd.DataFrame({"u": values, "v": values}, dtype="float32")
        equal(md.DataFrame(frame).median(), frame.median())


SHORT = pd.DataFrame(
    {
        "u": np.array([1.1, np.nan, 3], "float32"),
        "v": np.array([1.1, 2, 3.3], "float32"),
        "h": np.array([0.1, 2, 3], "float16"),
        "d": [1.0, 2.5, 4],
        "F": pd.array([1.5, None, 2.5], dtype="Float32"),
        "none": np.array([np.nan] * 3, "float16"),
    }
)


@pytest.mark.parametrize("columns", ["u", "none", "uv", "uh", "uF"])
def test_short_floats_beside_gaps(columns):
    """If a value is missing in the columns of a type, quantiles are in it; else doubles."""
    frame = SHORT[[columns] if columns in SHORT else list(columns)]
    for rows in (frame, frame[:0], frame[2:]):
        lazy = md.DataFrame(rows, chunk_size=2)
        for q in (0.3, [0.3, 0.5]):
            equal(lazy.quantile(q), rows.quantile(q))
    column = frame.iloc[:, 0]
    series = md.Series(column, chunk_size=2)
    equal(series.quantile([]), column.quantile([]))
    assert series.quantile(0.3).compute().dtype == column.quantile(0.3).dtype
    equal(series.describe(), column.describe())


def test_numbers_that_may_be_missing():
    """Quantiles of integers that values turn into floats."""
    frame = pd.DataFrame({"f": [1, None, 2, 2]})
    lazy = md.DataFrame(frame, chunk_size=1)
    equal(lazy.groupby("f").ngroup().quantile([0.5]), frame.groupby("f").ngroup().quantile([0.5]))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("interpolation", ["lower", "nearest", "linear"])
def test_values_of_types_by_rows(missing, interpolation):
    """Quantiles that are values have the type of the column, which the rows decide."""
    last: Any = None if missing else 2
    rows: Any = pd.DataFrame({"k": [1, 2, last], "v": [9, 3, 3]})
    rows["t"] = pd.to_datetime(rows["k"], unit="D")
    results: list[list[Any]] = []
    source: Any
    for source in (rows, md.DataFrame(rows, chunk_size=1)):
        counts = source.groupby("k")["v"].transform("count")
        frame = source.assign(year=source["t"].dt.year, count=counts)[["year", "count", "v"]]
        several = [counts, frame["year"], frame]
        results.append([x.quantile(q, interpolation=interpolation) for x in several for q in QS])
    for wanted, lazy in zip(*results, strict=True):
        if isinstance(wanted, pd.DataFrame | pd.Series):
            equal(lazy, wanted)
        else:
            assert (lazy.compute(), lazy.compute().dtype) == (wanted, wanted.dtype)


#: One share, and several.
QS = (0.4, [0.4, 1])


def test_masked_numbers_of_unknown_types():
    """Quantiles of what may be another type until it is computed, without a gap."""
    column = pd.Series([2**62 + 1, 7, 7], dtype="UInt64")
    wanted, lazy = column.mode(dropna=False), md.Series(column, chunk_size=1).mode(dropna=False)
    for q in (0.5, [0.3, 1.0]):
        equal(lazy.quantile(q, interpolation="lower"), wanted.quantile(q, interpolation="lower"))


def test_methods_and_types():
    """Of tables, objects and periods there are none."""
    frame = table(5)[["k", "u"]]
    lazy = md.DataFrame(frame, chunk_size=2)
    equal(lazy.quantile(0.5, method="single"), frame.quantile(0.5, method="single"))
    with pytest.raises(NotImplementedError, match="method='table'"):
        lazy.quantile(method="table")
    with pytest.raises(ValueError, match="Invalid method"):
        lazy.quantile(method="other")
    for values in (pd.Series([1, 2], dtype=object), pd.Series(pd.period_range("2020", periods=2))):
        with pytest.raises(NotImplementedError, match="median"):
            md.Series(values).median()


def test_categories_are_refused_by_name():
    """Their codes have quantiles in pandas."""
    codes = md.DataFrame(pd.DataFrame({"a": pd.Categorical([1, 2]), "b": [1, 2]}))
    for call in (codes.quantile, codes.a.quantile):
        with pytest.raises(NotImplementedError, match="of categories is not supported"):
            call()
    equal(codes.quantile(numeric_only=True), pd.DataFrame({"b": [1, 2]}).quantile())


@pytest.mark.parametrize("interpolation", ["lower", "higher", "nearest"])
def test_truth_values_of_no_rows(interpolation):
    """Are missing, as floats."""
    frame = pd.DataFrame({"b": [True, False], "k": [1, 2]})
    lazy = md.DataFrame(frame, chunk_size=1)
    for rows, wanted in ((lazy[lazy.k > 5], frame[frame.k > 5]), (lazy, frame)):
        call = {"q": [0, 0.3], "interpolation": interpolation}
        equal(rows[["b"]].quantile(**call), wanted[["b"]].quantile(**call))
        equal(rows.b.quantile(**call), wanted.b.quantile(**call))


#: Floats that convert_dtypes() makes integers, or keeps.
CONVERTED: dict[str, Any] = {
    "missing": [np.nan, np.nan],
    "integers": [1.0, 2.0, 4.0],
    "integers with gaps": [1.0, np.nan, 4.0],
    "fractions": [1.5, np.nan],
    "none": [],
}


@pytest.mark.parametrize("interpolation", ["linear", "nearest", "midpoint"])
@pytest.mark.parametrize("name", CONVERTED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_integers_that_are_declared_as_floats(name, dtype, interpolation):
    """Only rows tell that they are integers, whose quantiles have types of their own."""
    rows = pd.Series(CONVERTED[name], dtype=dtype, name="a")
    for q in (0.5, [0.3, 1.0]):
        options = {"q": q, "interpolation": interpolation}
        for item in (rows, rows.to_frame()):
            make = md.Series if item.ndim == 1 else md.DataFrame
            size = 1 if dtype == "float64" else 9
            lazy = make(item, chunk_size=size).convert_dtypes().quantile(**options)
            wanted = item.convert_dtypes().quantile(**options)
            assert_same_scalars(lazy, wanted) if np.ndim(wanted) == 0 else equal(lazy, wanted)


def assert_same_scalars(lazy, wanted):
    """Check a scalar and its type."""
    value = lazy.compute()
    assert type(value) is type(wanted)
    assert pd.isna(wanted) or value == wanted


@pytest.mark.parametrize("q", [0.5, [0.5], [0.2, 0.8]], ids=str)
def test_quantiles_of_no_rows_have_labels_of_columns(q: Any) -> None:
    """Quantiles of no rows have labels of columns."""
    frame = pd.DataFrame({"a": [1, 2], "b": [1.5, 2]}, index=[5, 6])
    equal(
        md.from_pandas(frame, chunk_size=1)[:0].quantile(q, axis=1), frame[:0].quantile(q, axis=1)
    )
