"""MiniBatchKMeans: scikit-learn's of one chunk, as good of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import cluster

import marsdask.tensor as mt
from marsdask.learn.cluster import MiniBatchKMeans
from tests.learn.samples import blobs, every_form, in_form, value

WEIGHTS = np.random.default_rng(2).random(60)
CUTS = ((60,), (0, 1, 20, 0, 39), (15, 15, 15, 15))


@pytest.fixture(autouse=True)
def _coalesce():
    """Run with the chunks as they are by default: how they are merged is tested elsewhere."""


def assert_alike(ours: Any, theirs: Any, rtol: float = 1e-7) -> None:
    """Check what both have learnt."""
    for name in ("cluster_centers_", "labels_", "inertia_", "n_iter_", "n_steps_"):
        expected = getattr(theirs, name)
        np.testing.assert_allclose(value(getattr(ours, name)), expected, rtol, err_msg=name)
        if name != "n_steps_":
            assert np.asarray(value(getattr(ours, name))).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize(
    "options",
    [
        {"max_iter": 20},
        {"init": "random", "n_init": 2, "batch_size": 16, "max_iter": 3},
        {"init": blobs()[:3], "n_init": 1, "batch_size": 7, "tol": 1e-3},
        {"batch_size": 2, "max_no_improvement": None, "max_iter": 2, "init_size": 20},
        {"batch_size": 16, "n_clusters": 30, "max_iter": 2},
    ],
)
@pytest.mark.parametrize(("weights", "dtype"), [(WEIGHTS, "f8"), (None, "f4")])
def test_of_one_run_it_learns_what_scikit_learn_learns(options, weights, dtype):
    """Seeds, draws, reassignments and the end are those of scikit-learn."""
    samples = blobs().astype(dtype)
    chosen = {"n_clusters": 3, "random_state": 4, **options}
    X = mt.tensor(samples, chunks=((60,), (3, 1)))
    ours = MiniBatchKMeans(**chosen).fit(X, sample_weight=weights)
    theirs = cluster.MiniBatchKMeans(**chosen).fit(samples, sample_weight=weights)
    assert_alike(ours, theirs, 1e-7 if dtype == "f8" else 1e-3)
    np.testing.assert_array_equal(ours.predict(X).compute(), theirs.predict(samples))
    assert ours.score(X) == pytest.approx(theirs.score(samples), rel=1e-3)
    np.testing.assert_allclose(ours.transform(X).compute(), theirs.transform(samples), 1e-3)


@pytest.mark.parametrize(("cut", "weights"), list(zip(CUTS, (None, WEIGHTS, None), strict=True)))
def test_of_many_chunks_the_clusters_are_as_good(cut, weights):
    """Small chunks are joined; the inertia is nearly that of batches of all samples."""
    X = mt.tensor(blobs(), chunks=(cut, (4,)))
    options: dict[str, Any] = {"batch_size": 8, "max_iter": 5, "max_no_improvement": None}
    ours = MiniBatchKMeans(5, random_state=0, **options).fit(X, sample_weight=weights)
    theirs = cluster.MiniBatchKMeans(5, random_state=0, **options)
    theirs.fit(blobs(), sample_weight=weights)
    assert ours.inertia_ < 1.2 * theirs.inertia_
    assert ours.labels_.shape == (60,)
    assert ours.n_steps_ == 5 * 60 // 8


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    X = in_form(blobs(), form)
    model = MiniBatchKMeans(3, random_state=0)
    labels = model.fit_predict(X)
    assert hasattr(labels, "execute") == hasattr(X, "execute")
    np.testing.assert_array_equal(value(labels), cluster_of(model, blobs()))
    np.testing.assert_array_equal(value(model.predict(X)), value(labels))


def cluster_of(model: Any, samples: Any) -> Any:
    """Return the nearest centres."""
    return np.square(samples[:, None] - model.cluster_centers_).sum(axis=2).argmin(axis=1)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_it_learns_in_parts(weights):
    """Each chunk is a batch of scikit-learn's; labels are those of all chunks."""
    options: dict[str, Any] = {"n_clusters": 3, "random_state": 1}
    ours, theirs = MiniBatchKMeans(**options), cluster.MiniBatchKMeans(**options)
    for _ in range(2):
        ours.partial_fit(mt.tensor(blobs(), chunks=((0, 20, 40), (4,))), sample_weight=weights)
        for rows in (slice(20), slice(20, 60)):
            part = None if weights is None else weights[rows]
            theirs.partial_fit(blobs()[rows], sample_weight=part)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert ours.n_steps_ == theirs.n_steps_ == 4
    np.testing.assert_array_equal(ours.labels_.compute(), theirs.predict(blobs()))


def test_labels_are_left_out_if_not_wanted():
    """The inertia is then the smoothed one of the batches."""
    options: dict[str, Any] = {"n_clusters": 3, "random_state": 1, "compute_labels": False}
    ours = MiniBatchKMeans(**options).fit(mt.tensor(blobs(), chunk_size=60))
    theirs = cluster.MiniBatchKMeans(**options).fit(blobs())
    assert not hasattr(ours, "labels_")
    assert ours.inertia_ == pytest.approx(theirs.inertia_)


def test_a_function_chooses_the_start():
    """A callable is given a few samples, the number of clusters and the state."""

    def first(X, n_clusters, random_state):
        return X[:n_clusters].copy()  # scikit-learn changes what it is given

    options: dict[str, Any] = {"init": first, "random_state": 1, "n_clusters": 3}
    ours = MiniBatchKMeans(**options).fit(mt.tensor(blobs(), chunk_size=60))
    assert_alike(ours, cluster.MiniBatchKMeans(**options).fit(blobs()))


def test_sparse_samples_stay_sparse():
    """Of sparse blocks the clusters are scikit-learn's of sparse samples."""
    samples = sp.csr_array(np.where(blobs() > 0, blobs(), 0.0))
    options: dict[str, Any] = {"n_clusters": 3, "random_state": 1, "batch_size": 16}
    ours = MiniBatchKMeans(**options).fit(mt.tensor(samples, chunk_size=60))
    assert_alike(ours, cluster.MiniBatchKMeans(**options).fit(samples))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: MiniBatchKMeans(61).fit(X), "n_samples=60 should be >= n_clusters=61"),
        (lambda X: MiniBatchKMeans(3, init=np.zeros((2, 4))).fit(X), "number of clusters 3"),
        (lambda X: MiniBatchKMeans(3).fit(X, sample_weight=mt.zeros(60)), "non-zero"),
        (lambda X: MiniBatchKMeans(3).fit(X * np.nan), "contains NaN"),
        (lambda X: MiniBatchKMeans(30).partial_fit(X), "n_samples=17 should be >= n_clusters=30"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    """Too few samples, other centres, weights of zero, missing values."""
    with pytest.raises(ValueError, match=message):
        call(in_form(blobs(), "tensor"))
