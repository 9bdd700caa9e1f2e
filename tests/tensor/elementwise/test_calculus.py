"""Slopes, interpolation, products of vectors, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "gradient": lambda xp, a: xp.gradient(a),
    "gradient order": lambda xp, a: xp.gradient(a, edge_order=2),
    "gradient axis": lambda xp, a: xp.gradient(a, 2.5, axis=0),
    "gradient axes": lambda xp, a: xp.gradient(a, 2, 3, axis=(1, 0)),
    "gradient places": lambda xp, a: xp.gradient(a, np.arange(a.shape[0]) ** 2, axis=0),
    "gradient equal places": lambda xp, a: xp.gradient(a, np.arange(a.shape[0]), axis=0),
    "gradient places, order": lambda xp, a: xp.gradient(
        a, xp.sqrt(xp.arange(1.0, a.shape[1] + 1)), axis=1, edge_order=2
    ),
    "gradient wrong order": lambda xp, a: xp.gradient(a, edge_order=3),
    "gradient wrong places": lambda xp, a: xp.gradient(a, [1, 2, 3, 4, 5, 6, 7, 8], axis=0),
    "gradient wrong number": lambda xp, a: xp.gradient(a, 1, 2, 3),
    "interp": lambda xp, a: xp.interp(a, [0, 1.5, 3], [1, 2, 0]),
    "interp ends": lambda xp, a: xp.interp(a, [0, 1.5, 3], [1, 2, 0], left=-1, right=9),
    "interp period": lambda xp, a: xp.interp(a, [0, 1.5, 3], [1j, 2, 0], period=2),
    "interp lazy": lambda xp, a: xp.interp(2.5, xp.arange(4.0), xp.arange(4) * 1j),
    "interp lengths": lambda xp, a: xp.interp(a, [0, 1], [1]),
    "interp nothing": lambda xp, a: xp.interp(a, [], []),
    "interp no period": lambda xp, a: xp.interp(a, [0, 1], [1, 2], period=0),
    "unwrap": lambda xp, a: xp.unwrap(a * 3),
    "unwrap period": lambda xp, a: xp.unwrap(a, period=4, axis=0),
    "unwrap odd": lambda xp, a: xp.unwrap(a, period=3),
    "unwrap discont": lambda xp, a: xp.unwrap(a, 2.5),
    "cross": lambda xp, a: xp.cross(xp.ones((2, 3)), xp.arange(3)),
    "cross axes": lambda xp, a: xp.cross(
        xp.arange(12).reshape(3, 4), xp.ones((4, 3)), axisa=0, axisc=0
    ),
    "cross axis": lambda xp, a: xp.cross(xp.ones((3, 2)), xp.ones((3, 1)), axis=0),
    "cross dimensions": lambda xp, a: xp.cross(xp.ones(4), xp.ones(4)),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i4", "f4", "f8"), min_dims=2, max_dims=2, min_side=2, nan=False),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-4, merged=merged)


def test_slopes_of_dates() -> None:
    """Are spans of time; the chunks stay what they were."""
    days = np.array(["2001-01-01", "2001-02-01", "2001-04-04"], "M8[D]")
    lazy = mt.tensor(days, chunk_size=2)
    found = mt.gradient(lazy)
    assert found.chunks == lazy.chunks
    for how in ({}, {"edge_order": 2}):
        assert_like_numpy(lambda xp, a, how=how: xp.gradient(a, **how), (days, ((2, 1),)))


def test_products_in_the_plane() -> None:
    """NumPy has given them up."""
    a, b = mt.tensor([[1, 2], [3, 4]], chunk_size=1), mt.tensor([5, 6])
    assert_same(mt.cross(a, b), [1 * 6 - 2 * 5, 3 * 6 - 4 * 5])
    assert_same(mt.cross(a, mt.tensor([1, 0, 2])), np.cross([[1, 2, 0], [3, 4, 0]], [1, 0, 2]))


def test_too_few_for_a_slope() -> None:
    """Two elements are the least, three at second order."""
    for short, order in ((mt.ones(1), 1), (mt.ones(2), 2)):
        with pytest.raises(ValueError, match="too small"):
            mt.gradient(short, edge_order=order)
