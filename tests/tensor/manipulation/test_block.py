"""Arrays put together from many, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "block": lambda xp, a: xp.block([[a, a * 2], [a, a]]),
    "block of rows": lambda xp, a: xp.block([1, a[0]]),
    "block of one": lambda xp, a: xp.block(a),
    "deep blocks": lambda xp, a: xp.block([[[a]], [[a]]]),
    "block depths": lambda xp, a: xp.block([a, [a]]),
    "block of nothing": lambda xp, a: xp.block([[a], []]),
    "block of tuples": lambda xp, a: xp.block([(a, a)]),
    "kron": lambda xp, a: xp.kron(a, a[0]),
    "kron of matrices": lambda xp, a: xp.kron(a[:1], a),
    "kron of a number": lambda xp, a: xp.kron(2, a),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(case=arrays_and_chunks(("i4", "f8"), min_dims=2, max_dims=2), merged=st.booleans())
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


def test_many_at_once() -> None:
    """Sums and products of many tensors, as Mars has them."""
    a = mt.arange(4, chunk_size=3)
    assert_same(mt.tree_add(a, a, 1, a, a), np.arange(4) * 4 + 1)
    assert_same(mt.tree_multiply([a, a], combine_size=2), np.arange(4) ** 2)
    assert_same(mt.tree_add(3), np.array(3))
    with pytest.raises(ValueError, match="at least one"):
        mt.tree_add()
