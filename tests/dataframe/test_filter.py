"""Rows chosen by a mask equal pandas's, and so does what is computed of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables


@given(both=tables())
def test_rows_where_a_mask_is_true(both):
    """Labels and order are kept, and the length is known after running."""
    frame, lazy = both
    chosen = filtered(lazy)
    assert math.isnan(chosen.shape[0])
    equal(chosen, filtered(frame))
    assert len(filtered(lazy)) == len(filtered(frame))
    assert chosen.execute().shape == filtered(frame).shape


@given(both=tables())
def test_filters_of_filters(both):
    """Columns filtered by one mask fit together, and can be filtered again."""
    frame, lazy = both

    def program(d):
        e = d[d.k > -1]
        return e[e.f + e.u > 2].u * 2

    equal(program(lazy), program(frame))


@given(both=tables())
def test_dropna(both):
    """Rows with missing values go, by all columns or some."""
    frame, lazy = both
    equal(lazy.dropna(), frame.dropna())
    equal(lazy.dropna(subset=["f"], how="all"), frame.dropna(subset=["f"], how="all"))
    equal(lazy.f.dropna(), frame.f.dropna())


def test_foreign_masks_are_refused():
    """A mask of other rows is refused at the call."""
    lazy = md.DataFrame(table(10), chunk_size=3)
    other = md.DataFrame(table(11), chunk_size=3)
    with pytest.raises(NotImplementedError, match="computed from the object"):
        lazy[other.b]
    with pytest.raises(NotImplementedError, match=r"md\.Series"):
        lazy[table(10).b]
