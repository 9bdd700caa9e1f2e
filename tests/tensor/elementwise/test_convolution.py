"""Convolutions of vectors, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("func", ["convolve", "correlate"])
def test_equals_numpy(func: str, mode: str) -> None:
    """Vectors of all small lengths, complex ones too, whatever the chunks."""
    rng = np.random.default_rng(0)
    for n, m, size in [
        (1, 1, 1),
        (5, 2, 1),
        (7, 4, 2),
        (12, 5, 3),
        (9, 9, 4),
        (3, 8, 2),
        (4, 1, 9),
    ]:
        a, v = rng.integers(-5, 5, n), rng.integers(-5, 5, m) * (1 + 2j)
        lazy = mt.tensor(a, chunk_size=size), mt.tensor(v, chunk_size=2)
        assert_same(getattr(mt, func)(*lazy, mode), getattr(np, func)(a, v, mode))


@pytest.mark.parametrize("func", ["convolve", "correlate"])
def test_truth_values_stay_what_they_are(func: str) -> None:
    """The product of two is one, and so is the sum."""
    a, v = np.array([True, False, True, True]), np.array([True, True])
    assert_same(getattr(mt, func)(mt.tensor(a, chunk_size=2), v), getattr(np, func)(a, v))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_is(value: float) -> None:
    """Nothing outside of the vectors is multiplied by it."""
    a, v = np.array([1.0, 2, 3, value, 5, 6, 7]), np.array([1.0, value, 2.0])
    for mode in ("full", "same", "valid"):
        assert_same(mt.convolve(mt.tensor(a, chunk_size=3), v, mode), np.convolve(a, v, mode))


def test_refused() -> None:
    """Nothing, matrices and other modes."""
    with pytest.raises(ValueError, match="empty"):
        mt.convolve(mt.ones(3), [])
    with pytest.raises(ValueError, match="deep"):
        mt.convolve(mt.ones((3, 3)), [1])
    with pytest.raises(ValueError, match="mode"):
        mt.correlate(mt.ones(3), [1], "nonsense")
    assert_same(mt.convolve(mt.ones(3), 2), np.full(3, 2.0))


def test_one_task_a_chunk() -> None:
    """Each takes what it needs of its neighbour; no chunk is joined with another."""
    found: Any = mt.convolve(mt.ones(1000, chunk_size=100), [1, 2, 1], "full")
    assert found.chunks == ((100,) * 9 + (102,),)
