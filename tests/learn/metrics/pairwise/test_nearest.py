"""The nearest rows are those of the whole matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import pairwise as theirs

import marsdask.tensor as mt
from marsdask.learn.metrics import (
    pairwise_distances_argmin,
    pairwise_distances_argmin_min,
    pairwise_distances_topk,
)
from tests.learn.samples import blobs, cut_samples

OTHER = blobs(9, 2)


@settings(max_examples=2)
@given(cut_samples(rows=8, columns=2))
def test_the_nearest_come_first(case):
    """Distances and numbers, over chunks that are smaller than ``k``."""
    samples, tensor = case
    expected = theirs.manhattan_distances(samples, OTHER)
    order = np.argsort(expected, axis=1)[:, :4]
    lazy = mt.tensor(OTHER, chunk_size=3)
    distances, rows = pairwise_distances_topk(tensor, lazy, k=4, metric="manhattan")
    assert rows.shape == (8, 4)
    np.testing.assert_array_equal(rows.compute(), order)
    np.testing.assert_allclose(distances.compute(), np.take_along_axis(expected, order, 1))
    number, least = pairwise_distances_argmin_min(tensor, OTHER, metric="manhattan")
    np.testing.assert_array_equal(number.compute(), order[:, 0])
    np.testing.assert_allclose(least.compute(), expected.min(axis=1))


def test_the_other_axis():
    """Rows of X for each row of Y."""
    samples = blobs(12, 2)
    found = pairwise_distances_argmin(mt.tensor(samples, chunk_size=5), OTHER, axis=0)
    expected = theirs.pairwise_distances_argmin(samples, OTHER, axis=0)
    np.testing.assert_array_equal(found.compute(), expected)
    distances = pairwise_distances_topk(samples, OTHER, 2, axis=0, return_index=False)
    assert distances.shape == (9, 2)


def test_how_many_is_checked():
    """As many as there are rows, at the call."""
    with pytest.raises(ValueError, match="k must be given"):
        pairwise_distances_topk(mt.ones((3, 2)))
    with pytest.raises(ValueError, match="between 1 and"):
        pairwise_distances_topk(mt.ones((3, 2)), k=4)
