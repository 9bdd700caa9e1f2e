"""The frame of every reduction: tiles, partial results of nothing, pairwise combination."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.tensor.kernels.block_reduction import (
    BlockReduction,
    Combine,
    EmptyPartial,
    Recipe,
    finish_block,
    fold_pairs,
    reduce_block,
)
from marsdask.tensor.reduction import partials

MAX = Recipe(np.max, np.maximum, whole=np.max, tiled=True)


def test_tiles_give_what_the_whole_block_gives() -> None:
    """A block of many tiles reduces to the same partial result, kept axes in place."""
    block = np.random.default_rng(0).normal(size=(50, 40, 90))
    for axis in [(0,), (1,), (2,), (0, 2), (0, 1, 2)]:
        for view in (block, block.T, block[:, ::-1]):
            got = reduce_block(
                view, reductions=(BlockReduction(MAX, axis),), program=None, masked=False
            )
            assert np.array_equal(got, view.max(axis=axis, keepdims=True))


def test_nothing_gives_way() -> None:
    """The partial result of no elements combines to the other one."""
    nothing = reduce_block(
        np.ones((0, 2)), reductions=(BlockReduction(MAX, (0,)),), program=None, masked=False
    )
    assert isinstance(nothing, EmptyPartial)
    combine = Combine(np.maximum)
    assert combine(nothing, 3) == 3
    assert combine(3, nothing) == 3
    assert combine(nothing, nothing) is nothing
    assert combine(2, 3) == 3


def test_finish_drops_axes_and_casts() -> None:
    """The end of a reduction is of the declared type and without the reduced axes."""
    value = finish_block(
        np.ones((1, 3)), Recipe(np.sum, np.add), (0,), False, np.dtype("f4"), {}, 2
    )
    assert value.dtype == np.float32
    assert value.tolist() == [3, 3, 3]


EQUAL = [[2] * count for count in range(1, 10)]


@pytest.mark.parametrize("lengths", [*EQUAL, [2, 2, 1], [1, 2], [1, 2, 2], [2, 1, 2], [3, 1, 2, 1]])
def test_pairs_are_folded(lengths: list[int]) -> None:
    """Partial results of any number are combined, also where they are of unequal numbers."""
    whole = np.random.default_rng(0).normal(size=(sum(lengths), 2))
    blocks = np.split(whole, np.cumsum(lengths)[:-1])
    parts = [partials.moments(block, (0,), keepdims=True) for block in blocks]
    total, number, squares = fold_pairs(parts, partials.merge_moments, 0)
    assert number == len(whole)
    np.testing.assert_allclose(total, whole.sum(0, keepdims=True))
    np.testing.assert_allclose(squares, whole.var(0, keepdims=True) * number, atol=1e-12)
