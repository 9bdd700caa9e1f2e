"""Kernels of the reductions on plain blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.reduction import partials
from tests.strategies import grids


@pytest.mark.parametrize("cut", [1, 5, 19])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_moments_of_parts_are_moments_of_the_whole(dtype: str, cut: int) -> None:
    """Moments of two parts merge to the moments of both."""
    block = (np.random.default_rng(0).normal(size=(20, 3)) * 9).astype(dtype)
    parts = [partials.moments(part, (0,), keepdims=True) for part in np.split(block, [cut])]
    value, count, squares = partials.merge_moments(*parts)
    assert count == 20
    np.testing.assert_allclose(value[0], block.sum(0), rtol=1e-5)
    np.testing.assert_allclose(squares[0] / 20, block.var(0), rtol=1e-5)


def test_moments_under_a_mask() -> None:
    """Counts differ from place to place under a mask, none included."""
    block = np.arange(6.0).reshape(3, 2)
    mask = np.array([[True, False], [False, False], [True, False]])
    value, count, squares = partials.moments(block, (0,), where=mask, keepdims=True)
    assert count.tolist() == [[2, 0]]
    assert value.tolist() == [[4, 0]]
    assert squares.tolist() == [[8, 0]]


def test_the_result_owns_its_memory() -> None:
    """What a kernel returns is not overwritten by the next call in the same thread."""
    first = partials.moments(np.arange(4.0), (0,), keepdims=True)
    kept = [np.copy(item) for item in first]
    partials.moments(np.arange(4.0) * 100, (0,), keepdims=True)
    assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))


def test_accumulating_types() -> None:
    """Averages of ints are made in double, of half in single precision."""
    assert partials.accurate(np.dtype("i1"), None) == np.float64
    assert partials.accurate(np.dtype("f2"), None) == np.float32
    assert partials.accurate(np.dtype("f4"), None) == np.float32
    assert partials.accurate(np.dtype("f4"), "f8") == np.float64


@given(st.data())
def test_extremes_of_objects(data: st.DataObject) -> None:
    """Nan is no value among objects either, whatever the parts."""
    items = st.lists(st.sampled_from([1, 2.5, 7, float("nan")]), min_size=2, max_size=6)
    block = np.array(data.draw(items), object)
    cut = data.draw(st.integers(1, len(block) - 1))
    for name, extreme, join in (
        ("nanmin", partials.nan_minimum, partials.fmin),
        ("nanmax", partials.nan_maximum, partials.fmax),
    ):
        parts = (extreme(part, (0,), keepdims=True) for part in (block[:cut], block[cut:]))
        expected = getattr(np, name)(block.astype(float)) if (block == block).any() else np.nan
        np.testing.assert_array_equal(join(*parts).astype(float), [expected])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_moments_of_objects(axis: int | None) -> None:
    """Their memory holds references, which no scratch buffer can."""
    x = np.arange(6).reshape(2, 3)
    with grids(merged=False):
        found = mt.var(mt.tensor(x, chunk_size=2), axis=axis, dtype=object).compute()
    np.testing.assert_array_equal(found, np.var(x, axis=axis, dtype=object))
