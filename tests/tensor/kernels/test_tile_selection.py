"""Steps that choose elements of a tile."""

from __future__ import annotations

import numpy as np

from marsdask.tensor.kernels.tile_selection import places, take_elements


def test_elements_are_picked_in_order() -> None:
    """Of a view of two axes too; the result has as many axes and lasts until the next call."""
    block = np.arange(40.0).reshape(5, 8)[:, 1:6]
    mask = block % 3 == 1
    found = take_elements(block, places(mask), "test")
    assert found.shape == (1, mask.sum())
    assert found.tolist() == [block[mask].tolist()]
    again = take_elements(block + 1, places(mask), "test")
    assert np.shares_memory(found, again)
    assert take_elements(block[0], places(mask[0] & False), "test").shape == (0,)
