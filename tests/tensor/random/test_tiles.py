"""Random numbers are the same however they are cut, and drawn as they are read."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context


@pytest.mark.parametrize(
    "size, chunks", [(200_000, 70_000), ((500, 600), 220), ((300, 200, 3), 90)]
)
def test_numbers_drawn_as_they_are_read(size, chunks):
    """What only a reduction or a chain needs is made of the same numbers."""

    def numbers():
        return mt.random.RandomState(3).normal(size=size, chunk_size=chunks)

    array = numbers().compute()
    for coalesce in (True, False):
        with option_context({"coalesce": coalesce}):
            assert np.array_equal((numbers() * 2 + 1).compute(), array * 2 + 1)
            assert numbers().max().compute() == array.max()
            for axis in (None, 0, array.ndim - 1):
                np.testing.assert_allclose(numbers().std(axis=axis).compute(), array.std(axis=axis))
