"""What is missing."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt


def test_missing_values():
    """Under Dask's names."""
    x = mt.tensor([1.0, np.nan])
    np.testing.assert_array_equal(mt.isnull(x).compute(), [False, True])
    np.testing.assert_array_equal(mt.notnull(x).compute(), [True, False])
