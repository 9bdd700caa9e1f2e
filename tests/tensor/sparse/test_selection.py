"""What is selected of sparse blocks is sparse, and the values are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from marsdask.tensor.indexing.advanced import pick_points
from marsdask.tensor.sparse.blocks import is_sparse
from marsdask.tensor.sparse.selection import choose_stored, merge_stored, take_stored

DENSE = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0]])
SPARSE = scipy.sparse.csr_array(DENSE)
VECTOR = scipy.sparse.csr_array(DENSE[0])


def assert_equal(found: Any, expected: Any) -> None:
    assert is_sparse(found)
    assert found.dtype == expected.dtype
    assert found.toarray().tolist() == expected.tolist()
    assert found.shape == expected.shape


@pytest.mark.parametrize("places", [[], [2], [2, 0, 2], [-1, 0]])
def test_points(places: Any) -> None:
    """Along either axis, of both at once, and of a vector; zeros are not stored."""
    points = np.array(places, np.intp)
    assert_equal(take_stored(SPARSE, (points,), (0,)), DENSE[points])
    assert_equal(take_stored(SPARSE, (points,), (1,)), DENSE[:, points])
    assert_equal(take_stored(SPARSE, (points, points), (0, 1)), DENSE[points, points])
    assert_equal(take_stored(VECTOR, (points,), (0,)), DENSE[0][points])
    assert take_stored(SPARSE, (points, points), (0, 1)).nnz == np.count_nonzero(
        DENSE[points, points]
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_shares_are_merged(axis: int) -> None:
    """Parts of several blocks come to their places."""
    shares = [SPARSE, SPARSE]
    places = [(slice(0, 2), np.array([3, 0])), (slice(1, 3), np.array([1, 2]))]
    expected = np.zeros_like(np.concatenate([DENSE, DENSE], axis).take(range(4), axis))
    for part, positions in places:
        where: Any = (slice(None),) * axis
        expected[(*where, positions)] = DENSE[(*where, part)]
    assert_equal(merge_stored(shares, places, axis), expected)


def test_masks() -> None:
    """Over rows, columns, or all elements, also those that hold zeros."""
    rows, columns = np.array([True, False, True]), np.array([False, True, True, False])
    assert_equal(choose_stored(SPARSE, rows, 0), DENSE[rows])
    assert_equal(choose_stored(SPARSE, columns, 1), DENSE[:, columns])
    for mask in (DENSE % 2 == 0, DENSE > 9, DENSE == DENSE):
        assert_equal(choose_stored(SPARSE, mask, 0), DENSE[mask])


def test_positions_that_are_computed() -> None:
    """Many are looked up in all blocks."""
    blocks = [scipy.sparse.csr_array(DENSE[:2]), scipy.sparse.csr_array(DENSE[2:])]
    points = np.array([2, -3, 1, 2])
    assert_equal(pick_points(blocks, [points], ((2, 1),), (0,), 0), DENSE[points])
