"""Frames as tensors."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.dataframe.tables import filtered, tables


@given(both=tables())
def test_values(both):
    """Values come in the common type of the columns, lengths known or not."""
    frame, lazy = both
    columns = ["k", "f"]
    for d, e in ((frame, lazy), (filtered(frame), filtered(lazy))):
        np.testing.assert_array_equal(e[columns].to_tensor().compute(), d[columns].to_numpy())
        np.testing.assert_array_equal((e.u.values + 1).compute(), d.u.to_numpy() + 1)
    assert lazy[columns].values.dtype == frame[columns].to_numpy().dtype
