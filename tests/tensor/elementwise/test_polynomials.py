"""Polynomials against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "vander": lambda xp, a: xp.vander(a),
    "vander N": lambda xp, a: xp.vander(a, 3, increasing=True),
    "vander nothing": lambda xp, a: xp.vander(a, 0),
    "vander axes": lambda xp, a: xp.vander(a[None], 0),
    "polyval": lambda xp, a: xp.polyval([1, 2.5, -3], a),
    "polyval lazy": lambda xp, a: xp.polyval(a, 2),
    "polyval both": lambda xp, a: xp.polyval(a, a[:, None]),
    "polyval none": lambda xp, a: xp.polyval([], a),
    "polyval object": lambda xp, a: xp.polyval(np.poly1d([1, 2]), a),
    "polyfit": lambda xp, a: xp.polyfit(xp.arange(a.shape[0]) * 1.0, a, 0),
    "polyfit degree": lambda xp, a: xp.polyfit(a, a, -1),
    "polyfit axes": lambda xp, a: xp.polyfit(a[None], a, 1),
    "polyfit lengths": lambda xp, a: xp.polyfit(a, a[1:], 1),
    "polyfit weights": lambda xp, a: xp.polyfit(a, a, 1, w=a[1:]),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i4", "f8", "f4"), min_dims=1, max_dims=1, min_side=2, nan=False),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-4, merged=merged)


FITS: dict[str, Any] = {
    "line": lambda xp, x, y: xp.polyfit(x, y[:, 0], 1),
    "several": lambda xp, x, y: xp.polyfit(x, y, 2),
    "weights": lambda xp, x, y: xp.polyfit(x, y, 2, w=x + 1),
    "cov": lambda xp, x, y: xp.polyfit(x, y[:, 0], 2, cov=True),
    "cov of several": lambda xp, x, y: xp.polyfit(x, y, 2, cov=True),
    "unscaled": lambda xp, x, y: xp.polyfit(x, y, 2, w=x + 1, cov="unscaled"),
    "full": lambda xp, x, y: xp.polyfit(x, y, 3, full=True)[:2],
    "cov of too few": lambda xp, x, y: xp.polyfit(x[:3], y[:3], 2, cov=True),
}


@pytest.mark.parametrize("name", FITS)
def test_fits(name: str) -> None:
    """Of points that determine the coefficients."""
    rng = np.random.default_rng(0)
    x, y = rng.random(40), rng.random((40, 3))
    assert_like_numpy(FITS[name], (x, ((13, 20, 7),)), (y, ((9, 31), (2, 1))), rtol=1e-7)


def test_facts_of_a_fit() -> None:
    """Rank, singular values and the limit come with ``full``."""
    x = np.linspace(0, 1, 30)
    _, _, rank, s, rcond = mt.polyfit(mt.tensor(x, chunk_size=11), x, 2, full=True)
    expected = np.polyfit(x, x, 2, full=True)
    assert int(rank) == expected[2]
    assert_same(s, expected[3], rtol=1e-9)
    assert rcond == expected[4]
