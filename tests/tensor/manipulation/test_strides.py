"""Where parts of reshaped axes lie in the axis."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.grids import parts
from marsdask.tensor.manipulation.strides import strided

SHAPE = (6, 4, 5)
KEYS = [
    np.s_[2:4],
    np.s_[3],
    np.s_[:, 1],
    np.s_[:, :, 2],
    np.s_[::-2],
    np.s_[::2, 1:3],
    np.s_[1:3, ::-1, ::2],
    np.s_[4:1:-1, 2, 1:],
]


@pytest.mark.parametrize("key", KEYS)
def test_positions_of_a_part(key):
    """They are those of the elements in C order."""
    whole = np.arange(120).reshape(SHAPE)
    items = key if isinstance(key, tuple) else (key,)
    items += (slice(None),) * (3 - len(items))
    ranges = [
        range(n)[i] if isinstance(i, slice) else range(i, i + 1)
        for n, i in zip(SHAPE, items, strict=True)
    ]
    start, axes = strided(SHAPE, ranges)
    places = np.array(start)
    for length, step in axes:
        places = np.add.outer(np.arange(length) * step, places)
    np.testing.assert_array_equal(places.ravel(), whole[key].ravel())


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("length", [120, 1200])
def test_parts_of_reshaped_vectors(monkeypatch, key, length):
    """Few runs are taken one by one, more by their positions."""
    monkeypatch.setattr(parts, "SMALL", 0)
    shape = (length // 20, 4, 5)
    x = mt.arange(length, chunk_size=50).reshape(shape)[key]
    np.testing.assert_array_equal(x.compute(), np.arange(length).reshape(shape)[key])
