"""Choices among arrays, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "choose": lambda xp, a: xp.choose(a % 3, [a, 0, a * 2]),
    "choose of rows": lambda xp, a: xp.choose(a % 2, xp.ones((2, 1, 1))),
    "choose wrap": lambda xp, a: xp.choose(a, [a, -a], mode="wrap"),
    "choose clip": lambda xp, a: xp.choose(a, [a, -a], mode="clip"),
    "choose too far": lambda xp, a: xp.choose(a * 0 + 2, [a, -a]),
    "choose mode": lambda xp, a: xp.choose(a, [a, -a], mode="nonsense"),
    "choose floats": lambda xp, a: xp.choose(a * 1.5, [a, -a]),
    "select": lambda xp, a: xp.select([a > 2, a > 1], [a, a * 0.5], 7),
    "select numbers": lambda xp, a: xp.select([a > 2], [1]),
    "select not bool": lambda xp, a: xp.select([a], [1]),
    "select nothing": lambda xp, a: xp.select([], []),
    "select lengths": lambda xp, a: xp.select([a > 1], [1, 2]),
    "piecewise": lambda xp, a: xp.piecewise(a, [a < 0, a > 2], [-1, np.negative, 5]),
    "piecewise arguments": lambda xp, a: xp.piecewise(a, [a < 2], [lambda x, k: x * k], k=2),
    "piecewise lengths": lambda xp, a: xp.piecewise(a, [a < 2], [1, 2, 3]),
    "piecewise one": lambda xp, a: xp.piecewise(a[0], a[0] < 2, [1, 2]),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i1", "i8"), min_dims=2, max_dims=2, min_side=1), merged=st.booleans()
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


def test_choose_into() -> None:
    """``out=`` and the method."""
    a, out = mt.tensor([0, 1, 1], chunk_size=2), mt.zeros(3)
    assert mt.choose(a, [5, 6], out=out) is out
    assert_same(out, [5.0, 6.0, 6.0])


def test_select_of_lazy_lists() -> None:
    """Conditions and choices as rows of tensors, and one condition for all."""
    x = np.arange(6).reshape(2, 3)
    a = mt.tensor(x, chunk_size=2)
    assert_same(mt.select(a > 2, a, -1), np.select(list(x > 2), list(x), -1))
    assert_same(mt.piecewise(a, a > 2, [1, 2]), np.piecewise(x, [x > 2], [1, 2]))
    assert_same(mt.piecewise(mt.tensor(4), True, [1]), np.piecewise(np.array(4), True, [1]))
