"""Chunks permute their own positions, and together these are a permutation."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.learn.datasets.feistel import permuted

KEYS = (3, 1, 4, 1)


@pytest.mark.parametrize("length", [1, 2, 3, 100, 1025])
def test_it_is_a_permutation(length):
    """Each position is taken once, in whatever parts they are asked for."""
    found = permuted(np.arange(length), length, KEYS)
    np.testing.assert_array_equal(np.sort(found), np.arange(length))
    parts = [permuted(part, length, KEYS) for part in np.array_split(np.arange(length), 3)]
    np.testing.assert_array_equal(np.concatenate(parts), found)


def test_it_looks_random():
    """Neighbours are taken apart, and other keys take them elsewhere."""
    found = permuted(np.arange(4096), 4096, KEYS)
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.06
    assert abs(np.corrcoef(found, np.arange(4096))[0, 1]) < 0.06
    assert np.count_nonzero(found == permuted(np.arange(4096), 4096, (11, 22, 33, 44))) < 20
