"""Arrays one after the other: parts of a join are joins of parts."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.grids.parts import part_of
from marsdask.tensor.manipulation.concatenation import Concatenate


def joined(*lengths):
    """Return the node of ranges one after the other, as floats."""
    arrays = tuple(mt.arange(length, chunk_size=2).node for length in lengths)
    return Concatenate(arrays, 0, np.dtype(float))


def test_a_part_reads_only_the_arrays_that_it_lies_in():
    """Arrays without wanted elements are left out, in both directions and with steps."""
    node = joined(5, 4, 3)
    whole = np.concatenate([np.arange(n) for n in (5, 4, 3)]).astype(float)
    for cut in (range(1, 3), range(6, 8), range(11, -1, -5), range(4, 10, 2), range(0)):
        part = node.sliced((cut,), part_of)
        values = wrap(part).compute()
        np.testing.assert_array_equal(values, whole[list(cut)])
    assert len(node.sliced((range(6, 8),), part_of).inputs) == 1
