"""Blocks of ranges have the values that NumPy has there, wherever they begin."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.tensor.kernels.range_blocks import COUNTED, arange_block, linspace_block


@pytest.mark.parametrize("dtype", ["i4", "i8", "f2", "f4", "f8"])
def test_blocks_of_ranges(dtype):
    """The second value is as given, and the others follow from the first two."""
    kind = np.dtype(dtype)
    whole = np.arange(3, 33, 3, dtype=kind)
    for start, stop in ((0, 10), (1, 4), (2, 3), (9, 10), (4, 4)):
        block = arange_block((stop - start,), (start,), kind, first=whole[0], second=whole[1])
        np.testing.assert_array_equal(block, whole[start:stop])
        assert block.dtype == kind


def test_long_blocks_are_counted_in_pieces():
    """No step is rounded where integers no longer fit short floats."""
    block = arange_block((COUNTED + 2,), (5,), np.dtype(float), np.float64(0), np.float64(1))
    np.testing.assert_array_equal(block, np.arange(5.0, COUNTED + 7))


@pytest.mark.parametrize("last", [True, False])
def test_blocks_between_two_ends(last):
    """The last value is the end itself."""
    whole = np.linspace(1, 2, 7, endpoint=last)
    for start, stop in ((0, 7), (2, 5), (6, 7)):
        ends = np.float64(1), np.float64(2), 7
        block = linspace_block((stop - start,), (start,), np.dtype(float), ends=ends, last=last)
        np.testing.assert_array_equal(block, whole[start:stop])
