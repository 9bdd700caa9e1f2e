"""Where chunks lie, and chunks of equal sizes."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


def test_where_chunks_lie() -> None:
    """The part of the whole that each is."""
    x = np.arange(20).reshape(4, 5)
    lazy = mt.tensor(x, chunk_size=(3, 2))
    assert lazy.get_chunk_slices((1, 2)) == (slice(3, 4), slice(4, 5))
    with pytest.raises(ValueError, match="2 items"):
        lazy.get_chunk_slices((1,))


def test_equal_chunks() -> None:
    """As many as there are, as asked for, or some for each processor."""
    lazy = mt.tensor(np.arange(10), chunks=((7, 1, 2),))
    assert lazy.rebalance().chunks == ((4, 3, 3),)
    assert lazy.rebalance(num_partitions=5).chunks == ((2,) * 5,)
    assert sum(lazy.rebalance(factor=1).chunks[0]) == 10
    assert_same(lazy.rebalance(num_partitions=20), np.arange(10))


def test_scalars() -> None:
    """Have no axes."""
    assert mt.tensor(3).is_scalar()
    assert not mt.ones(1).isscalar()
