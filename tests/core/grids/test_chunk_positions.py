"""Chunks are told where they lie."""

import numpy as np

from marsdask.core.grids.chunk_positions import (
    BoundsAt,
    CornerAt,
    PlaceAt,
    SlicesAt,
    SpanAt,
    StartAt,
)
from marsdask.core.sizes import Index


def test_all_tell_the_same_place() -> None:
    """The parts that chunks are told of are the array, wherever it is cut."""
    array = np.arange(20).reshape(4, 5)
    chunks = ((3, 0, 1), (2, 2, 1))
    rows, columns = StartAt(chunks[0]), SpanAt(chunks[1], axis=1)
    found = np.full_like(array, -1)
    indices: list[Index] = [(i, j) for i in range(3) for j in range(3)]
    for index in indices:
        (parts,) = SlicesAt(chunks)(index)
        (bounds,) = BoundsAt(chunks)(index)
        (corner,) = CornerAt(chunks)(index)
        found[parts] = array[parts]
        assert PlaceAt(chunks)(index) == (array[parts].shape, corner)
        assert bounds == tuple((part.start, part.stop) for part in parts)
        assert (*rows(index), columns(index)[0]) == corner
        assert columns(index) == bounds[1]
    assert np.array_equal(found, array)
