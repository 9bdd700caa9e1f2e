"""The number of components by Minka's evidence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets, decomposition

from marsdask.learn.decomposition.minka_mle import infer_dimension


@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "breast_cancer"])
def test_the_likeliest_rank_is_scikit_learns(name):
    """Of real tables the rank is the one that scikit-learn finds."""
    samples = getattr(datasets, f"load_{name}")().data
    found = decomposition.PCA("mle", svd_solver="full").fit(samples)
    every = decomposition.PCA(svd_solver="full").fit(samples).explained_variance_
    assert infer_dimension(every, len(samples)) == found.n_components_


def test_a_few_strong_directions_are_counted():
    """Three directions above noise are three components."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(500, 8)) * [9, 7, 5, 1, 1, 1, 1, 1]
    assert infer_dimension(np.linalg.eigvalsh(np.cov(samples.T))[::-1], 500) == 3


def test_repeated_columns_count_once():
    """What is left of the others is rounding, whatever the scale."""
    one = np.random.default_rng(0).normal(size=(100, 1))
    for scale in (1.0, 1e6):
        found = np.linalg.eigvalsh(np.cov((one * scale * np.arange(1.0, 11.0)).T))[::-1]
        assert infer_dimension(np.maximum(found, 0.0), 100) == 1
