"""Descriptions of columns equal pandas's."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables
from tests.strategies import draws

#: What is called of a table.
CALLS = {
    "numbers and times": lambda d: d.describe(),
    "everything": lambda d: d.describe(include="all"),
    "some quantiles": lambda d: d[["k", "f"]].describe(percentiles=[0.1, 0.999]),
    "texts": lambda d: d.describe(include=["str"]),
    "without numbers": lambda d: d.describe(exclude=["number", "datetime"]),
    "of numbers": lambda d: d.f.describe(),
    "of text": lambda d: d.s.describe(),
    "of truths": lambda d: d.b.describe(),
    "of times": lambda d: d.t.describe([0.5]),
}


@draws(12)
@given(both=tables(min_rows=3), what=st.sampled_from(sorted(CALLS)))
def test_descriptions(both, what):
    """Of numbers, texts, truths and times, in the order of pandas."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        if len(d):
            equal(CALLS[what](e), CALLS[what](d))


@pytest.mark.parametrize("dtype", ["Int64", "Float32"])
def test_masked_numbers(dtype):
    """Are described as masked floats."""
    series = pd.Series([1, None, 4, 2], dtype=dtype)
    equal(md.Series(series, chunk_size=1).describe(), series.describe())
    equal(md.Series(series[1:2]).describe(), series[1:2].describe())


@pytest.mark.parametrize("size", [1, 2, 4])
def test_columns_that_are_described_at_once(size):
    """Lengths of time and pyarrow's numbers, alone and beside others."""
    frame = pd.DataFrame(
        {
            "span": pd.to_timedelta([3, 1, 2, None], unit="h"),
            "arrow": pd.array([1, 3, None, 2], dtype="int64[pyarrow]"),
            "time": pd.to_datetime(["2024-01-03", "2024-01-01", "NaT", "2024-01-02"]),
            "text": list("abca"),
        }
    )
    lazy = md.DataFrame(frame, chunk_size=size)
    equal(lazy.span.describe(), frame.span.describe())
    equal(lazy.arrow.describe([0.1]), frame.arrow.describe([0.1]))
    equal(lazy.describe(), frame.describe())
    equal(lazy.describe(include="all"), frame.describe(include="all"))


def test_refused_at_the_call():
    """Wrong arguments are pandas's errors."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(ValueError, match="exclude"):
        lazy.describe(include="all", exclude=["number"])
    with pytest.raises(ValueError, match="percentiles"):
        lazy.describe(percentiles=[2])
