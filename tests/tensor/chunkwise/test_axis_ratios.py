"""Functions that make so many elements along an axis of each so many."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.grids import parts


@pytest.mark.parametrize("name", ["packbits", "unpackbits"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("key", [np.s_[1:3], np.s_[::-1], np.s_[-1:], np.s_[2:2], np.s_[1::2]])
def test_parts(monkeypatch, name, axis, key):
    """They are parts of NumPy's result, at any borders of bytes."""
    monkeypatch.setattr(parts, "SMALL", 0)
    a = np.random.default_rng(0).integers(0, 2, (37, 21)).astype("u1")
    lazy, eager = getattr(mt, name), getattr(np, name)
    where = key if axis in (None, 0) else (slice(None), key)
    result = lazy(mt.tensor(a, chunk_size=16), axis)[where]
    np.testing.assert_array_equal(result.compute(), eager(a, axis)[where])
