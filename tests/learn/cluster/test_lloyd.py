"""Kernels of Lloyd's iterations against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.learn.cluster import lloyd
from tests.learn.samples import blobs


def plain(samples, centers):
    """Return the squared distances of every sample from every centre."""
    return np.square(samples[:, None] - centers[None]).sum(axis=2)


@pytest.mark.parametrize("away", [0.0, 1e5])
@pytest.mark.parametrize("rows", [0, 1, 40_000])
def test_assignment_sums_each_cluster(rows, away):
    """Weights and sums of the clusters over no, one and many tiles, near and far from zero."""
    samples = blobs(rows=rows, away=away)
    weights = np.random.default_rng(0).random(rows)
    centers = blobs(away=away)[:5]
    nearest = plain(samples, centers).argmin(axis=1)
    found = lloyd.assign(samples, weights, centers=centers)
    for number in range(5):
        mine = nearest == number
        assert found.weights[number] == pytest.approx(weights[mine].sum())
        np.testing.assert_allclose(
            found.samples[number], (samples * weights[:, None])[mine].sum(0), rtol=1e-9, atol=1e-9
        )
    np.testing.assert_array_equal(lloyd.labels(samples, centers=centers), nearest)


def test_of_equally_near_centres_the_first_counts():
    """A sample between two centres belongs to the first, and counts once."""
    samples = np.array([[0.0], [1.0], [2.0]])
    centers = np.array([[0.0], [2.0], [2.0]])
    assert lloyd.labels(samples, centers=centers).tolist() == [0, 0, 1]
    assert lloyd.assign(samples, centers=centers).weights.tolist() == [2, 1, 0]


def test_distances_are_those_of_numpy():
    """Each sample's distance from each centre, never below zero."""
    samples = blobs(rows=500, away=100.0)
    centers = samples[:4]
    found = lloyd.distances(samples, centers=centers)
    np.testing.assert_allclose(found, np.sqrt(plain(samples, centers)), atol=1e-5)
    assert (found >= 0).all()


def test_the_farthest_of_two_runs_are_the_farthest_of_all():
    """Joining what two runs found gives what one run over both finds."""
    samples = blobs(rows=50)
    centers = samples[:2]
    parts = [lloyd.farthest(part, centers=centers, count=3) for part in (samples[:2], samples[2:])]
    joined = lloyd.farther(*parts)
    whole = lloyd.farthest(samples, centers=centers, count=3)
    for found, expected in zip(joined, whole, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_meetings_count_pairs_of_clusters():
    """Two clusterings of the same samples share so many in each pair."""
    (found,) = lloyd.meetings(np.array([0, 0, 1]), np.array([1, 1, 0]), count=2)
    assert found.tolist() == [[0, 2], [1, 0]]
