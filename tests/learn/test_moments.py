"""Sums that combine equal those of the whole."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marsdask.learn.moments import (
    merge_products,
    merge_squares,
    merge_triangles,
    products,
    squares,
    triangle,
)
from tests.learn.samples import blobs

CUTS = [0, 0, 1, 20, 20, 60]


def parts(samples):
    """Return runs of the samples, empty ones and one of a single row among them."""
    return [samples[a:b] for a, b in itertools.pairwise(CUTS)]


def folded(items, combine):
    """Return all partial results as one."""
    first, *rest = items
    for item in rest:
        first = combine(first, item)
    return first


@pytest.mark.parametrize("away", [0.0, 1e8])
def test_squares_combine(away):
    """Count, mean and variance of runs are those of the whole, far from zero too."""
    samples = blobs(away=away)
    seen = folded([squares(run, allow_nan=False) for run in parts(samples)], merge_squares)
    assert (seen.count == 60).all()
    np.testing.assert_allclose(seen.mean, samples.mean(0))
    np.testing.assert_allclose(seen.products / 60, samples.var(0), rtol=1e-6)


@pytest.mark.parametrize("away", [0.0, 1e8])
def test_products_combine(away):
    """The covariance of runs is that of the whole, far from zero too."""
    samples = blobs(away=away)
    seen = folded([products(run) for run in parts(samples)], merge_products)
    assert seen.count == 60
    np.testing.assert_allclose(seen.products / 59, np.cov(samples.T), rtol=1e-6, atol=1e-6)


def test_triangles_combine():
    """R of runs has the singular values of the whole."""
    samples = blobs()
    mean = samples.mean(0)
    top = folded([triangle(run, mean=mean) for run in parts(samples)], merge_triangles)
    assert top.shape == (4, 4)
    np.testing.assert_allclose(
        np.linalg.svd(top, compute_uv=False), np.linalg.svd(samples - mean, compute_uv=False)
    )


def test_weights_and_nan_count_together():
    """A missing value weighs nothing; fractions of a sample do."""
    run = np.array([[1.0, np.nan], [3.0, 5.0]])
    seen = squares(run, np.array([0.25, 0.5]), allow_nan=True)
    np.testing.assert_allclose(seen.count, [0.75, 0.5])
    np.testing.assert_allclose(seen.mean, [7 / 3, 5.0])


@pytest.mark.parametrize(("bad", "message"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_no_number_is_refused(bad, message):
    """Nan and infinity raise what scikit-learn raises."""
    run = blobs()
    run[3, 1] = bad
    with pytest.raises(ValueError, match=message):
        squares(run, allow_nan=False)
    with pytest.raises(ValueError, match=message):
        products(run)
