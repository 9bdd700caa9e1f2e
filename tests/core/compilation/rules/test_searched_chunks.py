"""Few values are searched in few chunks of huge vectors."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import marsdask.tensor as mt

N = 10**10

#: Searches of vectors whose chunks have hundreds of MiB, and what they find.
PROGRAMS = {
    "arange": (lambda: mt.searchsorted(mt.arange(N), [5, 2 * N, -1]), [5, N, 0]),
    "right": (lambda: mt.searchsorted(mt.arange(N), N // 3, side="right"), N // 3 + 1),
    "equal": (lambda: mt.searchsorted(mt.arange(N) // 7, [5, 1]), [35, 7]),
    "equal-right": (lambda: mt.searchsorted(mt.zeros(N), [0.0, -1], side="right"), [N, 0]),
    "linspace": (lambda: mt.linspace(0, 1, N).searchsorted([0.5, 1.0, np.nan]), [N // 2, N - 1, N]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_searches_of_huge_vectors(name):
    """Memory is that of a few pieces."""
    program, expected = PROGRAMS[name]
    tracemalloc.start()
    try:
        found = program().compute()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(found, expected)
    assert peak < 100 * 2**20


def test_what_is_read_whole_is_not_cut():
    """Users see its chunks."""
    x = mt.arange(2 * 10**7, chunk_size=10**7)
    sizes = x.map_blocks(lambda block: np.full(len(block), len(block)), dtype=int)
    places = mt.searchsorted(x, [5]) + sizes[:1]
    assert places.compute().tolist() == [10**7 + 5]
