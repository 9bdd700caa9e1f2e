"""Blocks put together, and shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.tensor.blocks import assemble


@given(st.data())
def test_blocks_make_the_array_they_were_cut_from(data):
    """Any grid, with empty blocks too."""
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    borders = [sorted(data.draw(st.lists(st.integers(0, length), max_size=3))) for length in shape]
    edges = [[0, *inner, length] for inner, length in zip(borders, shape, strict=True)]
    blocks = {
        index: array[
            tuple(slice(edge[i], edge[i + 1]) for edge, i in zip(edges, index, strict=True))
        ]
        for index in np.ndindex(*(len(edge) - 1 for edge in edges))
    }
    np.testing.assert_array_equal(assemble(blocks, array[:0], owned=False), array)


@pytest.mark.parametrize("owned", [True, False])
def test_a_single_block_is_copied_unless_it_is_nobody_elses(owned):
    """A view belongs to whoever has the array, a read-only block to whoever made it so."""
    whole = np.arange(6.0)
    assert np.shares_memory(assemble({(0,): whole}, whole, owned=owned), whole) is owned
    view = whole[1:]
    assert not np.shares_memory(assemble({(0,): view}, whole, owned=owned), whole)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    assert assemble({(0,): fixed}, whole, owned=owned).flags.writeable
