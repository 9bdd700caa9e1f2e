"""Points of neighbouring blocks, whole and in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.tensor.gathering import Gathering, gather_points, take_along, taking_along

BLOCKS = tuple(np.split(np.arange(84).reshape(7, 12), [5, 9], axis=1))
WHOLE = np.concatenate(BLOCKS, axis=1)


def chosen(points: Any) -> tuple[Any, Any]:
    """Return the points of each block, and the order that brings them back."""
    block = np.searchsorted([5, 9], points, side="right")
    local = points - np.array([0, 5, 9])[block]
    order = np.argsort(np.argsort(block, kind="stable"), kind="stable")
    return tuple(local[block == i] for i in range(3)), order


@given(st.lists(st.integers(0, 11), min_size=1, max_size=20), st.integers(0, 6), st.data())
def test_every_part(points: list[int], row: int, data: st.DataObject) -> None:
    """A part of the points is taken from the blocks that hold it."""
    places = np.asarray(points)
    lazy = Gathering(BLOCKS, *chosen(places), 1)
    start = data.draw(st.integers(0, len(points)))
    stop = data.draw(st.integers(start, len(points)))
    assert np.array_equal(lazy[row:, start:stop], WHOLE[row:, places[start:stop]])
    assert np.array_equal(np.asarray(lazy), WHOLE[:, places])


@pytest.mark.parametrize("axis", [0, 1])
def test_kernels(axis: int) -> None:
    """Taken at once and tile by tile, from one block and from several."""
    points = np.array([3, 3, 11, 0, 6])
    whole, blocks = (WHOLE, BLOCKS) if axis else (WHOLE.T, tuple(block.T for block in BLOCKS))
    expected = np.take(whole, points, axis)
    assert np.array_equal(gather_points(*blocks, chosen(points), axis=axis), expected)
    for kernel in (take_along, taking_along):
        taken = kernel(whole, (points,), axes=(axis,), place=axis)
        assert np.array_equal(np.asarray(taken), expected)
