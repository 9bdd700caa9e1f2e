"""Some chunks of grids, and parts of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.grids.select import cut_axis


@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=6).map(tuple),
    start=st.integers(-12, 12),
    stop=st.integers(-12, 12),
    step=st.sampled_from([1, 2, 3, 7, -1, -2, -9]),
)
def test_cut_axis_takes_each_element_once_and_in_order(sizes, start, stop, step) -> None:
    """The parts of the old chunks, put together, are the slice."""
    axis = np.arange(sum(sizes))
    blocks = np.split(axis, np.cumsum(sizes)[:-1])
    taken = range(*slice(start, stop, step).indices(len(axis)))
    cut = cut_axis(sizes, taken)
    parts = [blocks[i][part] for i, part in zip(cut.positions, cut.parts, strict=True)]
    assert np.concatenate(parts).tolist() == list(taken)
    assert tuple(map(len, parts)) == cut.sizes
    assert all(cut.sizes) or cut.sizes == (0,)
