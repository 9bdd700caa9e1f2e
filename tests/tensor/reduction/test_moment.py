"""Moments are Dask's."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_moments_are_dasks(order):
    """Along any axis, of integers too."""
    x = np.arange(12).reshape(3, 4) ** 2
    ours, theirs = mt.tensor(x, chunk_size=2), da.from_array(x, chunks=2)
    for axis in (None, 0, 1):
        expected = da.reductions.moment(theirs, order, axis=axis, ddof=1).compute(scheduler="sync")
        assert_same(mt.moment(ours, order, axis=axis, ddof=1), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="Order"):
        mt.moment(ours, -1)
