"""Samples are computed once for all queries."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt
from marsdask.learn.neighbors import NearestNeighbors

CALLS: list[int] = []


def seen(block):
    """Return a block, and count it."""
    CALLS.append(len(block))
    return block


def test_samples_are_read_once():
    """Their chunks, each with its index, are held."""
    samples = np.random.default_rng(0).normal(size=(30, 2))
    lazy = mt.tensor(samples, chunk_size=(10, 2)).map_blocks(seen, dtype=float)
    CALLS.clear()
    model = NearestNeighbors(n_neighbors=2).fit(lazy)
    assert sum(CALLS) == 30
    model.kneighbors(samples)
    model.radius_neighbors(mt.tensor(samples, chunk_size=7))[0].compute()
    model.kneighbors()[1].compute()
    assert sum(CALLS) == 30
