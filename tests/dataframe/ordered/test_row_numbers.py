"""Rows numbered from 0 are so over all chunks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import marsdask.dataframe as md
from tests.dataframe.tables import equal, filtered, table, tables


@given(both=tables())
def test_reset_index(both):
    """Labels become a column or are dropped, of known and unknown lengths."""
    frame, lazy = both
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        equal(e.reset_index(), d.reset_index())
        equal(e.reset_index(drop=True), d.reset_index(drop=True))
        equal(e.u.reset_index(drop=True), d.u.reset_index(drop=True))
        equal(e.u.reset_index(name="v"), d.u.reset_index(name="v"))


LEVELS: dict[str, Any] = {
    "first": {"level": "a"},
    "last": {"level": 1},
    "negative": {"level": -1},
    "list": {"level": ["c", "a"]},
    "all": {"level": ["a", "b", "c"]},
    "dropped": {"level": "b", "drop": True},
    "all dropped": {"level": [0, 1, 2], "drop": True},
    "names": {"level": [0, 1], "names": ["x", "y"]},
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels(name):
    """Some levels become columns or are dropped; the others stay labels."""
    labels: dict[str, Any] = {"a": list("xyxyxyx"), "b": [1, 2, 2, 1, 3, 3, 0], "c": range(7)}
    frame = table(7).drop(columns="b").assign(**labels).set_index(["a", "b", "c"])
    options = LEVELS[name]
    lazy = md.DataFrame(frame, chunk_size=3)
    equal(lazy.reset_index(**options), frame.reset_index(**options))
    if name != "names":
        equal(lazy.u.reset_index(**options), frame.u.reset_index(**options))
    equal(lazy.reset_index(**options).u.sum(), frame.u.sum())
    equal(filtered(lazy).reset_index(**options), filtered(frame).reset_index(**options))


def test_levels_that_are_not_there():
    """Are pandas's errors at the call."""
    lazy = md.DataFrame(table(4).set_index(["k", "u"]), chunk_size=2)
    with pytest.raises(KeyError, match="missing"):
        lazy.reset_index("missing")
    with pytest.raises(IndexError, match="levels"):
        lazy.reset_index(2)


@given(both=tables())
def test_numbered_rows_combine(both):
    """Rows of other labels fit together once they are numbered."""
    frame, lazy = both
    a, b = lazy.reset_index(drop=True), lazy.sort_values("u").reset_index(drop=True)
    c, d = frame.reset_index(drop=True), frame.sort_values("u").reset_index(drop=True)
    equal(a.u - b.u, c.u - d.u)
