"""Reductions of masked tensors mask what NumPy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt


@pytest.mark.filterwarnings("ignore:(Mean|Degrees|All-NaN)|invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nanmin", "nanmax"])
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
    with_degrees = name in ("nanvar", "nanstd")
    degrees: list[dict[str, Any]] = [{}, {"ddof": 1}] if with_degrees else [{}]
    ways: list[dict[str, Any]] = [{"axis": at} for at in (0, 1, None)]
    for ddof in degrees:
        for lanes in (*ways, {"axis": 1, "keepdims": True}):
            found = getattr(mt, name)(lazy, **lanes, **ddof).compute()
            expected = getattr(np, name)(own, **lanes, **ddof)
            np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
            np.testing.assert_allclose(np.ma.filled(found, 7.0), np.ma.filled(expected, 7.0))


@pytest.mark.filterwarnings("ignore:(Mean|Degrees)|invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)], ids=str)
def test_averages_of_no_values(name: str, shape: tuple[int, ...]) -> None:
    """They are masked, also if only running tells that there are none; as scalars they are NaN."""
    own: Any = np.ma.masked_array(np.ones(shape))
    lazy: Any = mt.tensor(own, chunk_size=1)
    unknown = lazy[mt.arange(shape[0]) > 5] if shape[0] == 0 else lazy
    for lanes in ({}, {"axis": 0}, {"axis": -1}, {"axis": -1, "keepdims": True}):
        expected: Any = getattr(np, name)(own, **lanes)
        for rows in (lazy, unknown):
            found = getattr(mt, name)(rows, **lanes).compute()
            if not np.ndim(expected):  # NumPy's may be 0, as the warnings are that it makes
                assert np.isnan(found)
                continue
            np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
            np.testing.assert_array_equal(np.ma.filled(found, 7.0), np.ma.filled(expected, 7.0))
