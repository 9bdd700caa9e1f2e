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


def test_refused_at_the_call():
    """What is not supported names the way out."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(NotImplementedError, match="astype"):
        md.Series(pd.to_timedelta(pd.Series([1, 2]))).describe()
    with pytest.raises(ValueError, match="exclude"):
        lazy.describe(include="all", exclude=["number"])
    with pytest.raises(ValueError, match="percentiles"):
        lazy.describe(percentiles=[2])
