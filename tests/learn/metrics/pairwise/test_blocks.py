"""Blocks of pairs are small, and know where they lie."""

from __future__ import annotations

import numpy as np

from marsdask.core.config import option_context
from marsdask.core.sizes import numbers
from marsdask.learn.metrics.pairwise.blocks import of_pairs
from marsdask.tensor.spatial.distance import small_blocks


def test_rows_are_cut_where_blocks_would_be_large():
    """Chunks that are small enough stay."""
    assert small_blocks(((4, 4), (8,))) == ((4, 4), (8,))
    with option_context({"chunk_store_limit": 128}):
        rows, others = small_blocks(((10,), (10,)))
    assert max(numbers(rows)) * max(numbers(others)) <= 16
    assert sum(numbers(rows)) == sum(numbers(others)) == 10


def test_the_diagonal_is_that_of_the_whole():
    """Of a block that it crosses off the block's own corner."""
    how = {"func": sums, "dtype": np.dtype(float), "zeros": True, "options": {}}
    block = of_pairs(np.ones((3, 1)), np.ones((4, 1)), (2, 4), **how)
    expected = np.full((3, 4), 2.0)
    expected[2, 0] = 0
    np.testing.assert_array_equal(block, expected)


def test_empty_blocks_have_the_type_of_others():
    """So that joining them changes no type."""
    how = {"func": sums, "dtype": np.dtype(np.float32), "zeros": False, "options": {}}
    assert of_pairs(np.ones((0, 1)), np.ones((4, 1)), (0, 0), **how).dtype == np.float32


def sums(a, b):
    """Return the sum of each two rows."""
    return a + b.T
