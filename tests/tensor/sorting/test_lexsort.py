"""Orders by several keys and trimmed ends, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "lexsort": lambda xp, a: xp.lexsort([a % 2, a]),
    "lexsort axis": lambda xp, a: xp.lexsort([a, a % 3, a % 2], axis=0),
    "lexsort of rows": lambda xp, a: xp.lexsort(a),
    "lexsort of nothing": lambda xp, a: xp.lexsort([]),
    "lexsort shapes": lambda xp, a: xp.lexsort([a, a[:1, 1:]]),
    "sort_complex": lambda xp, a: xp.sort_complex(a),
    "sort_complex of complex": lambda xp, a: xp.sort_complex(a * (1 - 2j)),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(
        ("i1", "i8", "u4", "f2", "f8"), min_dims=2, max_dims=2, min_side=1, nan=False
    ),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


@pytest.mark.parametrize("trim", ["f", "b", "fb", "x"])
@pytest.mark.parametrize("zeros", [(2, 3), (0, 0), (6, 0)])
def test_trimmed_ends(trim: str, zeros: tuple[int, int]) -> None:
    """Of vectors and of all axes."""
    vector = np.r_[np.zeros(zeros[0]), 1, 0, 2, np.zeros(zeros[1])] * (zeros[0] < 6)
    assert_like_numpy(lambda xp, a: xp.trim_zeros(a, trim), (vector, ((len(vector),),)))
    if trim != "x":
        lazy = mt.tensor(np.outer(vector, vector), chunk_size=2)
        kept = np.trim_zeros(vector, trim)  # type: ignore[arg-type]
        assert_same(mt.trim_zeros(lazy, trim), np.outer(kept, kept))
        assert_same(mt.trim_zeros(lazy, trim, axis=0), np.outer(kept, vector)[:, : len(vector)])


@pytest.mark.parametrize(
    "ends",
    [
        np.array(["", "", "a", "", "b", ""]),
        np.array([b"", b"a", b"", b"b"]),
        np.array([0, 5, 0, "NaT", 0, 0], "m8[D]"),
        np.array([0, 5, 0, "NaT", 0, 0], "M8[D]"),
        np.array([False, True, False]),
        np.array([0, 1j, 0]),
        np.array(["", None, "a", 0], object),
        np.array([0, None, "a", 0], object),
    ],
    ids=str,
)
def test_trimmed_ends_of_any_type(ends: Any) -> None:
    """What is no value of a type is trimmed: empty text, no time."""
    chunks = ((2, len(ends) - 2),)
    assert_like_numpy(lambda xp, a: xp.trim_zeros(a), (ends, chunks))
