"""The place of a quantile is found in the type in which NumPy finds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.tensor.quantile.methods import METHODS

ROWS = np.random.default_rng(9).normal(size=(8, 5))

#: Quantiles that fall on an element, or beside one by an error of rounding, in several types.
QUANTILES: dict[str, Any] = {
    "float": 0.4,
    "between": 0.35,
    "integer": 1,
    "float64": np.float64(0.3),
    "float32": np.float32(0.35),
    "float16": np.float16(0.4),
    "list": [0.1, 0.35],
    "small array": np.array([0.1, 0.4], np.float32),
}


@pytest.mark.parametrize("name", QUANTILES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", [None, 0])
def test_types_of_quantiles_count_as_in_numpy(axis: Any, method: Any, name: str) -> None:
    """Values and types are equal to the last bit, for elements of all sizes."""
    q = QUANTILES[name]
    for dtype in ("f2", "f4", "f8"):
        rows = ROWS.astype(dtype)
        want = np.asarray(np.quantile(rows, q, axis=axis, method=method))
        percent = np.asarray(np.nanpercentile(rows, 35, axis=axis, method=method))
        with option_context({"coalesce": False}):
            t = mt.tensor(rows, chunk_size=3)
            lazy = mt.quantile(t, q, axis=axis, method=method)
            value = np.asarray(lazy.compute())
            assert (lazy.dtype, value.dtype, value.tolist()) == (
                want.dtype,
                want.dtype,
                want.tolist(),
            ), dtype
            result = np.asarray(mt.nanpercentile(t, 35, axis=axis, method=method).compute())
            assert (result.dtype, result.tolist()) == (percent.dtype, percent.tolist()), dtype


def test_one_of_infinite_elements_is_that_element() -> None:
    """An integer q takes an element, and no difference of infinities."""
    rows = np.array([1.0, np.inf, np.inf, -np.inf])
    with option_context({"coalesce": False}):
        assert mt.quantile(mt.tensor(rows, chunk_size=2), 1).compute() == np.inf
