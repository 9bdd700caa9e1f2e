"""Correlations refuse what has none."""

from __future__ import annotations

import pytest

import marsdask.dataframe as md
from tests.dataframe.tables import table


def test_refusals():
    """Other methods, texts and columns of other rows are refused at the call."""
    lazy = md.DataFrame(table(5), chunk_size=2)
    with pytest.raises(ValueError, match="method must be"):
        lazy[["k"]].corr(method="no")
    for call in (
        lambda: lazy[["k"]].corr(method="kendall"),
        lambda: lazy.t.corr(lazy.u),
        lambda: lazy.u.cov(lazy[lazy.u > 2].u),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError):
        lazy.corr()
