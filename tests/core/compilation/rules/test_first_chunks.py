"""The first rows of filters of huge arrays are found in pieces, and not in whole chunks."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import marsdask.dataframe as md
import marsdask.tensor as mt

N = 10**12


def huge():
    """Return a tensor whose chunks have hundreds of MiB."""
    return mt.arange(N)


def frame():
    """Return a frame of such chunks."""
    return md.DataFrame(huge().reshape(-1, 1), columns=["a"])


#: Selections of the first of unknown many, and what they are.
PROGRAMS = {
    "mask": (lambda: huge()[huge() % 2 == 0][:3], [0, 2, 4]),
    "mask, one": (lambda: huge()[huge() > 5][2], 8),
    "mask, then a function": (lambda: huge()[huge() > 5][:3] + 1, [7, 8, 9]),
    "compress": (lambda: mt.compress(huge() > 5, huge())[:3], [6, 7, 8]),
    "where": (lambda: mt.where(huge() > 5)[0][:3], [6, 7, 8]),
    "flatnonzero": (lambda: mt.flatnonzero(huge() > 5)[1:4], [7, 8, 9]),
    "in a later piece": (lambda: huge()[huge() > 10**6][:2], [10**6 + 1, 10**6 + 2]),
    "rows": (lambda: mt.ones((N, 3))[huge() > 5][:1], [[1, 1, 1]]),
    "random": (lambda: mt.random.rand(N)[huge() > 5][:1] < 1, [True]),
    "head": (lambda: frame()[frame().a % 2 == 0].head(2), [[0], [2]]),
    "iloc": (lambda: frame()[frame().a > 5].iloc[1:3], [[7], [8]]),
    "column": (lambda: frame().a[frame().a > 5].head(2), [6, 7]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_of_unknown_many(name):
    """Memory is that of the first pieces."""
    program, expected = PROGRAMS[name]
    lazy = program()
    tracemalloc.start()
    try:
        found = lazy.compute()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert peak < 150 * 2**20


def test_what_is_needed_whole_is_not_cut():
    """Each chunk of a source has its block, as users see it."""
    x = mt.arange(2 * 10**7, chunk_size=10**7)
    sizes = x.map_blocks(lambda block: np.full(len(block), len(block)), dtype=int)
    assert sizes[x > 5][:2].compute().tolist() == [10**7] * 2
    both = mt.concatenate([x[x > 5][:2], x[-1:]])
    assert both.compute().tolist() == [6, 7, 2 * 10**7 - 1]
