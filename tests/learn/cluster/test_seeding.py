"""Where k-means starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import cluster

import marsdask.tensor as mt
from marsdask.learn.cluster import KMeans, seeding
from tests.learn.samples import blobs


def nodes(samples: Any, weights: Any = None, rows: int = 13) -> tuple[Any, Any]:
    """Return samples and weights as nodes in chunks."""
    held = mt.tensor(samples, chunk_size=(rows, samples.shape[1])).node
    return held, None if weights is None else mt.tensor(weights, chunk_size=rows + 4).node


@pytest.mark.parametrize("weighted", [False, True])
def test_plus_plus_chooses_what_scikit_learn_chooses(weighted):
    """The same state chooses the same samples, with weights or without."""
    samples = blobs()
    weights = np.random.default_rng(0).random(60) if weighted else None
    ours = seeding.plus_plus(*nodes(samples, weights), 5, np.random.RandomState(2))
    theirs, _ = cluster.kmeans_plusplus(
        samples, 5, sample_weight=weights, random_state=np.random.RandomState(2)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_parallel_does_not_depend_on_chunks():
    """k-means|| draws the same samples however they are cut, and all of them are samples."""
    samples = blobs(rows=200)
    found = [
        seeding.parallel(
            *nodes(samples, rows=rows), 4, np.random.RandomState(0), rate=2.0, rounds=3
        )
        for rows in (200, 31, 7)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert all((samples == row).all(axis=1).any() for row in found[0])


def test_parallel_falls_back_when_it_drew_too_few():
    """Fewer candidates than clusters leave the choice to k-means++."""
    samples = blobs()
    found = seeding.parallel(*nodes(samples), 7, np.random.RandomState(0), rate=0.01, rounds=1)
    assert found.shape == (7, 4)
    assert len(np.unique(found, axis=0)) == 7


def test_random_samples_are_different():
    """As many different samples as asked for, even when nearly all are wanted."""
    samples = blobs(rows=12)
    found = seeding.at_random(*nodes(samples), 11, np.random.RandomState(0))
    assert len(np.unique(found, axis=0)) == 11


def test_random_needs_enough_samples_of_weight():
    """More clusters than samples that weigh anything are refused, not waited for."""
    weights = np.zeros(60)
    weights[:3] = 1.0
    with pytest.raises(ValueError, match=r"positive weight \(3\)"):
        seeding.at_random(*nodes(blobs(), weights), 4, np.random.RandomState(0))


def test_parallel_is_a_way_to_start():
    """KMeans takes Mars's name for it, and its options."""
    samples = blobs(rows=300)
    model = KMeans(5, init="k-means||", oversampling_factor=3, init_iter=4, random_state=0)
    best = cluster.KMeans(5, n_init=10, random_state=0).fit(samples).inertia_
    assert model.fit(mt.tensor(samples, chunk_size=(70, 4))).inertia_ <= 1.5 * best
