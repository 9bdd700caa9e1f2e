"""Samples around centres, as many of each as scikit-learn makes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets as theirs

from marsdask.learn.datasets import make_blobs


@pytest.mark.parametrize(
    ("n_samples", "options"),
    [
        (50, {}),
        (50, {"centers": 4, "n_features": 3, "center_box": (0.0, 1.0)}),
        ([5, 0, 9], {"cluster_std": [0.1, 1.0, 2.0]}),
        (20, {"centers": [[0.0, 0.0], [9.0, 9.0]], "shuffle": False}),
    ],
)
def test_centres_and_sizes_are_those_of_scikit_learn(n_samples, options):
    """For the same seed, whether centres are drawn or given."""
    how = {**options, "random_state": 1, "return_centers": True}
    X, y, centers = make_blobs(n_samples, **how, chunk_size=11)
    their_X, their_y, their_centers = theirs.make_blobs(n_samples, **how)
    np.testing.assert_allclose(centers, their_centers)
    assert X.shape == their_X.shape
    found = y.compute()
    assert np.bincount(found).tolist() == np.bincount(their_y).tolist()
    assert (found == their_y).all() == (options.get("shuffle") is False)


def test_samples_are_around_their_centres():
    """By the standard deviation of each."""
    centers = np.array([[0.0, 0.0], [50.0, -50.0]])
    X, y = make_blobs(4000, centers=centers, cluster_std=[1.0, 3.0], random_state=0, chunk_size=999)
    X, y = X.compute(), y.compute()
    for group, std in enumerate((1.0, 3.0)):
        rows = X[y == group]
        np.testing.assert_allclose(rows.mean(axis=0), centers[group], atol=0.3)
        np.testing.assert_allclose(rows.std(axis=0), std, rtol=0.1)


def test_what_is_refused():
    """In scikit-learn's words, at the call."""
    with pytest.raises(ValueError, match="not consistent with number of centers"):
        make_blobs([3, 3], centers=[[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match="'n_features' parameter"):
        make_blobs(10, 0)
