"""The names of numpy.lib.stride_tricks."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt


def test_windows():
    """The functions are those of the package, by NumPy's path."""
    x = np.arange(12).reshape(3, 4)
    tricks, theirs = mt.lib.stride_tricks, np.lib.stride_tricks
    found = tricks.sliding_window_view(mt.tensor(x, chunk_size=2), 3, axis=1)
    np.testing.assert_array_equal(found.compute(), theirs.sliding_window_view(x, 3, axis=1))
    assert tricks.broadcast_to(mt.ones(3), (2, 3)).shape == (2, 3)
