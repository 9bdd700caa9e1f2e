"""Reductions of masked tensors mask what NumPy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt


@pytest.mark.filterwarnings("ignore:(Mean|Degrees)|invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("masked", ["none", "some", "rows"])
def test_too_few_values_that_are_not_nan(name: str, masked: str) -> None:
    """Give NaN without a mask, unless all are masked."""
    data = np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, 2.0], [3.0, 4.0]])
    masks = {"none": data > 9, "some": [[0, 1], [1, 0], [0, 1], [0, 0]], "rows": data[:, :1] >= 1}
    mask = np.broadcast_to(np.array(masks[masked], bool), data.shape)
    lazy, own = (
        mt.ma.masked_array(mt.tensor(data, chunk_size=2), mask),
        np.ma.masked_array(data, mask),
    )
    degrees: list[dict[str, Any]] = [{}] if name == "nanmean" else [{}, {"ddof": 1}]
    ways: list[dict[str, Any]] = [{"axis": at} for at in (0, 1, None)]
    for ddof in degrees:
        for lanes in (*ways, {"axis": 1, "keepdims": True}):
            found = getattr(mt, name)(lazy, **lanes, **ddof).compute()
            expected = getattr(np, name)(own, **lanes, **ddof)
            np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
            np.testing.assert_allclose(np.ma.filled(found, 7.0), np.ma.filled(expected, 7.0))
