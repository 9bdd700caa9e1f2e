"""Statistics of whole columns and of pairs of them equal pandas's."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given

from tests.dataframe.tables import equal, filtered, tables

NUMBERS = ["k", "f", "u"]

#: Calls that give one chunk, by name.
CALLS = {
    "median": lambda d: d[NUMBERS].median(),
    "median of one": lambda d: d.f.median(),
    "median with gaps": lambda d: d[NUMBERS].median(skipna=False),
    "median of numbers": lambda d: d.median(numeric_only=True),
    "median taken off": lambda d: d[NUMBERS] - d[NUMBERS].median(),
    "quantile": lambda d: d[NUMBERS].quantile(0.3),
    "quantiles": lambda d: d[NUMBERS].quantile([0.3, 0.7]),
    "quantiles below": lambda d: d[["k", "u"]].quantile([0.3, 0.7], interpolation="lower"),
    "quantile of one": lambda d: d.f.quantile(0.3),
    "quantiles of one": lambda d: d.f.quantile([0.7, 0.3]),
    "mean of times": lambda d: d.t.mean(),
    "mean of times with gaps": lambda d: d.t.where(d.b).mean(skipna=False),
    "median of times": lambda d: d.t.where(d.b).median(),
    "quantile of times": lambda d: d.t.quantile(0.3),
    "quantiles of times": lambda d: (d.t - d.t.min()).quantile([0.7, 0.3]),
    "times from the mean on": lambda d: d.t - d.t.mean(),
    "cov": lambda d: d[NUMBERS].cov(min_periods=4, ddof=0),
    "cov without gaps": lambda d: d[["k", "u"]].cov(ddof=0),
    "corr": lambda d: d.corr(numeric_only=True),
    "cov of two": lambda d: d.f.cov(d.k, ddof=0),
    "corr of two": lambda d: d.f.corr(d.u, min_periods=3),
    "corr of ranks": lambda d: d[NUMBERS].corr(method="spearman", min_periods=3),
    "corr of two ranks": lambda d: d.f.corr(d.u, method="spearman"),
    "autocorr": lambda d: d.u.autocorr(2),
}


@pytest.mark.parametrize("name", CALLS)
@given(both=tables())
def test_statistics_of_columns(name, both):
    """Over missing values, of no rows, and of rows that a filter left."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas divides by no degrees of freedom
            wanted = CALLS[name](d)
        equal(CALLS[name](e), wanted)
