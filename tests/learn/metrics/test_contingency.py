"""Pairs of runs combine to the pairs of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marsdask.learn.metrics.contingency import merge_pairs, pairs

NUMBERS = np.array([3, 1, 3, 2, 1, 3])
COLUMNS = {
    "numbers": NUMBERS,
    "far apart": NUMBERS * 10**12,
    "floats": NUMBERS / 2,
    "texts": np.array(list("cacbac"), object),
    "truth": NUMBERS > 1,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_pairs_combine(kind):
    """Counts stay integers, weights are added; runs may be empty."""
    first, second, weights = COLUMNS[kind], NUMBERS[::-1], np.arange(6.0)
    runs = [slice(a, b) for a, b in itertools.pairwise([0, 0, 2, 6])]
    counted, weighed = pairs(first[:0], second[:0]), pairs(first[:0], second[:0], weights[:0])
    for run in runs:
        counted = merge_pairs(counted, pairs(first[run], second[run]))
        weighed = merge_pairs(weighed, pairs(first[run], second[run], weights[run]))
    assert counted.weights.dtype.kind == "i"
    for found, column in ((counted, np.ones(6)), (weighed, weights)):
        expected: dict[tuple[float, float], float] = {}
        for pair, weight in zip(zip(first, second, strict=True), column, strict=True):
            expected[pair] = expected.get(pair, 0) + weight
        keys = zip(found.first, found.second, strict=True)
        assert dict(zip(keys, found.weights, strict=True)) == expected
