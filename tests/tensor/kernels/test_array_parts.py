"""Parts of arrays that functions tell: equal to slices of the whole."""

from __future__ import annotations

import itertools

import numpy as np

from marsdask.tensor.kernels import array_parts
from marsdask.tensor.kernels.array_parts import part_block, subrange


def numbered(shape, starts):
    """Return a block of a table in which each element tells its position."""
    rows, columns = np.indices(shape)
    return (rows + starts[0]) * 1000 + columns + starts[1]


def test_parts_are_slices_of_the_whole(monkeypatch):
    """Steps, long ones and backward ones, whether elements are made one by one or in runs."""
    whole = numbered((40, 50), (0, 0))
    cuts = [range(40), range(3, 30, 7), range(39, -1, -5), range(8, 9), range(0)]
    for span, rows, columns in itertools.product((1, 30, 2**16), cuts, cuts):
        monkeypatch.setattr(array_parts, "SPAN", span)
        shape = len(rows), len(columns)
        block = part_block(shape, (0, 0), func=numbered, whole=(rows, columns))
        np.testing.assert_array_equal(block, whole[list(rows)][:, list(columns)])


def test_a_part_of_a_range_may_be_empty_or_backward():
    """Positions count from the begin of the range, in its direction."""
    assert list(subrange(range(10, 0, -2), range(1, 4))) == [8, 6, 4]
    assert list(subrange(range(5), range(4, -1, -2))) == [4, 2, 0]
    assert not subrange(range(5), range(2, 2))
