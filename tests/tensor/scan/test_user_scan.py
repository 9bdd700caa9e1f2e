"""Accumulations by functions of one's own, and forward fill."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.scan.user_scan import cumreduction
from tests.strategies import arrays_and_chunks, assert_same


@given(st.data())
def test_fill_forward_is_that_of_pandas(data: Any) -> None:
    """Across chunks, empty ones too, with and without a limit."""
    array, chunks = data.draw(arrays_and_chunks(("f8", "f4"), 1, 2))
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    limit = data.draw(st.none() | st.integers(0, 7))
    columns = np.moveaxis(array, axis, 0)
    frame = pd.DataFrame(columns.reshape(len(columns), math.prod(columns.shape[1:])))
    filled = frame if limit == 0 else frame.ffill(limit=limit)
    expected = np.moveaxis(filled.to_numpy().reshape(columns.shape), 0, axis).astype(array.dtype)
    assert_same(mt.push(mt.tensor(array, chunks=chunks), limit, axis), expected)


def test_fill_forward_where_lengths_are_unknown() -> None:
    """And of types without nan."""
    array = np.array([1, np.nan, 2, np.nan, np.nan, np.nan, 7])
    lazy = mt.tensor(array, chunk_size=2)
    kept = lazy[lazy != 1]
    assert_same(mt.push(kept, 2, 0), np.array([np.nan, 2, 2, 2, np.nan, 7]))
    assert_same(mt.push(mt.arange(3, chunk_size=2), 1, 0), np.arange(3))


@given(arrays_and_chunks(("i8", "f8"), nan=False), st.booleans())
def test_accumulations(array_and_chunks: Any, flat: bool) -> None:
    """A function for a block and one for what is between."""
    array, chunks = array_and_chunks
    axis = None if flat or array.ndim == 0 else array.ndim - 1
    lazy = mt.tensor(array, chunks=chunks)
    if array.size == 0:
        return
    largest = cumreduction(np.maximum.accumulate, np.maximum, -np.inf, lazy, axis)
    whole = array.ravel() if axis is None else array
    assert_same(largest, np.maximum.accumulate(whole, axis=axis or 0).astype(largest.dtype))
    total = cumreduction(np.cumsum, np.add, 0, lazy, axis, dtype=float)
    assert_same(total, np.cumsum(array, axis, dtype=float))


def test_an_axis_that_is_not_there() -> None:
    """Refused at the call."""
    with pytest.raises(np.exceptions.AxisError):
        mt.push(mt.ones(3), None, 1)
