"""Shapes are told, and executed."""

from __future__ import annotations

import dask

import marsdask.tensor as mt


def test_a_shape_is_executed_and_fetched():
    """As Mars's documents do; it is a tuple of integers all the same."""
    found = mt.shape(mt.ones((4, 3), chunk_size=2))
    assert tuple(found) == (4, 3)
    assert found.execute() == found.fetch() == found.compute() == found.to_object() == (4, 3)
    assert dask.compute(found) == ((4, 3),)
    assert found.execute(wait=False).result() == (4, 3)
