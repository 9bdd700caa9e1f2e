"""KMeans equals scikit-learn's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import cluster
from sklearn.exceptions import ConvergenceWarning

import marsdask.tensor as mt
from marsdask.learn.cluster import KMeans
from tests.learn.samples import assert_learnt_alike, blobs, cut_samples, every_form, in_form, value


def options_of(start: str, samples) -> dict[str, Any]:
    """Return the options of a way to start."""
    if start == "given":
        return {"init": samples[:3], "n_init": 1}
    return {"init": start, "n_init": 2, "random_state": 4}


@pytest.mark.parametrize("start", ["given", "k-means++", "random"])
@given(cut_samples(), st.booleans())
def test_it_learns_what_scikit_learn_learns(start, case, weighted):
    """Centres, labels, inertia and iterations, over chunkings, of equal random states."""
    samples, tensor = case
    weights = np.random.default_rng(1).random(len(samples)) if weighted else None
    options = options_of(start, samples)
    ours = KMeans(3, **options).fit(tensor, sample_weight=weights)
    theirs = cluster.KMeans(3, **options).fit(samples, sample_weight=weights)
    assert_learnt_alike(ours, theirs)
    np.testing.assert_array_equal(ours.predict(tensor).compute(), theirs.predict(samples))
    np.testing.assert_allclose(ours.transform(tensor).compute(), theirs.transform(samples))
    assert ours.score(tensor) == pytest.approx(theirs.score(samples))


@every_form
def test_it_takes_samples_in_every_form(form):
    """Arrays, pandas and our frames, tensors executed or not, and of unknown length."""
    samples = blobs()
    X = in_form(samples, form)
    ours = KMeans(3, random_state=0)
    labels = ours.fit_predict(X)
    expected = cluster.KMeans(3, random_state=0).fit(samples)
    assert hasattr(labels, "execute") == hasattr(X, "execute")
    np.testing.assert_array_equal(value(labels), expected.labels_)
    np.testing.assert_array_equal(value(ours.predict(X)), expected.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, expected.cluster_centers_)


def test_single_precision_stays():
    """Samples of float32 have centres and distances of float32."""
    samples = blobs().astype("f4")
    ours = KMeans(3, random_state=0).fit(in_form(samples, "tensor"))
    theirs = cluster.KMeans(3, random_state=0).fit(samples)
    assert ours.cluster_centers_.dtype == ours.transform(samples).dtype == np.float32
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-5)


def test_far_from_the_origin_the_clusters_are_the_same():
    """A shift of all samples changes no label."""
    near, far = blobs(), blobs(away=1e6)
    start: dict[str, Any] = {"n_init": 1, "max_iter": 20}
    first = KMeans(4, init=near[:4], **start).fit(in_form(near, "tensor"))
    second = KMeans(4, init=far[:4], **start).fit(in_form(far, "tensor"))
    np.testing.assert_array_equal(first.labels_.fetch(), second.labels_.fetch())


def test_empty_clusters_move_to_the_farthest_samples():
    """A start that nobody is near to is relocated as scikit-learn does it."""
    samples = blobs()
    start = np.concatenate([samples[:3], [[900.0] * 4, [-900.0] * 4]])
    options: dict[str, Any] = {"init": start, "n_init": 1, "max_iter": 30}
    ours = KMeans(5, **options).fit(in_form(samples, "tensor"))
    assert_learnt_alike(ours, cluster.KMeans(5, **options).fit(samples))


def test_the_best_of_several_starts_wins():
    """More starts never end with a larger inertia."""
    X = in_form(blobs(), "tensor")
    inertias = [KMeans(5, init="random", n_init=n, random_state=3).fit(X).inertia_ for n in (1, 6)]
    assert inertias[1] <= inertias[0]


def test_a_function_chooses_the_start():
    """A callable is given the samples as they are, the number of clusters and the state."""
    samples = blobs()

    def first(X, n_clusters, random_state):
        return X[:n_clusters]

    ours = KMeans(3, init=first, n_init=1).fit(in_form(samples, "tensor"))
    theirs = cluster.KMeans(3, init=samples[:3], n_init=1).fit(samples)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


def test_duplicates_are_warned_of():
    """Fewer distinct samples than clusters warn as scikit-learn does."""
    X = mt.tensor(np.repeat([[1.0, 2.0], [3.0, 4.0]], 5, axis=0), chunk_size=3)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\)"):
        KMeans(3, random_state=0).fit(X)


def test_elkan_for_one_cluster_is_warned_of():
    """As scikit-learn does; the number of starts is told, too."""
    with pytest.warns(RuntimeWarning, match="doesn't make sense for a single cluster"):
        model = KMeans(1, algorithm="elkan", random_state=0).fit(in_form(blobs(), "tensor"))
    assert model._n_init == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 61}, "n_samples=60 should be >= n_clusters=61"),
        (
            {"init": np.zeros((2, 4)), "n_clusters": 3, "n_init": 1},
            "does not match the number of c",
        ),
        (
            {"init": np.zeros((3, 5)), "n_clusters": 3, "n_init": 1},
            "does not match the number of f",
        ),
        ({"init": "k-means--"}, "init"),
        ({"init_iter": 0}, "init_iter"),
    ],
)
def test_impossible_wishes_are_refused(options, message):
    """Too many clusters, centres of another shape and unknown names raise ValueError."""
    with pytest.raises(ValueError, match=message):
        KMeans(**options).fit(in_form(blobs(), "tensor"))


def test_missing_values_are_refused():
    """A nan raises scikit-learn's ValueError in fit and, when they run, in what maps samples."""
    samples = blobs()
    model = KMeans(3, random_state=0).fit(samples)
    samples[50, 3] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN\."):
        KMeans(3).fit(in_form(samples, "tensor"))
    for method in (model.predict, model.transform):
        with pytest.raises(ValueError, match=r"Input X contains NaN\."):
            method(in_form(samples, "tensor")).compute()
