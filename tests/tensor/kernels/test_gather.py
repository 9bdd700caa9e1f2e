"""Points of neighbouring blocks, whole and in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.tensor.kernels.block_reduction import BlockReduction, Recipe, reduce_block
from marsdask.tensor.kernels.fused_ufuncs import UfuncProgram, UfuncStep
from marsdask.tensor.kernels.gather import GatheredPoints, gather_points, take_along, taking_along

SUM = Recipe(np.sum, np.add, tiled=True)
PRODUCT = UfuncProgram(2, (UfuncStep(np.multiply, (0, 1), (), (), np.dtype(float)),))

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
    lazy = GatheredPoints(BLOCKS, *chosen(places), 1)
    start = data.draw(st.integers(0, len(points)))
    stop = data.draw(st.integers(start, len(points)))
    assert np.array_equal(lazy[row:, start:stop], WHOLE[row:, places[start:stop]])
    assert np.array_equal(np.asarray(lazy), WHOLE[:, places])


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_a_sum_takes_points_in_any_order(axis: tuple[int, ...]) -> None:
    """Reductions equal those of the points in order, whatever else they read."""
    points = np.array([3, 3, 11, 0, 6] * 20_000)
    blocks = tuple(block.astype(float) for block in BLOCKS)
    row, column = np.arange(len(points)) + 0.5, np.arange(7.0)[:, None]
    for others in ((), (row,), (column,), (np.array(2.0),)):
        lazy = GatheredPoints(blocks, *chosen(points), 1)
        program = PRODUCT if others else None
        got = reduce_block(
            lazy, *others, reductions=(BlockReduction(SUM, axis),), program=program, masked=False
        )
        whole = WHOLE[:, points] * (others[0] if others else 1)
        np.testing.assert_allclose(got, whole.sum(axis=axis, keepdims=True))


def test_shuffled_points_are_taken_block_by_block() -> None:
    """The parts between borders come from one block each, in order of their places."""
    points = np.array([3, 3, 11, 0, 6])
    lazy = GatheredPoints(BLOCKS, *chosen(points), 1)
    assert lazy.shuffled([0]) is lazy
    shuffled = lazy.shuffled([1])
    assert shuffled.borders == [[0, 7], [0, 3, 4, 5]]
    assert np.array_equal(np.asarray(shuffled), WHOLE[:, np.sort(points)])


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
