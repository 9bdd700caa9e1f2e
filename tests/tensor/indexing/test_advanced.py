"""Positions: how many tasks they cost, and what many computed ones give."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.sizes import Unknown
from marsdask.tensor.indexing.advanced import locate_points
from tests.strategies import assert_same, grids
from tests.tensor.stages import first_graph


def tasks(lazy):
    """Return the number of tasks of the first stage."""
    return len(first_graph(lazy))


def test_sorted_positions_need_no_merge():
    """Each chunk of the result comes from one chunk of the source."""
    x = mt.ones((100, 1000), chunk_size=100)
    assert tasks(x[:, np.arange(0, 1000, 3)]) == 10


def test_positions_in_one_chunk_are_not_looked_for():
    """They are what they were, and of the block that the other axes say."""
    points = (np.array([0, 3, 3, 9]), np.array([1, 4, 0, 2]))
    found = locate_points(((10,), (3, 2)), points, (0, 1))
    assert found.local[0] is points[0]
    np.testing.assert_array_equal(found.local[1], [1, 1, 0, 2])
    np.testing.assert_array_equal(found.block, [0, 1, 0, 0])
    assert found.counts == (1, 2)


def test_unsorted_positions_cost_a_share_a_chunk_and_a_merge():
    """Many positions in any order: no more tasks than chunks, twice."""
    x = mt.ones((100, 1000), chunk_size=100)
    where = np.random.default_rng(0).permutation(1000)
    assert tasks(x[:, where]) == 10 + 10
    assert tasks(x[:, where[:300]]) == 10 + 3
    assert tasks(x.rechunk((100, 200))[:, where]) == 5 + 5  # few blocks: all of them are read


def test_many_computed_positions():
    """Positions too many to look at give the same as those known."""
    rng = np.random.default_rng(0)
    array = rng.standard_normal((50, 3))
    where = rng.integers(-50, 50, 40_000)
    x, w = mt.array(array, chunk_size=(7, 2)), mt.array(where, chunk_size=15_000)
    with grids(merged=False):
        assert_same(x[w], array[where])
        assert_same(x[w, w % 3], array[where, where % 3])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8"])
@pytest.mark.parametrize("count", [6, 20_001])
def test_positions_of_any_integer_type(dtype, count):
    """Small ones count beyond their range from the end, unsigned ones stay positions."""
    array = np.arange(300)
    where = np.resize(np.array([-1, -128, 2] if dtype[0] == "i" else [1, 255, 2], dtype), count)
    x, w = mt.array(array, chunk_size=70), mt.array(where, chunk_size=9_000) + where.dtype.type(0)
    assert_same(x[w], array[where])
    x[w] = -5
    array[where] = -5
    assert_same(x, array)


def test_computed_positions_out_of_bounds():
    """They are found when they run."""
    x = mt.arange(5, chunk_size=2)
    for count in (1, 20_000):
        bad = x[mt.full(count, 7, chunk_size=9_000)]
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
            bad.compute()


def test_positions_in_an_axis_of_unknown_length():
    """Negative positions count from the end once it is known."""
    a = np.arange(20)
    x = mt.arange(20, chunk_size=3)
    lazy = x[x % 2 == 1][[0, -1, 3]]
    assert lazy.shape == (3,)
    assert_same(lazy, a[a % 2 == 1][[0, -1, 3]])
    assert isinstance(x[x > 0].node.shape[0], Unknown)
