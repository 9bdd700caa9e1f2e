"""Slices: views, few tasks, and no more run than needed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import grids
from tests.tensor.stages import first_graph

_LOCK = threading.Lock()
_CALLS: list[int] = []


def counted(block):
    """Record that a block was made."""
    with _LOCK:
        _CALLS.append(len(block))
    return block


@pytest.mark.parametrize(
    ("key", "rounds"),
    [(slice(5, 9), 1), (slice(None, 25), 3), (12, 3), (slice(0, 0), 1), (slice(15, 16), 3)],
    ids=str,
)
def test_a_prefix_of_unknown_length_runs_few_chunks(key, rounds):
    """Of a filtered array only the leading chunks run, twice as many a round."""
    _CALLS.clear()
    with grids(merged=False):
        x = mt.arange(1000, chunk_size=10).map_blocks(counted, dtype=np.arange(1).dtype)
        value = x[x >= 0][key].compute()
    assert np.array_equal(value, np.arange(1000)[key])
    # The function is also called once on nothing, to learn its type.
    assert len([n for n in _CALLS if n == 10]) == rounds


def test_the_end_of_unknown_length():
    """Negative bounds, steps backwards and elements from the end see every length."""
    a = np.arange(100)
    x = mt.arange(100, chunk_size=7)
    for key in (slice(-5, None), slice(None, None, -2), -1, slice(None, -90)):
        assert np.array_equal(x[x % 3 == 0][key].compute(), a[a % 3 == 0][key])


def test_elements_beyond_an_unknown_length_raise():
    """Out of bounds is found out when it runs, as an IndexError."""
    x = mt.arange(10, chunk_size=3)
    lazy = x[x > 7][5]
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 2"):
        lazy.compute()


def test_slices_are_views_inside_their_consumers():
    """A chain over slices is one task a chunk, the slices among its steps."""
    x = mt.ones((400, 400), chunk_size=100)
    y = mt.sin(x[100:300, ::2]) + 1
    graph = first_graph(y)
    assert len(graph) == 2 * 4


def test_what_is_sliced_is_computed_once():
    """Views that several tasks need do not repeat the work below them."""
    _CALLS.clear()
    with grids(merged=False):
        x = mt.array(np.arange(100), chunk_size=10).map_blocks(counted, dtype=np.arange(1).dtype)
        z = mt.array(np.arange(99), chunk_size=10)
        value = (z + x[1:]).compute()
    assert np.array_equal(value, np.arange(1, 100) + np.arange(99))
    assert _CALLS.count(10) == 10


def test_many_slices_of_slices():
    """A chain longer than Python's stack is deep."""
    x = mt.arange(1500, chunk_size=500)
    for _ in range(1200):
        x = x[:-1]
    assert x.sum().compute() == sum(range(300))
