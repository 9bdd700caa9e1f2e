"""Lloyd's iterations over sparse samples equal those over dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster

import marsdask.tensor as mt
from marsdask.learn.cluster import KMeans, lloyd
from tests.learn.samples import assert_learnt_alike, blobs

SAMPLES = np.where(blobs() > 0, blobs(), 0.0)
SPARSE = sp.csr_array(SAMPLES)
CENTERS = blobs()[:3]
WEIGHTS = np.random.default_rng(1).random(60)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_kernels_are_those_of_dense_samples(weight):
    """Sums, labels, distances, inertia and the farthest samples."""
    labels = lloyd.labels(SAMPLES, centers=CENTERS)
    np.testing.assert_array_equal(lloyd.labels(SPARSE, centers=CENTERS), labels)
    pairs = [
        (
            lloyd.distances(block, centers=CENTERS),
            *lloyd.assign(block, weight, centers=CENTERS),
            *lloyd.inertia(block, labels, weight, centers=CENTERS),
            *lloyd.farthest(block, weight, centers=CENTERS, count=4),
        )
        for block in (SPARSE, SAMPLES)
    ]
    for found, expected in zip(*pairs, strict=True):
        np.testing.assert_allclose(found, expected)


def test_a_sample_of_float32_has_no_distance_from_itself():
    """Squares are those of float64, as for dense samples."""
    rows = np.random.default_rng(0).normal(100.0, size=(20, 5)).astype("f4")
    found = lloyd.distances(sp.csr_array(rows), centers=rows.astype(float))
    np.testing.assert_allclose(np.diagonal(found), 0.0, atol=1e-4)


@pytest.mark.parametrize("start", ["k-means++", "random", "k-means||"])
def test_sparse_samples_have_the_same_clusters(start):
    """Whatever the start, over chunks and in memory; predictions too."""
    options = {"n_clusters": 3, "random_state": 0, "init": start, "n_init": 1}
    theirs = KMeans(**options).fit(mt.tensor(SAMPLES, chunk_size=17), sample_weight=WEIGHTS)
    if start != "k-means||":
        plain = cluster.KMeans(**options).fit(SPARSE, sample_weight=WEIGHTS)
        assert_learnt_alike(theirs, plain)
    for X in (mt.tensor(SPARSE, chunks=((0, 1, 30, 29), (3, 1))), SPARSE):
        ours = KMeans(**options).fit(X, sample_weight=WEIGHTS)
        assert_learnt_alike(ours, theirs.to_sklearn())
        found = ours.predict(X)
        assert hasattr(found, "execute") == hasattr(X, "execute")
        np.testing.assert_array_equal(np.asarray(found), theirs.labels_.compute())
        np.testing.assert_allclose(
            np.asarray(ours.transform(X)), theirs.transform(SAMPLES), atol=1e-6
        )


def test_empty_clusters_move_to_the_farthest_samples():
    """As of dense samples."""
    start = np.concatenate([SAMPLES[:3], [[900.0] * 4]])
    ours, theirs = (
        KMeans(4, init=start, n_init=1).fit(mt.tensor(X, chunk_size=17)) for X in (SPARSE, SAMPLES)
    )
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


def test_missing_values_are_refused():
    """In scikit-learn's words, by fit and by what maps samples."""
    model = KMeans(3, random_state=0).fit(SPARSE)
    gaps = SPARSE.copy()
    gaps.data[5] = np.nan
    X = mt.tensor(gaps, chunk_size=17)
    for call in (model.fit, lambda X: model.predict(X).compute()):
        with pytest.raises(ValueError, match=r"Input X contains NaN\."):
            call(X)
