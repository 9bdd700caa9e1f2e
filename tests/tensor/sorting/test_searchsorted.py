"""Places in sorted arrays, and counts of whole numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws, tensor_of

CASES: dict[str, Any] = {
    "bincount": lambda xp, a: xp.bincount(a),
    "minlength": lambda xp, a: xp.bincount(a, minlength=9),
    "weights": lambda xp, a: xp.bincount(a, a * 0.5),
    "one weight": lambda xp, a: xp.bincount(a, a[:1]),
    "negative minlength": lambda xp, a: xp.bincount(a, minlength=-1),
    "scalar": lambda xp, a: xp.bincount(a[0]),
    "digitize": lambda xp, a: xp.digitize(a, [0, 1, 4]),
    "digitize right": lambda xp, a: xp.digitize(a, [0.5, 1, 4], right=True),
    "digitize falling": lambda xp, a: xp.digitize(a, [3, 1, 0]),
    "digitize mixed": lambda xp, a: xp.digitize(a, [3, 5, 0]),
    "digitize lazy": lambda xp, a: xp.digitize(a, xp.sort(a)),
    "searchsorted": lambda xp, a: xp.searchsorted(xp.sort(a), a),
    "searchsorted right": lambda xp, a: xp.searchsorted(xp.sort(a), a[:, None], side="right"),
    "searchsorted number": lambda xp, a: xp.searchsorted(xp.sort(a), 2),
    "searchsorted sorter": lambda xp, a: xp.searchsorted(a, [1, 3], sorter=xp.argsort(a)),
    "searchsorted side": lambda xp, a: xp.searchsorted(a, 1, side="middle"),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i1", "u2", "i8", "f4", "f8", "?"), min_dims=1, max_dims=1, nan=False),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


def test_counts_of_what_is_chosen() -> None:
    """Weights and numbers whose number only running tells."""
    x, w = np.arange(40) % 7, np.arange(40.0)
    a, b = mt.tensor(x, chunk_size=9), mt.tensor(w, chunk_size=4)
    assert_same(mt.bincount(a[a > 2], b[a > 2]), np.bincount(x[x > 2], w[x > 2]))
    assert np.isnan(mt.bincount(a).shape[0])


def test_nan_comes_last() -> None:
    """In a sorted vector over several chunks, as NumPy sorts it."""
    x = np.array([1.0, 2.0, 3.0, np.nan, np.nan])
    lazy = mt.tensor(x, chunk_size=2)
    for side in ("left", "right"):
        places = mt.searchsorted(lazy, [2.0, np.nan], side=side)
        assert_same(places, np.searchsorted(x, [2.0, np.nan], side=side))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: mt.digitize(mt.ones(3), mt.ones((2, 2))), ValueError),
        (lambda: mt.digitize(mt.ones(3) * 1j, [1, 2]), TypeError),
        (lambda: mt.searchsorted(mt.ones((3, 3)), 1), ValueError),
        (lambda: mt.bincount(mt.ones(3)), TypeError),
        (lambda: mt.bincount(mt.arange(3), mt.ones(4)), ValueError),
        (lambda: mt.bincount(mt.arange(3), mt.ones(3) * 1j), TypeError),
    ],
    ids=["bins", "complex", "matrix", "floats", "weights", "complex weights"],
)
def test_refused_at_the_call(call: Any, error: type[Exception]) -> None:
    """What metadata tells."""
    with pytest.raises(error):
        call()


def test_names_of_mars_and_dask() -> None:
    """Arguments that tune are taken; no list is no count."""
    assert_same(mt.bincount([], minlength=2), np.bincount([], minlength=2))
    assert_same(mt.bincount(tensor_of(np.arange(3), 2), chunk_size_limit=5), [1, 1, 1])


@pytest.mark.parametrize("bins", [[1, 2], [-1, 2], [2.5, 1], []])
@pytest.mark.parametrize("right", [False, True])
def test_bins_of_sparse_tensors(bins, right):
    """They are sparse where zeros are in the first bin."""
    dense = np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 1]])
    expected = np.digitize(dense, bins, right)
    found = mt.digitize(mt.tensor(dense, chunk_size=2).tosparse(), bins, right)
    assert found.issparse() == (np.digitize(0, bins, right) == 0)
    np.testing.assert_array_equal(found.todense().compute(), expected)
    assert found.dtype == expected.dtype


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("values", [3, [3, 0, 9, -1], [[4], [4]], [], [np.nan, 2.5]])
@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_few_values_in_many_chunks(side, values, chunk_size):
    """Only the chunks that hold them are read to the end."""
    a = np.sort(np.array([0, 0, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5, 5, 6, 7, 8, 8, 8, 8.5, 9, np.nan]))
    lazy = mt.tensor(a, chunk_size=chunk_size)
    found = mt.searchsorted(lazy, values, side=side)
    np.testing.assert_array_equal(found.compute(), np.searchsorted(a, values, side))
    filtered = mt.searchsorted(lazy[lazy != 2], values, side=side)
    np.testing.assert_array_equal(filtered.compute(), np.searchsorted(a[a != 2], values, side))
