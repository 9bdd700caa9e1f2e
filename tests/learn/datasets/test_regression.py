"""Targets are the sums of features that they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets as theirs

from marsdask.learn.datasets import make_counts, make_low_rank_matrix, make_regression


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("rank", [None, 2])
def test_targets_are_sums_of_features(targets, rank):
    """Of so many, with the coefficients that are returned."""
    X, y, coef = make_regression(
        60, 8, n_informative=4, n_targets=targets, bias=2.0, effective_rank=rank, coef=True,
        random_state=0, chunk_size=25,
    )  # fmt: skip
    np.testing.assert_allclose(y.compute(), X.compute() @ coef + 2.0)
    expected = theirs.make_regression(60, 8, n_targets=targets, n_informative=4, coef=True)
    assert [y.shape, coef.shape] == [expected[1].shape, expected[2].shape]
    assert np.count_nonzero(coef) == 4 * targets


def test_noise_is_added_to_targets():
    """Of the standard deviation asked for."""
    X, y, coef = make_regression(2000, 5, noise=3.0, coef=True, random_state=0, chunk_size=500)
    np.testing.assert_allclose((y - X @ coef).compute().std(), 3.0, rtol=0.1)


@pytest.mark.parametrize("shape", [(50, 20), (20, 50)])
def test_singular_values_are_those_of_scikit_learn(shape):
    """Of tall and of wide matrices."""
    found = make_low_rank_matrix(*shape, effective_rank=3, random_state=0, chunk_size=9).compute()
    expected = theirs.make_low_rank_matrix(*shape, effective_rank=3, random_state=0)
    values = [np.linalg.svd(matrix, compute_uv=False) for matrix in (found, expected)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-9)


def test_counts_depend_on_features():
    """By Poisson's distribution: their mean and variance are the rate."""
    X, y = make_counts(20_000, 3, n_informative=0, random_state=0, chunk_size=6000)
    counts = y.compute()
    np.testing.assert_allclose([counts.mean(), counts.var()], 1.0, rtol=0.05)
    X, y = make_counts(5000, 3, n_informative=3, scale=2.0, random_state=0, chunk_size=999)
    logs = np.log1p(y.compute())
    weights = np.linalg.lstsq(X.compute(), logs - logs.mean(), rcond=None)[0]
    assert (weights < 0.1).all()
    assert weights.min() < -0.1


def test_what_is_refused():
    """In scikit-learn's words, at the call."""
    with pytest.raises(ValueError, match="'tail_strength' parameter"):
        make_regression(10, 3, tail_strength=2.0, effective_rank=1)
    with pytest.raises(ValueError, match="'effective_rank' parameter"):
        make_low_rank_matrix(10, 3, effective_rank=0)
    with pytest.raises(ValueError, match="must be at most n_features"):
        make_counts(10, 3, n_informative=4)
