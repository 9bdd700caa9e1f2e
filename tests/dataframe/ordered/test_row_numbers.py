"""Rows numbered from 0 are so over all chunks."""

from __future__ import annotations

from hypothesis import given

from tests.dataframe.tables import equal, filtered, tables


@given(both=tables())
def test_reset_index(both):
    """Labels become a column or are dropped, of known and unknown lengths."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(e.reset_index(), d.reset_index())
        equal(e.reset_index(drop=True), d.reset_index(drop=True))
        equal(e.u.reset_index(drop=True), d.u.reset_index(drop=True))
        equal(e.u.reset_index(name="v"), d.u.reset_index(name="v"))


@given(both=tables())
def test_numbered_rows_combine(both):
    """Rows of other labels fit together once they are numbered."""
    frame, lazy = both
    a, b = lazy.reset_index(drop=True), lazy.sort_values("u").reset_index(drop=True)
    c, d = frame.reset_index(drop=True), frame.sort_values("u").reset_index(drop=True)
    equal(a.u - b.u, c.u - d.u)
