"""One way to cut an axis that several cut in different ways."""

from __future__ import annotations

import pytest

import marsdask.tensor as mt
from marsdask.core.grids.align import broadcast_chunks, common_sizes
from marsdask.core.sizes import Unknown


def test_common_sizes() -> None:
    """The finest cut is kept; axes of one element broadcast, however they are cut."""
    assert common_sizes([(3, 1), (2, 2)]) == (2, 2)
    assert common_sizes([(2, 3, 3), (3, 3, 2)]) == (2, 3, 3)
    assert common_sizes([(1,), (2, 3)]) == (2, 3)
    assert common_sizes([(0, 1), (2, 3)]) == (2, 3)
    assert broadcast_chunks(((2, 2),), ((3,), (4,))) == ((3,), (2, 2))
    with pytest.raises(ValueError, match="lengths 3 and 4"):
        common_sizes([(3,), (4,)])


def test_cuts_nearly_as_fine_take_the_fewest_chunks() -> None:
    """A sliver at a border is no finer cut; chunks of twice the size are, however few they are."""
    assert common_sizes([(1, 63), (64,)]) == (64,)
    assert common_sizes([(5, 5, 5, 5), (7, 7, 6)]) == (7, 7, 6)
    assert common_sizes([(5, 5), (10,)]) == (5, 5)


def test_chains_of_differences_stay_in_their_chunks() -> None:
    """A row before the others (``diff(prepend=)``) is no border that all later links would have."""
    x = mt.ones(64, chunk_size=64)
    for _ in range(5):
        x = mt.diff(x, prepend=0.0)
    assert x.chunks == ((64,),)


def test_unknown_lengths_meet() -> None:
    """Equal names are equal lengths; different ones are a length that only running tells."""
    a, b = Unknown("a"), Unknown("b")
    assert common_sizes([(a,), (a,)]) == (a,)
    assert common_sizes([(a,), (1,)]) == (a,)
    assert common_sizes([(a,), (3, 4)]) == (3, 4)
    (size,) = common_sizes([(a,), (b,)])
    assert isinstance(size, Unknown)
    assert size not in (a, b)
